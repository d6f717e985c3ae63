"""Hooks that may take only so long: when their clock starts, and what counts when it has run out."""

from __future__ import annotations

import threading
import time
from typing import Any, Literal

import anyio
import anyio.lowlevel
import pytest
from anyio import to_thread

from interlock import Agent, Phase, Processor, create_step
from interlock.errors import StepFailed
from interlock.messages import Chunk
from interlock.processors import InputContext, OutputStreamContext
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import (
    Everywhere,
    Patient,
    chunks_and_result,
    flow,
)
from tests.lifecycle.failing import checks_of, texts_only

pytestmark = pytest.mark.anyio

OnFailure = Literal["fail", "block", "skip"]
POLICIES: tuple[OnFailure, ...] = ("fail", "block", "skip")


async def waits_for_ever(ctx: Any) -> object:
    await anyio.sleep(3600)
    return None


def keeps_busy(seconds: float) -> None:
    """Lets nobody else run meanwhile."""
    time.sleep(seconds)


class Slow(Processor):
    """A plain function that takes its time at two points."""

    id = "slow"

    def __init__(self, seconds: float = 0.05) -> None:
        super().__init__()
        self.seconds = seconds

    def process_input(self, ctx: InputContext) -> None:
        time.sleep(self.seconds)

    def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
        if ctx.chunk.type == "text-delta":
            time.sleep(self.seconds)
        return ctx.chunk


@pytest.mark.parametrize("blocking", [False, True])
@pytest.mark.parametrize("where", ["input", "output"])
async def test_a_def_hook_that_took_too_long_gets_its_policy(where: str, blocking: bool) -> None:
    step = create_step(Slow(), timeout=0.005, on_failure="block", blocking=blocking)
    lists: dict[str, Any] = {f"{where}_processors": [step]}
    result = await Agent(model=ScriptedModel(["fine"]), **lists).generate("hello")
    assert result.tripwire is not None
    assert result.tripwire.metadata == {"failure": "TimeoutError"}


@pytest.mark.parametrize("options", [{"on_failure": "skip"}, {"shadow": True}], ids=["skip", "shadow"])
async def test_the_time_that_one_took_which_was_passed_over_is_told(options: dict[str, Any]) -> None:
    class Waits(Processor):
        id = "waits"

        async def process_input(self, ctx: InputContext) -> None:
            await anyio.sleep_forever()

    step = create_step(Waits(), timeout=0.01, **options)
    result = await Agent(model="embedded/echo", input_processors=[step]).generate("hello")
    (record,) = [check for check in result.checks if check.processor_id == "waits"]
    assert record.failed
    assert record.duration >= 0.009


async def test_a_thread_that_was_left_alone_stops_nothing_any_more() -> None:
    go, ended = threading.Event(), threading.Event()

    class Late(Processor):
        id = "late"

        def process_input(self, ctx: InputContext) -> None:
            go.wait(10)
            try:
                ctx.abort("too late")
            finally:
                ended.set()

    class Waits(Processor):
        id = "waits"

        async def process_input(self, ctx: InputContext) -> None:
            go.set()
            await to_thread.run_sync(ended.wait, 10)

    late = create_step(Late(), timeout=0.05, on_failure="skip", blocking=True)
    result = await Agent(model=ScriptedModel(["fine"]), input_processors=[late, Waits()]).generate("hello")
    assert ended.is_set()
    assert result.tripwire is None
    assert result.text == "fine"


async def test_a_hook_that_never_waits_has_no_clock() -> None:
    class Busy(Processor):
        id = "busy"

        async def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
            if ctx.chunk.type == "text-delta":
                keeps_busy(0.02)
            return ctx.chunk

    step = create_step(Busy(), timeout=0.005)
    result = await Agent(model=ScriptedModel(["fine"]), output_processors=[step]).generate("hello")
    assert result.text == "fine"


@pytest.mark.parametrize("policy", POLICIES)
async def test_a_hook_may_have_scopes_and_tasks_of_its_own_around_its_first_wait(policy: OnFailure) -> None:
    class Scoped(Processor):
        id = "scoped"

        async def process_input(self, ctx: InputContext) -> None:
            with anyio.fail_after(60):
                await anyio.sleep(0.001)

        async def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
            async with anyio.create_task_group() as group:
                group.start_soon(anyio.sleep, 0.001)
                with anyio.fail_after(60):
                    await anyio.sleep(0.001)
            return ctx.chunk

    step = create_step(Scoped(), timeout=30, on_failure=policy)
    result = await Agent(model=ScriptedModel(["fine"]), input_processors=[step], output_processors=[step]).generate("x")
    assert result.text == "fine"
    assert {check.verdict for check in result.checks} == {"passed"}


async def test_a_hook_that_kept_the_loop_busy_past_its_time_is_late_although_nobody_could_interrupt_it() -> None:
    class Busy(Processor):
        id = "busy"

        async def process_input(self, ctx: InputContext) -> None:
            await anyio.lowlevel.checkpoint()
            keeps_busy(0.02)

        async def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
            await anyio.lowlevel.checkpoint()
            if ctx.chunk.type == "text-delta":
                keeps_busy(0.02)
            return ctx.chunk

    for where in ("input_processors", "output_processors"):
        lists: dict[str, Any] = {where: [create_step(Busy(), timeout=0.005)]}
        _, result = await chunks_and_result(Agent(model=ScriptedModel(["fine"]), **lists))
        assert isinstance(result.error, StepFailed)
        assert isinstance(result.error.cause, TimeoutError)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("where", ["input", "output"])
async def test_an_abort_recorded_in_time_beats_the_time_out(where: str, policy: OnFailure) -> None:
    async def aborts_and_waits(ctx: Any) -> None:
        try:
            ctx.abort("in time")
        finally:
            await anyio.sleep(3600)

    phase = Phase.INPUT if where == "input" else Phase.OUTPUT_STREAM
    guard = Patient("guard", {phase: texts_only(aborts_and_waits, phase)})
    lists: dict[str, Any] = {f"{where}_processors": [create_step(guard, timeout=0.01, on_failure=policy)]}
    result = await Agent(model=ScriptedModel(["fine"]), **lists).generate("hello")
    assert result.tripwire is not None
    assert result.tripwire.reason == "in time"


@pytest.mark.parametrize("where", ["input", "output"])
async def test_a_guard_that_is_stopped_because_its_sibling_blocked_has_not_failed(where: str) -> None:
    phase = Phase.INPUT if where == "input" else Phase.OUTPUT_STREAM
    stops = Patient("stops", {phase: texts_only(lambda ctx: ctx.abort("no"), phase)})
    waits = Patient("waits", {phase: texts_only(waits_for_ever, phase)})
    both = flow().parallel([create_step(waits, timeout=30, on_failure="block"), stops]).merge().commit()
    lists: dict[str, Any] = {f"{where}_processors": [both]}
    result = await Agent(model=ScriptedModel(["fine"]), **lists).generate("hello")
    assert result.tripwire is not None
    assert (result.tripwire.processor_id, result.tripwire.reason) == ("stops", "no")
    (check,) = checks_of(result, "waits", phase)
    assert (check.verdict, check.reason) == ("not-checked", "'stops' blocked first")


@pytest.mark.parametrize("options", [{"on_failure": "skip"}, {"shadow": True}, {"timeout": 30.0}, {"blocking": True}])
@pytest.mark.parametrize("where", ["input", "output"])
async def test_a_hook_that_was_never_begun_because_its_sibling_blocked_is_dropped_cleanly(
    where: str, options: dict[str, Any]
) -> None:
    """A coroutine that nobody awaits would be a warning, and warnings are errors."""
    phase = Phase.INPUT if where == "input" else Phase.OUTPUT_STREAM
    stops = Everywhere("stops", {phase: texts_only(lambda ctx: ctx.abort("no"), phase)})
    waits = (Everywhere if "blocking" in options else Patient)("waits")
    both = flow().parallel([create_step(waits, **options), stops]).merge().commit()
    lists: dict[str, Any] = {f"{where}_processors": [both]}
    result = await Agent(model=ScriptedModel(["fine"]), **lists).generate("hello")
    assert result.tripwire is not None
    assert result.tripwire.reason == "no"


async def test_stream_cancel_is_no_failure_of_the_hook_that_was_waiting() -> None:
    began = anyio.Event()

    async def begins_and_waits(ctx: Any) -> object:
        began.set()
        return await waits_for_ever(ctx)

    guard = Patient("guard", {Phase.INPUT: begins_and_waits})
    agent = Agent(model=ScriptedModel(["fine"]), input_processors=[create_step(guard, timeout=30, on_failure="block")])
    async with agent.stream("hello") as stream:

        async def cancels() -> None:
            await began.wait()
            stream.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(cancels)
            await stream.result()
        result = await stream.result()
    assert result.status == "canceled"
    assert result.tripwire is None
