"""Law: what a thread holds was accepted there. Nothing blocked, half-made or foreign is ever stored, and what the model
is asked with is a conversation that providers accept, however little of it is recalled.

Random conversations in two threads of two people: each turn calls tools some times, then answers; at a random point of
a random step it is blocked, fails, is canceled, or its answer is rejected once. Every word is said once, so it can be
told where each has gone; a hint that is of the run alone is given in every step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock import Agent, Phase, tool
from interlock.errors import ModelError
from interlock.memory import Memory
from interlock.messages import ToolInvocationPart, prompt_text
from interlock.models import ModelRequest
from interlock.processors.hook_context import HookContext
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Everywhere, Patient
from tests.lifecycle.valid_history import assert_valid_history

pytestmark = pytest.mark.anyio

Fate = Literal["accepted", "blocked", "failed", "canceled", "rejected"]
OWNERS: Final = {"home": "ann", "work": "bob"}
BEFORE_THE_MODEL: Final = (Phase.INPUT_STEP, Phase.LLM_REQUEST)
IN_A_STEP: Final = (*BEFORE_THE_MODEL, Phase.OUTPUT_STREAM, Phase.LLM_RESPONSE, Phase.OUTPUT_STEP, Phase.TOOL_CALL)


@dataclass(frozen=True)
class Turn:
    """One turn: where, how often it calls a tool, what becomes of it, and in which step and at which point."""

    thread: str
    calls: int
    fate: Fate
    step: int
    point: Phase

    @property
    def at(self) -> tuple[Phase, int]:
        """The point and the step, as far as there are such: a tool is called in all steps but the last."""
        step = min(self.step, self.calls)
        if self.point in (Phase.TOOL_CALL, Phase.TOOL_RESULT) and step == self.calls:
            return Phase.OUTPUT_STEP, step
        if self.point is Phase.OUTPUT_RESULT:
            return self.point, self.calls
        return self.point, 0 if self.point is Phase.INPUT else step


TURNS = st.builds(
    Turn,
    st.sampled_from(sorted(OWNERS)),
    st.integers(0, 2),
    st.sampled_from(["accepted", "accepted", "blocked", "failed", "canceled", "rejected"]),
    st.integers(0, 2),
    st.sampled_from([Phase.INPUT, *IN_A_STEP, Phase.TOOL_RESULT, Phase.OUTPUT_RESULT]),
)


@tool
def look(word: str) -> str:
    """Look."""
    return f"{word}-seen"


def asked(number: int, turn: Turn) -> str:
    return f"{turn.thread}-asked-{number}"


def said(number: int, turn: Turn, step: int) -> str:
    return f"{turn.thread}-said-{number}-{step}"


def called(number: int, turn: Turn, step: int) -> str:
    return f"{turn.thread}-called-{number}-{step}"


def left(number: int, turn: Turn) -> list[str]:
    """The words that a turn leaves in its thread, in order: what was asked, what was said, what tools have seen."""
    point, stop = turn.at
    if turn.fate in ("accepted", "rejected"):
        kept, steps = True, turn.calls + 1
    elif turn.fate == "blocked":
        kept = point is not Phase.INPUT and (stop > 0 or point not in BEFORE_THE_MODEL)
        steps = turn.calls if point is Phase.OUTPUT_RESULT else stop
    else:
        kept, steps = True, min(turn.step, turn.calls)
    if not kept:
        return []
    words = [asked(number, turn)]
    for step in range(steps):
        if turn.fate in ("accepted", "rejected"):
            words.append(said(number, turn, step))
        if step < turn.calls:
            words.append(f"{called(number, turn, step)}-seen")
    return words


def script(number: int, turn: Turn) -> list[Any]:
    made: list[Any] = []
    for step in range(turn.calls + 1):
        answer: list[Any] = [said(number, turn, step)]
        if step < turn.calls:
            name = called(number, turn, step)
            answer.append(ScriptedModel.tool_call("look", {"word": name}, id=f"id-{name}"))
        if turn.fate == "failed" and step == min(turn.step, turn.calls):
            answer.append(ModelError("gone", status=400))
        if turn.fate == "rejected" and step == min(turn.step, turn.calls):
            made.append([f"{turn.thread}-rejected-{number}"])
        made.append(answer)
    return made


def judge(turn: Turn) -> Any:
    point, stop = turn.at

    def act(ctx: HookContext) -> object:
        chunk = getattr(ctx, "chunk", None)
        if ctx.phase is Phase.INPUT_STEP:
            ctx.send_signal(f"{turn.thread}-hint", transient=True)
        here = ctx.phase is point and getattr(ctx, "step_number", stop) == stop
        if turn.fate == "blocked" and here and (chunk is None or chunk.type == "text-delta"):
            ctx.abort("no")
        if turn.fate == "rejected" and ctx.phase is Phase.OUTPUT_STEP and "rejected" in ctx.text:  # type: ignore[attr-defined]
            ctx.abort("again", retry=True)
        return chunk

    return act


async def take(agent: Agent, number: int, turn: Turn, model: ScriptedModel, guard: Everywhere) -> None:
    stream = agent.stream(
        asked(number, turn),
        thread=turn.thread,
        resource=OWNERS[turn.thread],
        model=model,
        input_processors=[guard],
        output_processors=[guard],
    )
    async with stream:
        async for chunk in stream:
            ends = turn.fate == "canceled" and chunk.type == "text-delta"
            if ends and said(number, turn, min(turn.step, turn.calls)) == chunk.text:  # type: ignore[union-attr]
                stream.cancel()
        result = await stream.result()
    status = {"accepted": "success", "rejected": "success", "blocked": "tripwire"}.get(turn.fate, turn.fate)
    assert result.status == status


async def words_of(memory: Memory, thread: str) -> list[str]:
    words: list[str] = []
    for message in await memory.store.load(thread, resource=OWNERS[thread]):
        assert (message.thread_id, message.resource_id) == (thread, OWNERS[thread])
        for part in message.parts:
            if isinstance(part, ToolInvocationPart):
                assert part.state == "result"
                words.append(part.result)
            elif part.type == "text":
                words.append(part.text)
    return words


def foreign(request: ModelRequest, thread: str) -> list[str]:
    text = prompt_text(request.prompt)
    return [other for other in OWNERS if other != thread and other in text]


@pytest.mark.parametrize("kind", [Everywhere, Patient])
@settings(max_examples=60, deadline=None)
@given(turns=st.lists(TURNS, max_size=6), last=st.none() | st.integers(0, 6))
async def test_a_thread_holds_what_was_accepted_there_and_a_provider_takes_it(
    turns: list[Turn], last: int | None, kind: type[Everywhere]
) -> None:
    memory = Memory(last_messages=last)
    agent = Agent(model="embedded/echo", tools=[look], memory=memory, max_processor_retries=1)
    expected: dict[str, list[str]] = {thread: [] for thread in OWNERS}
    for number, turn in enumerate(turns):
        model = ScriptedModel(script(number, turn))
        await take(agent, number, turn, model, kind("guard", {phase: judge(turn) for phase in Phase}))
        for request in model.requests:
            assert_valid_history(request.prompt, begins_with_user=True)
            assert not foreign(request, turn.thread)
            assert f"{turn.thread}-hint" in prompt_text(request.prompt)
        expected[turn.thread] += left(number, turn)
        assert {thread: await words_of(memory, thread) for thread in OWNERS} == expected
