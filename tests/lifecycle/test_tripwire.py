"""A block is a block: how ``ctx.abort(…)`` in a hook becomes one tripwire chunk and a result, alike in all ten phases.

The road: ``HookContext.abort`` writes a ``Tripwire`` into the run's latch and raises a signal. The signal unwinds the
hook, the graph and the step; on its way the model call is closed and tools are stopped. ``run_loop`` catches it, and
makes of the *latch* (not of what it caught) the one chunk that ends the stream and the result.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from interlock import Agent, AgentResult, Phase, Processor, Tripwire, tool
from interlock.errors import BlockedError, ModelError
from interlock.messages import Chunk, TripwireChunk
from interlock.testing import ScriptedModel
from interlock.verdict import Violation
from tests.lifecycle.acting import Everywhere, Patient, aborting, chunks_and_result, kinds, model_that_calls

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("phase", list(Phase))]

RAN: list[str] = []
"""What the tool was called with."""


@tool
async def track(parcel: str = "7") -> str:
    """Where a parcel is."""
    RAN.append(parcel)
    return f"parcel {parcel} is in Leipzig"


@pytest.fixture(autouse=True)
def no_tool_has_run() -> None:
    RAN.clear()


def guard_at(phase: Phase, *, log: list[str] | None = None, patient: bool = False) -> Everywhere:
    """A processor that sees everything and blocks at one point."""
    kind = Patient if patient else Everywhere
    return kind("guard", {phase: aborting("not here", metadata={"kind": "test"})}, log=log)


def agent_around(guard: Processor, phase: Phase, *, behind: Sequence[Processor] = ()) -> tuple[Agent, ScriptedModel]:
    """An agent whose model says something and calls a tool; at ``api_error`` it is a model that fails."""
    model = (
        ScriptedModel([ModelError("overloaded", status=529)]) if phase is Phase.API_ERROR else model_that_calls("track")
    )
    agent = Agent(
        id="support",
        model=model,
        tools=[track],
        input_processors=[guard, *behind],
        output_processors=[guard, *behind],
    )
    return agent, model


async def both_ways(phase: Phase, *, patient: bool = False) -> list[tuple[AgentResult, Sequence[Chunk]]]:
    """The result of ``generate``, and that of ``stream`` with its chunks."""
    generated = await agent_around(guard_at(phase, patient=patient), phase)[0].generate("hello")
    chunks, streamed = await chunks_and_result(agent_around(guard_at(phase, patient=patient), phase)[0])
    return [(generated, ()), (streamed, chunks)]


@pytest.mark.parametrize("patient", [False, True])
async def test_the_stream_ends_with_exactly_one_tripwire_chunk(phase: Phase, patient: bool) -> None:
    _, (_, chunks) = await both_ways(phase, patient=patient)
    assert kinds(chunks).count("tripwire") == 1
    assert kinds(chunks)[-1] == "tripwire"
    assert not {"finish", "error"} & set(kinds(chunks))


@pytest.mark.parametrize("patient", [False, True])
async def test_the_result_says_so_the_same_way_for_generate_and_stream(phase: Phase, patient: bool) -> None:
    for result, _ in await both_ways(phase, patient=patient):
        assert result.tripwire == Tripwire("not here", "guard", phase, False, {"kind": "test"})
        assert result.status == "tripwire"
        assert result.finish_reason == "other"
        assert result.output is None
        assert result.error is None
        with pytest.raises(BlockedError, match="not here") as raised:
            result.raise_if_blocked()
        assert raised.value.tripwire is result.tripwire
        assert raised.value.result is result


async def test_the_text_is_what_the_client_was_given(phase: Phase) -> None:
    (generated, _), (streamed, chunks) = await both_ways(phase)
    assert generated.text == ""
    assert streamed.text == "".join(chunk.text for chunk in chunks if chunk.type == "text-delta")


async def test_the_wire_form_names_reason_processor_and_metadata(phase: Phase) -> None:
    _, (streamed, chunks) = await both_ways(phase)
    assert chunks[-1].to_wire() == {
        "type": "tripwire",
        "runId": streamed.run_id,
        "from": "AGENT",
        "payload": {"reason": "not here", "retry": False, "metadata": {"kind": "test"}, "processorId": "guard"},
    }
    assert isinstance(chunks[-1], TripwireChunk)
    assert chunks[-1].phase == phase


async def test_no_further_hook_runs_not_even_output_result(phase: Phase) -> None:
    """Neither behind it in the list nor at any later point; what ran before is what runs in a run without a block."""
    logs: list[list[str]] = []
    for guard in (guard_at(phase), Everywhere("guard")):
        logs.append(guard.log)
        agent, _ = agent_around(guard, phase, behind=[Everywhere("behind", log=guard.log)])
        await chunks_and_result(agent)
    blocked, whole = logs
    assert blocked[-1] == f"guard:{phase}"
    assert blocked == whole[: len(blocked)]
    assert len(blocked) < len(whole)


async def test_the_model_is_not_asked_again_and_its_call_is_closed(phase: Phase) -> None:
    agent, model = agent_around(guard_at(phase), phase)
    await agent.generate("hello")
    before_the_call = (Phase.INPUT, Phase.INPUT_STEP, Phase.LLM_REQUEST)
    after_all_calls = (Phase.OUTPUT_RESULT,)
    assert model.calls == (0 if phase in before_the_call else 2 if phase in after_all_calls else 1)
    assert model.closed == (1 if phase is Phase.OUTPUT_STREAM else 0)


async def test_pending_tools_do_not_run(phase: Phase) -> None:
    agent, _ = agent_around(guard_at(phase), phase)
    await agent.generate("hello")
    assert bool(RAN) == (phase in (Phase.TOOL_RESULT, Phase.OUTPUT_RESULT))


async def test_nothing_of_the_blocked_answer_is_left_in_the_conversation(phase: Phase) -> None:
    for result, _ in await both_ways(phase):
        assert "Let me see" not in " ".join(result.messages.texts())
        assert "It is done" not in " ".join(result.messages.texts())


async def test_on_violation_is_told(phase: Phase) -> None:
    told: list[Violation] = []
    guard = guard_at(phase)
    guard.on_violation = told.append
    await agent_around(guard, phase)[0].generate("hello")
    assert told == [Violation("guard", phase, "not here", {"kind": "test"})]


async def test_the_check_record_says_blocked_and_why(phase: Phase) -> None:
    for result, _ in await both_ways(phase):
        blocked = [check for check in result.checks if check.verdict == "blocked"]
        assert [(c.processor_id, c.phase, c.reason, c.metadata) for c in blocked] == [
            ("guard", phase, "not here", {"kind": "test"})
        ]


async def test_a_tripwire_without_a_reason_names_the_processor(phase: Phase) -> None:
    agent, _ = agent_around(Everywhere("guard", {phase: aborting(None)}), phase)
    tripwire = (await agent.generate("hello")).tripwire
    assert tripwire is not None
    assert "guard" in tripwire.reason


async def test_a_wish_to_retry_is_reported_and_not_honoured(phase: Phase) -> None:
    agent, model = agent_around(Everywhere("guard", {phase: aborting("again", retry=True)}), phase)
    chunks, result = await chunks_and_result(agent)
    assert result.tripwire is not None
    assert result.tripwire.retry
    assert isinstance(chunks[-1], TripwireChunk)
    assert chunks[-1].retry
    assert model.calls <= 2
