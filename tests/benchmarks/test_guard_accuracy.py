from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.guard_accuracy import Tally, compare_spans, is_for_evaluation

SCRIPT = "benchmarks/guard_accuracy.py"


def _run(root: Path, data: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "INTERLOCK_DATA": str(data)}
    return subprocess.run(
        [sys.executable, SCRIPT], cwd=root, env=environment, capture_output=True, text=True, check=False
    )


def test_without_the_data_it_says_so_and_exits_with_2(root: Path, tmp_path: Path) -> None:
    ran = _run(root, tmp_path / "nowhere")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "nowhere" in ran.stderr
    assert "INTERLOCK_DATA" in ran.stderr


def test_the_page_shows_the_figures_that_are_measured(root: Path, data_dir: Path) -> None:
    ran = _run(root, data_dir)
    assert (ran.returncode, ran.stderr) == (0, "")
    page = (root / "docs/accuracy.md").read_text(encoding="utf-8").splitlines()
    measured = [line for line in ran.stdout.splitlines() if line.startswith(("|", "Precision"))]
    assert len(measured) > 15
    assert [line for line in measured if line not in page] == []


def test_a_span_is_found_by_an_overlapping_finding_of_its_kind_alone() -> None:
    tallies: dict[str, Tally] = {}
    compare_spans(
        [("email", 0, 5), ("phone", 10, 20), ("ssn", 30, 41)],
        [("email", 0, 5), ("phone", 12, 25), ("iban", 30, 41)],
        tallies,
    )
    assert tallies == {
        "email": Tally(right=1, exact=1),
        "phone": Tally(right=1),
        "ssn": Tally(missed=1),
        "iban": Tally(false_alarms=1),
    }


@pytest.mark.parametrize(("tally", "precision", "recall"), [(Tally(3, 1, 2), 0.75, 0.6)])
def test_precision_and_recall_are_what_they_are_called(tally: Tally, precision: float, recall: float) -> None:
    assert (tally.precision, tally.recall) == (precision, recall)


def test_the_halves_are_told_apart_by_a_hash_of_the_text() -> None:
    assert [is_for_evaluation(text) for text in ("a", "b", "c", "d")] == [True, False, False, False]
