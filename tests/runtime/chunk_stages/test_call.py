"""Functions at the per-chunk point: what they are told, what they may do to the run, and how they end a workflow."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from interlock import Agent, create_step
from interlock.errors import InvalidProcessorReturn, RunError, StepFailed
from interlock.messages import TextDelta
from interlock.steps import Step
from interlock.testing import ScriptedModel
from interlock.verdict import AbortSignal, BailSignal
from tests.lifecycle.acting import chunks_and_result, picking
from tests.runtime.chunk_acting import Path, drop, flow, guard, shout, split, star

pytestmark = pytest.mark.anyio

X = TextDelta("x")
Function = Callable[[Any], Any]


def made_step(function: Function, **options: Any) -> Step[Any, Any]:
    """A function step."""
    return create_step(function, **options)


def later(function: Function, turns: int) -> Function:
    """The same as a coroutine function that lets others run first; with 0 turns, itself."""

    async def waits(ctx: Any) -> Any:
        for _ in range(turns):
            await anyio.lowlevel.checkpoint()
        return function(ctx)

    return waits if turns else function


def ends(text: str, *, swallows: bool = False, only: str | None = None) -> Function:
    """Ends its workflow with another text."""

    def step(ctx: Any) -> Any:
        chunk = ctx.input.chunk
        if only is not None and chunk.text != only:
            return ctx.input
        ctx.input.out = (chunk.replace(text=text),)
        try:
            ctx.bail(ctx.input)
        except BaseException:
            if not swallows:
                raise
        return ctx.input

    return step


@pytest.mark.parametrize("turns", [0, 1])
@pytest.mark.parametrize("swallows", [False, True])
async def test_a_step_ends_its_workflow_for_this_chunk_and_what_is_behind_that_goes_on(
    turns: int, swallows: bool
) -> None:
    ending = made_step(later(ends("end", swallows=swallows, only="b"), turns), id="ending")
    inner = flow("inner").then(guard("before", turns=turns)).then(ending).then(guard("skipped", shout)).commit()
    path = Path(guard("split", split), flow("outer").then(inner).then(guard("behind", star)).commit(), guard("last"))
    assert await path.texts("abc", "b") == ["*A", "*end", "*C", "*end"]
    told = {check.processor_id: check.runs for check in path.checks()}
    assert told == {"split": 2, "before": 4, "skipped": 2, "behind": 4, "last": 4}


@pytest.mark.parametrize("turns", [0, 1])
@pytest.mark.parametrize("swallows", [False, True])
@pytest.mark.parametrize("shape", ["map", "merge", "options", "branch", "graph"])
async def test_a_step_in_a_block_ends_the_workflow_around_the_block(turns: int, swallows: bool, shape: str) -> None:
    ending = made_step(later(ends("end", swallows=swallows, only="a"), turns), id="ending")
    other = guard("other", turns=turns + 3)
    whole = flow("inner")
    match shape:
        case "map":
            made = whole.parallel([other, ending]).map(picking("other"))
        case "merge":
            made = whole.parallel([other, ending]).merge()
        case "options":
            made = whole.parallel([other, ending], concurrency=2, on_error="collect").map(picking("other"))
        case "branch":
            made = whole.branch([(lambda ctx: True, other), (lambda ctx: True, ending)], mode="all").merge()
        case _:
            made = whole.dag({other: [], ending: []}).map(picking("other"))
    path = Path(made.then(guard("skipped")).commit(), guard("behind", star))
    with anyio.fail_after(5):
        assert await path.texts("a", "b") == ["*end", "*b"]
    told = {check.processor_id: (check.verdict, check.reason) for check in path.checks()}
    assert told == {
        "other": ("not-checked", "its workflow was ended first"),
        "skipped": ("passed", None),
        "behind": ("changed", None),
    }
    assert {check.processor_id: check.runs for check in path.checks()}["skipped"] == 1


async def test_what_swallowed_its_bail_and_goes_on_is_stopped() -> None:
    ended: list[str] = []

    async def goes_on(ctx: Any) -> Any:
        with contextlib.suppress(BaseException):
            ctx.bail(ctx.input)
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("ended")

    for block in (
        flow().parallel([made_step(goes_on, id="step"), guard("a", turns=1)]).map(picking("a")),
        flow().parallel([made_step(goes_on, id="step"), guard("a", turns=1)], concurrency=2).map(picking("a")),
    ):
        with anyio.fail_after(5):
            assert await Path(block.commit()).feed(X) is X
    assert ended == ["ended"] * 2


@pytest.mark.parametrize("turns", [0, 1])
async def test_a_map_and_a_condition_may_end_the_workflow_too(turns: int) -> None:
    ending, ending_first = later(ends("end"), turns), later(ends_the_first("end"), turns)
    for inner in (
        flow("inner").parallel([guard("a"), guard("b")]).map(ending_first),
        flow("inner").branch([(ending, guard("a"))]).merge(),
        flow("inner").do_until(guard("a"), ending),
    ):
        path = Path(inner.then(guard("skipped")).commit(), guard("behind", star))
        assert await path.texts("x") == ["*end"]
        assert {check.processor_id: check.runs for check in path.checks()}["skipped"] == 0


def ends_the_first(text: str) -> Function:
    """For ``map``: ends the workflow with a change of the first branch's context."""

    def step(ctx: Any) -> Any:
        first = next(iter(ctx.input.values()))
        first.out = (first.chunk.replace(text=text),)
        ctx.bail(first)

    return step


async def test_a_workflow_ends_with_a_context_and_nothing_else() -> None:
    path = Path(flow().then(made_step(lambda ctx: ctx.bail("text"), id="ending")).then(guard("a")).commit())
    with pytest.raises(InvalidProcessorReturn, match=r"bail.*returned str"):
        await path.feed(X)


async def test_a_workflow_that_is_run_by_itself_ends_with_what_a_step_says() -> None:
    from interlock.processors import OutputStreamContext

    whole = flow().then(made_step(ends("end"), id="ending")).then(guard("a", shout)).commit()
    outcome = await whole.run(OutputStreamContext(chunk=X))
    assert outcome.status == "success"
    assert [chunk.text for chunk in outcome.output.out] == ["end"]


@pytest.mark.parametrize("turns", [0, 1])
async def test_a_step_that_would_wait_for_an_answer_fails(turns: int) -> None:
    step = made_step(later(lambda ctx: ctx.suspend("question"), turns), id="asking")
    path = Path(flow().then(step).then(guard("a")).commit())
    with pytest.raises(RunError, match=r"'flow/asking' cannot suspend: .* nobody to wait for"):
        await path.feed(X)


@pytest.mark.parametrize("turns", [0, 1])
async def test_an_abort_of_a_function_stops_the_run(turns: int) -> None:
    path = Path(flow().then(made_step(later(lambda ctx: ctx.abort("no"), turns), id="f")).then(guard("a")).commit())
    with pytest.raises(AbortSignal):
        await path.feed(X)
    assert path.facts.latch.tripwire is not None
    assert path.facts.latch.tripwire.processor_id == "f"


async def test_functions_know_what_came_into_their_workflow_and_where_they_stand() -> None:
    seen: list[tuple[str, str]] = []

    def look(ctx: Any) -> Any:
        seen.append((ctx.step_id, ctx.run_input.chunk.text))
        return ctx.input

    inner = flow("inner").then(guard("a", star)).then(made_step(look, id="look")).commit()
    outer = (
        flow("outer")
        .then(guard("b", shout))
        .then(inner)
        .parallel([guard("c"), guard("d")])
        .map(lambda ctx: look_at(ctx, seen))
    )
    await Path(outer.commit()).texts("x", "y")
    assert seen == [("look", "X"), ("map", "x"), ("look", "Y"), ("map", "y")]


def look_at(ctx: Any, seen: list[tuple[str, str]]) -> Any:
    seen.append((ctx.step_id, ctx.run_input.chunk.text))
    return ctx.input["processor:c"]


async def test_the_runs_state_is_changed_when_a_step_has_succeeded_and_lives_on_from_chunk_to_chunk() -> None:
    seen: list[int] = []

    def count(ctx: Any) -> Any:
        seen.append(ctx.state.get("count", 0))
        ctx.set_state(count=ctx.state.get("count", 0) + 1)
        return ctx.input

    await Path(flow().then(made_step(count)).then(guard("a")).commit()).texts("x", "y", "z")
    assert seen == [0, 1, 2]


async def test_a_step_may_ask_what_another_function_gave_for_this_chunk() -> None:
    first = made_step(lambda ctx: ctx.input, id="first")
    seen: list[bool] = []

    def look(ctx: Any) -> Any:
        seen.append(ctx.output_of(first, default=None) is not None)
        return ctx.input

    block = flow().branch([(lambda ctx: ctx.input.chunk.text == "x", first)]).merge()
    await Path(block.then(made_step(look, id="look")).then(guard("a")).commit()).texts("x", "y")
    assert seen == [True, False]


@pytest.mark.parametrize("turns", [0, 1])
async def test_a_function_may_ask_what_processors_and_workflows_gave_for_this_chunk(turns: int) -> None:
    a, b, c = guard("a", star, turns=turns), guard("b", split, turns=turns), guard("c", drop)
    inner = flow("inner").then(guard("x", shout, turns=turns)).commit()
    seen: list[list[str] | None] = []

    def look(ctx: Any) -> Any:
        for step in (a, b, c, inner):
            given = ctx.output_of(step, default=None)
            seen.append(None if given is None else [chunk.text for chunk in given.out])
        return ctx.input["processor:b"]

    taken = flow("taken").branch([(lambda ctx: ctx.input.chunk.text == "xy", c)]).merge(with_=None).commit()
    whole = flow().then(a).then(inner).parallel([b, taken]).map(look)
    assert await Path(whole.commit()).texts("xy", "z") == ["*", "X", "Y", "*", "Z"]
    assert seen == [["*xy"], ["*", "X", "Y"], None, ["*XY"], ["*z"], ["*", "Z"], None, ["*Z"]]


async def test_what_was_not_asked_about_this_chunk_gave_nothing() -> None:
    a = guard("a", shout)
    seen: list[str | None] = []

    def look(ctx: Any) -> Any:
        given = ctx.output_of(a, default=None)
        seen.append(None if given is None else given.out[0].text)
        return ctx.input

    block = flow().branch([(lambda ctx: ctx.input.chunk.text == "x", a)]).merge().then(made_step(look, id="look"))
    await Path(block.commit()).texts("x", "y", "x")
    assert seen == ["X", None, "X"]


async def test_a_blocking_function_runs_in_a_worker_thread() -> None:
    threads: list[int] = []

    def blocks(ctx: Any) -> Any:
        threads.append(threading.get_ident())
        return ctx.input

    path = Path(flow().then(made_step(blocks, blocking=True)).then(guard("a")).commit())
    assert await path.feed(X) is X
    assert threads != [threading.get_ident()]


async def test_a_chunk_that_ends_a_workflow_early_is_what_the_client_gets() -> None:
    def ending(ctx: Any) -> Any:
        if ctx.run_input is not None and getattr(ctx.input, "chunk", None) == TextDelta("secret"):
            ctx.input.out = (TextDelta("[…]"),)
            ctx.bail(ctx.input)
        return ctx.input

    whole = flow().then(made_step(ending)).then(guard("a", shout)).commit()
    model = ScriptedModel([[TextDelta("a"), TextDelta("secret"), TextDelta("b")]])
    chunks, result = await chunks_and_result(Agent(model=model, output_processors=[whole]))
    assert result.text == "A[…]B"
    assert [chunk.text for chunk in chunks if isinstance(chunk, TextDelta)] == ["A", "[…]", "B"]


async def test_a_dropped_chunk_does_not_reach_a_function() -> None:
    log: list[str] = []

    def note(ctx: Any) -> Any:
        log.append("asked")
        return ctx.input

    assert await Path(flow().then(guard("a", drop)).then(made_step(note)).commit()).texts("x") == []
    assert log == []


async def test_a_bail_that_was_swallowed_and_then_cancelled_does_not_end_the_workflow_for_the_next_chunk() -> None:
    async def step(ctx: Any) -> Any:
        if ctx.input.chunk == TextDelta("first"):
            with contextlib.suppress(BaseException):
                ctx.bail(ctx.input)
            await anyio.sleep_forever()
        return ctx.input

    pair = [guard("a", turns=1), guard("b", shout, turns=1)]
    inner = flow("inner").then(made_step(step)).parallel(pair, concurrency=2).merge()
    path = Path(flow().parallel([inner.commit(), guard("quick", turns=5)], join="any").map(the_only).commit())
    with anyio.fail_after(5):
        assert await path.texts("first", "second") == ["first", "SECOND"]


def the_only(ctx: Any) -> Any:
    (only,) = ctx.input.values()
    return only


async def test_a_signal_that_a_function_made_by_hand_is_a_failure() -> None:
    def step(ctx: Any) -> Any:
        raise BailSignal(ctx)

    path = Path(flow().then(made_step(step)).then(guard("a")).commit())
    with pytest.raises(StepFailed, match="'flow/step' in phase 'output_stream' failed: BailSignal"):
        await path.feed(X)


@pytest.mark.parametrize("beside", [False, True])
async def test_only_what_waits_in_the_runs_own_task_is_said_to_wait_there(beside: bool) -> None:
    """Else a block's wait would be taken for a hook's."""
    seen: list[bool] = []
    paths: list[Path] = []

    async def look(ctx: Any) -> Any:
        await anyio.lowlevel.checkpoint()
        seen.append(paths[0].path.execution.waiting)
        return True

    async def same(ctx: Any) -> Any:
        await look(ctx)
        return the_first(ctx)

    shapes = [
        flow("in").branch([(look, guard("x"))]).merge(),
        flow("in").do_until(guard("x"), look),
        flow("in").parallel([guard("x"), guard("y")]).map(same),
    ]
    for inner in shapes:
        one = inner.commit()
        whole = flow().parallel([one, guard("z", turns=5)]).merge().commit() if beside else one
        paths[:] = [Path(whole)]
        await paths[0].feed(X)
        assert not paths[0].path.execution.waiting
    assert seen == [not beside] * 3


def the_first(ctx: Any) -> Any:
    return next(iter(ctx.input.values()))
