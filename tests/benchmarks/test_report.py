"""A missed budget is told, and by the exit code as well."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

import pytest

from benchmarks.harness import Effort, Measured, Row
from benchmarks.report import main, measure


def _row(name: str, value: float, *, must: float = 2.0, aim: float = 1.0) -> Row:
    return Row(name, must, aim, "×", lambda effort: Measured(value, 3, {"engine µs": value}))


def _flaky(values: Sequence[float]) -> tuple[Row, list[Effort]]:
    efforts: list[Effort] = []

    def measured(effort: Effort) -> Measured:
        efforts.append(effort)
        return Measured(values[len(efforts) - 1], 3)

    return Row("flaky", 2.0, 1.0, "×", measured), efforts


@pytest.mark.parametrize(
    ("value", "verdict", "code"),
    [
        (0.5, "aim", 0),
        (1.0, "aim", 0),
        (1.5, "must", 0),
        (2.0, "must", 0),
        (2.1, "MISSED", 1),
        (float("nan"), "MISSED", 1),
    ],
)
def test_the_exit_code_is_one_exactly_when_a_must_is_missed(
    value: float, verdict: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([_row("fine", 0.1), _row("judged", value)], []) == code
    out, err = capsys.readouterr()
    *_, line = (line for line in out.splitlines() if line.startswith("judged"))
    assert verdict in line
    assert ("missed: judged" in err) is bool(code)


def test_a_row_that_fails_is_told_and_the_others_are_still_measured(capsys: pytest.CaptureFixture[str]) -> None:
    def broken(effort: Effort) -> Measured:
        raise ValueError("not the same work")

    assert main([Row("broken", 1, 1, "ms", broken), _row("fine", 0.1)], []) == 1
    out = capsys.readouterr().out
    assert "ValueError: not the same work" in out
    assert "fine" in out


def test_a_miss_is_measured_once_more_and_longer() -> None:
    row, efforts = _flaky([3.0, 1.5])
    line = measure(row, Effort(pairs=10, seconds=1.0))
    assert (line.kept, line.tries) == (True, 2)
    assert efforts[1].pairs > efforts[0].pairs
    assert efforts[1].seconds > efforts[0].seconds


def test_a_second_miss_counts() -> None:
    row, efforts = _flaky([3.0, 3.0, 1.0])
    line = measure(row, Effort())
    assert (line.kept, len(efforts)) == (False, 2)


def test_what_missed_twice_is_measured_a_last_time_when_all_others_have_been(
    capsys: pytest.CaptureFixture[str],
) -> None:
    row, efforts = _flaky([3.0, 3.0, 1.0])
    assert main([row, _row("fine", 0.1)], []) == 0
    assert len(efforts) == 3
    out = capsys.readouterr().out
    assert out.index("MISSED") < out.index("fine") < out.index("later:") < out.index("measured 3 times")
    row, efforts = _flaky([3.0, 3.0, 3.0, 1.0])
    assert main([row, _row("fine", 0.1)], []) == 1
    assert len(efforts) == 3


def test_what_is_kept_is_not_measured_again() -> None:
    row, efforts = _flaky([1.0])
    assert measure(row, Effort()).kept
    assert len(efforts) == 1


def test_json_carries_every_figure(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([_row("a", 0.5), _row("b", 9.0)], ["--json"]) == 1
    report = cast("dict[str, Any]", json.loads(capsys.readouterr().out))
    assert [(row["name"], row["value"], row["must"], row["kept"]) for row in report["rows"]] == [
        ("a", 0.5, 2.0, True),
        ("b", 9.0, 2.0, False),
    ]
    assert set(report["machine"]) == {"python", "implementation", "system", "cores"}


def test_only_chooses_rows_by_their_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([_row("chain", 0.5), _row("fan-out", 9.0)], ["--only", "chain"]) == 0
    assert "fan-out" not in capsys.readouterr().out


def test_only_without_a_match_is_an_error_that_lists_the_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([_row("chain", 0.5)], ["--only", "chian"]) == 2
    assert "chain" in capsys.readouterr().err
