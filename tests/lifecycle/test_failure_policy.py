"""What a hook's own failure means: at every point, in every place and however it fails, exactly what was said."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, Literal, cast

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlock import Agent, AgentResult, Phase, Processor, StepContext, create_step
from interlock.errors import DefinitionError, InvalidProcessorReturn, StepFailed
from interlock.messages import Chunk, ErrorChunk, MessageList, TextDelta, TextPart, ToolCall
from interlock.processors import InputContext, OutputStreamContext, ToolCallContext
from interlock.steps import RetryPolicy
from interlock.testing import ScriptedModel
from interlock.verdict import Violation
from tests.lifecycle.acting import (
    Act,
    Everywhere,
    Patient,
    acting_at,
    chunks_and_result,
    flow,
    kinds,
)
from tests.lifecycle.failing import PLACES, Place, Shouting, agent_with, checks_of, placed, texts_only

pytestmark = pytest.mark.anyio

OnFailure = Literal["fail", "block", "skip"]
Fault = Literal["raises", "wrong return", "late", "late and stubborn"]

POLICIES: tuple[OnFailure, ...] = ("fail", "block", "skip")
FAULTS: tuple[Fault, ...] = ("raises", "wrong return", "late", "late and stubborn")
SECRET = "what the exception quotes"


def raises(ctx: Any) -> object:
    raise KeyError(SECRET)


def gives_what_no_phase_takes(ctx: Any) -> object:
    return 4711


async def waits_for_ever(ctx: Any) -> object:
    await anyio.sleep(3600)
    return None


async def swallows_its_interruption(ctx: Any) -> object:
    with contextlib.suppress(BaseException):  # what a careless guard does
        await anyio.sleep(3600)
    return ctx.chunk if ctx.phase is Phase.OUTPUT_STREAM else None


FAILS: dict[Fault, Act] = {
    "raises": raises,
    "wrong return": gives_what_no_phase_takes,
    "late": waits_for_ever,
    "late and stubborn": swallows_its_interruption,
}
NAMES: dict[Fault, str] = {
    "raises": "KeyError",
    "wrong return": "InvalidProcessorReturn",
    "late": "TimeoutError",
    "late and stubborn": "TimeoutError",
}


async def generated(agent: Agent) -> AgentResult:
    """The result of ``generate``, also where that raises."""
    try:
        return await agent.generate("hello")
    except Exception as error:
        result: Any = vars(error)["result"]
        if not isinstance(result, AgentResult) or result.error is not error:
            raise
        return result


@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
@pytest.mark.parametrize("phase", Phase)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    policy=st.sampled_from(POLICIES),
    fault=st.sampled_from(FAULTS),
    place=st.sampled_from(PLACES),
    patient=st.booleans(),
    streamed=st.booleans(),
)
async def test_law_no_failure_is_swallowed(
    phase: Phase, policy: OnFailure, fault: Fault, place: Place, patient: bool, streamed: bool
) -> None:
    told: list[Violation] = []
    guard = acting_at(phase, texts_only(FAILS[fault], phase), waits=patient or fault.startswith("late"))
    guard.on_violation = told.append
    entry = placed(guard, place, on_failure=policy, timeout=0.005 if fault.startswith("late") else 30.0)
    agent = agent_with(phase, entry)
    chunks: list[Chunk] = []
    if streamed:
        chunks, result = await chunks_and_result(agent)
    else:
        result = await generated(agent)
    checks = checks_of(result, "guard", phase)
    assert checks, "it was asked, and nothing tells of it"
    if policy == "fail":
        assert result.status == "failed"
        assert result.tripwire is None
        if fault == "wrong return":
            assert isinstance(result.error, InvalidProcessorReturn)
        else:
            assert isinstance(result.error, StepFailed)
            assert type(result.error.cause).__name__ == NAMES[fault]
        assert checks[-1].verdict == "not-checked"
        assert not told
    elif policy == "block":
        assert result.status == "tripwire"
        tripwire = result.tripwire
        assert tripwire is not None
        assert (tripwire.processor_id, tripwire.phase, tripwire.retry) == ("guard", phase, False)
        assert "'guard' could not decide" in tripwire.reason
        assert tripwire.metadata == {"failure": NAMES[fault]}
        assert SECRET not in tripwire.reason
        assert "4711" not in tripwire.reason
        assert (checks[-1].verdict, checks[-1].metadata) == ("blocked", {"failure": NAMES[fault]})
        assert [(one.processor_id, one.phase) for one in told] == [("guard", phase)]
        assert result.error is None
    else:
        expected = "failed" if phase is Phase.API_ERROR else "success"  # nobody recovers from the model's error
        assert result.status == expected
        assert {check.verdict for check in checks} == {"not-checked"}
        assert all(check.reason and SECRET not in check.reason for check in checks)
        assert not told
        if expected == "success":
            assert result.text.endswith("It is done.")
    if streamed:
        last = {"fail": "error", "block": "tripwire", "skip": "error" if phase is Phase.API_ERROR else "finish"}
        assert kinds(chunks)[-1] == last[policy]
        emitted = [chunk for chunk in chunks if isinstance(chunk, TextDelta)]
        if phase is Phase.OUTPUT_STREAM and policy != "skip":
            assert not emitted, "the original chunk left because a guard crashed"
        assert not any(isinstance(chunk, ErrorChunk) for chunk in chunks) or last[policy] == "error"


def edits_then_raises(ctx: Any) -> object:
    if ctx.phase is Phase.OUTPUT_STREAM:
        if ctx.chunk.type == "text-delta":
            raise ValueError("no")
        return ctx.chunk
    for message in ctx.messages:
        for part in message.parts:
            if isinstance(part, TextPart):
                part.text = "half done"
    raise ValueError("no")


async def test_what_earlier_processors_made_goes_on_where_a_hook_is_skipped_and_nothing_that_it_had_begun() -> None:
    guard = Everywhere("guard", {Phase.INPUT: edits_then_raises, Phase.OUTPUT_STREAM: edits_then_raises})
    step = create_step(guard, on_failure="skip")
    model = ScriptedModel([["one ", "two"]])
    agent = Agent(model=model, input_processors=[Shouting(), step], output_processors=[Shouting(), step])
    chunks, result = await chunks_and_result(agent, "hello there")
    assert [chunk.text for chunk in chunks if isinstance(chunk, TextDelta)] == ["ONE ", "TWO"]
    assert result.text == "ONE TWO"
    assert "HELLO THERE" in model.received(0)
    assert "half done" not in model.received(0)


class Meddling(Processor):
    """Changes the arguments of a call in place, and then does what it was told to."""

    id = "meddling"

    def __init__(self, then: Callable[[Any], None] = lambda _: None) -> None:
        super().__init__()
        self.then = then

    def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
        if isinstance(ctx.chunk, ToolCall):
            ctx.chunk.args["n"] = 666
            self.then(ctx)
        return ctx.chunk

    def process_tool_call(self, ctx: ToolCallContext) -> None:
        ctx.args["n"] = 666
        self.then(ctx)


def does_nothing(ctx: Any) -> None:
    """The change alone."""


def fails_now(ctx: Any) -> None:
    raise ValueError("no")


def aborts_now(ctx: Any) -> None:
    ctx.abort("no 666")


@pytest.mark.parametrize(
    ("then", "options", "verdict"),
    [
        (fails_now, {"on_failure": "skip"}, "not-checked"),
        (aborts_now, {"shadow": True}, "shadow-blocked"),
        (does_nothing, {"shadow": True}, "shadow-changed"),
    ],
)
async def test_arguments_changed_in_place_are_those_of_the_hooks_own_fork(
    then: Callable[[Any], None], options: dict[str, Any], verdict: str
) -> None:
    seen: list[int] = []

    def track(n: int = 0) -> str:
        """Where a parcel is."""
        seen.append(n)
        return "in Leipzig"

    model = ScriptedModel([[ScriptedModel.tool_call("track", {"n": 1})], "Done."])
    step = create_step(Meddling(then), **options)
    result = await Agent(model=model, tools=[track], output_processors=[step]).generate("hello")
    assert seen == [1]
    for phase in (Phase.OUTPUT_STREAM, Phase.TOOL_CALL):
        assert [check.verdict for check in checks_of(result, "meddling", phase)] == [verdict]


# Retry policies


@pytest.mark.parametrize("patient", [False, True])
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("where", ["input", "output"])
async def test_a_retry_policy_is_tried_first_and_each_attempt_has_a_fork_of_its_own(
    where: str, policy: OnFailure, patient: bool
) -> None:
    phase = Phase.INPUT if where == "input" else Phase.OUTPUT_STREAM
    texts: list[str] = []

    def fails_once(ctx: Any) -> object:
        if where == "input":
            part: Any = ctx.messages[0].parts[0]
            texts.append(part.text)
            part.text += "!"
        else:
            texts.append(ctx.chunk.text)
        if len(texts) == 1:
            raise ValueError("not yet")
        return None if where == "input" else ctx.chunk.replace(text=ctx.chunk.text + "!")

    guard = (Patient if patient else Everywhere)("guard", {phase: texts_only(fails_once, phase)})
    model = ScriptedModel(["fine"])
    step = create_step(guard, retry=RetryPolicy(attempts=2, delay=0), on_failure=policy)
    lists: dict[str, Any] = {f"{where}_processors": [step]}
    result = await Agent(model=model, **lists).generate("hello")
    assert texts == (["hello", "hello"] if where == "input" else ["fine", "fine"])
    assert result.text == ("fine" if where == "input" else "fine!")
    (check,) = checks_of(result, "guard", phase)
    assert check.verdict == "changed"


@pytest.mark.parametrize("where", ["input", "output"])
async def test_a_hook_that_fails_in_every_attempt_gets_its_policy(where: str) -> None:
    phase = Phase.INPUT if where == "input" else Phase.OUTPUT_STREAM
    guard = Everywhere("guard", {phase: texts_only(raises, phase)})
    step = create_step(guard, retry=RetryPolicy(attempts=3, delay=0), on_failure="block")
    lists: dict[str, Any] = {f"{where}_processors": [step]}
    result = await Agent(model=ScriptedModel(["fine"]), **lists).generate("hello")
    assert result.tripwire is not None
    assert result.tripwire.metadata == {"failure": "KeyError"}
    assert guard.log.count(f"guard:{phase}") >= 3


# Records


@pytest.mark.parametrize(
    ("acts", "verdict"),
    [
        (["pass", "warn", "change"], "warned"),
        (["change", "not"], "not-checked"),
        (["not", "warn"], "not-checked"),
        (["pass", "change"], "changed"),
        (["pass", "pass"], "passed"),
    ],
)
async def test_per_chunk_records_are_one_in_which_the_gravest_counts(acts: list[str], verdict: str) -> None:
    left = list(acts)

    def act(ctx: Any) -> object:
        match left.pop(0):
            case "warn":
                ctx.warn("odd")
            case "not":
                ctx.not_checked("no text")
            case "change":
                return ctx.chunk.replace(text="x")
            case _:
                pass
        return ctx.chunk

    guard = Everywhere("guard", {Phase.OUTPUT_STREAM: texts_only(act, Phase.OUTPUT_STREAM)})
    agent = Agent(model=ScriptedModel([["a"] * len(acts)]), output_processors=[guard])
    result = await agent.generate("hello")
    (check,) = checks_of(result, "guard", Phase.OUTPUT_STREAM)
    assert check.verdict == verdict


@pytest.mark.parametrize("where", ["input", "output"])
async def test_a_record_says_what_was_looked_at_however_the_hook_ended(where: str) -> None:
    phase = Phase.INPUT if where == "input" else Phase.OUTPUT_STREAM

    def stops(ctx: Any) -> object:
        ctx.looked_at("user", "text")
        return ctx.abort("no")

    def passes(ctx: Any) -> object:
        ctx.looked_at("user", "text")
        return ctx.chunk if where == "output" else None

    for act in (stops, passes):
        guard = Everywhere("guard", {phase: texts_only(act, phase)})
        lists: dict[str, Any] = {f"{where}_processors": [guard]}
        result = await Agent(model=ScriptedModel(["fine"]), **lists).generate("hello")
        (check,) = checks_of(result, "guard", phase)
        assert check.looked_at == {("user", "text")}


# Where options come from, and where they mean nothing


async def test_a_class_says_how_it_is_run_and_a_step_made_of_it_may_say_otherwise() -> None:
    class Strict(Processor):
        id = "strict"
        on_failure = "block"
        timeout = 0.005

        async def process_input(self, ctx: InputContext) -> None:
            await anyio.sleep(3600)

    result = await Agent(model=ScriptedModel(["fine"]), input_processors=[Strict()]).generate("hello")
    assert result.tripwire is not None
    assert result.tripwire.metadata == {"failure": "TimeoutError"}
    lenient = create_step(Strict(), on_failure="skip")
    result = await Agent(model=ScriptedModel(["fine"]), input_processors=[lenient]).generate("hello")
    assert result.text == "fine"


def echo(ctx: StepContext[Any]) -> Any:
    return ctx.input


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: create_step(echo, on_failure="skip"), "on_failure"),
        (lambda: create_step(echo, shadow=True), "shadow"),
        (lambda: create_step(flow().then(Shouting()).commit(), on_failure="skip"), "on_failure"),
        (lambda: create_step(flow().then(Shouting()).commit(), shadow=True), "shadow"),
        (lambda: create_step(Patient(), blocking=True), "blocking"),
        (lambda: create_step(Shouting(), on_failure=cast("Any", "ignore")), "on_failure"),
        (lambda: create_step(Shouting(), timeout=0), "timeout"),
        (lambda: create_step(Shouting(), phases={"input"}), "phases"),
        (lambda: create_step(echo, phases={"output_steam"}), "did you mean output_stream"),
        (lambda: create_step(echo, phases=()), "phases"),
    ],
)
def test_an_option_is_refused_where_it_means_nothing(make: Callable[[], object], message: str) -> None:
    with pytest.raises(DefinitionError, match=message):
        make()


def test_a_class_whose_own_options_are_wrong_is_refused_with_the_list() -> None:
    class Wrong(Processor):
        id = "wrong"
        on_failure: Any = "ignore"
        timeout: Any = -1

        def process_input(self, ctx: InputContext) -> None: ...

    with pytest.raises(DefinitionError, match="on_failure") as raised:
        Agent(model=ScriptedModel(["fine"]), input_processors=[Wrong()])
    assert "timeout" in str(raised.value)


async def test_a_function_step_acts_at_the_phases_that_it_names_and_vanishes_at_the_others() -> None:
    seen: list[Phase] = []

    def notes(ctx: StepContext[Any]) -> Any:
        seen.append(ctx.input.phase)
        return ctx.input

    step = create_step(notes, id="notes", phases={"input", Phase.OUTPUT_STEP})
    everywhere = flow().then(step).commit()
    agent = Agent(model=ScriptedModel(["fine"]), input_processors=[everywhere], output_processors=[everywhere])
    result = await agent.generate("hello")
    assert result.text == "fine"
    assert seen == [Phase.INPUT, Phase.OUTPUT_STEP]
    assert [phase for phase in Phase if step.acts_in(phase)] == [Phase.INPUT, Phase.OUTPUT_STEP]


class Unprintable(Exception):
    """Breaks where somebody wants to read it."""

    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("phase", Phase)
async def test_an_exception_that_cannot_be_shown_is_a_failure_like_any_other(phase: Phase, policy: OnFailure) -> None:
    def act(ctx: Any) -> object:
        raise Unprintable

    entry = create_step(acting_at(phase, texts_only(act, phase), waits=False), on_failure=policy)
    _, result = await chunks_and_result(agent_with(phase, entry))
    if policy == "fail":
        assert isinstance(result.error, StepFailed)
        assert isinstance(result.error.cause, Unprintable)
        assert "Unprintable: (its str() raised RuntimeError)" in str(result.error)
    elif policy == "block":
        assert result.tripwire is not None
        assert result.tripwire.metadata == {"failure": "Unprintable"}
    else:
        assert result.tripwire is None
        assert checks_of(result, "guard", phase)[0].reason == "failed: Unprintable"


@pytest.mark.parametrize("policy", POLICIES)
async def test_a_message_list_from_a_stream_hook_is_no_way_to_drop_a_chunk(policy: OnFailure) -> None:
    def act(ctx: Any) -> object:
        return MessageList()

    guard = acting_at(Phase.OUTPUT_STREAM, texts_only(act, Phase.OUTPUT_STREAM), waits=False)
    agent = Agent(model=ScriptedModel(["fine"]), output_processors=[create_step(guard, on_failure=policy)])
    _, result = await chunks_and_result(agent)
    assert result.status == {"fail": "failed", "block": "tripwire", "skip": "success"}[policy]
    assert result.text == ("fine" if policy == "skip" else "")
