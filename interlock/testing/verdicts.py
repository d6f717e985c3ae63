"""Does a guard decide alike wherever a text passes? For tests of one's own guards."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from interlock.errors import InterlockError
from interlock.messages import Chunk, ReasoningDelta, ReasoningEnd, ReasoningStart, StepFinish, TextDelta
from interlock.models import ScriptedModel
from interlock.processors import InputContext, Processor, ProcessorStep, ProcessorStepSchema, TextGuard
from interlock.processors.compose import ProcessorLike
from interlock.runtime import Agent, AgentResult
from interlock.shown import shown_error
from interlock.steps import Step
from interlock.testing.acting import ACTS_ON_ANSWERS, expect_finding, in_words, warned
from interlock.testing.difference import both_shown
from interlock.testing.own_loop import in_a_loop_of_its_own
from interlock.testing.tested_guard import tested_guard
from interlock.tools import Tool, tool
from interlock.verdict import Phase
from interlock.workflows import Blocked, Completed, create_workflow

__all__ = ["assert_same_verdict_everywhere"]


@dataclass(frozen=True)
class _Verdict:
    """What a guard made of a text.

    Args:
        blocked: Why the run was stopped; None: it was not.
        text: What became of the text.
        warned: Whether it reported something.
    """

    blocked: str | None
    text: str
    warned: bool = field(default=False, compare=False)

    def is_like(self, other: _Verdict) -> bool:
        """Whether it is the same. A block names what was found until then: in a stream less than in a whole text."""
        return self == other or (self.blocked is not None and other.blocked is not None)

    def beside(self, other: _Verdict) -> str:
        """What it is, in words, next to another."""
        return (
            f"a block ({self.blocked})"
            if self.blocked is not None
            else f"the text {both_shown(self.text, other.text)[0]}"
        )


def assert_same_verdict_everywhere(
    guard: Processor | ProcessorStep | Step, text: str, *, finds: bool | None = None
) -> None:
    """Assert that a guard decides alike wherever a text passes it.

    The text comes as an answer: streamed and generated; with the guard alone in a list, in a workflow, in a nested
    workflow, in a branch of a parallel block; at the first turn, at a second one, and at one that was resumed. As a
    question: the same ways, and to the guard by itself. For a :class:`TextGuard` also in what it reads besides:
    reasoning, the arguments of a tool and what a tool returned.

    Args:
        guard: The guard, or a step made of it; ``def`` or ``async def``.
        text: The text.
        finds: Whether the guard is to do something about the text: a test whose text it does not know would pass by
            itself. None: either will do.

    Raises:
        TypeError: It is no guard, or no text.
        AssertionError: It does not; says where it decided what. Or it fails, or acts at none of these points.

    Example:
        >>> class Tickets(TextGuard):
        ...     id = "tickets"
        ...     patterns = ("TICKET-[0-9]{1,8}",)
        >>> assert_same_verdict_everywhere(Tickets(strategy="block"), "see TICKET-4711, please", finds=True)
    """
    tested = tested_guard(guard, text, by="assert_same_verdict_everywhere")
    in_a_loop_of_its_own(lambda: _assert(tested, text, finds))


async def _assert(guard: Processor, text: str, finds: bool | None) -> None:
    try:
        told = await _verdicts(guard, text)
    except InterlockError as error:
        raise AssertionError(f"guard {guard.id!r} decides nothing: {shown_error(error)}") from error
    if not any(told):
        raise AssertionError(
            f"guard {guard.id!r} looks at no answer and no question (it acts at {in_words(guard.phases)}): there is "
            "nothing to compare"
        )
    for verdicts in told:
        _compare(guard, verdicts)
    everywhere = [verdict for verdicts in told for verdict in verdicts.values()]
    expect_finding(
        guard, finds, found=any(one.blocked is not None or one.warned or one.text != text for one in everywhere)
    )


async def _verdicts(guard: Processor, text: str) -> list[Mapping[str, _Verdict]]:
    """What it makes of the text, by place; each with those that it is to be compared with."""
    told: list[Mapping[str, _Verdict]] = []
    if guard.phases & ACTS_ON_ANSWERS:
        told.append(await _answers(guard, text))
    if Phase.INPUT in guard.phases:
        told.append(await _questions(guard, text))
    if isinstance(guard, TextGuard):
        told.append(await _parts(guard, text))
    return told


def _compare(guard: Processor, verdicts: Mapping[str, _Verdict]) -> None:
    places = list(verdicts)
    for place in places[1:]:
        first, other = verdicts[places[0]], verdicts[place]
        if not other.is_like(first):
            raise AssertionError(
                f"guard {guard.id!r} decides differently: {places[0]} gave {first.beside(other)}, and {place} gave "
                f"{other.beside(first)}"
            )


def _ways(guard: Processor) -> dict[str, list[ProcessorLike]]:
    """The places a guard may stand in."""

    def flow(name: str) -> Any:
        return create_workflow(id=name, input_schema=ProcessorStepSchema, output_schema=ProcessorStepSchema)

    inner = flow("inner").then(guard).commit()
    return {
        "alone in a list": [guard],
        "in a workflow": [flow("outer").then(guard).commit()],
        "in a nested workflow": [flow("outer").then(inner).commit()],
        "in a branch of a parallel block": [flow("outer").parallel([guard, _Bystander()]).merge().commit()],
    }


class _Bystander(Processor):
    """Stands beside a guard and lets everything pass."""

    id = "bystander"

    def process_input(self, ctx: InputContext) -> None:
        """Looks at nothing."""

    def process_output_stream(self, ctx: Any) -> Chunk:
        """Lets the chunk pass."""
        chunk: Chunk = ctx.chunk
        return chunk

    def process_output_step(self, ctx: Any) -> None:
        """Looks at nothing."""

    def process_output_result(self, ctx: Any) -> None:
        """Looks at nothing."""


def _go_on() -> str:
    return "ok"


_GO_ON: Final = Tool(_go_on, name="go_on", description="Go on.", needs_approval=True)


async def _answers(guard: Processor, text: str) -> dict[str, _Verdict]:
    verdicts: dict[str, _Verdict] = {}
    for where, entries in _ways(guard).items():

        def made(script: Sequence[Any], *tools: Tool, entries: list[ProcessorLike] = entries) -> Agent:
            return Agent(id="verdicts", model=ScriptedModel(script), output_processors=entries, tools=tools)

        verdicts[f"an answer, generated, {where}"] = _of_answer(guard, await made([text]).generate("hello"))
        verdicts[f"an answer, streamed, {where}"] = _of_answer(guard, await _streamed(made([list(text)])))
        agent = made(["Hello.", text])
        first = await agent.generate("hello")
        second = first.messages.fork()
        second.add("and then?", source="input")
        verdicts[f"an answer, at the second turn, {where}"] = _of_answer(guard, await agent.generate(second))
        agent = made([ScriptedModel.tool_call("go_on", {}), text], _GO_ON)
        result = await agent.generate("hello")
        if result.status == "suspended":
            result = await agent.resume(result.run_id, approve=True)
        verdicts[f"an answer, at a turn that was resumed, {where}"] = _of_answer(guard, result)
    return verdicts


async def _streamed(agent: Agent) -> AgentResult:
    async with agent.stream("hello") as stream:
        async for _ in stream:
            pass
        return await stream.result()


def _of_answer(guard: Processor, result: AgentResult) -> _Verdict:
    return _of_result(guard, result, result.text)


def _of_result(guard: Processor, result: AgentResult, text: str) -> _Verdict:
    """What a guard made of a text, where it left it as ``text``."""
    if result.error is not None:
        raise result.error
    if result.tripwire is not None:
        return _Verdict(result.tripwire.reason, "")
    return _Verdict(None, text, warned(guard, result.checks))


async def _questions(guard: Processor, text: str) -> dict[str, _Verdict]:
    verdicts: dict[str, _Verdict] = {}
    for where, entries in _ways(guard).items():
        agent = Agent(id="verdicts", model=ScriptedModel(["Well."]), input_processors=entries)
        verdicts[f"a question, {where}"] = _of_question(guard, await agent.generate(text))
    alone = create_workflow(id="alone", input_schema=ProcessorStepSchema, output_schema=ProcessorStepSchema)
    match await alone.then(guard).commit().create_run().start(InputContext(text)):
        case Blocked(tripwire=tripwire):
            verdicts["a question, in a workflow run by itself"] = _Verdict(tripwire.reason, "")
        case Completed(output=ctx, checks=checks):
            left = "".join(message.text for message in ctx.messages)
            verdicts["a question, in a workflow run by itself"] = _Verdict(None, left, warned(guard, checks))
        case outcome:
            raise AssertionError(f"guard {guard.id!r}, in a workflow run by itself, ended with {outcome!r}")
    return verdicts


def _of_question(guard: Processor, result: AgentResult) -> _Verdict:
    return _of_result(guard, result, "".join(message.text for message in result.messages.input))


async def _parts(guard: TextGuard, text: str) -> dict[str, _Verdict]:
    """The same text in each kind of part that the guard reads; a string of a value is left where a message would go."""
    kinds: dict[str, Callable[[TextGuard, str], Awaitable[_Verdict]]] = {
        "text": _as_text,
        "reasoning": _as_reasoning,
        "tool-arguments": _as_arguments,
        "tool-result": _as_result,
    }
    if guard.strategy == "filter":  # what is taken out is the message, the string, or in a stream the match
        return {}
    return {
        f"in a part of kind {kind!r}": await read(guard, text)
        for kind, read in kinds.items()
        if guard.reads(kind) and guard.phases & _LOOKED_AT[kind]
    }


_LOOKED_AT: Final[Mapping[str, frozenset[Phase]]] = {
    "text": ACTS_ON_ANSWERS,
    "reasoning": frozenset({Phase.OUTPUT_STREAM}),  # what a step is said to have thought is what was streamed
    "tool-arguments": frozenset({Phase.OUTPUT_STREAM, Phase.TOOL_CALL}),
    "tool-result": frozenset({Phase.TOOL_RESULT}),
}
"""At which points a part's text is looked at before it is compared."""


def _guarded(guard: TextGuard, script: Sequence[Any], **more: Any) -> Agent:
    return Agent(id="verdicts", model=ScriptedModel(script), output_processors=[guard], **more)


async def _as_text(guard: TextGuard, text: str) -> _Verdict:
    return _of_answer(guard, await _guarded(guard, [text]).generate("hello"))


async def _as_reasoning(guard: TextGuard, text: str) -> _Verdict:
    said = [ReasoningStart(), ReasoningDelta(text), ReasoningEnd(), TextDelta("Well."), StepFinish()]
    result = await _guarded(guard, [said]).generate("hello")
    verdict = _of_answer(guard, result)
    return verdict if verdict.blocked is not None else replace(verdict, text=result.steps[-1].reasoning)


async def _as_arguments(guard: TextGuard, text: str) -> _Verdict:
    given: list[str] = []

    @tool
    def note(what: str) -> str:
        """Note something."""
        given.append(what)
        return "noted"

    agent = _guarded(guard, [ScriptedModel.tool_call("note", {"what": text}), "Well."], tools=[note])
    verdict = _of_answer(guard, await agent.generate("hello"))
    return verdict if verdict.blocked is not None else replace(verdict, text=given[0])


async def _as_result(guard: TextGuard, text: str) -> _Verdict:
    @tool
    def read() -> str:
        """Read something."""
        return text

    agent = _guarded(guard, [ScriptedModel.tool_call("read", {}), "Well."], tools=[read])
    result = await agent.generate("hello")
    verdict = _of_answer(guard, result)
    if verdict.blocked is not None:
        return verdict
    (came,) = [chunk for chunk in result.steps[0].tool_results if chunk.type == "tool-result"]
    return replace(verdict, text=str(came.result))
