"""The conversation of a run: sources, views, changes, forks."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.messages import (
    DataPart,
    Message,
    MessageList,
    Part,
    ReasoningPart,
    Source,
    StepStartPart,
    TextEdit,
    TextPart,
    ToolInvocationPart,
)


def text_part(message: Message, at: int = 0) -> TextPart:
    part = message.parts[at]
    assert isinstance(part, TextPart)
    return part


def tool_part(message: Message, at: int = 0) -> ToolInvocationPart:
    part = message.parts[at]
    assert isinstance(part, ToolInvocationPart)
    return part


def named(*ids: str) -> MessageList:
    return MessageList([Message("user", f"text of {id_}", id=id_) for id_ in ids])


# Sources and views


def test_each_view_shows_the_messages_of_its_source_in_order() -> None:
    messages = MessageList(["m1", "m2"], source="memory")
    messages.add("c", source="context")
    messages.add(["i1", "i2"])
    messages.add("r", source="response")
    assert messages.all.texts() == messages.texts() == ["m1", "m2", "c", "i1", "i2", "r"]
    assert messages.remembered.texts() == ["m1", "m2"]
    assert messages.input.texts() == ["i1", "i2"]
    assert messages.response.texts() == ["r"]
    assert [messages.source_of(m.id) for m in messages] == ["memory", "memory", "context", "input", "input", "response"]


def test_a_list_and_its_views_are_sequences() -> None:
    messages = MessageList(["a", "b", "c"])
    for view in (messages, messages.all, messages.input):
        assert len(view) == 3
        assert [m.text for m in view] == ["a", "b", "c"]
        assert (view[0].text, view[-1].text) == ("a", "c")
        assert [m.text for m in view[1:]] == ["b", "c"]
        assert messages[1] in view
        assert view[0] is messages.all[0]
        with pytest.raises(IndexError):
            view[3]
    assert not messages.response


def test_a_view_follows_the_list() -> None:
    messages = MessageList("a")
    view = messages.all
    messages.add("b")
    assert view.texts() == ["a", "b"]
    messages.remove(messages[0].id)
    assert view.texts() == ["b"]


def test_messages_removed_during_a_loop_are_passed_over() -> None:
    messages = named("a", "b", "c")
    seen: list[str] = []
    for message in messages.all:
        seen.append(message.id)
        if message.id == "a":
            messages.remove("b")
    assert seen == ["a", "c"]


def test_a_string_becomes_a_message_of_whoever_speaks() -> None:
    messages = MessageList("a")
    messages.add("b", source="response")
    assert [m.role for m in messages] == ["user", "assistant"]


def test_an_unknown_source_and_what_is_no_message_are_refused() -> None:
    messages = MessageList()
    with pytest.raises(ValueError, match="source is one of memory, input, response, context, not 'network'"):
        messages.add("a", source=cast("Source", "network"))
    with pytest.raises(TypeError, match=r"messages\[1\] must be a Message or a string, not dict"):
        messages.add(cast("list[str]", ["a", {"role": "user"}]))
    assert len(messages) == 0


def test_nothing_but_a_message_of_role_system_becomes_a_system_message() -> None:
    messages = MessageList("a")
    messages.set_system("be brief")
    for wrong in (Message.user("be rude"), Message.assistant("be rude")):
        with pytest.raises(ValueError, match=r"a system message has the role 'system', not '(user|assistant)'"):
            messages.add_system(wrong)
        with pytest.raises(ValueError, match=r"a system message has the role 'system', not '(user|assistant)'"):
            messages.set_system(["be kind", wrong])
    for odd in (None, {"role": "system", "content": "be rude"}):
        with pytest.raises(TypeError, match=r"a system message is a text or a Message, not a (NoneType|dict)"):
            messages.add_system(cast("str", odd))
    assert [m.text for m in messages.system_messages()] == ["be brief"]


def test_messages_are_removed_by_their_ids() -> None:
    messages = MessageList("a")
    for wrong in (messages[0], [messages[0]], [3]):
        with pytest.raises(TypeError, match=r"removed by their ids, remove\(message.id\), not by a (Message|int)"):
            messages.remove(cast("str", wrong))
    assert messages.texts() == ["a"]


def test_a_system_message_goes_to_the_untagged_system_messages() -> None:
    messages = MessageList([Message.system("be brief"), Message.user("a")])
    assert messages.texts() == ["a"]
    assert [m.text for m in messages.system_messages()] == ["be brief"]


def test_an_added_message_with_a_known_id_takes_the_place_and_the_new_source() -> None:
    messages = MessageList([Message("user", "stored", id="m"), Message("user", "other", id="n")], source="memory")
    messages.add(Message("user", "sent again", id="m"), source="input")
    assert messages.texts() == ["sent again", "other"]
    assert messages.input.ids() == ["m"]
    assert messages.remembered.ids() == ["n"]


def test_memory_never_displaces_what_the_run_was_given() -> None:
    messages = MessageList([Message("user", "new", id="m")])
    messages.add(Message("user", "stored", id="m"), source="memory")
    assert messages.texts() == ["new"]
    assert messages.source_of("m") == "input"


# What is given stays the caller's


def test_the_list_never_changes_the_object_it_was_given_nor_follows_it() -> None:
    part = ToolInvocationPart("c", "t", {"deep": {"x": 1}})
    mine = Message("assistant", [TextPart("a"), part], metadata={"k": 1})
    messages = MessageList([mine], source="response")
    text_part(messages[0]).text = "changed in the list"
    messages[0].metadata["k"] = 2
    assert mine.text == "a"
    assert mine.metadata == {"k": 1}
    part.args["deep"]["x"] = 9
    mine.parts.append(TextPart("more"))
    assert tool_part(messages[0], 1).args == {"deep": {"x": 1}}
    assert len(messages[0].parts) == 2


# In place


def test_a_message_taken_out_and_changed_in_place_changes_the_list() -> None:
    messages = named("a", "b")
    held = messages[0]
    text_part(held).text = "changed"
    messages.add("later")
    messages.remove("b")
    held.metadata["k"] = 1
    assert messages[0] is held
    assert messages.texts() == ["changed", "later"]
    assert messages.fork()[0].metadata == {"k": 1}


def test_a_removed_or_replaced_message_has_no_part_in_the_list_any_more() -> None:
    messages = named("a", "b")
    removed, replaced = messages[0], messages[1]
    messages.remove("a")
    messages.replace(Message("user", "new", id="b"))
    text_part(removed).text = text_part(replaced).text = "ghost"
    assert messages.texts() == ["new"]
    assert messages.fork().texts() == ["new"]
    messages.add(Message("user", "again", id="a"))
    assert messages.texts() == ["new", "again"]


# Changes by name


def test_remove_takes_one_id_or_several_and_all_or_none() -> None:
    messages = named("a", "b", "c")
    with pytest.raises(ValueError, match="no message has the id 'zz'; the list has 3 messages, the last ones: 'a'"):
        messages.remove(["a", "zz"])
    assert messages.all.ids() == ["a", "b", "c"]
    messages.remove("b")
    messages.remove(["a", "c"])
    assert len(messages) == 0


def test_unknown_ids_are_named() -> None:
    messages = named("a")
    for call in (
        lambda: messages.replace(Message("user", "x", id="zz")),
        lambda: messages.edit_text("zz", 0, TextEdit(0, 0)),
        lambda: messages.source_of("zz"),
    ):
        with pytest.raises(ValueError, match="no message has the id 'zz'"):
            call()
    assert messages.get("zz") is None
    with pytest.raises(ValueError, match="no message has a tool call with the id 'zz'"):
        messages.update_tool_invocation("zz", result=1)


def test_replace_keeps_place_and_source() -> None:
    messages = MessageList(["a", "b"], source="memory")
    id_ = messages[0].id
    messages.replace(Message("assistant", "new", id=id_))
    assert messages.texts() == ["new", "b"]
    assert messages.source_of(id_) == "memory"
    assert messages[0].role == "assistant"


def test_edit_text_makes_all_edits_in_offsets_of_the_old_text() -> None:
    messages = named("a")
    messages.edit_text("a", 0, [TextEdit(8, 9, "[A]"), TextEdit(0, 4, "words")])
    assert messages.texts() == ["words of [A]"]


def test_edit_text_works_on_system_messages_and_reasoning() -> None:
    messages = MessageList([Message("assistant", [ReasoningPart("I know ann", "seal")], id="m")], source="response")
    messages.add_system("for ann")
    messages.edit_text("m", 0, TextEdit(7, 10, "[NAME]"))
    messages.edit_text(messages.system_messages()[0].id, 0, TextEdit(4, 7, "[NAME]"))
    assert messages[0].parts == [ReasoningPart("I know [NAME]", None)]
    assert messages.system_messages()[0].text == "for [NAME]"


@pytest.mark.parametrize(
    ("part", "edits", "fault"),
    [
        (
            0,
            [TextEdit(0, 99)],
            r"message 'a', part 0: the edit \[0, 99\) lies outside the text, which has 9 characters",
        ),
        (0, [TextEdit(-1, 2)], r"\[-1, 2\) lies outside"),
        (0, [TextEdit(3, 2)], r"\[3, 2\) lies outside"),
        (0, [TextEdit(0, 4), TextEdit(3, 5)], r"the edits \[0, 4\) and \[3, 5\) overlap"),
        (0, [TextEdit(0, 4), TextEdit(2, 2, "x")], r"overlap"),
        (0, [TextEdit(0, 1, "", cast("Any", "joke"))], "kind is 'redaction' or 'rewrite', not 'joke'"),
        (1, [TextEdit(0, 0)], "part 1: a part of type 'data' has no text to edit"),
        (2, [TextEdit(0, 0)], "part 2: there is no such part; the message has 2"),
        (-1, [TextEdit(0, 0)], "part -1: there is no such part"),
    ],
)
def test_an_edit_that_does_not_fit_is_refused_and_changes_nothing(part: int, edits: list[TextEdit], fault: str) -> None:
    messages = MessageList([Message("user", [TextPart("text of a"), DataPart("d")], id="a")])
    before = messages.fork()
    with pytest.raises(ValueError, match=fault):
        messages.edit_text("a", part, edits)
    assert not messages.changed_from(before)


def test_a_tool_call_is_updated_where_it_was_last_made() -> None:
    messages = MessageList(
        [Message("assistant", [StepStartPart(), ToolInvocationPart("c", "t", {"x": n})]) for n in range(2)],
        source="response",
    )
    messages.update_tool_invocation("c", result={"y": 1}, model_output="shown", args={"x": 5})
    assert tool_part(messages[0], 1) == ToolInvocationPart("c", "t", {"x": 0})
    assert tool_part(messages[1], 1) == ToolInvocationPart("c", "t", {"x": 5}, "result", {"y": 1}, None, "shown")
    messages.update_tool_invocation("c", error="denied")
    assert tool_part(messages[1], 1) == ToolInvocationPart("c", "t", {"x": 5}, "error", None, "denied")
    messages.update_tool_invocation("c", result=None)
    assert tool_part(messages[1], 1).state == "result"
    with pytest.raises(ValueError, match="a result or an error, not both"):
        messages.update_tool_invocation("c", result=1, error="x")


def test_of_calls_with_one_id_the_first_that_waits_gets_the_result() -> None:
    turn: list[Part] = [ToolInvocationPart("c", "t", 1, "result", "old"), StepStartPart()]
    turn += [ToolInvocationPart("c", "t", 2), ToolInvocationPart("c", "t", 3)]
    messages = MessageList([Message("assistant", turn)], source="response")
    messages.update_tool_invocation("c", result="two", model_output="2")
    messages.update_tool_invocation("c", error="three")
    assert [p for p in messages[0].parts if isinstance(p, ToolInvocationPart)] == [
        ToolInvocationPart("c", "t", 1, "result", "old"),
        ToolInvocationPart("c", "t", 2, "result", "two", model_output="2"),
        ToolInvocationPart("c", "t", 3, "error", error="three"),
    ]
    messages.update_tool_invocation("c", args=4)
    messages.update_tool_invocation("c", result="four")
    assert tool_part(messages[0], 2).result == "two"
    assert tool_part(messages[0], 3) == ToolInvocationPart("c", "t", 4, "result", "four")


# assign


def test_assign_makes_the_given_messages_the_content_of_a_view() -> None:
    messages = MessageList([Message("user", "old", id="old")], source="memory")
    messages.add([Message("user", t, id=t) for t in ("a", "b", "c")])
    messages.add(Message("assistant", "r", id="r"), source="response")
    a, _, c = messages.input
    text_part(a).text = "a changed"
    messages.assign([c, Message("user", "new", id="new"), a], within=messages.input)
    assert messages.all.ids() == ["old", "c", "new", "a", "r"]
    assert messages.texts() == ["old", "c", "new", "a changed", "r"]
    assert messages.source_of("new") == "input"


@given(st.permutations(range(5)), st.integers(0, 5), st.lists(st.integers(0, 5), max_size=3))
def test_assign_gives_the_view_exactly_what_it_was_given(order: list[int], kept: int, places: list[int]) -> None:
    messages = MessageList([Message("user", "x", id=f"m{n}") for n in range(3)], source="memory")
    messages.add([Message("user", "x", id=str(n)) for n in range(5)])
    wanted = [messages.get(str(n)) or Message.user("?") for n in order[:kept]]
    for number, at in enumerate(places):
        wanted.insert(min(at, len(wanted)), Message("user", "new", id=f"new{number}"))
    messages.assign(wanted, within=messages.input)
    assert messages.input.ids() == [m.id for m in wanted]
    assert messages.remembered.ids() == ["m0", "m1", "m2"]
    assert messages.all.ids()[:3] == ["m0", "m1", "m2"]


def test_assign_refuses_a_message_twice_and_one_from_elsewhere_in_the_list() -> None:
    messages = named("a", "b")
    messages.add(Message("assistant", "r", id="r"), source="response")
    with pytest.raises(ValueError, match="'a' is given twice"):
        messages.assign([messages[0], messages[0]])
    with pytest.raises(ValueError, match="'r' is in the list, but not among those that were shown"):
        messages.assign([messages[2]], within=messages.input)


def test_assign_puts_system_messages_where_they_belong() -> None:
    messages = named("a")
    messages.assign([Message.system("be brief"), messages[0]])
    assert messages.all.ids() == ["a"]
    assert [m.text for m in messages.system_messages()] == ["be brief"]


# System messages


def test_system_messages_are_grouped_by_tag_in_order_of_first_use() -> None:
    messages = MessageList()
    messages.add_system("t2", tag="two")
    messages.add_system("plain")
    messages.add_system("t1", tag="one")
    messages.add_system("t2 again", tag="two")
    assert [m.text for m in messages.system_messages()] == ["plain"]
    assert [m.text for m in messages.system_messages("two")] == ["t2", "t2 again"]
    assert messages.system_tags == ("two", "one")
    assert [m.text for m in messages.to_prompt()] == ["plain", "t2", "t2 again", "t1"]
    messages.clear_system("two")
    assert messages.system_messages("two") == []
    messages.add_system("back", tag="two")
    assert [m.text for m in messages.to_prompt()] == ["plain", "back", "t1"]


def test_a_system_text_is_not_added_twice_under_one_tag() -> None:
    messages = MessageList()
    for tag in (None, None, "t", "t"):
        messages.add_system("same", tag=tag)
    assert [len(messages.system_messages(tag)) for tag in (None, "t")] == [1, 1]


def test_set_system_keeps_the_messages_whose_text_stays() -> None:
    messages = MessageList()
    messages.add_system("a")
    messages.add_system("b")
    messages.add_system("other", tag="t")
    kept = messages.system_messages()[1].id
    messages.set_system(["new", "b"])
    assert [m.text for m in messages.system_messages()] == ["new", "b"]
    assert messages.system_messages()[1].id == kept
    assert [m.text for m in messages.system_messages("t")] == ["other"]
    messages.set_system([])
    assert messages.system_messages() == []


def test_a_system_message_changed_in_place_changes_the_list() -> None:
    messages = MessageList()
    messages.add_system("a")
    fork = messages.fork()
    text_part(messages.system_messages()[0]).text = "changed"
    assert [m.text for m in messages.to_prompt()] == ["changed"]
    assert [m.text for m in fork.to_prompt()] == ["a"]
    assert messages.changed_from(fork)


def test_only_messages_of_role_system_are_system_messages() -> None:
    with pytest.raises(ValueError, match="a system message has the role 'system', not 'user'"):
        MessageList().add_system(Message.user("a"))
