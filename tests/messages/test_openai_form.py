"""OpenAI's chat form, there and back."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.messages import (
    FilePart,
    JSONValue,
    Message,
    MessageList,
    Part,
    PromptMessage,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolInvocationPart,
    prompt_to_openai,
)

PNG = "data:image/png;base64,aGk="

CONVERSATION: list[dict[str, JSONValue]] = [
    {"role": "system", "content": "be brief"},
    {"role": "user", "content": "Where is parcel 7?", "name": "ann"},
    {
        "role": "assistant",
        "content": "let me look",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "track", "arguments": '{"id": "7"}'}},
            {"id": "c2", "type": "function", "function": {"name": "track", "arguments": "{}"}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": '{"city": "Köln", "eta": null}'},
    {"role": "tool", "tool_call_id": "c2", "content": '{"error":"no id given"}'},
    {"role": "assistant", "content": "In Köln."},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "and these?"},
            {"type": "image_url", "image_url": {"url": PNG, "detail": "low"}},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.jpg?x=1"}},
            {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,aGk="}},
            {"type": "file", "file": {"file_id": "file-1"}},
        ],
    },
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c3", "type": "function", "function": {"name": "stop", "arguments": "{}"}},
    ]},
    {"role": "tool", "tool_call_id": "c3", "content": "null"},
    {"role": "assistant", "content": [{"type": "text", "text": "Sorry. "}, {"type": "refusal", "refusal": "No."}]},
]  # fmt: skip


def test_a_conversation_comes_back_as_it_was() -> None:
    assert MessageList.from_openai(CONVERSATION).to_openai() == CONVERSATION


def test_calls_of_one_id_get_their_answers_in_order() -> None:
    def called(*arguments: str) -> dict[str, Any]:
        calls = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": a}} for a in arguments]
        return {"role": "assistant", "content": None, "tool_calls": calls}

    answers: list[dict[str, Any]] = [{"role": "tool", "tool_call_id": "c", "content": text} for text in "abc"]
    given = [called("1", "2"), *answers[:2], called("3"), answers[2]]
    assert MessageList.from_openai(given).to_openai() == given
    with pytest.raises(ValueError, match="has an answer already"):
        MessageList.from_openai([*given, answers[0]])


@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 5000 + "]" * 5000, '{"a":' * 100_000])
def test_what_is_nested_too_deep_to_be_read_stays_text(text: str) -> None:
    function = {"name": "f", "arguments": text}
    given: list[dict[str, Any]] = [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "c", "content": text},
    ]
    call = MessageList.from_openai(given)[0].parts[0]
    assert isinstance(call, ToolInvocationPart)
    assert (call.args, call.result) == (text, text)


@pytest.mark.parametrize("content", [None, "Well."])
def test_a_refusal_beside_the_content_comes_back_as_it_was(content: str | None) -> None:
    given: list[dict[str, Any]] = [
        {"role": "user", "content": "How?"},
        {"role": "assistant", "content": content, "refusal": "I will not."},
    ]
    messages = MessageList.from_openai(given)
    assert messages.to_openai() == given
    assert messages[1].text.endswith("I will not.")
    assert MessageList.from_json(messages.to_json()).to_openai() == given


def test_what_is_read() -> None:
    messages = MessageList.from_openai(CONVERSATION)
    assert [m.text for m in messages.system_messages()] == ["be brief"]
    assert [m.role for m in messages] == ["user", "assistant", "assistant", "user", "assistant", "assistant"]
    assert messages[1].parts == [
        TextPart("let me look"),
        ToolInvocationPart("c1", "track", {"id": "7"}, "result", {"city": "Köln", "eta": None}),
        ToolInvocationPart("c2", "track", {}, "result", '{"error":"no id given"}'),
    ]
    assert messages[3].parts[1:3] == [
        FilePart("image/png", data="aGk=", provider_metadata={"openai": {"detail": "low"}}),
        FilePart("image/jpeg", url="https://example.org/a.jpg?x=1"),
    ]
    assert messages[0].provider_metadata == {"openai": {"name": "ann"}}
    assert all(messages.source_of(m.id) == "input" for m in messages)
    assert MessageList.from_openai(CONVERSATION, source="memory").remembered.ids()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)
TEXT = st.text(min_size=1, max_size=8)
RESULTS = st.dictionaries(st.text(max_size=3), JSON, max_size=2) | st.lists(JSON, max_size=2) | st.none() | TEXT
TEXTS = st.builds(TextPart, TEXT)
FILES = st.one_of(
    st.builds(FilePart, st.sampled_from(["image/png", "audio/wav", "audio/mpeg"]), data=st.just("aGk=")),
    st.builds(FilePart, st.just("image/png"), url=st.just("https://example.org/a.png")),
    st.builds(FilePart, st.just("text/csv"), data=st.just("aGk="), filename=st.none() | TEXT),
)


@st.composite
def conversations(draw: st.DrawFn) -> MessageList:
    """What the form can carry."""
    messages = MessageList()
    for text in draw(st.lists(TEXT, max_size=2, unique=True)):
        messages.add_system(text)
    number = 0
    for _ in range(draw(st.integers(0, 4))):
        if draw(st.booleans()):
            messages.add(Message("user", cast("list[Part]", draw(st.lists(TEXTS | FILES, min_size=1, max_size=3)))))
            continue
        parts: list[Any] = draw(st.lists(st.builds(TextPart, TEXT), max_size=2))
        for _ in range(draw(st.integers(0 if parts else 1, 2))):
            number += 1
            args = draw(st.dictionaries(st.text(max_size=3), JSON, max_size=2))
            parts.append(ToolInvocationPart(f"c{number}", "tool", args, "result", draw(RESULTS)))
        messages.add(Message("assistant", parts), source="response")
    return messages


@settings(max_examples=150)
@given(conversations())
def test_nothing_is_lost_that_the_form_can_carry(messages: MessageList) -> None:
    there = messages.to_openai()
    back = MessageList.from_openai(there)
    assert [(m.role, m.parts) for m in back] == [(m.role, _as_carried(m)) for m in messages]
    assert [m.text for m in back.system_messages()] == [m.text for m in messages.system_messages()]
    assert back.to_openai() == there


def _as_carried(message: Message) -> list[Any]:
    """The form has only text for what a tool returned: text that reads as an object, a list or null becomes one."""
    parts: list[Any] = []
    for part in message.parts:
        if isinstance(part, ToolInvocationPart) and part.result == "null":
            part.result = None
        parts.append(part)
    return parts


def test_reasoning_and_an_error_as_such_have_no_place_in_the_form() -> None:
    turn: list[Part] = [ReasoningPart("hm", "seal"), ToolInvocationPart("c", "t", {}, "error", error="denied")]
    assert MessageList([Message("assistant", turn)]).to_openai()[1:] == [
        {"role": "tool", "tool_call_id": "c", "content": "denied"}
    ]
    assert MessageList([Message("assistant", [ReasoningPart("hm", "seal")])]).to_openai() == []


def test_letters_stay_letters_in_arguments_and_results() -> None:
    part = ToolInvocationPart("c", "t", {"to": "Zoë"}, "result", {"für": "Zoë"})
    call, result = MessageList([Message("assistant", [part])]).to_openai()
    assert call["tool_calls"][0]["function"]["arguments"] == '{"to": "Zoë"}'
    assert result["content"] == '{"für": "Zoë"}'


@pytest.mark.parametrize("written", ['{"a": ', '{"a": NaN}', "[1e999]", "-Infinity"])
def test_arguments_that_are_no_json_stay_what_the_model_wrote(written: str) -> None:
    given_form: list[dict[str, JSONValue]] = [
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "t", "arguments": written}}]},
        {"role": "tool", "tool_call_id": "c", "content": "no JSON"},
    ]
    messages = MessageList.from_openai(given_form)
    part = messages[0].parts[0]
    assert isinstance(part, ToolInvocationPart)
    assert part.args == written
    assert MessageList.from_openai(messages.to_openai())[0].parts == messages[0].parts


def test_a_providers_own_call_without_a_result_is_left_out() -> None:
    prompt = [PromptMessage("assistant", [TextPart("a"), ToolCallPart("c", "search", {}, provider_executed=True)])]
    assert prompt_to_openai(prompt) == [{"role": "assistant", "content": "a"}]


def test_a_file_the_form_cannot_carry_is_refused_by_its_place() -> None:
    pdf = FilePart("application/pdf", url="https://example.org/a.pdf")
    with pytest.raises(ValueError, match=r"prompt\[0\].parts\[1\]: .*'application/pdf' by its data only"):
        prompt_to_openai([PromptMessage("user", [TextPart("a"), pdf])])
    with pytest.raises(ValueError, match=r"prompt\[0\].parts\[0\]: a file needs data or a url"):
        prompt_to_openai([PromptMessage("user", [FilePart("image/png")])])


CALL: dict[str, Any] = {"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("messages", "fault"),
    [
        ("hello", "messages: a list is needed here, not str"),
        (["hello"], r"messages\[0\]: a dict is needed here, not str"),
        ([{"content": "a"}], r"messages\[0\].role: must be one of system, developer, user, assistant, tool, not None"),
        ([{"role": ["user"]}], r"messages\[0\].role: .* not \['user'\]"),
        (
            [{"role": "user", "content": [{"type": "input_audio", "input_audio": {"format": ["wav"]}}]}],
            r"input_audio.format: must be one of wav, mp3, not \['wav'\]",
        ),
        ([{"role": "robot"}], r"messages\[0\].role: .* not 'robot'"),
        ([{"role": "user", "content": 3}], r"messages\[0\].content: a list is needed here, not int"),
        ([{"role": "user", "content": [{"type": "video"}]}], r"messages\[0\].content\[0\].type: .* not 'video'"),
        ([{"role": "user", "content": [{"type": "text"}]}], r"content\[0\].text: a string is needed here, not nothing"),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": "x"}]}], r"image_url: a dict is needed"),
        (
            [{"role": "user", "content": [{"type": "input_audio", "input_audio": {"format": "ogg"}}]}],
            r"input_audio.format: must be one of wav, mp3, not 'ogg'",
        ),
        (
            [{"role": "user", "content": [{"type": "file", "file": {"file_data": "aGk="}}]}],
            r"file.file_data: must be a URL of the form data:<type>;base64,<data>",
        ),
        ([{"role": "user", "tool_calls": [CALL]}], r"messages\[0\].tool_calls: only an assistant's message"),
        ([{"role": "assistant", "tool_calls": [{**CALL, "id": 3}]}], r"tool_calls\[0\].id: a string is needed"),
        ([{"role": "assistant", "tool_calls": [{**CALL, "type": "custom"}]}], r"only calls of functions can be read"),
        (
            [{"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "t"}}]}],
            r"messages\[0\].tool_calls\[0\].function.arguments: a string is needed here, not nothing",
        ),
        ([{"role": "tool", "tool_call_id": "c", "content": ""}], r"messages\[0\].tool_call_id: no message before it"),
        (
            [{"role": "assistant", "tool_calls": [CALL]}] + [{"role": "tool", "tool_call_id": "c", "content": "a"}] * 2,
            r"messages\[2\].tool_call_id: the call 'c' has an answer already",
        ),
    ],
)
def test_bad_input_is_refused_by_its_place(messages: object, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        MessageList.from_openai(cast("list[dict[str, JSONValue]]", messages))
