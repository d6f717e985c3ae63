"""A list as JSON values, and back with nothing lost."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.messages import (
    DataPart,
    ErrorPart,
    FilePart,
    JSONValue,
    Message,
    MessageList,
    Part,
    ReasoningPart,
    Source,
    SourcePart,
    StepStartPart,
    TextPart,
    ToolInvocationPart,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)
OBJECTS = st.dictionaries(st.text(max_size=3), JSON, max_size=2)
MAYBE = st.none() | st.text(max_size=4)
PARTS = st.one_of(
    st.builds(TextPart, st.text(max_size=6), st.none() | OBJECTS),
    st.builds(ReasoningPart, st.text(max_size=6), MAYBE, st.none() | OBJECTS),
    st.builds(
        ToolInvocationPart,
        st.text(max_size=3),
        st.text(max_size=3),
        JSON,
        st.sampled_from(["call", "result", "error"]),
        JSON,
        MAYBE,
        JSON,
        st.booleans(),
        st.none() | OBJECTS,
    ),
    st.builds(FilePart, st.text(max_size=3), MAYBE, MAYBE, MAYBE, st.none() | OBJECTS),
    st.builds(SourcePart, st.text(max_size=3), st.text(max_size=3), MAYBE, st.none() | OBJECTS),
    st.builds(StepStartPart),
    st.builds(DataPart, st.text(max_size=3), JSON, MAYBE),
    st.builds(ErrorPart, st.text(max_size=3)),
)
SOURCES: tuple[Source, ...] = get_args(Source)
TIMES = st.datetimes(timezones=st.none() | st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))]))


@st.composite
def lists(draw: st.DrawFn) -> MessageList:
    messages = MessageList()
    for source in draw(st.lists(st.sampled_from(SOURCES), max_size=3)):
        message = Message(
            draw(st.sampled_from(["user", "assistant", "signal"])),
            draw(st.lists(PARTS, max_size=3)),
            created_at=draw(TIMES),
            thread_id=draw(MAYBE),
            resource_id=draw(MAYBE),
            metadata=draw(OBJECTS),
            provider_metadata=draw(st.none() | OBJECTS),
        )
        messages.add(message, source=source)
    for number, tag in enumerate(draw(st.lists(st.sampled_from([None, "t", "s"]), max_size=3))):
        messages.add_system(f"system {number}", tag=tag)
    messages.clear_system("s")
    return messages


@settings(max_examples=150)
@given(lists())
def test_nothing_is_lost(messages: MessageList) -> None:
    there = messages.to_json()
    back = MessageList.from_json(json.loads(json.dumps(there)))
    assert back.to_json() == there
    assert list(back) == list(messages)
    assert [back.source_of(m.id) for m in back] == [messages.source_of(m.id) for m in messages]
    assert back.system_tags == messages.system_tags
    assert back.to_prompt() == messages.to_prompt()
    assert not back.changed_from(messages)


def test_the_parts_tested_are_all_there_are() -> None:
    assert {
        TextPart,
        ReasoningPart,
        ToolInvocationPart,
        FilePart,
        SourcePart,
        StepStartPart,
        DataPart,
        ErrorPart,
    } == set(get_args(Part))


def test_what_is_as_usual_is_not_written() -> None:
    messages = MessageList([Message("user", "Hello", id="m", created_at=datetime(2024, 1, 2, tzinfo=UTC))])
    assert messages.to_json() == {
        "messages": [
            {
                "id": "m",
                "role": "user",
                "source": "input",
                "created_at": "2024-01-02T00:00:00+00:00",
                "parts": [{"type": "text", "text": "Hello"}],
            }
        ],
        "system": [],
        "system_tags": [],
    }


def test_neither_form_shares_anything_with_the_list() -> None:
    messages = MessageList([Message("user", [DataPart("d", {"x": [1]})], metadata={"k": [1]})])
    there = messages.to_json()
    back = MessageList.from_json(there)
    there["messages"][0]["parts"][0]["data"]["x"].append(2)
    there["messages"][0]["metadata"]["k"].append(2)
    for each in (messages, back):
        assert each[0].parts == [DataPart("d", {"x": [1]})]
        assert each[0].metadata == {"k": [1]}


def test_values_that_are_not_json_are_written_as_such() -> None:
    @dataclass
    class Found:
        when: datetime

    part = ToolInvocationPart("c", "t", (1, 2), "result", {"found": Found(datetime(2024, 1, 2)), 7: "x"})
    there = MessageList([Message("assistant", [part], id="m")]).to_json()
    assert there["messages"][0]["parts"][0]["args"] == [1, 2]
    assert there["messages"][0]["parts"][0]["result"] == {"found": {"when": "2024-01-02T00:00:00"}, "7": "x"}


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (object(), r"message 'm'.parts\[0\].data.x: a object has no JSON form"),
        (float("nan"), r"message 'm'.parts\[0\].data.x: nan has no JSON form"),
        ([{(1, 2): 1}], r"message 'm'.parts\[0\].data.x\[0\]: \(1, 2\) cannot be a key in JSON"),
    ],
)
def test_what_has_no_json_form_is_refused_by_its_place(value: object, fault: str) -> None:
    messages = MessageList([Message("user", [DataPart("d")], id="m")])
    part = messages[0].parts[0]
    assert isinstance(part, DataPart)
    part.data = {"x": value}
    with pytest.raises(ValueError, match=fault):
        messages.to_json()


def good() -> dict[str, Any]:
    messages = MessageList(
        [
            Message("user", [TextPart("a"), ToolInvocationPart("c", "t")], id="m"),
            Message("user", "b", id="n"),
        ]
    )
    return copy.deepcopy(messages.to_json())


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        ("messages.0.parts.0.text", 3, r"messages\[0\].parts\[0\].text: Input should be a valid string"),
        ("messages.0.parts.1.state", "done", r"messages\[0\].parts\[1\].state: Input should be 'call', 'result' or"),
        ("messages.0.parts.0.type", "poem", r"messages\[0\].parts\[0\]: Input tag 'poem'"),
        ("messages.0.parts.0.colour", "red", r"messages\[0\].parts\[0\].colour: Extra inputs are not permitted"),
        ("messages.1.role", "robot", r"messages\[1\].role: Input should be 'user'"),
        ("messages.1.created_at", "yesterday", r"messages\[1\].created_at: Input should be a valid datetime"),
        ("messages.1.id", None, r"messages\[1\].id: Input should be a valid string"),
        ("messages.1.id", "m", r"messages\[1\].id: 'm' is the id of messages\[0\] already"),
        ("messages.1.source", "space", r"messages\[1\].source: Input should be 'memory'"),
        ("messages", "none", r"messages: Input should be a valid list"),
        ("system", None, r"system: Input should be a valid list"),
    ],
)
def test_bad_input_is_refused_by_its_place(path: str, value: JSONValue, fault: str) -> None:
    whole = good()
    *way, last = path.split(".")
    spot: Any = whole
    for step in way:
        spot = spot[int(step)] if step.isdigit() else spot[step]
    spot[last] = value
    with pytest.raises(ValueError, match=fault):
        MessageList.from_json(whole)


def test_further_faults_are_counted() -> None:
    whole = good()
    whole["messages"][0]["role"] = whole["messages"][1]["role"] = "robot"
    with pytest.raises(ValueError, match=r"\(and 1 more faults\)"):
        MessageList.from_json(whole)
    with pytest.raises(ValueError, match="Input should be a valid"):
        MessageList.from_json([])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_importing_messages_does_not_import_pydantic() -> None:
    code = "import sys, interlock.messages; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
