"""What a processor's own failure means: at every point, in every place, for every way to fail, what its policy says.

A hook may raise, return what the phase does not take, or take too long. ``fail`` fails the run, ``block`` stops it with
a tripwire, ``skip`` goes on as if the hook had not run. Nothing is swallowed: whatever happens is in the records.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, cast

import anyio
import pytest

from interlock import Agent, AgentResult, Phase, Processor, RetryPolicy, StepContext, Tripwire, create_step, step, tool
from interlock.errors import DefinitionError, InvalidProcessorReturn, ModelError, StepFailed
from interlock.messages import Chunk, TextDelta
from interlock.processors import InputContext, OutputStepContext, OutputStreamContext, TextGuard
from interlock.processors.compose import ProcessorLike
from interlock.testing import ScriptedModel
from interlock.verdict import Violation
from tests.lifecycle.acting import (
    Act,
    Everywhere,
    Patient,
    acting_at,
    chunks_and_result,
    flow,
    model_that_calls,
    picking,
)

pytestmark = pytest.mark.anyio

Policy = Literal["fail", "block", "skip"]
PHASES = list(Phase)


@tool
def track(parcel: str = "7") -> str:
    """Where a parcel is."""
    return f"parcel {parcel} is in Leipzig"


def raising(ctx: Any) -> object:
    raise ValueError("the text was 4111 1111")


def wrong(ctx: Any) -> object:
    return object()


async def too_long(ctx: Any) -> object:
    await anyio.sleep_forever()
    return None


async def too_long_and_stubborn(ctx: Any) -> object:
    with contextlib.suppress(BaseException):  # what a careless hook does
        await anyio.sleep_forever()
    return ctx.chunk if ctx.phase is Phase.OUTPUT_STREAM else None


FAILURES: dict[str, tuple[Act, str]] = {
    "raises": (raising, "ValueError"),
    "returns what the phase does not take": (wrong, "InvalidProcessorReturn"),
    "takes too long": (too_long, "TimeoutError"),
    "takes too long and swallows that": (too_long_and_stubborn, "TimeoutError"),
}

PLACES: dict[str, Callable[[Any], list[ProcessorLike]]] = {
    "list": lambda made: [made],
    "workflow": lambda made: [flow().then(made).commit()],
    "nested workflow": lambda made: [flow("outer").then(flow("inner").then(made).commit()).commit()],
    "branch": lambda made: [flow().parallel([made, Everywhere("other")]).merge().commit()],
}


def agent_around(entries: list[ProcessorLike], phase: Phase) -> Agent:
    failing = [ModelError("overloaded", status=529)]
    model = ScriptedModel(failing) if phase is Phase.API_ERROR else model_that_calls("track")
    return Agent(model=model, tools=[track], input_processors=entries, output_processors=entries)


async def outcome(agent: Agent, *, streamed: bool) -> AgentResult:
    if streamed:
        return (await chunks_and_result(agent))[1]
    try:
        return await agent.generate("hello")
    except Exception as error:
        result: AgentResult = vars(error)["result"]
        return result


@pytest.mark.parametrize("place", list(PLACES))
@pytest.mark.parametrize("failure", list(FAILURES))
@pytest.mark.parametrize("phase", PHASES)
async def test_what_happens_is_what_the_policy_says(phase: Phase, failure: str, place: str) -> None:
    act, name = FAILURES[failure]

    async def runs(policy: Policy, made: Any, *, streamed: bool) -> None:
        result = await outcome(agent_around(PLACES[place](made), phase), streamed=streamed)
        records = [c for c in result.checks if c.processor_id == "guard" and c.phase is phase]
        assert records
        if policy == "fail":
            assert result.status == "failed"
            cause = result.error.cause if isinstance(result.error, StepFailed) else result.error
            assert type(cause).__name__ == name
            assert records[-1].verdict == "not-checked"
        elif policy == "block":
            assert result.status == "tripwire"
            assert isinstance(result.tripwire, Tripwire)
            assert (result.tripwire.processor_id, result.tripwire.phase) == ("guard", phase)
            assert result.tripwire.metadata == {"failure": name}
            assert "could not decide" in result.tripwire.reason
            assert "4111" not in str(result.tripwire)
            assert records[-1].verdict == "blocked"
        else:
            assert result.status == ("failed" if phase is Phase.API_ERROR else "success")
            assert isinstance(result.error, ModelError | None)
            assert records[0].verdict == "not-checked"
            assert records[0].reason is not None
            assert "failed" in records[0].reason

    policies: tuple[Policy, ...] = ("fail", "block", "skip")
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:  # they wait for their time-outs at once
            for policy in policies:
                guard = acting_at(phase, act, waits="long" in failure)
                made = create_step(guard, on_failure=policy, timeout=0.01 if "long" in failure else None)
                for streamed in (False, True):
                    group.start_soon(partial(runs, policy, made, streamed=streamed))


async def test_skipped_in_the_stream_what_earlier_processors_made_goes_on() -> None:
    class Upper(Processor):
        id = "upper"

        def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
            chunk = ctx.chunk
            return chunk.replace(text=chunk.text.upper()) if isinstance(chunk, TextDelta) else chunk

    broken = create_step(Everywhere("broken", {Phase.OUTPUT_STREAM: raising}), on_failure="skip")
    agent = Agent(model=ScriptedModel([["a", "b"]]), output_processors=[Upper(), broken])
    assert (await agent.generate("hello")).text == "AB"


async def test_a_skipped_hook_leaves_none_of_its_changes() -> None:
    class Half(Processor):
        id = "half"

        def process_input(self, ctx: InputContext) -> None:
            ctx.messages[0].parts[0].text = "changed"  # type: ignore[union-attr]  # pyright: ignore[reportAttributeAccessIssue]
            raise ValueError("and then it broke")

    model = ScriptedModel(["well"])
    agent = Agent(model=model, input_processors=[create_step(Half(), on_failure="skip")])
    await agent.generate("hello")
    assert "changed" not in model.received(0)


async def test_a_guard_that_held_text_back_and_is_skipped_loses_none_of_it() -> None:
    class Breaking(TextGuard):
        id = "breaking"
        patterns = ("ab{1,9}c",)
        on_failure = "skip"

        def process_output_stream(self, ctx: OutputStreamContext) -> Any:
            if ctx.chunk == TextDelta("!"):
                raise ValueError("broken")
            return super().process_output_stream(ctx)

    agent = Agent(model=ScriptedModel([["x ab", "b", "!", " abc"]]), output_processors=[Breaking()])
    _, result = await chunks_and_result(agent)
    assert result.text == "x abb! [REDACTED]"


async def test_a_class_says_what_its_failure_means_and_a_step_may_say_otherwise() -> None:
    class Strict(Processor):
        id = "strict"
        on_failure = "block"

        def process_input(self, ctx: InputContext) -> None:
            raise ValueError("broken")

    assert (await Agent(model="embedded/echo", input_processors=[Strict()]).generate("hi")).status == "tripwire"
    relaxed = create_step(Strict(), on_failure="skip")
    assert (await Agent(model="embedded/echo", input_processors=[relaxed]).generate("hi")).status == "success"


async def test_a_retry_policy_is_tried_first_each_time_on_a_fresh_fork() -> None:
    seen: list[str] = []

    class Flaky(Processor):
        id = "flaky"

        def process_input(self, ctx: InputContext) -> None:
            seen.append(ctx.messages[0].text)
            ctx.messages[0].parts[0].text += "!"  # type: ignore[union-attr]  # pyright: ignore[reportAttributeAccessIssue]
            if len(seen) < 3:
                raise ValueError("not yet")

    made = create_step(Flaky(), retry=RetryPolicy(attempts=3), on_failure="block")
    model = ScriptedModel(["well"])
    assert (await Agent(model=model, input_processors=[made]).generate("hi")).status == "success"
    assert seen == ["hi", "hi", "hi"]
    assert "hi!" in model.received(0)
    assert "hi!!" not in model.received(0)


async def test_a_def_hook_that_overran_gets_its_policy_afterwards() -> None:
    class Slow(Processor):
        id = "slow"

        def process_input(self, ctx: InputContext) -> None:
            until = time.perf_counter() + 0.02
            while time.perf_counter() < until:
                pass

        def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
            until = time.perf_counter() + 0.02
            while time.perf_counter() < until:
                pass
            return ctx.chunk

    for lists in ("input_processors", "output_processors"):
        options: dict[str, Any] = {lists: [create_step(Slow(), timeout=0.01, on_failure="block")]}
        result = await Agent(model="embedded/echo", **options).generate("hi")
        assert result.status == "tripwire"
        assert result.tripwire is not None
        assert "took longer than 0.01 s" in result.tripwire.reason


@pytest.mark.parametrize("phase", [Phase.INPUT, Phase.OUTPUT_STREAM])
async def test_a_blocking_hook_runs_in_a_thread_and_is_left_alone_when_its_time_is_up(phase: Phase) -> None:
    import threading

    threads: list[str] = []
    release = threading.Event()

    def act(ctx: Any) -> object:
        threads.append(threading.current_thread().name)
        release.wait(10)
        return getattr(ctx, "chunk", None)

    made = create_step(Everywhere("guard", {phase: act}), blocking=True, timeout=0.02, on_failure="block")
    try:
        result = await agent_around([made], phase).generate("hi")
    finally:
        release.set()
    assert result.status == "tripwire"
    assert threads[0] != threading.main_thread().name


# Shadows


@pytest.mark.parametrize("place", list(PLACES))
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("kind", [Everywhere, Patient])
async def test_a_shadow_stops_nothing_and_says_what_it_would_have_stopped(
    phase: Phase, place: str, kind: type[Everywhere]
) -> None:
    def act(ctx: Any) -> None:
        ctx.abort("not here", retry=True)

    told: list[Violation] = []
    guard = kind("guard", {phase: act})
    guard.on_violation = told.append
    made = create_step(guard, shadow=True)
    for streamed in (False, True):
        result = await outcome(agent_around(PLACES[place](made), phase), streamed=streamed)
        assert result.status == ("failed" if phase is Phase.API_ERROR else "success")
        assert result.tripwire is None
        records = [c for c in result.checks if c.processor_id == "guard" and c.phase is phase]
        assert {c.verdict for c in records} == {"shadow-blocked"}
        assert records[0].reason == "would have blocked: not here"
        assert all(step_.finish_reason != "retry" for step_ in result.steps)
    assert told


async def test_a_shadow_changes_nothing_and_says_that_it_would_have() -> None:
    class Editing(TextGuard):
        id = "editing"
        patterns = ("a{1,3}",)

    made = create_step(Editing(), shadow=True)
    for entries in ([made], [flow().parallel([made, Everywhere("other")]).merge().commit()]):
        model = ScriptedModel([["b a", "a c"]])
        agent = Agent(model=model, input_processors=entries, output_processors=entries)
        chunks, result = await chunks_and_result(agent, "an a")
        assert result.text == "b aa c"
        assert "an a" in model.received(0)
        assert [c.text for c in chunks if isinstance(c, TextDelta)] == ["b a", "a c"]
        assert {c.verdict for c in result.checks if c.processor_id == "editing"} == {"shadow-changed"}


async def test_a_shadow_that_fails_is_recorded_and_stops_nothing() -> None:
    made = create_step(Everywhere("guard", dict.fromkeys(PHASES, raising)), shadow=True, on_failure="block")
    result = await agent_around([made], Phase.INPUT).generate("hi")
    assert result.status == "success"
    assert {c.verdict for c in result.checks} == {"not-checked"}


async def test_a_map_cannot_pick_what_a_shadow_made() -> None:
    class Editing(TextGuard):
        id = "editing"
        patterns = ("a{1,3}",)

    graph = flow().parallel([create_step(Editing(), shadow=True), Everywhere("other")]).map(picking("editing")).commit()
    model = ScriptedModel(["well"])
    await Agent(model=model, input_processors=[graph]).generate("an a")
    assert "an a" in model.received(0)


# Function steps


async def test_a_function_step_acts_at_the_points_it_is_made_for() -> None:
    seen: list[str] = []

    @step(phases={"input", Phase.OUTPUT_STEP})
    def look(ctx: StepContext[Any]) -> Any:
        seen.append(str(ctx.input.phase))
        return ctx.input

    graph = flow().then(look).then(Everywhere("other")).commit()
    agent = Agent(model=model_that_calls("track"), tools=[track], input_processors=[graph], output_processors=[graph])
    await agent.generate("hi")
    assert seen == ["input", "output_step", "output_step"]


# Mistakes


def test_options_that_mean_nothing_are_refused() -> None:
    def plain(ctx: StepContext[int]) -> int:
        return ctx.input

    with pytest.raises(DefinitionError, match="on_failure is for a processor"):
        create_step(plain, on_failure="skip")
    with pytest.raises(DefinitionError, match="shadow is for a processor"):
        create_step(flow().then(Everywhere("x")).commit(), shadow=True)
    with pytest.raises(DefinitionError, match="on_failure is one of fail, block, skip, not 'ignore'"):
        create_step(Everywhere("x"), on_failure=cast("Any", "ignore"))
    with pytest.raises(DefinitionError, match="blocking=True is for hooks that are not async; process_api_error, "):
        create_step(Patient("x"), blocking=True)
    with pytest.raises(DefinitionError, match="there is no phase 'inptu'; did you mean input"):
        create_step(plain, phases={"inptu"})
    with pytest.raises(DefinitionError, match="phases is for a function step"):
        create_step(Everywhere("x"), phases={"input"})

    class Wrong(Processor):
        id = "wrong"
        on_failure = "ignore"  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]

        def process_output_step(self, ctx: OutputStepContext) -> None:
            """Does nothing."""

    with pytest.raises(DefinitionError, match="on_failure is one of"):
        Agent(model="embedded/echo", output_processors=[Wrong()])


async def test_an_invalid_return_names_processor_and_phase() -> None:
    agent = Agent(model="embedded/echo", input_processors=[Everywhere("guard", {Phase.INPUT: wrong})])
    with pytest.raises(InvalidProcessorReturn, match="guard"):
        await agent.generate("hi")
