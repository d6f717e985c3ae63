"""``interlock graph --run``: a workflow drawn with a stored run on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Interlock
from tests.cli.shop import died_after, rows_of, started

# graph --output


@pytest.mark.parametrize("name", ["x.png", "x.PDF", "x.svg.gz"])
def test_an_ending_that_nothing_is_drawn_in_is_a_wrong_call_that_says_which_there_are(
    interlock: Interlock, shop: Path, tmp_path: Path, name: str
) -> None:
    file = tmp_path / name
    done = interlock("graph", f"{shop}:refund", "-o", file)
    assert (done.code, done.out) == (2, "")
    assert f"{file} ends in {file.suffix}, and nothing is drawn so" in done.err
    assert ".txt, .mmd, .mermaid, .svg, .dot, .gv, .json, or say --format text|mermaid|svg|dot|json" in done.err
    assert not file.exists()


@pytest.mark.parametrize(
    ("name", "form", "begins"),
    [
        ("x.png", "text", "refund: "),
        ("x.txt", None, "refund: "),
        ("drawing", None, "refund: "),
        ("x.SVG", None, "<svg"),
    ],
)
def test_a_format_overrides_the_ending_and_a_name_without_one_gets_text(
    interlock: Interlock, shop: Path, tmp_path: Path, name: str, form: str | None, begins: str
) -> None:
    done = interlock("graph", f"{shop}:refund", "-o", tmp_path / name, *(("-f", form) if form else ()))
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (tmp_path / name).read_text("utf-8").startswith(begins)


# graph --run


@pytest.mark.parametrize("form", ["text", "mermaid", "svg", "dot", "json"])
def test_a_graph_is_drawn_with_a_run(interlock: Interlock, shop: Path, db: Path, form: str) -> None:
    started(interlock, shop, db)
    plain = interlock("graph", f"{shop}:refund", "-f", form)
    drawn = interlock("graph", f"{shop}:refund", "-f", form, "--run", "r1", "--store", db)
    assert (drawn.code, drawn.err) == (0, "")
    assert drawn.out != plain.out
    assert "900.0" in drawn.out  # what waits says what for
    assert "r1" in drawn.out


def test_a_run_whose_process_died_is_drawn_as_far_as_it_came(interlock: Interlock, shop: Path, db: Path) -> None:
    started(interlock, shop, db)
    for after in range(1, len(rows_of(db, "r1"))):
        died_after(db, "r1", after=after, copy=f"died-{after}")
        drawn = interlock("graph", f"{shop}:refund", "--run", f"died-{after}", "--store", db)
        assert (drawn.code, drawn.err) == (0, "")
        assert drawn.out.splitlines()[1].startswith("… not ended")
        assert f"run died-{after}" in drawn.out.splitlines()[1]


def test_a_run_is_drawn_on_its_own_workflow(interlock: Interlock, shop: Path, db: Path) -> None:
    started(interlock, shop, db)
    done = interlock("graph", f"{shop}:numbers", "--run", "r1", "--store", db)
    assert (done.code, done.out) == (2, "")
    assert "is one of workflow 'refund'" in done.err
    interlock("run", f"{shop}:both", "x", "--store", db, "--run-id", "r2")
    other_shape = interlock("graph", f"{shop}:changed", "--run", "r2", "--store", db)
    assert other_shape.code == 0
    assert "made by another shape of the workflow" in other_shape.err


@pytest.mark.parametrize("alone", ["--run", "--store"])
def test_a_run_and_its_store_go_together(interlock: Interlock, shop: Path, alone: str) -> None:
    done = interlock("graph", f"{shop}:refund", alone, "x")
    assert (done.code, done.out) == (2, "")
    assert "--run and --store go together" in done.err
