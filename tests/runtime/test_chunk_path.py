"""The path of a chunk: one chunk through the whole list before the next, the chunk itself where nobody changes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from interlock import Agent, MessageList, Processor, create_step
from interlock.errors import InvalidProcessorReturn, MergeConflict, StepFailed
from interlock.messages import Chunk, StepFinish, TextDelta
from interlock.processors import OutputStreamContext
from interlock.testing import ScriptedModel
from interlock.verdict import AbortSignal
from tests.lifecycle.acting import aborting, chunks_and_result, flow, picking
from tests.runtime.chunk_acting import Act, Entry, Path, drop, guard, redact, shout, split, star, twice

pytestmark = pytest.mark.anyio


def as_it_came(ctx: Any) -> Any:
    return ctx.input


def yes(ctx: Any) -> bool:
    return True


def no(ctx: Any) -> bool:
    return False


def last(outputs: Mapping[str, Any]) -> Any:
    return list(outputs.values())[-1]


UNTOUCHED: list[tuple[Entry, ...]] = [
    (guard("a"),),
    (guard("a"), guard("b"), guard("c")),
    (guard("a", turns=1), guard("b"), guard("c", turns=2)),
    (flow().parallel([guard("a"), guard("b")]).merge().commit(),),
    (flow().parallel([guard("a"), guard("b")]).map(picking("b")).commit(),),
    (flow().parallel([guard("a", turns=1), guard("b"), guard("c", turns=2)]).merge().commit(),),
    (flow().parallel([guard("a", turns=1), guard("b", turns=1)]).map(picking("a")).commit(),),
    (flow().then(flow("inner").then(guard("a")).then(guard("b", turns=1)).commit()).commit(), guard("c")),
    (flow().then(create_step(as_it_came, id="function")).then(guard("a")).commit(),),
    (guard("a", lambda ctx: [ctx.chunk]), guard("b")),
    (flow().branch([(yes, guard("a"))]).merge().commit(), guard("b")),
    (flow().branch([(no, guard("a"))]).merge().commit(), guard("b")),
    (flow().branch([(yes, guard("a")), (yes, guard("b", turns=1))], mode="all").merge().commit(),),
    (flow().dag({(one := guard("a")): [], guard("b", turns=1): [one]}).commit(),),
    (flow().do_until(guard("a", turns=1), yes).commit(),),
    (flow().sleep(0).then(guard("a")).sleep_until(0).commit(),),
    (flow().parallel([guard("a", turns=1), guard("b")], join="any", on_error="collect").merge().commit(),),
    (flow().parallel([guard("a"), guard("b", turns=1)], concurrency=1).merge(with_=last).commit(),),
    (flow().parallel([guard("a"), guard("b")]).sleep(0).map(picking("a")).commit(),),
]


@pytest.mark.parametrize("entries", UNTOUCHED)
async def test_a_chunk_that_nobody_changes_goes_on_as_the_same_object(entries: tuple[Entry, ...]) -> None:
    path = Path(*entries)
    for chunk in (TextDelta("hello"), StepFinish(), TextDelta("hello")):
        assert await path.feed(chunk) is chunk


def test_without_an_async_hook_nothing_is_awaited() -> None:
    """Not even a coroutine is made for a chunk."""
    for entries in (UNTOUCHED[number] for number in (1, 3, 4, 10, 11, 15, 18)):
        chunk = TextDelta("hello")
        assert Path(*entries).path.feed(chunk) is chunk


async def test_without_a_processor_that_looks_at_chunks_there_is_no_path_and_the_models_own_object_is_emitted() -> None:
    class OnlyInput(Processor):
        id = "only-input"

        def process_input(self, ctx: Any) -> None: ...

    mine = TextDelta("mine")
    agent = Agent(model=ScriptedModel([[mine]]), output_processors=[OnlyInput()])
    chunks, _ = await chunks_and_result(agent)
    assert any(chunk is mine for chunk in chunks)


async def test_the_models_own_object_reaches_the_client_through_a_guard_that_changes_nothing() -> None:
    mine = TextDelta("mine")
    agent = Agent(model=ScriptedModel([[mine]]), output_processors=[guard("a"), guard("b", turns=1)])
    chunks, _ = await chunks_and_result(agent)
    assert any(chunk is mine for chunk in chunks)


@pytest.mark.parametrize("turns", [0, 1])
async def test_the_next_processor_sees_what_the_one_before_made(turns: int) -> None:
    path = Path(guard("first", shout, turns=turns), guard("second", star), guard("third", star, turns=turns))
    assert await path.texts("hello", "you") == ["**HELLO", "**YOU"]


@pytest.mark.parametrize("turns", [0, 1])
async def test_a_dropped_chunk_reaches_nobody_behind(turns: int) -> None:
    log: list[str] = []
    path = Path(guard("first", drop, turns=turns), guard("second", log=log))
    assert await path.texts("hello") == []
    assert log == []


@pytest.mark.parametrize("turns", [(0, 0), (1, 0), (0, 1), (1, 1)])
async def test_each_of_several_chunks_takes_the_rest_of_the_list_by_itself(turns: tuple[int, int]) -> None:
    seen: list[str] = []

    def look(ctx: OutputStreamContext) -> Chunk:
        seen.append(getattr(ctx.chunk, "text", ""))
        return star(ctx)

    path = Path(guard("first", split, turns=turns[0]), guard("second", look, turns=turns[1]), guard("third", split))
    assert await path.texts("abc") == ["*", "a", "*", "b", "*", "c"]
    assert seen == ["a", "b", "c"]


async def test_several_chunks_go_through_a_block_one_by_one() -> None:
    block = flow().parallel([guard("a", shout), guard("b", turns=1)]).map(picking("a")).commit()
    assert await Path(guard("first", split), block).texts("abc") == ["A", "B", "C"]


@pytest.mark.parametrize("turns", [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1)])
async def test_what_goes_on_from_a_block_is_what_map_picked_whoever_was_last(turns: tuple[int, int]) -> None:
    for pick in ("a", "b"):
        block = (
            flow()
            .parallel([guard("a", shout, turns=turns[0]), guard("b", star, turns=turns[1])])
            .map(picking(pick))
            .commit()
        )
        assert await Path(block).texts("hello") == [{"a": "HELLO", "b": "*hello"}[pick]]


async def test_a_map_may_be_async_and_sees_what_came_in_and_what_goes_on() -> None:
    seen: list[tuple[str, object]] = []

    async def pick(ctx: Any) -> Any:
        await anyio.lowlevel.checkpoint()
        for key, branch in ctx.input.items():
            seen.append((key, (branch.chunk.text, [c.text for c in branch.out])))
        return ctx.input["processor:a"]

    block = flow().parallel([guard("a", split), guard("b")]).map(pick).commit()
    assert await Path(block).texts("xy") == ["x", "y"]
    assert seen == [("processor:a", ("xy", ["x", "y"])), ("processor:b", ("xy", ["xy"]))]


@pytest.mark.parametrize("turns", [(0, 0), (1, 0), (2, 1)])
async def test_a_merge_keeps_the_edits_of_all_branches(turns: tuple[int, int]) -> None:
    block = (
        flow()
        .parallel([guard("a", redact("one"), turns=turns[0]), guard("b", redact("two"), turns=turns[1]), guard("c")])
        .merge()
        .commit()
    )
    assert await Path(block).texts("one and two") == ["[X] and [X]"]


async def test_a_chunk_that_any_branch_dropped_is_dropped_by_merge() -> None:
    block = flow().parallel([guard("a", shout), guard("b", drop), guard("c")]).merge().commit()
    assert await Path(block).texts("hello") == []


async def test_branches_that_contradict_each_other_are_a_conflict_unless_one_is_preferred() -> None:
    def arms() -> list[Processor]:
        return [guard("a", lambda ctx: [ctx.chunk, ctx.chunk]), guard("b", lambda ctx: [ctx.chunk, StepFinish()])]

    with pytest.raises(MergeConflict, match=r"processor:a.*processor:b"):
        await Path(flow().parallel(arms()).merge().commit()).feed(TextDelta("x"))
    preferred = Path(flow().parallel(arms()).merge(prefer="processor:b").commit())
    assert await preferred.feed(TextDelta("x")) == (TextDelta("x"), StepFinish())


async def test_a_branch_of_several_steps_and_a_nested_block_work_like_any_branch() -> None:
    inner = flow("inner").parallel([guard("x", shout, turns=1), guard("y")]).merge().commit()
    chained = flow("chained").then(inner).then(guard("z", star)).commit()
    block = flow().parallel([chained, guard("w", turns=2)]).map(picking("chained")).commit()
    assert await Path(block, guard("last", star, turns=1)).texts("hello", "you") == ["**HELLO", "**YOU"]


async def test_a_function_step_may_drop_or_change_by_out() -> None:
    def no_spaces(ctx: Any) -> Any:
        ctx.input.out = tuple(c for c in ctx.input.out if c.text != " ")
        return ctx.input

    steps = flow().then(guard("first", split)).then(create_step(no_spaces)).commit()
    assert await Path(steps).texts("a b") == ["a", "b"]


@pytest.mark.parametrize("turns", [0, 1])
@pytest.mark.parametrize("back", ["text", 7, ["no chunk"], {}, object()])
async def test_what_is_no_chunk_is_refused_and_names_processor_phase_and_what_is_allowed(
    turns: int, back: object
) -> None:
    path = Path(guard("strange", lambda ctx: back, turns=turns))
    with pytest.raises(InvalidProcessorReturn, match=r"'strange' returned .*'output_stream'.*a sequence of chunks"):
        await path.feed(TextDelta("hello"))


def nothing(ctx: Any) -> Any:
    """A map that forgot to return."""


async def test_a_map_that_gives_back_no_context_is_refused() -> None:
    path = Path(flow().parallel([guard("a"), guard("b")]).map(nothing).commit())
    with pytest.raises(InvalidProcessorReturn, match="map"):
        await path.feed(TextDelta("hello"))


@pytest.mark.parametrize("turns", [0, 1])
async def test_an_exception_names_the_step_and_phase_and_nothing_goes_on(turns: int) -> None:
    def broken(ctx: OutputStreamContext) -> object:
        raise OSError("broken")

    log: list[str] = []
    path = Path(guard("a", broken, turns=turns), guard("behind", log=log))
    with pytest.raises(StepFailed, match=r"processor:a.*output_stream.*broken") as raised:
        await path.feed(TextDelta("hello"))
    assert isinstance(raised.value.cause, OSError)
    assert log == []


def the_first(ctx: Any) -> Any:
    return next(iter(ctx.input.values()))


PLACES: dict[str, Callable[[Processor], tuple[Entry, ...]]] = {
    "alone": lambda p: (p,),
    "behind": lambda p: (guard("before", turns=1), p),
    "first arm, others async": lambda p: (
        flow().parallel([p, guard("b", turns=3), guard("c", turns=2)]).merge().commit(),
    ),
    "last arm, others async": lambda p: (
        flow().parallel([guard("b", turns=3), guard("c", turns=3), p]).merge().commit(),
    ),
    "beside a def arm": lambda p: (flow().parallel([guard("b"), p]).merge().commit(),),
    "in a branch": lambda p: (flow().branch([(yes, p)]).merge().commit(),),
    "in one of several branches": lambda p: (
        flow().branch([(yes, guard("b", turns=3)), (yes, p)], mode="all").merge().commit(),
    ),
    "in a branch beside async": lambda p: (
        flow().parallel([guard("b", turns=2), flow("in").branch([(yes, p)]).merge().commit()]).merge().commit(),
    ),
    "in a graph": lambda p: (flow().dag({(one := guard("b", turns=1)): [], p: [one]}).commit(),),
    "in a graph beside async": lambda p: (
        flow().dag({p: [], (one := guard("b", turns=3)): [], guard("c"): [one]}).map(the_first).commit(),
    ),
    "in a loop": lambda p: (flow().do_until(p, yes).commit(),),
    "among several of which one is enough": lambda p: (
        flow().parallel([p, guard("b", turns=4)], join="any").merge().commit(),
    ),
    "where failures are collected": lambda p: (
        flow().parallel([guard("b", turns=3), p], on_error="collect").map(picking("b")).commit(),
    ),
    "waiting its turn": lambda p: (
        flow().parallel([guard("b", turns=1), guard("c", turns=1), p], concurrency=2).map(picking("b")).commit(),
    ),
    "nested beside async": lambda p: (
        flow()
        .parallel([flow("in").parallel([guard("x", turns=2), guard("y", turns=2)]).merge().commit(), p])
        .map(picking("in"))
        .commit(),
    ),
    "nested": lambda p: (
        flow()
        .parallel([flow("in").parallel([p, guard("x", turns=2)]).merge().commit(), guard("y", turns=2)])
        .map(picking("in"))
        .commit(),
    ),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("turns", [0, 1])
async def test_an_abort_stops_the_chunk_wherever_the_guard_stands(place: str, turns: int) -> None:
    log: list[str] = []
    path = Path(*PLACES[place](guard("guard", aborting(), turns=turns)), guard("behind", log=log))
    with pytest.raises(AbortSignal):
        await path.feed(TextDelta("hello"))
    assert path.facts.latch.tripwire is not None
    assert path.facts.latch.tripwire.processor_id == "guard"
    assert log == []


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("waits", [False, True])
async def test_a_swallowed_abort_stops_the_run_and_ends_the_hook_that_swallowed_it(place: str, waits: bool) -> None:
    ended: list[str] = []

    class Swallows(Processor):
        id = "guard"

        async def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
            try:
                ctx.abort("stop")
            except BaseException:
                if waits:
                    try:
                        await anyio.sleep_forever()
                    finally:
                        ended.append("ended")
            return ctx.chunk

    agent = Agent(model="embedded/echo", output_processors=PLACES[place](Swallows()))
    with anyio.fail_after(5):
        chunks, result = await chunks_and_result(agent)
    assert result.status == "tripwire"
    assert [chunk.type for chunk in chunks] == ["start", "tripwire"]
    assert ended == ["ended"] * waits


async def test_text_and_parts_are_this_steps_as_they_came_in() -> None:
    seen: list[tuple[str, int, int]] = []

    def look(ctx: OutputStreamContext) -> Chunk:
        seen.append((ctx.text, len(ctx.parts), ctx.step_number))
        return ctx.chunk

    path = Path(guard("first", drop), guard("behind"))
    path = Path(guard("first", shout), guard("second", look))
    for text in ("a", "b"):
        await path.feed(TextDelta(text))
    path.path.begin_step(1, MessageList())
    await path.feed(TextDelta("c"))
    assert seen == [("a", 1, 0), ("ab", 2, 0), ("c", 1, 1)]


async def test_parts_keep_the_last_256_chunks() -> None:
    kept: list[list[Chunk]] = []

    def look(ctx: OutputStreamContext) -> Chunk:
        kept[:] = [list(ctx.parts)]
        return ctx.chunk

    path = Path(guard("first", look))
    chunks = [TextDelta(str(n)) for n in range(300)]
    for chunk in chunks:
        await path.feed(chunk)
    assert kept == [chunks[-256:]]


@pytest.mark.parametrize(("first", "runs"), [(drop, 0), (star, 2), (twice, 4)])
@pytest.mark.parametrize("turns", [0, 1])
@pytest.mark.parametrize("shape", ["in the list", "in a block"])
async def test_a_guard_ran_as_often_as_chunks_came_to_it(first: Act, runs: int, turns: int, shape: str) -> None:
    behind = guard("behind", turns=turns)
    block = flow().parallel([behind, guard("other")]).map(picking("behind")).commit()
    path = Path(guard("first", first), behind if shape == "in the list" else block)
    await path.texts("a", "b")
    told = {check.processor_id: (check.runs, check.verdict) for check in path.checks()}
    assert told["behind"] == (runs, "passed" if runs else "not-checked")
    assert told["first"][0] == 2


async def test_a_guard_that_says_it_did_not_look_is_not_called_passed() -> None:
    def blind(ctx: OutputStreamContext) -> Chunk:
        ctx.not_checked("only pictures")
        return ctx.chunk

    path = Path(guard("blind", blind))
    await path.texts("a")
    (check,) = path.checks()
    assert (check.verdict, check.reason) == ("not-checked", "only pictures")


@pytest.mark.parametrize("keeps", [False, True])
async def test_a_processor_that_asks_for_it_is_shown_all_chunks_of_a_step(keeps: bool) -> None:
    class Counts(Processor):
        id = "counts"
        keep_parts = keeps
        seen = 0

        def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
            self.seen = len(ctx.parts)
            return ctx.chunk

    counts = Counts()
    path = Path(counts).path
    for step in (0, 1):
        path.begin_step(step, MessageList())
        for _ in range(300):
            path.feed(TextDelta("x"))
        assert counts.seen == (300 if keeps else 256)
