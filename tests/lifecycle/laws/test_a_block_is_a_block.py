"""Law: after an abort no further hook, tool or model call begins, whatever was pending and however the hook then ended.

The log notes the beginning of every hook, every tool and every model call. What is in it when the abort was recorded is
all that is in it when the run has ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock import Agent, AgentResult, Phase, Processor, tool
from interlock.errors import ModelError
from interlock.models import ModelRequest
from interlock.processors.compose import ProcessorLike
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Act, Everywhere, Patient, flow, picking

Way = Callable[[Any], Awaitable[object]]


async def plainly(ctx: Any) -> None:
    ctx.abort("stop")


async def swallowing_everything(ctx: Any) -> object:
    with contextlib.suppress(BaseException):
        ctx.abort("stop")
    return back(ctx)


async def swallowing_and_waiting_on(ctx: Any) -> object:
    with contextlib.suppress(BaseException):
        ctx.abort("stop")
    await anyio.sleep_forever()
    return back(ctx)


async def returning_in_finally(ctx: Any) -> object:
    async with ReturnsTrue():
        ctx.abort("stop")
    return back(ctx)


async def failing_in_clean_up(ctx: Any) -> None:
    try:
        ctx.abort("stop")
    finally:
        await anyio.lowlevel.checkpoint()
        raise OSError("clean-up")


async def in_a_thread(ctx: Any) -> object:
    def aborts() -> None:
        with contextlib.suppress(BaseException):
            ctx.abort("stop")

    await anyio.to_thread.run_sync(aborts)
    return back(ctx)


async def in_a_task_group(ctx: Any) -> object:
    async with anyio.create_task_group() as group:
        group.start_soon(plainly, ctx)
        group.start_soon(anyio.sleep_forever)
    return back(ctx)


async def gathered_as_a_value(ctx: Any) -> object:
    await asyncio.gather(plainly(ctx), return_exceptions=True)
    return back(ctx)


async def waited_for_and_not_looked_at(ctx: Any) -> object:
    done, _ = await asyncio.wait([asyncio.ensure_future(swallowing_everything(ctx))])
    assert len(done) == 1
    return back(ctx)


def plainly_at_once(ctx: Any) -> None:
    ctx.abort("stop")


def swallowing_at_once(ctx: Any) -> object:
    with contextlib.suppress(BaseException):
        ctx.abort("stop")
    return back(ctx)


def failing_at_once(ctx: Any) -> None:
    try:
        ctx.abort("stop")
    finally:
        raise OSError("clean-up")


class ReturnsTrue:
    """A context manager that swallows whatever comes."""

    async def __aenter__(self) -> None: ...

    async def __aexit__(self, *_: object) -> bool:
        await anyio.lowlevel.checkpoint()
        return True


EVERYWHERE: list[Way] = [
    plainly,
    swallowing_everything,
    swallowing_and_waiting_on,
    returning_in_finally,
    failing_in_clean_up,
    in_a_task_group,
]
ONLY_ASYNCIO: list[Way] = [gathered_as_a_value, waited_for_and_not_looked_at]
AT_ONCE: list[Callable[[Any], object]] = [plainly_at_once, swallowing_at_once, failing_at_once]


def back(ctx: Any) -> object:
    """What a hook gives back that has nothing to say."""
    return ctx.chunk if ctx.phase is Phase.OUTPUT_STREAM else None


PLACES: dict[str, Callable[[Processor, list[Processor]], list[ProcessorLike]]] = {
    "in the list": lambda guard, others: [others[0], guard, others[1]],
    "first branch": lambda guard, others: [flow().parallel([guard, *others]).merge().commit()],
    "last branch": lambda guard, others: [flow().parallel([*others, guard]).merge().commit()],
    "nested": lambda guard, others: [
        flow("outer")
        .parallel([flow("inner").parallel([others[0], guard]).map(picking(others[0].id)).commit(), others[1]])
        .map(picking("inner"))
        .commit()
    ],
    "before a chain in a branch": lambda guard, others: [
        flow("outer").parallel([flow("arm").then(guard).then(others[0]).commit(), others[1]]).merge().commit()
    ],
}


class Run:
    """One run, with everything that begins in it noted.

    Args:
        phase: Where the guard aborts, in the first step (at the first text, in the stream).
        way: How.
        place: Where it stands among the two others.
        turns: How long each of the others takes; 0: it is a ``def``.
        guard_turns: How long it takes itself; None: it is a ``def``.
    """

    def __init__(
        self,
        phase: Phase,
        way: Callable[[Any], object],
        place: str,
        turns: tuple[int, int],
        guard_turns: int | None,
    ) -> None:
        self.phase = phase
        self.log: list[str] = []
        self.mark: int | None = None
        self.marked = threading.Event()
        others: list[Processor] = [
            Patient(name, log=self.log, turns=n) if n else Everywhere(name, log=self.log)
            for name, n in zip(("left", "right"), turns, strict=True)
        ]
        acts = {phase: self._act(way)}
        guard = (
            Everywhere("guard", acts, log=self.log)
            if guard_turns is None
            else Patient("guard", acts, log=self.log, turns=guard_turns)
        )
        self.model = ScriptedModel(self._answer)
        entries = PLACES[place](guard, others)
        self.agent = Agent(
            model=self.model,
            tools=[self._tool()],
            input_processors=entries,
            output_processors=entries,
            error_processors=entries,
        )

    def _answer(self, request: ModelRequest) -> Any:
        self.log.append("model")
        if self.phase is Phase.API_ERROR:
            return ModelError("gone")
        if any(message.role == "tool" for message in request.prompt):
            return "done"
        return ["text", *(ScriptedModel.tool_call("track", {"n": n}) for n in range(3))]

    def _tool(self) -> Any:
        @tool
        async def track(n: int) -> int:
            self.log.append(f"tool {n}")
            if n == 2 and self.phase is Phase.TOOL_RESULT:  # the first result is blocked
                await anyio.sleep_forever()
            return n

        return track

    def _marked(self) -> None:
        """Called by the latch, in whatever thread it trips, before it wakes anybody."""
        if self.mark is None:
            self.mark = len(self.log)
            self.marked.set()

    def _act(self, way: Callable[[Any], object]) -> Act:
        def act(ctx: Any) -> object:
            if ctx.phase is Phase.OUTPUT_STREAM and ctx.chunk.type != "text-delta":
                return ctx.chunk
            ctx._seat.run.latch._wakers.insert(0, self._marked)
            return way(ctx)

        return act

    async def result(self) -> AgentResult:
        with anyio.fail_after(4):
            return await self.agent.generate("hello")


def holds(run: Run, backend: str) -> None:
    """What the law says of a run."""
    result = anyio.run(run.result, backend=backend)
    assert result.status == "tripwire"
    assert result.tripwire is not None
    assert (result.tripwire.processor_id, result.tripwire.phase) == ("guard", run.phase)
    assert run.marked.wait(2)
    assert run.log[run.mark :] == []
    assert run.model.closed == (1 if run.phase is Phase.OUTPUT_STREAM else 0)


TURNS = st.tuples(st.integers(0, 3), st.integers(0, 3))
A_PHASE = settings(max_examples=settings().max_examples // 4)
"""So many examples for each of the ten phases."""


@pytest.mark.parametrize("phase", Phase)
@A_PHASE
@given(
    way=st.sampled_from(EVERYWHERE),
    place=st.sampled_from(list(PLACES)),
    turns=TURNS,
    guard_turns=st.integers(0, 2),
    backend=st.sampled_from(["asyncio", "trio"]),
)
def test_nothing_begins_after_an_abort(
    phase: Phase, way: Way, place: str, turns: tuple[int, int], guard_turns: int, backend: str
) -> None:
    holds(Run(phase, way, place, turns, guard_turns), backend)


@pytest.mark.parametrize("phase", Phase)
@A_PHASE
@given(
    way=st.sampled_from(AT_ONCE),
    place=st.sampled_from(list(PLACES)),
    turns=TURNS,
    backend=st.sampled_from(["asyncio", "trio"]),
)
def test_nothing_begins_after_an_abort_in_a_def_hook(
    phase: Phase, way: Callable[[Any], object], place: str, turns: tuple[int, int], backend: str
) -> None:
    holds(Run(phase, way, place, turns, None), backend)


@pytest.mark.parametrize("phase", Phase)
@A_PHASE
@given(
    way=st.sampled_from(ONLY_ASYNCIO),
    place=st.sampled_from(list(PLACES)),
    turns=TURNS,
    guard_turns=st.integers(0, 2),
)
def test_nothing_begins_after_an_abort_that_asyncio_alone_can_lose(
    phase: Phase, way: Way, place: str, turns: tuple[int, int], guard_turns: int
) -> None:
    holds(Run(phase, way, place, turns, guard_turns), "asyncio")


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("phase", Phase)
def test_nothing_begins_after_an_abort_in_a_thread(phase: Phase, place: str, backend: str) -> None:
    """But what had begun a turn before may go on to its next wait: a thread does not stop the loop."""
    holds(Run(phase, in_a_thread, place, (0, 0), 0), backend)
