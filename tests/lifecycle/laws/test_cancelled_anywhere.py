"""Law: cancelled at any of its waits, a run lets the cancellation out, closes the model, ends tools, leaves no task.

A run is driven step by step by a coroutine that counts how often it waits, and cancels it just before the n-th wait;
this is done for every n until the run ends by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Generator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from interlock import Agent, AgentResult, Phase, StepContext, create_step, create_workflow, tool
from interlock.messages import Chunk
from interlock.models import LanguageModel, ModelRequest
from interlock.processors import InputContext
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Everywhere, Patient, aborting, flow, model_that_calls, picking

pytestmark = pytest.mark.anyio


class Counted(Awaitable[Any]):
    """Awaits a coroutine, and calls something before its n-th wait.

    Args:
        job: The coroutine.
        moment: Which wait, from 1.
        strike: What is called.

    Attributes:
        waits: How often it has waited.
    """

    def __init__(self, job: Coroutine[Any, Any, Any], moment: int, strike: Callable[[], object]) -> None:
        self.job = job
        self.moment = moment
        self.strike = strike
        self.waits = 0

    def __await__(self) -> Generator[Any, Any, Any]:
        send: Callable[[], Any] = lambda: self.job.send(None)  # noqa: E731
        while True:
            try:
                waited_for = send()
            except StopIteration as end:
                return end.value
            self.waits += 1
            if self.waits == self.moment:
                self.strike()
            try:
                value = yield waited_for
            except BaseException as error:
                thrown = error
                send = lambda: self.job.throw(thrown)  # noqa: E731, B023
            else:
                send = lambda: self.job.send(value)  # noqa: E731, B023


class ClosingModel(LanguageModel):
    """Counts how many of its streams are open; closing one takes two turns.

    A shield is what a model needs on trio, where a cancelled clean-up is cancelled at each of its waits.
    """

    provider = "closing"
    name = "model"

    def __init__(self, model: ScriptedModel) -> None:
        self.model = model
        self.open = 0

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncGenerator[AsyncIterator[Chunk]]:
        self.open += 1
        try:
            async with self.model.stream(request) as chunks:
                yield chunks
        finally:
            try:
                with anyio.CancelScope(shield=True):
                    await anyio.lowlevel.checkpoint()
                    await anyio.lowlevel.checkpoint()
            finally:
                self.open -= 1


class Case:
    """A run, and what it has open."""

    def __init__(self) -> None:
        self.open = 0
        self.model = ClosingModel(model_that_calls("slow", "slow", "quick"))

    def agent(self, **acts: Any) -> Agent:
        """An agent with tools and with guards of every kind at every point."""

        @tool
        async def slow() -> str:
            self.open += 1
            try:
                for _ in range(3):
                    await anyio.lowlevel.checkpoint()
            finally:
                try:
                    with anyio.CancelScope(shield=True):
                        await anyio.lowlevel.checkpoint()
                finally:
                    self.open -= 1
            return "slow"

        @tool
        def quick() -> str:
            return "quick"

        block = (
            flow()
            .parallel([self.guard("a"), Everywhere("b"), flow("inner").then(self.guard("c")).commit()])
            .map(picking("a"))
            .commit()
        )
        return Agent(
            model=self.model,
            tools=[slow, quick],
            input_processors=[block, self.guard("d")],
            output_processors=[block],
        )

    def guard(self, name: str) -> Patient:
        """A guard that notes while it is open."""

        async def act(ctx: Any) -> object:
            self.open += 1
            try:
                await anyio.lowlevel.checkpoint()
                await anyio.lowlevel.checkpoint()
            finally:
                self.open -= 1
            return getattr(ctx, "chunk", None)

        return Patient(name, dict.fromkeys(Phase, act), turns=0)


async def generates(case: Case) -> AgentResult:
    return await case.agent().generate("hello")


async def streams(case: Case) -> AgentResult:
    async with case.agent().stream("hello") as stream:
        async for _ in stream:
            await anyio.lowlevel.checkpoint()
        return await stream.result()


async def is_blocked(case: Case) -> AgentResult:
    """A run that a guard stops while tools and a sibling are running."""
    agent = case.agent()
    guard = Patient("guard", {Phase.TOOL_RESULT: aborting()})
    block = flow("blocking").parallel([guard, case.guard("sibling")]).merge().commit()
    return await agent.generate("hello", output_processors=[block])


async def runs_a_workflow(case: Case) -> object:
    block = flow().parallel([case.guard("a"), Everywhere("b"), case.guard("c")]).merge().then(case.guard("d")).commit()
    return await block.run(InputContext("hello"))


async def runs_a_typed_workflow(case: Case) -> object:
    async def waits(ctx: StepContext[Any]) -> object:
        return await case.guard("x").acts[Phase.INPUT](ctx)  # type: ignore[misc]

    inner = create_workflow(id="inner").then(create_step(waits, id="one")).then(create_step(waits, id="two")).commit()
    outer = create_workflow(id="outer").parallel([create_step(inner), create_step(waits, id="three")])
    return await outer.map(lambda ctx: ctx.input).then(create_step(waits, id="four")).commit().run(1)


RUNS: list[Callable[[Case], Coroutine[Any, Any, object]]] = [
    generates,
    streams,
    is_blocked,
    runs_a_workflow,
    runs_a_typed_workflow,
]


async def cancelled_at(job: Coroutine[Any, Any, object], moment: int) -> tuple[bool, int]:
    """Whether the cancellation came out, and how often the run waited."""
    scope = anyio.CancelScope()
    counted = Counted(job, moment, scope.cancel)
    with scope:
        await counted
    return scope.cancelled_caught, counted.waits


async def natively_cancelled_at(job: Coroutine[Any, Any, object], moment: int) -> tuple[bool, int]:
    """The same with ``task.cancel()``, once."""
    counted = Counted(job, moment, lambda: task.cancel())

    async def runs() -> None:
        await counted

    task = asyncio.create_task(runs())
    await asyncio.wait([task])
    if not task.cancelled():
        task.result()
    return task.cancelled(), counted.waits


async def at_every_wait(
    run: Callable[[Case], Coroutine[Any, Any, object]],
    cancel: Callable[[Coroutine[Any, Any, object], int], Awaitable[tuple[bool, int]]],
) -> int:
    """Cancel a run at its first wait, its second, and so on; give back how many there are."""
    for moment in range(1, 10_000):
        case = Case()
        with anyio.fail_after(5):
            came_out, waits = await cancel(run(case), moment)
        assert case.model.open == 0, f"the model was left open after wait {moment}"
        assert case.open == 0, f"something was left running after wait {moment}"
        if waits < moment:
            assert not came_out
            return waits
        # Leaving a task group waits once where nothing can be cancelled any more; then the run has ended.
        assert came_out or waits == moment, f"the cancellation at wait {moment} of {waits} was lost"
    raise AssertionError("it never ended")


@pytest.mark.parametrize("run", RUNS)
async def test_a_cancellation_at_any_wait_comes_out_and_nothing_is_left(
    run: Callable[[Case], Coroutine[Any, Any, object]],
) -> None:
    """That no task is left is seen by the fixture that every asynchronous test has."""
    assert await at_every_wait(run, cancelled_at) >= 3


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("run", RUNS)
async def test_so_does_one_that_asyncio_delivers_once(run: Callable[[Case], Coroutine[Any, Any, object]]) -> None:
    assert await at_every_wait(run, natively_cancelled_at) >= 3
