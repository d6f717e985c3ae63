"""The check that other tests rest on: each of its rules is broken once, and told."""

from __future__ import annotations

from typing import Any

import pytest

from interlock import MessageList
from tests.lifecycle.valid_history import assert_valid_history, faults_in_history


def user(content: Any = "Where is it?") -> dict[str, Any]:
    return {"role": "user", "content": content}


def calls(*ids: str, **changed: Any) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": id_, "type": "function", "function": {"name": "track", "arguments": "{}"}, **changed} for id_ in ids
        ],
    }


def answer(id_: str, content: Any = "In Leipzig.") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": content}


SYSTEM = {"role": "system", "content": "You help."}
SAID = {"role": "assistant", "content": "In Leipzig."}

VALID: list[list[dict[str, Any]]] = [
    [user()],
    [SYSTEM, user(), SAID, user()],
    [user(), user(), SAID, SAID],
    [user(), calls("c1", "c2"), answer("c2"), answer("c1", ""), SAID],
    [user(), calls("c1"), answer("c1"), calls("c2"), answer("c2")],
    [user([{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "https://a.b"}}])],
    [user(), {"role": "assistant", "refusal": "I will not."}],
]

WRONG: list[tuple[str, list[dict[str, Any]]]] = [
    ("no message", []),
    ("role is 'signal'", [{"role": "signal", "content": "hm"}]),
    ("content: missing", [{"role": "user"}]),
    ("content: missing", [user(), {"role": "assistant", "content": None}]),
    ("content: empty", [user("")]),
    ("at least one part", [user([])]),
    ("content[0]: empty", [user([{"type": "text", "text": ""}])]),
    ("a part of type 'image_url'", [user(), {"role": "assistant", "content": [{"type": "image_url"}]}]),
    ("an assistant's, at least one", [user(), {"role": "assistant", "content": "x", "tool_calls": []}]),
    ("an assistant's, at least one", [{**calls("c1"), "role": "user", "content": "x"}, answer("c1")]),
    ("'c1' has no answer", [user(), calls("c1")]),
    ("'c2' called before has no answer", [user(), calls("c1", "c2"), answer("c1"), SAID]),
    ("'c1' called before has no answer", [user(), calls("c1"), user("and?"), answer("c1")]),
    ("answers 'c1'", [user(), answer("c1")]),
    ("answers 'c1'", [user(), calls("c1"), answer("c1"), answer("c1")]),
    ("answers 'c9'", [user(), calls("c1"), answer("c9"), answer("c1")]),
    ("was used before", [user(), calls("c1"), answer("c1"), calls("c1"), answer("c1")]),
    ("id: missing", [user(), calls("", id=None), answer("None")]),
    ("type: 'tool'", [user(), calls("c1", type="tool"), answer("c1")]),
    ("name: 'a b'", [user(), calls("c1", function={"name": "a b", "arguments": "{}"}), answer("c1")]),
    ("no JSON", [user(), calls("c1", function={"name": "a", "arguments": "{"}), answer("c1")]),
]


@pytest.mark.parametrize("messages", VALID)
def test_what_the_form_documents_is_accepted(messages: list[dict[str, Any]]) -> None:
    assert_valid_history(messages, begins_with_user=True)


@pytest.mark.parametrize(("said", "messages"), WRONG)
def test_what_the_form_rules_out_is_told(said: str, messages: list[dict[str, Any]]) -> None:
    faults = faults_in_history(messages)
    assert len(faults) <= 2
    assert any(said in fault for fault in faults), faults


def test_a_conversation_and_a_prompt_are_checked_as_they_are_sent() -> None:
    said = MessageList("Where is it?")
    assert_valid_history(said)
    assert_valid_history(said.to_prompt())
    answered = MessageList("In Leipzig.", source="response")
    assert_valid_history(answered)
    with pytest.raises(AssertionError, match="begins with 'assistant'"):
        assert_valid_history(answered, begins_with_user=True)
    with pytest.raises(AssertionError, match="no message"):
        assert_valid_history(MessageList())
