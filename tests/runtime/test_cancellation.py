"""What looks like a cancellation: a ``GeneratorExit`` that is raised is a failure, and of what is closed its end.

So is a group with a cancellation that nobody asked for a failure.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Literal

import anyio.lowlevel
import pytest

from interlock import Agent, Failed, Phase, StepContext, create_step, create_workflow, tool
from interlock.errors import ModelError
from interlock.messages import ToolInvocationPart
from interlock.processors import InputContext
from interlock.runtime.cancellation import cancelled_itself, interrupts
from interlock.steps import RetryPolicy
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Act, Everywhere, Patient, flow

pytestmark = pytest.mark.anyio


def at_once(ctx: Any) -> object:
    raise GeneratorExit


async def when_awaited(ctx: Any) -> object:
    raise GeneratorExit


async def later(ctx: Any) -> object:
    await anyio.lowlevel.checkpoint()
    raise GeneratorExit


POLICIES: tuple[tuple[Literal["block", "skip"], str], ...] = (("block", "tripwire"), ("skip", "success"))
RAISING: list[tuple[type[Everywhere], Act]] = [(Everywhere, at_once), (Patient, when_awaited), (Patient, later)]


@tool
def look() -> str:
    """Look."""
    return "seen"


async def assert_a_failure(phase: Phase, kind: type[Everywhere], act: Act) -> None:
    """What a hook does at a point is its failure: its policy says what that means."""
    for on_failure, status in POLICIES:
        guard = create_step(kind("guard", {phase: act}), on_failure=on_failure)
        call: Any = ModelError("down") if phase is Phase.API_ERROR else ScriptedModel.tool_call("look", {})
        agent = Agent(
            model=ScriptedModel([call, "done"]), tools=[look], input_processors=[guard], output_processors=[guard]
        )
        async with agent.stream("hello") as stream:
            ended = (await stream.result()).status
        assert ended == ("failed" if status == "success" and phase is Phase.API_ERROR else status)


@pytest.mark.parametrize(("kind", "act"), RAISING)
@pytest.mark.parametrize("phase", list(Phase))
async def test_raised_by_a_hook_it_is_a_failure_like_any_other(phase: Phase, kind: type[Everywhere], act: Act) -> None:
    await assert_a_failure(phase, kind, act)


@pytest.mark.parametrize("act", [at_once, when_awaited, later])
async def test_so_it_is_of_a_step(act: Any) -> None:
    one = create_step(act, id="one")
    workflow = create_workflow(id="w", input_schema=str).parallel([one]).commit()
    outcome = await workflow.run("hello")
    assert isinstance(outcome, Failed)
    assert "step 'one' failed: GeneratorExit" in str(outcome.error)


async def test_so_it_is_of_a_tool() -> None:
    @tool
    async def leaves() -> str:
        raise GeneratorExit

    model = ScriptedModel([ScriptedModel.tool_call("leaves", {}), "done"])
    result = await Agent(model=model, tools=[leaves]).generate("hello")
    assert (result.status, result.text) == ("success", "done")
    (part,) = [p for m in result.messages for p in m.parts if isinstance(p, ToolInvocationPart)]
    assert part.error is not None
    assert "GeneratorExit" in part.error


def closing(log: list[str]) -> list[Coroutine[Any, Any, object]]:
    """Runs with something that waits, of which a failure would be skipped; and something behind it."""

    async def waits(ctx: Any) -> None:
        try:
            for _ in range(3):
                await anyio.lowlevel.checkpoint()
        except GeneratorExit:
            log.append("closed")
            raise

    def notes(ctx: Any) -> None:
        log.append("behind")

    async def step_waits(ctx: StepContext[Any]) -> object:
        await waits(ctx)
        return ctx.input

    guarded = create_step(Patient("a", {Phase.INPUT: waits}, turns=0), on_failure="skip", timeout=60)
    last = Everywhere("last", {Phase.INPUT: notes})
    waiting = create_step(step_waits, id="one", retry=RetryPolicy(attempts=2))
    steps = create_workflow(id="w", input_schema=str, on_finish=lambda outcome: log.append(outcome.status))
    return [
        flow().then(guarded).then(last).commit().run(InputContext("hello")),
        steps.then(waiting).then(create_step(notes, id="last")).commit().run("hello"),
    ]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("which", [0, 1])
async def test_a_run_whose_coroutine_is_closed_ends_where_it_waits(which: int) -> None:
    log: list[str] = []
    jobs = closing(log)
    jobs[1 - which].close()
    job = jobs[which]
    job.send(None)
    job.send(None)
    job.close()
    assert log == ["closed"]


def test_one_that_nobody_has_raised_yet_interrupts() -> None:
    assert interrupts(GeneratorExit())


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("phase", list(Phase))
async def test_a_group_with_a_cancellation_that_nobody_asked_for_is_a_failure(phase: Phase) -> None:
    def act(ctx: Any) -> object:
        raise BaseExceptionGroup("several", [ValueError("one"), asyncio.CancelledError()])

    await assert_a_failure(phase, Everywhere, act)


def test_a_group_with_ctrl_c_in_it_is_no_failure_of_its_own() -> None:
    async def main() -> bool:
        return cancelled_itself(BaseExceptionGroup("both", [asyncio.CancelledError(), KeyboardInterrupt()]))

    assert not asyncio.run(main())
