"""Counting is no hate speech."""

from __future__ import annotations

from interlock.processors import InputContext, ModerationProcessor


def test_a_list_of_numbers_is_quiet_whatever_some_of_them_stand_for() -> None:
    ModerationProcessor().process_input(InputContext("\n".join(str(n) for n in range(1, 3000))))
    ModerationProcessor().process_input(InputContext("Invoice 1488, page 88 of 188."))
