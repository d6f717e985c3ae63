"""The table of what each guard decided."""

from __future__ import annotations

import io

import pytest

from interlock.cli.checks_table import checks_table
from interlock.cli.table import rendered
from interlock.verdict import CheckRecord, Phase


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal as wide as they used to be."""
    monkeypatch.setenv("COLUMNS", "80")


def _table(*checks: CheckRecord) -> list[str]:
    return rendered(checks_table(checks), io.StringIO()).splitlines()[1:]


def test_a_chunk_point_tells_how_many_chunks_were_looked_at() -> None:
    (row,) = _table(CheckRecord("a", Phase.OUTPUT_STREAM, "output", "passed", runs=16))
    assert row.startswith("output_stream ×16 ")


def test_a_later_step_of_the_loop_is_named() -> None:
    rows = _table(
        CheckRecord("a", Phase.TOOL_RESULT, "input", "passed", step_number=0),
        CheckRecord("a", Phase.TOOL_RESULT, "input", "passed", step_number=1),
    )
    assert [row[:14] for row in rows] == ["tool_result   ", "tool_result 1 "]


@pytest.mark.parametrize(("kept", "told"), [(True, "yes"), (False, "no")])
def test_only_a_change_is_kept_or_not(kept: bool, told: str) -> None:
    changed, passed = _table(
        CheckRecord("a", Phase.INPUT, "input", "changed", kept=kept),
        CheckRecord("a", Phase.INPUT, "input", "passed", kept=kept),
    )
    assert changed.split()[3] == told
    assert told not in passed


def test_the_longest_names_and_a_long_reason_fit_eighty_columns() -> None:
    reason = "a reason that is so long that it goes on and on beyond the end of any line of a terminal"
    rows = _table(
        CheckRecord("prompt-injection-detector", Phase.TOOL_RESULT, "input", "not-checked", reason=reason, duration=0.1)
    )
    assert max(map(len, rows)) <= 80
    assert rows[0].split() == ["tool_result", "prompt-injection-detector", "not-checked", "100.0", "ms"]
    assert {row[:13] for row in rows[1:]} == {" " * 13}
    assert " ".join(row.strip() for row in rows[1:]) == reason
