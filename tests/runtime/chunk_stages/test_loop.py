"""Loops at the per-chunk point: a chunk goes through the body again, as a condition says."""

from __future__ import annotations

from typing import Any

import anyio.lowlevel
import pytest

from interlock import create_step
from interlock.errors import RunError, StepFailed
from interlock.messages import Chunk, TextDelta
from interlock.processors import OutputStreamContext
from interlock.verdict import AbortSignal
from tests.lifecycle.acting import aborting
from tests.runtime.chunk_acting import Path, drop, flow, guard, star, text_of

pytestmark = pytest.mark.anyio

X = TextDelta("x")


def long(ctx: Any) -> bool:
    """Whether a chunk's text has three characters or more."""
    return len(ctx.input.chunk.text) >= 3


def short(ctx: Any) -> bool:
    return not long(ctx)


async def long_later(ctx: Any) -> bool:
    await anyio.lowlevel.checkpoint()
    return long(ctx)


def halves(ctx: OutputStreamContext) -> Any:
    """A text of two characters or more as two chunks."""
    chunk = ctx.chunk
    if not isinstance(chunk, TextDelta) or len(chunk.text) < 2:
        return chunk
    middle = len(chunk.text) // 2
    return [chunk.replace(text=chunk.text[:middle]), chunk.replace(text=chunk.text[middle:])]


@pytest.mark.parametrize("turns", [0, 1])
async def test_do_until_goes_round_until_the_condition_holds_and_do_while_as_long_as_it_does(turns: int) -> None:
    body = guard("body", star, turns=turns)
    for loop in (
        flow().do_until(body, long),
        flow().do_until(body, long_later),
        flow().do_while(body, short),
    ):
        path = Path(loop.commit(), guard("behind"))
        assert await path.texts("", "ab", "abcd") == ["***", "*ab", "*abcd"]
        assert {check.processor_id: check.runs for check in path.checks()} == {"body": 5, "behind": 3}


async def test_a_nested_workflow_can_be_the_body() -> None:
    body = flow("body").parallel([guard("a", star, turns=1), guard("b")]).merge().then(guard("c", star)).commit()
    assert await Path(flow().do_until(body, long).commit()).texts("", "abc") == ["****", "**abc"]


@pytest.mark.parametrize("turns", [0, 1])
async def test_a_dropped_chunk_is_out_of_the_loop_and_the_condition_is_not_asked(turns: int) -> None:
    asked: list[Chunk] = []

    def ask(ctx: Any) -> bool:
        asked.append(ctx.input.chunk)
        return False

    path = Path(flow().do_until(guard("body", drop, turns=turns), ask).commit(), guard("behind"))
    assert await path.texts("x") == []
    assert asked == []
    assert {check.processor_id: check.runs for check in path.checks()} == {"body": 1, "behind": 0}


@pytest.mark.parametrize("turns", [0, 1])
async def test_each_of_several_chunks_goes_round_by_itself_one_after_the_other(turns: int) -> None:
    order: list[str] = []

    def act(ctx: OutputStreamContext) -> Any:
        order.append(text_of(ctx.chunk))
        return halves(ctx)

    loop = flow().do_while(guard("body", act, turns=turns), lambda ctx: len(ctx.input.chunk.text) > 1).commit()
    assert await Path(loop, guard("behind", star)).texts("abcd", "ef") == ["*a", "*b", "*c", "*d", "*e", "*f"]
    assert order == ["abcd", "ab", "cd", "ef"]


@pytest.mark.parametrize("turns", [0, 1])
async def test_more_rounds_than_allowed_are_a_failure_that_names_the_loop(turns: int) -> None:
    body = guard("body", star, turns=turns)
    allowed = Path(flow().do_until(body, long, max_iterations=3).commit())
    assert await allowed.texts("") == ["***"]
    path = Path(flow().do_until(body, long, max_iterations=2).commit())
    with pytest.raises(RunError, match=r"'flow/do-until' went round 2 times.*max_iterations"):
        await path.feed(TextDelta(""))
    assert [check.runs for check in path.checks()] == [2]


async def test_functions_are_told_which_round_it_is_also_in_loops_within_loops() -> None:
    seen: list[tuple[int, str]] = []

    def note(ctx: Any) -> Any:
        seen.append((ctx.iteration, ctx.step_id))
        return ctx.input

    def second(ctx: Any) -> bool:
        seen.append((ctx.iteration, ctx.step_id))
        return bool(ctx.iteration == 2)

    inner = flow("inner").do_until(create_step(note, id="note"), second).commit()
    path = Path(flow().do_until(inner, second).then(guard("last")).commit())
    await path.feed(X)
    once = [(1, "note"), (1, "do-until"), (2, "note"), (2, "do-until")]
    assert seen == [*once, (1, "do-until"), *once, (2, "do-until")]


@pytest.mark.parametrize("turns", [0, 1])
async def test_a_condition_that_raises_names_the_loop_and_one_that_aborts_stops_the_run(turns: int) -> None:
    def broken(ctx: Any) -> bool:
        raise OSError("broken")

    path = Path(flow().do_while(guard("body", turns=turns), broken).commit())
    with pytest.raises(StepFailed, match=r"'flow/do-while' in phase 'output_stream' failed .*: OSError"):
        await path.feed(X)
    path = Path(flow().do_while(guard("body", turns=turns), lambda ctx: ctx.abort("no")).commit())
    with pytest.raises(AbortSignal):
        await path.feed(X)


@pytest.mark.parametrize("turns", [0, 1])
async def test_a_guard_in_a_loop_blocks_in_a_later_round(turns: int) -> None:
    def act(ctx: OutputStreamContext) -> Any:
        return star(ctx) if text_of(ctx.chunk) == "" else aborting()(ctx)

    path = Path(flow().do_until(guard("body", act, turns=turns), long).commit())
    with pytest.raises(AbortSignal):
        await path.feed(TextDelta(""))
    (check,) = path.checks()
    assert (check.verdict, check.runs) == ("blocked", 2)
