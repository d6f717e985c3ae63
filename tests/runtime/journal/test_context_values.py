"""The contexts of a workflow of processors, written to a journal and read from it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlock.errors import ModelError, UnrecordableValue
from interlock.messages import Message, TextDelta, ToolCall, ToolResult, Usage
from interlock.models import ModelRequest
from interlock.processors import (
    APIErrorContext,
    InputContext,
    InputStepContext,
    LLMRequestContext,
    LLMResponseContext,
    OutputResultContext,
    OutputStepContext,
    OutputStreamContext,
    RunResult,
    StepResult,
    ToolCallContext,
    ToolResultContext,
)
from interlock.processors.hook_context import HookContext
from interlock.processors.seat import RunFacts
from interlock.processors.stream_context import StreamSoFar
from interlock.runtime.journal.context_values import parts_of
from interlock.runtime.journal.values import ValueCodec
from interlock.testing import ScriptedModel
from interlock.tools import tool

STEP = StepResult(0, "hi", tool_calls=[ToolCall("1", "t", {"a": 1})], tool_results=[ToolResult("1", "t", None, [2])])
RUN = RunFacts(run_id="r", agent_id="agent")
RUN.retry_count = 2
MESSAGES = (Message.user("Hello"), Message.assistant("Hi"))


def _denied() -> ToolCallContext:
    context = ToolCallContext(MESSAGES, tool_name="t", tool_call_id="1", args={"a": [1]}, step_number=1, run=RUN)
    context.denied = "no"
    return context


def _chunks() -> OutputStreamContext:
    so_far = StreamSoFar(3, inside=("call_1",))
    for text in ("a", "b"):
        so_far.add(TextDelta(text))
    context = OutputStreamContext(MESSAGES, chunk=TextDelta("b"), so_far=so_far, run=RUN)
    context.out = (TextDelta("c"), TextDelta("d"))
    return context


CONTEXTS: list[HookContext] = [
    InputContext(MESSAGES, run=RUN),
    APIErrorContext(MESSAGES, error=ModelError("slow", status=429), step_number=1, steps=[STEP], run=RUN),
    _chunks(),
    OutputStepContext(
        MESSAGES,
        text="hi",
        tool_calls=(ToolCall("1", "t", {"a": 1}),),
        finish_reason="tool-calls",
        usage=Usage(1, 2),
        provider_metadata={"openai": {"id": "x"}},
        step_number=1,
        steps=(STEP,),
        run=RUN,
    ),
    _denied(),
    ToolResultContext(MESSAGES, tool_name="t", tool_call_id="1", args={}, result={"x": [1]}, steps=[STEP], run=RUN),
    OutputResultContext(MESSAGES, result=RunResult("hi", Usage(), "stop", [STEP]), run=RUN),
]


def _back(value: object) -> Any:
    return ValueCodec().decode(json.loads(json.dumps(ValueCodec().encode(value))))


def _told(context: HookContext) -> dict[str, object]:
    told = parts_of(context)
    told["message_list"] = context.message_list.to_json()
    if isinstance(context, APIErrorContext):
        told["error"] = (type(context.error), str(context.error), vars(context.error))
    return told


@pytest.mark.parametrize("context", CONTEXTS, ids=lambda context: str(context.phase))
def test_a_context_comes_back_with_its_conversation_and_its_fields(context: HookContext) -> None:
    back = _back({"guard": context})["guard"]
    assert type(back) is type(context)
    assert _told(back) == _told(context)
    assert (back.run_id, back.agent_id, back.retry_count) == ("r", "agent", 2)
    assert [message.text for message in back.messages] == [message.text for message in context.messages]


def test_a_context_that_came_back_can_be_forked_changed_and_joined() -> None:
    base = _back(_denied())
    one, two = base.fork(), base.fork()
    one.args["a"].append(2)
    two.messages[0].parts[0].text = "[NAME]"
    joined = base.merge_forks({"one": one, "two": two})
    assert (joined.args, joined.message_list.texts()) == ({"a": [1, 2]}, ["[NAME]", "Hi"])
    assert base.args == {"a": [1]}


@tool
def clock() -> str:
    """Tells the time."""
    return "noon"


MODEL = ScriptedModel([])

BOUND: list[tuple[HookContext, str]] = [
    (InputStepContext("a", model=MODEL), "model is an interlock.models.scripted.ScriptedModel"),
    (LLMRequestContext("a", prompt=[], model=MODEL), "model is an interlock.models.scripted.ScriptedModel"),
    (LLMResponseContext("a", chunks=[], request=ModelRequest([]), model=MODEL), "model is an interlock"),
]


@pytest.mark.parametrize(("context", "said"), BOUND, ids=lambda value: type(value).__name__)
def test_a_context_that_holds_what_only_its_process_has_is_refused_by_name(context: HookContext, said: str) -> None:
    with pytest.raises(UnrecordableValue, match=rf"the output of 'x'\['a'\]\.{said}") as caught:
        ValueCodec().encode({"a": context}, place="the output of 'x'")
    assert f"{type(context).__name__} has in this process alone" in str(caught.value)
    assert f"at {str(context.phase)!r} can only be run without a store" in str(caught.value)


def test_a_context_with_what_is_no_json_in_its_fields_is_refused_by_name() -> None:
    context = ToolResultContext("a", tool_name="t", tool_call_id="1", result={"handle": object()})
    with pytest.raises(UnrecordableValue, match=r"^the value\.result\['handle'\] is an object"):
        ValueCodec().encode(context)
