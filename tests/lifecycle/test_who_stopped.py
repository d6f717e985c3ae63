"""The records name who stopped a run, and why: a step of a function, a guard that did so late, the newest of several
reasons."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from interlock import Agent, AgentResult, Phase, StepContext, create_step
from interlock.processors import InputContext
from interlock.processors.compose import ProcessorLike
from interlock.processors.hook_context import HookContext
from interlock.testing import ScriptedModel
from interlock.verdict import CheckRecord
from tests.lifecycle.acting import Act, Everywhere, chunks_and_result, flow, model_that_calls

pytestmark = pytest.mark.anyio

STOPPED = [phase for phase in Phase if phase is not Phase.API_ERROR]


def look() -> str:
    """Look."""
    return "seen"


def blocks(result: AgentResult) -> list[CheckRecord]:
    return [check for check in result.checks if check.verdict == "blocked"]


@pytest.mark.parametrize("place", ["list", "workflow", "branch"])
@pytest.mark.parametrize("phase", STOPPED)
async def test_a_step_of_a_function_that_stops_a_run_has_a_record(phase: Phase, place: str) -> None:
    def refuse(ctx: StepContext[Any]) -> Any:
        ctx.abort("no way", metadata={"kind": "card"})

    step = create_step(refuse, id="refuse", phases={phase})
    entry: ProcessorLike = step
    path = "refuse"
    if place == "workflow":
        entry, path = flow("outer").then(flow("inner").then(step).commit()).commit(), "outer/inner/refuse"
    elif place == "branch":
        entry, path = flow("outer").parallel([step, Everywhere("other")]).merge().commit(), "outer/refuse"
    agent = Agent(
        model=model_that_calls("look"), tools=[look], input_processors=[entry], output_processors=[entry], id="a"
    )
    _, result = await chunks_and_result(agent)
    (record,) = blocks(result)
    assert (record.processor_id, record.phase, record.reason) == ("refuse", phase, "no way")
    assert (record.path, record.metadata) == (path, {"kind": "card"})
    assert "refuse stopped the run: no way" in result.explain()
    assert "✗ blocked" in agent.to_text(run=result)


async def test_each_answer_that_it_did_not_accept_has_one() -> None:
    def refuse(ctx: StepContext[Any]) -> Any:
        if ctx.input.retry_count < 2:
            ctx.abort("again", retry=True)
        return ctx.input

    step = create_step(refuse, id="refuse", phases={"output_step"})
    agent = Agent(model=ScriptedModel(["a", "b", "c"]), output_processors=[step], max_processor_retries=2)
    result = await agent.generate("hello")
    assert result.status == "success"
    assert [(one.attempt, one.step_number, one.reason) for one in blocks(result)] == [(1, 0, "again"), (2, 0, "again")]


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_guard_that_stops_a_run_late_is_not_told_to_have_passed(streamed: bool) -> None:
    kept: list[HookContext] = []
    acts: dict[Phase, Act] = {Phase.INPUT: lambda ctx: kept.append(ctx)}
    if streamed:

        def keep(ctx: Any) -> object:
            kept.append(ctx)
            return ctx.chunk

        acts = {Phase.OUTPUT_STREAM: keep}

    async def now() -> None:
        with contextlib.suppress(BaseException):
            kept[0].abort("bad words")

    guard = Everywhere("beside", acts)
    agent = Agent(model=ScriptedModel([["a", now, "b"]]), input_processors=[guard], output_processors=[guard], id="a")
    result = await agent.generate("hello")
    assert result.status == "tripwire"
    (record,) = blocks(result)
    assert (record.processor_id, record.phase, record.reason) == (
        "beside",
        Phase.OUTPUT_STREAM if streamed else Phase.INPUT,
        "bad words",
    )
    assert "beside stopped the run: bad words" in result.explain()


class Reads(Everywhere):
    """Stops rude answers once, and those with a card; warns of letters."""

    def __init__(self) -> None:
        super().__init__("reads", {Phase.OUTPUT_STREAM: self._read})

    def _read(self, ctx: Any) -> object:
        text = getattr(ctx.chunk, "text", "")
        if "rude" in text:
            ctx.abort("it was rude", retry=True)
        if "card" in text:
            ctx.abort("it gave a card number", metadata={"kind": "card"})
        for word in ("alpha", "beta"):
            if word in text:
                ctx.warn(word)
        return ctx.chunk


def asking(*answers: str, inner: str) -> Agent:
    """An agent that asks another in its second answer."""
    other = Agent(id="other", model=ScriptedModel([inner]))
    said: list[Any] = [answers[0], ScriptedModel.tool_call("other", {"prompt": "q"}), *answers[1:]]
    return Agent(model=ScriptedModel(said), tools=[other], output_processors=[Reads()], max_processor_retries=1, id="a")


async def test_of_several_reasons_the_one_that_ended_the_run_is_told() -> None:
    result = await asking("rude", inner="my card").generate("hello")
    (record,) = blocks(result)
    assert (record.reason, record.metadata) == ("it gave a card number", {"kind": "card"})
    assert "reads stopped the run: it gave a card number" in result.explain()


async def test_all_that_was_warned_of_is_told() -> None:
    agent = asking("rude", "alpha", inner="beta")
    result = await agent.generate("hello")
    (record,) = [check for check in result.checks if check.phase is Phase.OUTPUT_STREAM]
    assert record.verdict == "blocked"  # the rude one
    other = Agent(id="other", model=ScriptedModel(["beta"]))
    model = ScriptedModel([["alpha", ScriptedModel.tool_call("other", {"prompt": "q"})], "done"])
    result = await Agent(model=model, tools=[other], output_processors=[Reads()], id="a").generate("hello")
    (record,) = [check for check in result.checks if check.phase is Phase.OUTPUT_STREAM]
    assert record.verdict == "warned"
    assert sorted((record.reason or "").split("; ")) == ["alpha", "beta"]


async def test_a_tripwire_of_nobody_in_the_lists_makes_no_record() -> None:
    def inner(ctx: InputContext) -> None:
        ctx.abort("not this")

    other = Agent(id="other", model="embedded/echo", input_processors=[Everywhere("inner", {Phase.INPUT: inner})])
    model = ScriptedModel([[ScriptedModel.tool_call("other", {"prompt": "q"})], "done"])
    result = await Agent(model=model, tools=[other], id="a").generate("hello")
    assert blocks(result) == []


async def test_each_result_that_a_step_did_not_accept_has_a_record() -> None:
    def refuse(ctx: StepContext[Any]) -> Any:
        ctx.abort(f"not {ctx.input.tool_call_id}", retry=True)

    model = ScriptedModel([[ScriptedModel.tool_call("look", id="a"), ScriptedModel.tool_call("look", id="b")], "done"])
    step = create_step(refuse, id="refuse", phases={"tool_result"})
    agent = Agent(model=model, tools=[look], input_processors=[step], max_processor_retries=5, id="a")
    result = await agent.generate("hello")
    assert result.status == "success"
    assert [one.reason for one in blocks(result)] == ["not a", "not b"]
