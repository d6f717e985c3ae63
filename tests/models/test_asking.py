"""One question, one answer."""

from __future__ import annotations

import pytest

from interlock.errors import ModelError
from interlock.messages.chunks import ErrorChunk, StepFinish
from interlock.messages.parts import JSONValue, TextPart
from interlock.messages.prompt import PromptMessage
from interlock.messages.usage import FinishReason
from interlock.models import ScriptedModel, ask_json, ask_text


@pytest.mark.anyio
async def test_the_text_of_the_answer_is_given_without_reasoning_and_calls() -> None:
    model = ScriptedModel([[ScriptedModel.reasoning("hm"), "fo", "ur", ScriptedModel.tool_call("t"), "!"]])
    assert await ask_text(model, "What is two and two?") == "four!"


@pytest.mark.anyio
async def test_the_question_is_asked_without_tools_after_the_instructions() -> None:
    model = ScriptedModel(["yes", "no"])
    await ask_text(model, "Is it?", system="Answer yes or no.", settings={"max_tokens": 1})
    await ask_text(model, [PromptMessage("user", [TextPart("a")]), PromptMessage("assistant", [TextPart("b")])])
    first, second = model.requests
    assert [(m.role, m.text) for m in first.prompt] == [("system", "Answer yes or no."), ("user", "Is it?")]
    assert (first.tools, first.tool_choice, first.settings) == ((), "none", {"max_tokens": 1})
    assert [(m.role, m.text) for m in second.prompt] == [("user", "a"), ("assistant", "b")]


@pytest.mark.anyio
@pytest.mark.parametrize("reason", ["length", "content-filter", "error"])
async def test_an_answer_that_is_not_whole_is_refused(reason: FinishReason) -> None:
    model = ScriptedModel([["half an ans", StepFinish(reason)]])
    with pytest.raises(ModelError, match=r"cut off|withheld") as caught:
        await ask_text(model, "Is it?")
    assert caught.value.body == "half an ans"


@pytest.mark.anyio
async def test_an_error_in_the_stream_is_raised_whatever_was_said_before() -> None:
    model = ScriptedModel([['{"flagged": false}', ErrorChunk(ModelError("overloaded"))]])
    with pytest.raises(ModelError, match="overloaded"):
        await ask_json(model, "Is it?")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ('{"flagged": true}', {"flagged": True}),
        ("  [1, 2]\n", [1, 2]),
        ('```json\n{"flagged": true}\n```', {"flagged": True}),
        ('\n```\n{"flagged":\n true}```\n', {"flagged": True}),
        ('```JSON\n{"quoted": "```"}\n```', {"quoted": "```"}),
    ],
)
async def test_json_is_decoded_bare_or_fenced(answer: str, value: JSONValue) -> None:
    assert await ask_json(ScriptedModel([answer]), "Is it?") == value


@pytest.mark.anyio
@pytest.mark.parametrize(
    "answer",
    [
        "",
        "It is not flagged.",
        'It says {"flagged": false} there.',
        'It says:\n```json\n{"flagged": false}\n```',
        '```json\n{"flagged": false}\n```\n```json\n{"flagged": true}\n```',
        '{"score": NaN}',
        '{"flagged": tr',
    ],
)
async def test_json_amid_other_words_or_broken_is_refused(answer: str) -> None:
    with pytest.raises(ModelError, match="the answer is no JSON") as caught:
        await ask_json(ScriptedModel([answer]), "Is it?")
    assert caught.value.body == answer


@pytest.mark.anyio
async def test_json_is_asked_for_at_temperature_zero_unless_said_otherwise() -> None:
    model = ScriptedModel(["1", "1"])
    await ask_json(model, "Is it?", settings={"seed": 1})
    await ask_json(model, "Is it?", settings={"temperature": None})
    assert [request.settings for request in model.requests] == [{"temperature": 0, "seed": 1}, {"temperature": None}]


@pytest.mark.anyio
async def test_a_refused_call_stays_a_model_error() -> None:
    with pytest.raises(ModelError, match="overloaded"):
        await ask_json(ScriptedModel([ModelError("overloaded", status=529)]), "Is it?")
