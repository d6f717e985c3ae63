"""The page of results tells what was measured and what was not, and shows nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.report import main
from benchmarks.rivals.beside import SAME_WORK, Beside, last_figures
from benchmarks.rivals.engines import ENGINES
from benchmarks.rivals.page import page
from benchmarks.rivals.places import FIGURES, PAGE, RESULTS
from benchmarks.rivals.results import Case, Results, Status, read, write
from benchmarks.rivals.workloads import WORKLOADS
from benchmarks.rows import ROWS

DAY = "2026-02-03T04:05:06+00:00"


def _case(engine: str, status: Status = "measured", us: float | None = None, **more: object) -> Case:
    return Case(engine, "chain", 100, DAY, status, us, **more)  # type: ignore[arg-type]


RESULT = Results(
    {"processor": "a processor, 2 cores", "python": "CPython 3.11.7"},
    {"dask": {"dask": "2026.8.0"}},
    [
        _case("dask", us=33.4, hand_us=0.09, ratio=371.0, pairs=5),
        _case("interlock", us=1.5, hand_us=0.1, ratio=15.0, pairs=5),
        _case("burr", "failed", why="OverflowError: it is too long"),
        _case("haystack", "wrong", why="it gave 1 and not 100"),
        _case("mastra", "missing", why="npm is not on this machine"),
    ],
)


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    write(RESULT, tmp_path / "folder" / "results.json")
    assert read(tmp_path / "folder" / "results.json") == RESULT


def test_without_a_file_nothing_was_measured(tmp_path: Path) -> None:
    assert read(tmp_path / "results.json") == Results()


def test_a_later_figure_takes_the_place_of_an_earlier_one() -> None:
    again = RESULT.with_cases([_case("dask", us=30.0)])
    assert [case.us for case in again.on("chain", 100)] == [1.5, 30.0, None, None, None]


def test_every_case_without_a_figure_stands_on_the_page_with_its_reason() -> None:
    text = page(RESULT)
    assert "Burr, chain of 100 steps: it failed: OverflowError: it is too long." in text
    assert "Haystack, chain of 100 steps: the answer was wrong: it gave 1 and not 100." in text
    assert "npm is not on this machine." in text
    for engine in ENGINES.values():
        assert f"{engine.title}, " in text, "every engine has some case that was not measured here"


def test_a_figure_stands_on_the_page_with_its_multiple_and_its_day() -> None:
    text = page(RESULT)
    assert "| 33 µs (371 ×) |" in text
    assert "Measured on 2026-02-03." in text


@pytest.mark.parametrize(("load", "busy"), [(1.1, False), (5.5, True)])
def test_a_busy_machine_is_told_of(load: float, busy: bool) -> None:
    text = page(RESULT.with_cases([_case("dask", us=33.4, load=load), _case("interlock", us=1.5, load=load)]))
    assert f"The load average was {load} (median; highest {load})" in text
    assert ("other programs used the machine too" in text) is busy


def test_the_page_in_the_repository_is_made_from_the_results_beside_it() -> None:
    assert PAGE.read_text("utf-8") == page(read(RESULTS)), "make rivals ARGS=--page writes it again"
    for picture in ("rivals.png", "rivals.svg"):
        assert (FIGURES / picture).stat().st_size > 10_000


def test_the_results_in_the_repository_have_every_case() -> None:
    kept = {case.key for case in read(RESULTS).cases}
    wanted = {(engine, work.key, size) for engine in ENGINES for work in WORKLOADS for size in work.sizes}
    assert wanted - kept == set()


def test_what_stands_beside_a_budget_is_of_a_row_and_a_workload_that_there_are() -> None:
    assert set(SAME_WORK) <= {row.name for row in ROWS}
    assert set(SAME_WORK.values()) <= {(work.key, size) for work in WORKLOADS for size in work.sizes}


def test_rivals_stand_under_a_row_and_it_is_said_when_they_were_measured(capsys: pytest.CaptureFixture[str]) -> None:
    chain = next(row for row in ROWS if SAME_WORK.get(row.name) == ("chain", 100))
    main([chain], ["--seconds", "0"], beside=Beside(RESULT))
    heading, _, _, under = capsys.readouterr().out.splitlines()[:4]
    assert "measured on 2026-02-03 (a processor, 2 cores, CPython 3.11.7), not now" in heading
    assert under == "  | Interlock then 15 ×, Dask 371 ×, no figure: Burr and Haystack and Mastra"


def test_a_row_whose_work_no_rival_does_stands_alone() -> None:
    assert last_figures().line("import interlock, over bare Python") is None


def test_before_anything_was_measured_that_is_said() -> None:
    assert "none has been measured" in Beside(Results()).heading()
