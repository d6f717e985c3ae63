"""What a run made of each node, as the drawings show it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.errors import StepFailed
from interlock.steps import RetryPolicy, StepContext, create_step
from interlock.verdict import CheckRecord, Phase, Tripwire
from interlock.workflows import (
    Blocked,
    Canceled,
    Completed,
    Failed,
    Paused,
    StepRecord,
    Suspended,
    Suspension,
    Workflow,
    create_workflow,
)
from interlock.workflows.graph import Edge
from interlock.workflows.graph_of import graph_of
from interlock.workflows.overlay import Overlay, Run, overlay_of
from tests.workflows.drawn import examples, function_step, holds, named, outcomes, workflows

A, B, C, D = (function_step(id_) for id_ in "abcd")


def did(path: str, status: Any = "success", duration: float = 0.5, **more: Any) -> StepRecord:
    """A record."""
    return StepRecord(path.rpartition("/")[2], path, status, None, duration=duration, **more)


def laid(workflow: Workflow[Any, Any], run: Run) -> Overlay:
    return overlay_of(graph_of(workflow.plan), run)


def marked(workflow: Workflow[Any, Any], *records: StepRecord) -> Overlay:
    return laid(workflow, Completed(1, steps=records))


def test_a_step_is_marked_with_its_status_and_duration_and_one_that_did_not_run_so() -> None:
    overlay = marked(create_workflow(id="w").then(A).then(B).commit(), did("a", duration=0.012))
    assert (overlay.marks["a"].status, overlay.marks["a"].line) == ("success", "✓ 12 ms")
    assert (overlay.marks["b"].status, overlay.marks["b"].line) == ("not-run", "not run")


@pytest.mark.parametrize(
    ("status", "line"),
    [
        ("failed", "✗ failed · 500 ms"),
        ("tripwire", "✗ blocked · 500 ms"),
        ("suspended", "… waits · 500 ms"),
        ("bailed", "bailed · 500 ms"),
        ("canceled", "canceled · 500 ms"),
        ("unfinished", "… unfinished · 500 ms"),
    ],
)
def test_every_status_but_success_is_said_in_a_word(status: str, line: str) -> None:
    assert marked(create_workflow(id="w").then(A).commit(), did("a", status)).marks["a"].line == line


def test_several_attempts_and_a_verdict_are_told() -> None:
    mark = marked(create_workflow(id="w").then(A).commit(), did("a", attempts=3, verdict="changed")).marks["a"]
    assert mark.line == "✓ 500 ms · 3 attempts · changed"
    blocked = marked(create_workflow(id="w").then(A).commit(), did("a", "tripwire", verdict="blocked")).marks["a"]
    assert blocked.line == "✗ blocked · 500 ms"


def test_records_of_one_path_are_counted_and_the_worst_status_shows() -> None:
    error = ValueError("no such item")
    steps = [did("a"), did("a", "failed", error=error, iteration=2), did("a", iteration=3), did("foreach", duration=2)]
    overlay = marked(create_workflow(id="w").foreach(A, on_error="collect").commit(), *steps)
    assert overlay.marks["a"].line == "✗ 1 of 3 failed · 1.5 s"
    assert (overlay.marks["a"].times, overlay.marks["a"].failed, overlay.marks["a"].status) == (3, 1, "failed")
    assert overlay.marks["a"].note == "ValueError: no such item"
    assert overlay.marks["foreach"].line == "✓ 3 items · 1 of 3 failed · 2 s"
    assert overlay.marks["foreach"].status == "success"


def test_what_took_no_time_says_none() -> None:
    assert marked(create_workflow(id="w").then(A).commit(), did("a", duration=0.0)).marks["a"].line == "✓"


def test_a_foreach_over_nothing_has_no_items() -> None:
    overlay = marked(create_workflow(id="w").foreach(A).commit(), did("foreach"))
    assert overlay.marks["foreach"].line == "✓ 0 items · 500 ms"
    assert overlay.marks["a"].status == "not-run"


def test_a_loop_says_how_often_it_ran() -> None:
    workflow = create_workflow(id="w").do_while(A, holds).commit()
    again = Edge("a", "a", "while holds", "back")
    often = marked(workflow, did("do-while"), *(did("a", iteration=n) for n in range(1, 6)))
    assert often.marks["do-while"].line == "✓ 5 times · 500 ms"
    assert again in often.taken
    once = marked(workflow, did("do-while"), did("a"))
    assert once.marks["do-while"].line == "✓ once · 500 ms"
    assert again not in once.taken


def test_the_arm_that_was_taken_is_told_and_the_ways_to_the_others_are_not_taken() -> None:
    workflow = create_workflow(id="w").branch([(holds, A), (holds, B)]).map(named).commit()
    overlay = marked(workflow, did("branch", chosen=["b"]), did("b"), did("map"))
    assert overlay.marks["branch"].line == "✓ 500 ms · took b"
    assert overlay.marks["branch"].chosen == ("b",)
    assert {edge[:2] for edge in overlay.taken} == {("branch", "b"), ("b", "map")}


def test_a_branch_without_a_true_arm_was_passed() -> None:
    workflow = create_workflow(id="w").branch([(holds, A)]).map(named).commit()
    overlay = marked(workflow, did("branch", chosen=[]), did("map"))
    assert overlay.marks["branch"].line == "✓ 500 ms · took none"
    assert overlay.taken == {Edge("branch", "map", "none", "past")}


def test_a_parallel_block_names_its_arms_where_not_all_went_on() -> None:
    workflow = create_workflow(id="w").parallel([A, B], join="any").map(named).commit()
    overlay = marked(workflow, did("parallel", chosen=["a"]), did("a"), did("b", "canceled"), did("map"))
    assert overlay.marks["parallel"].line == "✓ 500 ms · took a"
    assert {edge[:2] for edge in overlay.taken} == {("a", "map")}
    every = marked(workflow, did("parallel", chosen=["a", "b"]), did("a"), did("b"))
    assert every.marks["parallel"].line == "✓ 500 ms"


def test_a_failure_is_explained_where_it_happened_and_not_again_on_what_is_around_it() -> None:
    cause = StepFailed("parallel/a", KeyError("k"))
    workflow = create_workflow(id="w").parallel([A, B]).commit()
    overlay = laid(
        workflow, Failed(cause, steps=[did("parallel", "failed", error=cause), did("a", "failed", error=cause)])
    )
    assert overlay.marks["a"].note == "KeyError: 'k'"
    assert (overlay.marks["parallel"].status, overlay.marks["parallel"].note) == ("failed", None)


def test_a_failure_of_a_block_itself_is_explained_on_it() -> None:
    overlay = marked(create_workflow(id="w").foreach(A).commit(), did("foreach", "failed", error=TypeError("no list")))
    assert overlay.marks["foreach"].note == "TypeError: no list"


def test_a_tripwire_is_explained_where_it_was_tripped() -> None:
    steps = [did("a"), did("b", "tripwire")]
    overlay = laid(create_workflow(id="w").then(A).then(B).commit(), Blocked(Tripwire("a card", "b"), steps=steps))
    assert overlay.marks["b"].note == "a card"
    assert overlay.marks["a"].note is None


def test_a_step_that_waits_says_for_what() -> None:
    waiting = Suspension("a", "a", "approval", {"amount": 5}, "t")
    workflow = create_workflow(id="w").then(A).then(B).commit()
    overlay = laid(workflow, Suspended([waiting], steps=[did("a", "suspended", suspension=waiting)]))
    assert overlay.marks["a"].note == "approval: {'amount': 5}"
    assert overlay.taken == frozenset()


def test_a_paused_run_shows_what_stands_ready() -> None:
    workflow = create_workflow(id="w").then(A).then(B).commit()
    overlay = laid(workflow, Paused(["b"], run_id="r1", steps=[did("a")]))
    assert (overlay.marks["b"].status, overlay.marks["b"].line) == ("next", "▸ next")
    assert overlay.heading == "paused · run r1 · next b"


def test_checks_add_verdicts_and_reasons_by_path() -> None:
    check = CheckRecord("pii", Phase.INPUT, "input", "not-checked", path="a", reason="timed out")
    overlay = laid(create_workflow(id="w").then(A).commit(), Completed(1, steps=[did("a")], checks=[check]))
    assert overlay.marks["a"].verdict == "not-checked"
    assert overlay.marks["a"].line == "500 ms · not-checked"
    assert overlay.marks["a"].note == "timed out"


def test_a_verdict_of_a_record_counts_before_those_of_checks() -> None:
    check = CheckRecord("pii", Phase.INPUT, "input", "passed", path="a")
    overlay = laid(
        create_workflow(id="w").then(A).commit(), Completed(1, steps=[did("a", verdict="changed")], checks=[check])
    )
    assert overlay.marks["a"].verdict == "changed"


@pytest.mark.parametrize(
    ("run", "heading"),
    [
        (Completed(1, run_id="r1", duration=1.5), "✓ completed in 1.5 s · run r1"),
        (Canceled(), "canceled"),
        (Failed(ValueError("no"), run_id="r1"), "✗ failed · run r1 · ValueError: no"),
        (Failed(StepFailed("x/a", ValueError("no"))), "✗ failed · x/a: ValueError: no"),
        (Blocked(Tripwire("a card", "pii"), run_id="r1"), "✗ blocked · run r1 · pii: a card"),
        (Paused([], run_id="r1"), "… not ended · run r1"),
        (Suspended([Suspension("a", "x/a", None, None, "t")], run_id="r1"), "… suspended · run r1 · waits at x/a"),
    ],
)
def test_the_heading_says_how_the_run_ended(run: Run, heading: str) -> None:
    assert laid(create_workflow(id="w").then(A).commit(), run).heading == heading


def test_nothing_in_a_reason_can_act_on_a_terminal_and_a_long_one_is_cut() -> None:
    error = ValueError("\x1b[31m" + "word " * 500)
    overlay = marked(create_workflow(id="w").then(A).commit(), did("a", "failed", error=error))
    assert overlay.marks["a"].note is not None
    assert overlay.marks["a"].note.startswith("ValueError: \\x1b[31mword")
    assert len(overlay.marks["a"].note) <= 160


def test_a_cluster_that_nobody_tells_of_is_not_called_idle_while_something_in_it_ran() -> None:
    inner = create_workflow(id="inner").then(A).commit()
    overlay = marked(create_workflow(id="w").then(inner).then(create_step(inner, id="other")).commit(), did("inner/a"))
    assert "inner" not in overlay.marks
    assert overlay.marks["other"].status == "not-run"


FORMS = ("to_text", "to_mermaid", "to_svg", "to_dot", "to_json")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("run", ["x", 7, StepRecord("a", "a", "success", None)])
def test_what_is_no_outcome_is_refused_with_what_is_wanted(form: str, run: Any) -> None:
    workflow = create_workflow(id="w").then(A).commit()
    with pytest.raises(TypeError, match=rf"run has to be an outcome of the workflow, .* '{type(run).__name__}'"):
        getattr(workflow, form)(run=run)


@pytest.mark.parametrize("form", FORMS)
def test_a_run_of_which_the_graph_knows_no_step_says_so_instead_of_seeming_to_have_skipped_all(form: str) -> None:
    other = Completed(1, run_id="r1", steps=[did("x"), did("y/z")])
    workflow = create_workflow(id="w").then(A).then(B).commit()
    assert "none of its steps is in this graph" in str(getattr(workflow, form)(run=other)).replace("\n", " ")
    known = Completed(1, run_id="r1", steps=[did("x"), did("b")])
    assert "none of its steps" not in laid(workflow, known).heading
    assert "none of its steps" not in laid(workflow, Canceled(run_id="r1")).heading
    nested = create_workflow(id="w").then(create_workflow(id="in").then(A).commit()).commit()
    assert "none of its steps" not in laid(nested, Completed(1, steps=[did("in/a")])).heading


@st.composite
def laid_out(draw: st.DrawFn) -> tuple[Workflow[Any, Any], Run]:
    workflow = draw(workflows(nodes=3, arms=3))
    return workflow, draw(outcomes(workflow))


@examples(1 / 4)
@given(laid_out())
def test_every_node_that_does_something_is_marked_and_only_edges_of_the_graph_are_taken(
    drawn: tuple[Workflow[Any, Any], Run],
) -> None:
    workflow, run = drawn
    graph = graph_of(workflow.plan)
    overlay = overlay_of(graph, run)
    acting = {v.path for v in graph.vertices() if v.kind not in ("join", "idle")}
    assert acting <= set(overlay.marks) <= {member.path for member in graph.members()}
    assert overlay.taken <= set(graph.edges)
    told = {record.path for record in run.steps}
    for path in acting - told:
        assert overlay.marks[path].status == "not-run"
    for edge in overlay.taken:
        assert all(overlay.marks[path].ran for path in edge[:2] if path in overlay.marks)


@pytest.mark.anyio
async def test_a_real_run_is_told_as_it_went() -> None:
    def embed(ctx: StepContext[str]) -> str:
        if ctx.input == "b":
            raise ValueError("no embedding")
        return ctx.input

    def flaky(ctx: StepContext[Any]) -> Any:
        if ctx.attempt < 3:
            raise RuntimeError("not yet")
        return ctx.input

    def is_long(ctx: StepContext[str]) -> bool:
        return len(ctx.input) > 3

    def long_enough(ctx: StepContext[str]) -> bool:
        return len(ctx.input) >= 3

    inner = create_workflow(id="inner").then(create_step(flaky, id="flaky", retry=RetryPolicy(attempts=3))).commit()
    workflow: Workflow[Any, Any] = (
        create_workflow(id="w")
        .branch([(is_long, A), (lambda ctx: True, [B, C])])
        .map(lambda ctx: ["a", "b", "c"])
        .foreach(create_step(embed, id="embed"), on_error="collect")
        .map(lambda ctx: "")
        .do_until(create_step(lambda ctx: f"{ctx.input}.", id="polish"), long_enough)
        .then(inner)
        .branch([(lambda ctx: False, D)])
        .map(lambda ctx: 1)
        .commit()
    )
    overlay = laid(workflow, await workflow.run("abc"))
    assert overlay.status == "success"
    assert {path: _without_times(mark.words) for path, mark in overlay.marks.items()} == {
        "branch": ["✓", "took c"],
        "a": ["not run"],
        "b": ["✓"],
        "c": ["✓"],
        "map": ["✓"],
        "foreach": ["✓", "3 items", "1 of 3 failed"],
        "embed": ["✗ 1 of 3 failed"],
        "map-2": ["✓"],
        "do-until": ["✓", "3 times"],
        "polish": ["✓", "3 times"],
        "inner": ["✓"],
        "inner/flaky": ["✓", "3 attempts"],
        "branch-2": ["✓", "took none"],
        "d": ["not run"],
        "map-3": ["✓"],
    }
    not_taken = {edge[:2] for edge in graph_of(workflow.plan).edges if edge not in overlay.taken}
    assert not_taken == {("branch", "a"), ("a", "map"), ("branch", "map"), ("branch-2", "d"), ("d", "map-3")}


def _without_times(words: Sequence[str]) -> list[str]:
    return [word for word in words if word.split()[-1] not in ("s", "ms", "µs")]


@pytest.mark.anyio
async def test_a_real_run_has_records_of_blocks_maps_and_sleeps_too() -> None:
    workflow = create_workflow(id="w").parallel([A, B]).map(named).sleep(0).dag({C: [], D: [C]}).commit()
    overlay = laid(workflow, await workflow.run(1))
    assert set(overlay.marks) == {"parallel", "a", "b", "map", "sleep", "dag", "c", "d"}
    assert {mark.status for mark in overlay.marks.values()} == {"success"}
