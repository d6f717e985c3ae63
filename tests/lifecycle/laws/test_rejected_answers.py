"""Law: what was rejected is gone. No later prompt, no result and no held-back stream has a word of it.

Random runs: each answer of the model is a word of its own, some with a tool call; a guard rejects some of them, at a
random point; model calls fail now and then and are made again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock import Agent, Phase, tool
from interlock.errors import ModelError
from interlock.messages import TextDelta
from interlock.processors import Retry
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Everywhere, Patient, chunks_and_result

pytestmark = pytest.mark.anyio

Fate = Literal["accepted", "rejected", "failed"]
POINTS = [Phase.OUTPUT_STREAM, Phase.LLM_RESPONSE, Phase.OUTPUT_STEP, Phase.TOOL_CALL]


@dataclass(frozen=True)
class Answer:
    """One answer of the model: whether it calls a tool, what becomes of it, and where."""

    calls: bool
    fate: Fate
    point: Phase


ANSWERS = st.lists(
    st.builds(Answer, st.booleans(), st.sampled_from(["accepted", "rejected", "failed"]), st.sampled_from(POINTS)),
    max_size=6,
)


@tool
def look() -> str:
    """Look."""
    return "seen"


def word(number: int) -> str:
    return f"word{number}."


def reason(number: int) -> str:
    return f"reason{number}!"


def newest_rejected(answers: list[Answer], number: int) -> list[int]:
    """The newest answer that was rejected in the step of answer ``number``, before it."""
    for earlier in range(number - 1, -1, -1):
        if answers[earlier].fate == "accepted":
            return []
        if answers[earlier].fate == "rejected":
            return [earlier]
    return []


def script(answers: list[Answer]) -> list[Any]:
    made: list[Any] = []
    for number, answer in enumerate(answers):
        said: list[Any] = [word(number)]
        if answer.fate == "failed":
            said.append(ModelError("overloaded", status=529))
        elif answer.calls:
            said.append(ScriptedModel.tool_call("look"))
        made.append(said)
    return made


@pytest.mark.parametrize("kind", [Everywhere, Patient])
@pytest.mark.parametrize("release", ["chunk", "step", "run"])
@settings(max_examples=60, deadline=None)
@given(before=ANSWERS)
async def test_what_was_rejected_is_gone(before: list[Answer], release: Any, kind: type[Everywhere]) -> None:
    # An answer without a call ends the run when it is accepted: the last one does, those before call when accepted. A
    # verdict at tool_call needs a call.
    answers = [Answer(a.calls or a.fate == "accepted" or a.point is Phase.TOOL_CALL, a.fate, a.point) for a in before]
    answers.append(Answer(False, "accepted", Phase.OUTPUT_STEP))
    model = ScriptedModel(script(answers))
    counts: list[int] = []

    def judge(ctx: Any) -> object:
        counts.append(ctx.retry_count)
        answer = answers[model.calls - 1]
        chunk = ctx.chunk if ctx.phase is Phase.OUTPUT_STREAM else None
        if answer.fate == "rejected" and answer.point is ctx.phase and (chunk is None or chunk.type == "text-delta"):
            ctx.abort(reason(model.calls - 1), retry=True)
        return chunk

    guard = kind("guard", {**dict.fromkeys(POINTS, judge), Phase.API_ERROR: lambda _: Retry()})
    agent = Agent(
        model=model, tools=[look], input_processors=[guard], output_processors=[guard], max_processor_retries=9
    )
    chunks, result = await chunks_and_result(agent, release=release, max_steps=9)

    accepted = [word(n) for n, a in enumerate(answers) if a.fate == "accepted"]
    gone = [word(n) for n, a in enumerate(answers) if a.fate != "accepted"]
    assert result.status == "success"
    assert result.text == "".join(accepted)
    assert model.calls == len(answers)
    for number in range(len(answers)):
        received = model.received(number)
        assert not [one for one in gone if one in received]
        told = [reason(n) for n in range(len(answers)) if reason(n) in received]
        assert told == [reason(n) for n in newest_rejected(answers, number)]
    assert not [one for one in gone if one in str(result.messages.to_json())]
    shown = "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta))
    if release == "chunk":
        assert all(one in shown for one in accepted)
    else:
        assert shown == result.text
    assert counts == sorted(counts)
    assert [step.step_number for step in result.steps if step.finish_reason != "retry"] == list(range(len(accepted)))
    assert sum(step.finish_reason == "retry" for step in result.steps) == sum(a.fate == "rejected" for a in answers)
