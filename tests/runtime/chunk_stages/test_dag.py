"""Graphs at the per-chunk point: a node looks at the chunk, at what another made of it, or at several outputs."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from interlock import create_step
from interlock.errors import StepFailed
from interlock.messages import TextDelta, ToolCall
from interlock.processors import OutputStreamContext
from interlock.steps import Step
from tests.lifecycle.acting import Everywhere
from tests.runtime.chunk_acting import Path, drop, flow, guard, shout, split, star, twice

pytestmark = pytest.mark.anyio

X = TextDelta("x")


def broken(ctx: OutputStreamContext) -> object:
    raise OSError("broken")


def joined(ctx: Any) -> Any:
    """Goes on with the chunks of all that is needed, one after the other."""
    contexts = list(ctx.input.values())
    contexts[0].out = tuple(chunk for context in contexts for chunk in context.out)
    return contexts[0]


@pytest.mark.parametrize("turns", [(0, 0, 0), (1, 0, 0), (0, 2, 1), (1, 1, 1)])
async def test_a_node_takes_the_chunk_or_the_one_output_or_the_outputs_it_needs(turns: tuple[int, int, int]) -> None:
    a, b, c = (guard(n, act, turns=t) for n, act, t in zip("abc", (shout, star, split), turns, strict=True))
    join: Step[Any, Any] = create_step(joined, id="join")
    graph = flow().dag({a: [], b: [a], c: [], join: [b, c]}).commit()
    assert await Path(graph, guard("last", star)).texts("xy", "z") == ["**XY", "*x", "*y", "**Z", "*z"]


@pytest.mark.parametrize("turns", [0, 1])
async def test_the_outputs_of_several_ends_are_keyed(turns: int) -> None:
    a, b, c = guard("a", shout, turns=turns), guard("b", star), guard("c", split, turns=turns)
    seen: list[dict[str, list[str]]] = []

    def look(ctx: Any) -> Any:
        seen.append({key: [chunk.text for chunk in context.out] for key, context in ctx.input.items()})
        return ctx.input["processor:c"]

    graph = flow().dag({a: [], b: [a], c: [a]}).map(look).commit()
    path = Path(graph)
    assert await path.texts("xy") == ["X", "Y"]
    assert seen == [{"processor:b": ["*XY"], "processor:c": ["X", "Y"]}]
    assert {check.processor_id: check.kept for check in path.checks()} == {"a": True, "b": False, "c": True}


async def test_a_node_starts_as_soon_as_what_it_needs_has_ended() -> None:
    """Beside one that never ends by itself, a chain of others goes on to its end."""
    gone_on = anyio.Event()

    class Waits(Everywhere):
        async def process_output_stream(self, ctx: OutputStreamContext) -> Any:
            await gone_on.wait()
            return ctx.chunk

    class Frees(Everywhere):
        async def process_output_stream(self, ctx: OutputStreamContext) -> Any:
            gone_on.set()
            return ctx.chunk

    slow, quick, behind = Waits("slow"), guard("quick", turns=1), Frees("behind")
    with anyio.fail_after(5):
        graph = flow().dag({slow: [], quick: [], behind: [quick]}).map(lambda ctx: ctx.input["processor:slow"]).commit()
        assert await Path(graph).feed(X) is X


async def test_several_nodes_that_one_makes_ready_run_at_once() -> None:
    met: list[anyio.Event] = [anyio.Event(), anyio.Event(), anyio.Event()]

    class Meets(Everywhere):
        async def process_output_stream(self, ctx: OutputStreamContext) -> Any:
            met[int(self.id)].set()
            for event in met:
                await event.wait()
            return ctx.chunk

    first, other = guard("first", turns=1), guard("other", turns=2)
    graph: dict[Any, list[Any]] = {first: [], other: [], **{Meets(str(n)): [first] for n in range(3)}}
    with anyio.fail_after(5):
        path = Path(flow().dag(graph).map(lambda ctx: ctx.input["processor:other"]).commit())
        assert await path.feed(X) is X


@pytest.mark.parametrize("turns", [0, 1])
async def test_what_needs_a_dropped_chunk_is_not_asked_and_what_needs_several_is_asked_for_each(turns: int) -> None:
    a, b = guard("a", drop, turns=turns), guard("b", turns=turns)
    c, d = guard("c", twice), guard("d", turns=turns)
    graph = flow().dag({a: [], b: [a], c: [], d: [c]}).map(lambda ctx: ctx.input["processor:d"]).commit()
    path = Path(graph)
    assert await path.texts("x", "y") == ["x", "x", "y", "y"]
    told = {check.processor_id: (check.runs, check.verdict) for check in path.checks()}
    assert told == {"a": (2, "changed"), "b": (0, "not-checked"), "c": (2, "changed"), "d": (4, "passed")}


@pytest.mark.parametrize("turns", [0, 1])
async def test_a_node_that_fails_stops_the_others_and_those_behind_are_not_asked(turns: int) -> None:
    log: list[str] = []
    a, b = guard("a", broken, turns=turns), guard("b", log=log)
    c, d = guard("c", turns=5), guard("d", log=log)
    path = Path(flow().dag({c: [], d: [c], a: [], b: [a]}).map(lambda ctx: ctx.input["processor:b"]).commit())
    with pytest.raises(StepFailed, match="processor:a"):
        await path.feed(X)
    assert log == []
    told = {check.processor_id: (check.verdict, check.reason) for check in path.checks()}
    assert told.pop("a") == ("not-checked", "failed: OSError")
    assert set(told.values()) == {("not-checked", "the run failed first")}


async def test_nodes_that_share_what_they_need_look_at_copies_of_it() -> None:
    def edits(ctx: OutputStreamContext) -> Any:
        if isinstance(ctx.chunk, ToolCall):
            assert ctx.chunk.args == {"path": "/here"}
            ctx.chunk.args["path"] = "/elsewhere"
        return ctx.chunk

    call = ToolCall("1", "read", {"path": "/here"})
    a, b, c, d = guard("a"), guard("b", edits), guard("c", edits), guard("d", edits)
    path = Path(flow().dag({d: [], a: [], b: [a], c: [a]}).map(lambda ctx: ctx.run_input).commit())
    assert await path.feed(call) == call
    assert call.args == {"path": "/here"}
