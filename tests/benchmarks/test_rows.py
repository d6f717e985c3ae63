"""Each budget is really measured, and can be missed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, cast

import pytest

from benchmarks.harness import Row
from benchmarks.report import main
from benchmarks.rows import ROWS


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_is_missed_when_its_must_is_lower_than_what_it_measures(
    row: Row, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main([replace(row, must=0, aim=0)], ["--json", "--seconds", "0"])
    (line,) = cast("dict[str, list[dict[str, Any]]]", json.loads(capsys.readouterr().out))["rows"]
    assert line["error"] is None
    assert line["value"] > 0
    assert (line["verdict"], code) == ("MISSED", 1)


def test_every_row_has_a_name_of_its_own_and_an_aim_within_its_must() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)
    assert [row.name for row in ROWS if not 0 < row.aim <= row.must] == []
