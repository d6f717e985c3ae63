"""A message, and the shell that shares its parts until they are touched."""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from interlock.messages import DataPart, Message, Part, Role, TextPart, ToolInvocationPart


def test_a_string_becomes_one_text_part() -> None:
    message = Message("user", "Hello")
    assert message.parts == [TextPart("Hello")]
    assert message.text == "Hello"


@pytest.mark.parametrize(
    ("message", "role"),
    [(Message.user("a"), "user"), (Message.assistant("a"), "assistant"), (Message.system("a"), "system")],
)
def test_the_short_forms_set_the_role(message: Message, role: Role) -> None:
    assert (message.role, message.text) == (role, "a")


def test_the_text_joins_text_parts_only() -> None:
    message = Message("assistant", [TextPart("a"), DataPart("d", "x"), TextPart("b")])
    assert message.text == "ab"
    assert Message("assistant", [DataPart("d", "x")]).text == ""
    assert Message("assistant", []).text == ""


def test_every_message_gets_an_id_and_a_time_of_its_own() -> None:
    one, other = Message.user("a"), Message.user("a")
    assert one.id != other.id
    assert one.created_at.tzinfo is UTC


def test_what_is_given_is_kept() -> None:
    moment = datetime(2024, 2, 3, tzinfo=UTC)
    message = Message(
        "user",
        "a",
        id="m",
        created_at=moment,
        thread_id="t",
        resource_id="r",
        metadata={"x": 1},
        provider_metadata={"p": {"y": 2}},
    )
    assert (message.id, message.created_at, message.thread_id, message.resource_id) == ("m", moment, "t", "r")
    assert message.metadata == {"x": 1}
    assert message.provider_metadata == {"p": {"y": 2}}


def test_messages_of_one_content_and_id_are_equal() -> None:
    message = Message.user("a")
    assert message == message.shell()
    assert message.filed("memory") == message
    assert message != Message("user", "a")
    assert message != "a"


@pytest.mark.parametrize("name", ["role", "thread_id", "resource_id", "created_at", "metadata", "provider_metadata"])
def test_a_changed_attribute_makes_a_message_different(name: str) -> None:
    values: dict[str, Any] = {
        "role": "assistant",
        "created_at": datetime(2000, 1, 1, tzinfo=UTC),
        "metadata": {"x": 1},
        "provider_metadata": {"p": {}},
    }
    message = Message.user("a")
    other = message.shell()
    setattr(other, name, values.get(name, "changed"))
    assert other != message
    assert not other.same_as(message)
    assert getattr(message, name) != getattr(other, name)


def test_an_unknown_role_is_refused() -> None:
    with pytest.raises(ValueError, match="role is one of user, assistant, system, signal, not 'robot'"):
        Message(cast("Role", "robot"), "a")
    message = Message.user("a")
    with pytest.raises(ValueError, match="not 'robot'"):
        message.role = cast("Role", "robot")


def test_what_is_no_part_is_refused_by_its_place() -> None:
    wrong = cast("list[Part]", [TextPart("a"), {"type": "text"}])
    with pytest.raises(TypeError, match=r"parts\[1\] must be a part, such as TextPart, not dict"):
        Message("user", wrong)
    message = Message.user("a")
    with pytest.raises(TypeError, match=r"parts\[1\]"):
        message.parts = wrong


def test_reading_the_text_of_a_shell_copies_nothing() -> None:
    message = Message.user("a")
    shell = message.shell()
    assert shell.text == "a"
    assert shell._parts is message._parts


def test_a_shell_changes_alone() -> None:
    message = Message(
        "assistant", [TextPart("a"), ToolInvocationPart("c", "t", {"deep": {"x": 1}})], metadata={"k": [1]}
    )
    shell = message.shell()
    cast("TextPart", shell.parts[0]).text = "changed"
    cast("ToolInvocationPart", shell.parts[1]).args["deep"]["x"] = 2
    shell.metadata["k"].append(2)
    assert message.text == "a"
    assert cast("ToolInvocationPart", message.parts[1]).args == {"deep": {"x": 1}}
    assert message.metadata == {"k": [1]}


def test_what_was_handed_out_before_a_shell_was_made_does_not_reach_it() -> None:
    message = Message.user("a")
    part, metadata = message.parts[0], message.metadata
    shell = message.shell()
    cast("TextPart", part).text = "changed"
    metadata["k"] = 1
    assert shell.text == "a"
    assert shell.metadata == {}
    assert message.text == "changed"


def test_parts_can_be_set_and_the_list_of_them_changed() -> None:
    message = Message.user("a")
    message.parts = [TextPart("b")]
    message.parts.append(TextPart("c"))
    assert message.text == "bc"


def test_metadata_that_was_given_is_copied() -> None:
    given = {"x": [1]}
    message = Message("user", "a", metadata=given)
    given["x"].append(2)
    assert message.metadata == {"x": [1]}


def test_a_deep_copy_is_equal_and_changes_alone() -> None:
    message = Message("user", [DataPart("d", [1])], metadata={"x": [1]})
    copied = copy.deepcopy(message)
    assert copied == message
    cast("DataPart", copied.parts[0]).data.append(2)
    assert cast("DataPart", message.parts[0]).data == [1]


def test_messages_cannot_be_hashed_because_they_change() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(Message.user("a"))


def test_a_message_has_no_room_for_misspelt_attributes() -> None:
    with pytest.raises(AttributeError):
        Message.user("a").txt = "b"  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
