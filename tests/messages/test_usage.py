"""Tokens are counted together."""

from __future__ import annotations

from interlock.messages import Usage


def test_usages_add_up_field_by_field() -> None:
    total = Usage(1, 2, 3, 4) + Usage(10, 20, 30, 40)
    assert total == Usage(11, 22, 33, 44)
    assert total.total_tokens == 33
