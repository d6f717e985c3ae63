"""A processor that only shadows changes nothing, stops nothing, and is heard."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from interlock import Agent, Phase, create_step
from interlock.messages import TextDelta
from interlock.processors import TextGuard
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import (
    Everywhere,
    Patient,
    chunks_and_result,
    kinds,
)
from tests.lifecycle.failing import PLACES, Place, Shouting, agent_with, checks_of, placed, texts_only

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("patient", [False, True])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("phase", Phase)
async def test_an_abort_of_a_shadow_stops_nothing_and_nobody_and_is_recorded(
    phase: Phase, place: Place, patient: bool
) -> None:
    def stops(ctx: Any) -> object:
        return ctx.abort("a secret", metadata={"kinds": ["secret"]})

    guard = (Patient if patient else Everywhere)("guard", {phase: texts_only(stops, phase)})
    agent = agent_with(phase, placed(guard, place, shadow=True))
    _, result = await chunks_and_result(agent)
    assert result.tripwire is None
    assert result.status == ("failed" if phase is Phase.API_ERROR else "success")
    checks = checks_of(result, "guard", phase)
    assert {check.verdict for check in checks} == {"shadow-blocked"}
    assert all(check.reason == "would have blocked: a secret" for check in checks)
    beside = [check for check in result.checks if check.processor_id.startswith(("beside-", "by-"))]
    assert all(check.verdict == "passed" for check in beside if check.phase is phase)


async def test_a_shadow_that_swallows_its_abort_has_been_heard_all_the_same() -> None:
    def swallows(ctx: Any) -> object:
        with contextlib.suppress(BaseException):  # what a careless guard does
            ctx.abort("a secret")
        return ctx.chunk if ctx.phase is Phase.OUTPUT_STREAM else None

    guard = Everywhere("guard", {Phase.INPUT: swallows, Phase.OUTPUT_STREAM: texts_only(swallows, Phase.OUTPUT_STREAM)})
    step = create_step(guard, shadow=True)
    agent = Agent(model=ScriptedModel(["fine"]), input_processors=[step], output_processors=[step])
    result = await agent.generate("hello")
    assert result.text == "fine"
    for phase in (Phase.INPUT, Phase.OUTPUT_STREAM):
        assert [check.verdict for check in checks_of(result, "guard", phase)] == ["shadow-blocked"]


async def test_a_shadow_asks_for_no_retry_and_what_it_asked_for_is_told() -> None:
    guard = Everywhere("guard", {Phase.OUTPUT_STEP: lambda ctx: ctx.abort("again", retry=True)})
    model = ScriptedModel(["one", "two"])
    agent = Agent(model=model, output_processors=[create_step(guard, shadow=True)], max_processor_retries=1)
    result = await agent.generate("hello")
    assert result.text == "one"
    assert len(model.requests) == 1
    (check,) = checks_of(result, "guard", Phase.OUTPUT_STEP)
    assert check.verdict == "shadow-blocked"
    assert check.reason == "would have blocked: again"


async def test_a_shadow_changes_nothing_and_what_it_would_have_changed_is_told() -> None:
    step = create_step(Shouting(), shadow=True)
    model = ScriptedModel(["quiet"])
    agent = Agent(model=model, input_processors=[step], output_processors=[step])
    result = await agent.generate("hello")
    assert result.text == "quiet"
    assert "hello" in model.received(0)
    found = {check.phase: check.verdict for check in result.checks if check.processor_id == "shouting"}
    assert found == {Phase.INPUT: "shadow-changed", Phase.OUTPUT_STREAM: "shadow-changed"}


async def test_a_guard_that_holds_text_back_holds_none_where_it_only_shadows() -> None:
    class Tickets(TextGuard):
        id = "tickets"
        patterns = (r"\bTICKET-[0-9]{1,8}\b",)

    model = ScriptedModel([["see TIC", "KET-1", "2 and more"]])
    agent = Agent(model=model, output_processors=[create_step(Tickets(), shadow=True)])
    chunks, result = await chunks_and_result(agent)
    assert [chunk.text for chunk in chunks if isinstance(chunk, TextDelta)] == ["see TIC", "KET-1", "2 and more"]
    assert result.text == "see TICKET-12 and more"
    (check,) = checks_of(result, "tickets", Phase.OUTPUT_STREAM)
    assert check.verdict == "shadow-changed"


async def test_what_a_shadow_writes_and_warns_of_reaches_the_client_and_the_record() -> None:
    def tells(ctx: Any) -> object:
        ctx.write("seen", {"n": ctx.retry_count}, transient=True)
        ctx.warn("odd")
        return None

    guard = Everywhere("guard", {Phase.INPUT: tells})
    agent = Agent(model=ScriptedModel(["fine"]), input_processors=[create_step(guard, shadow=True)])
    chunks, result = await chunks_and_result(agent)
    assert "data" in kinds(chunks)
    (check,) = checks_of(result, "guard", Phase.INPUT)
    assert (check.verdict, check.reason) == ("warned", "odd")


async def test_a_shadow_sees_the_runs_own_count_of_retries() -> None:
    counts: list[int] = []

    def counting(ctx: Any) -> object:
        if ctx.chunk.type == "text-delta":
            counts.append(ctx.retry_count)
        return ctx.chunk

    tries: list[int] = []

    def again(ctx: Any) -> object:
        tries.append(1)
        if len(tries) == 1:
            ctx.abort("again", retry=True)
        return None

    watching = create_step(Everywhere("watching", {Phase.OUTPUT_STREAM: counting}), shadow=True)
    asking = Everywhere("asking", {Phase.OUTPUT_STEP: again})
    agent = Agent(model=ScriptedModel(["one", "two"]), output_processors=[watching, asking], max_processor_retries=1)
    await agent.generate("hello")
    assert counts == [0, 1]
