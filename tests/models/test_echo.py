"""The model that says back what it hears."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.messages.chunks import Chunk, StepFinish, TextDelta, TextEnd, TextStart, ToolCall, ToolCallStart
from interlock.messages.parts import JSONValue, TextPart
from interlock.messages.prompt import PromptMessage, ToolCallPart, ToolResultPart
from interlock.messages.usage import Usage
from interlock.models import EchoModel, ModelRequest, ToolChoice, ToolSpec
from interlock.models.echo import echoed
from tests.models.asked import asking, chunks_of, deltas

TRACK = ToolSpec("track", "Find a parcel.", {"type": "object"})


def told(text: str, *, tools: tuple[ToolSpec, ...] = (TRACK,), tool_choice: ToolChoice = "auto") -> list[Chunk]:
    prompt = [PromptMessage("user", [TextPart(text)])]
    return list(echoed(ModelRequest(prompt, tools=tools, tool_choice=tool_choice)))


def after(*results: ToolResultPart) -> str:
    prompt = [
        PromptMessage("user", [TextPart("/tool track")]),
        PromptMessage("assistant", [ToolCallPart(result.tool_call_id, result.tool_name, {}) for result in results]),
        *(PromptMessage("tool", [result]) for result in results),
    ]
    return "".join(deltas(list(echoed(ModelRequest(prompt, tools=(TRACK,))))))


@given(st.text().filter(lambda text: not text.lstrip().startswith("/tool")))
def test_the_deltas_joined_are_the_text(text: str) -> None:
    chunks = told(text)
    assert "".join(deltas(chunks)) == text
    assert [type(c) for c in chunks if not isinstance(c, TextDelta)] == [TextStart, TextEnd, StepFinish][
        2 * (not text) :
    ]


@pytest.mark.anyio
async def test_the_answer_comes_word_by_word() -> None:
    chunks = await chunks_of(EchoModel(), asking("Where is  my parcel?\n"))
    assert deltas(chunks) == ["Where", " is", "  my", " parcel?", "\n"]
    assert chunks[-1] == StepFinish("stop", Usage(input_tokens=4, output_tokens=4))


def test_the_last_user_text_counts() -> None:
    prompt = [
        PromptMessage("user", [TextPart("first")]),
        PromptMessage("assistant", [TextPart("yes")]),
        PromptMessage("user", [TextPart("sec"), TextPart("ond")]),
        PromptMessage("system", [TextPart("Be kind.")]),
    ]
    assert "".join(deltas(list(echoed(ModelRequest(prompt))))) == "second"


@pytest.mark.parametrize("written", ['{"id": "7", "n": [1]}', '\n{"id": "7",\n"n": [1]}\n'])
def test_a_command_calls_the_tool(written: str) -> None:
    chunks = told(f"/tool track {written}")
    call = next(c for c in chunks if isinstance(c, ToolCall))
    assert (call.tool_name, call.args) == ("track", {"id": "7", "n": [1]})
    assert isinstance(chunks[0], ToolCallStart)
    assert chunks[0].tool_call_id == call.tool_call_id
    assert isinstance(chunks[-1], StepFinish)
    assert chunks[-1].finish_reason == "tool-calls"


def test_a_command_without_arguments_sends_none() -> None:
    assert [c.args for c in told("/tool track") if isinstance(c, ToolCall)] == [{}]


@pytest.mark.parametrize("written", ['{"id": "7"', "7", "[1]", "id=7", '{"id": 7} and more'])
def test_arguments_that_are_no_object_are_answered_in_words(written: str) -> None:
    chunks = told(f"/tool track {written}")
    assert "".join(deltas(chunks)).startswith("The arguments of 'track' must be a JSON object")
    assert not any(isinstance(c, ToolCall) for c in chunks)


def test_an_unknown_tool_is_answered_in_words() -> None:
    assert "".join(deltas(told("/tool trace {}"))) == "There is no tool 'trace' to call. Tools I was given: track."
    assert "Tools I was given: none." in "".join(deltas(told("/tool trace", tools=())))


def test_a_tool_is_not_called_where_none_may_be() -> None:
    chunks = told("/tool track {}", tool_choice="none")
    assert "asked not to call tools" in "".join(deltas(chunks))
    assert not any(isinstance(c, ToolCall) for c in chunks)


@pytest.mark.parametrize("text", ["/toolbox is open", "use /tool track", "/TOOL track"])
def test_other_texts_are_no_commands(text: str) -> None:
    assert "".join(deltas(told(text))) == text


@pytest.mark.parametrize(
    ("output", "said"), [("on its way", "on its way"), ({"at": "Köln"}, '{"at": "Köln"}'), (None, "null")]
)
def test_after_a_tool_it_says_what_the_tool_returned(output: JSONValue, said: str) -> None:
    assert after(ToolResultPart("1", "track", output)) == said


def test_after_several_tools_it_says_each_on_a_line() -> None:
    failed = ToolResultPart("2", "track", "no such parcel", is_error=True)
    assert after(ToolResultPart("1", "track", "on its way"), failed) == "on its way\ntrack failed: no such parcel"


def test_a_command_in_a_result_is_only_said() -> None:
    assert after(ToolResultPart("1", "track", '/tool track {"id": "7"}')) == '/tool track {"id": "7"}'


def test_results_before_the_last_user_text_do_not_count() -> None:
    prompt = [PromptMessage("tool", [ToolResultPart("1", "track", "old")]), PromptMessage("user", [TextPart("new")])]
    assert "".join(deltas(list(echoed(ModelRequest(prompt))))) == "new"


def test_calls_have_ids_of_their_own() -> None:
    ids = {c.tool_call_id for _ in range(50) for c in told("/tool track") if isinstance(c, ToolCall)}
    assert len(ids) == 50
