"""Each budget is really measured, and can be missed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.harness import Effort, Row
from benchmarks.report import main
from benchmarks.rows import ROWS

SHORT = Effort(pairs=3, seconds=0, sample=0.001)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_fails_when_its_must_is_lower_than_what_it_measures(row: Row, capsys: pytest.CaptureFixture[str]) -> None:
    """Only a failed measurement or a miss gives 1, and the first is ruled out by asking for a figure above zero."""
    assert row.measure(SHORT).value > 0
    assert main([replace(row, must=0, aim=0)], ["--seconds", "0"]) == 1
    assert f"missed: {row.name}" in capsys.readouterr().err


def test_every_row_has_a_name_of_its_own_and_an_aim_within_its_must() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)
    assert [row.name for row in ROWS if not 0 < row.aim <= row.must] == []
