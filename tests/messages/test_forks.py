"""Forks of a list: whatever is done to one, no other sees it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.messages import Message, MessageList, TextEdit, TextPart, ToolInvocationPart


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


def conversation() -> MessageList:
    messages = MessageList(["one", "two"], source="memory")
    call = ToolInvocationPart("c", "t", {"deep": [{"x": 1}]}, "result", {"y": [1]})
    messages.add(Message("assistant", [TextPart("three"), call], metadata={"k": [1]}), source="response")
    messages.add_system("be brief")
    messages.add_system("tagged", tag="t")
    return messages


def change_everything(messages: MessageList) -> None:
    text_part(messages[0]).text = "changed"
    tool_part(messages[2], 1).args["deep"][0]["x"] = 2
    tool_part(messages[2], 1).result["y"].append(2)
    messages[2].metadata["k"].append(2)
    messages[1].role = "assistant"
    messages.edit_text(messages[1].id, 0, TextEdit(0, 1, "T"))
    text_part(messages.system_messages()[0]).text = "be long"
    messages.clear_system("t")
    messages.remove(messages[0].id)
    messages.add("four")


@pytest.mark.parametrize("who", ["the fork", "the parent", "the fork of a fork"])
@pytest.mark.parametrize("touched_before", [False, True])
def test_what_is_done_to_one_list_no_other_sees(who: str, touched_before: bool) -> None:
    parent = conversation()
    if touched_before:
        _ = [(m.parts, m.metadata, m.provider_metadata) for m in parent], parent.system_messages()
    fork = parent.fork()
    grandchild = fork.fork()
    sibling = parent.fork()
    lists = {"the parent": parent, "the fork": fork, "the fork of a fork": grandchild, "sibling": sibling}
    changing = lists[who]
    before = {name: item.to_json() for name, item in lists.items() if item is not changing}
    change_everything(changing)
    assert {name: item.to_json() for name, item in lists.items() if item is not changing} == before
    for item in lists.values():
        if item is not changing:
            assert changing.changed_from(item)
            assert not item.changed_from(sibling)


def test_a_message_held_from_before_a_fork_stays_with_the_list_that_handed_it_out() -> None:
    parent = conversation()
    held, part, metadata = parent[0], text_part(parent[0]), parent[2].metadata
    fork = parent.fork()
    part.text = "changed"
    metadata["k"] = 5
    assert fork.texts()[0] == "one"
    assert fork[2].metadata == {"k": [1]}
    assert parent[0] is held
    assert parent.texts()[0] == "changed"
    assert fork.changed_from(parent)


def test_a_settled_list_takes_leave_of_what_it_handed_out() -> None:
    messages = conversation()
    text_part(messages[0]).text = "changed"
    held = messages[0]
    messages.settle()
    held.metadata["k"] = 1
    text_part(held).text = "too late"
    assert messages.texts()[0] == "changed"
    assert messages[0].metadata == {}


def test_a_settled_list_forks_without_copying() -> None:
    messages = conversation()
    held = messages[0].parts
    messages.settle()
    frozen = messages.fork()._talk.peek(messages.all.ids()[0])
    assert frozen is not None
    assert frozen._parts is held


def test_nothing_is_left_of_a_removed_message_when_its_id_comes_back() -> None:
    messages = named("a", "b")
    text_part(messages[0]).text = "changed"
    messages.settle()
    fork = messages.fork()
    for each in (messages, fork):
        each.remove("a")
        each.add(Message("user", "new", id="a"))
        assert each.texts() == ["text of b", "new"]


def test_a_system_message_held_from_before_a_fork_stays_with_its_list() -> None:
    messages = MessageList()
    messages.add_system("a")
    held = messages.system_messages()[0]
    fork = messages.fork()
    text_part(held).text = "changed"
    assert [m.text for m in messages.system_messages()] == ["changed"]
    assert [m.text for m in fork.system_messages()] == ["a"]


def test_reading_is_no_change() -> None:
    parent = conversation()
    fork = parent.fork()
    _ = [(m.text, m.parts, m.metadata, m.role) for m in fork], fork.system_messages(), fork.to_prompt(), fork.to_json()
    assert not fork.changed_from(parent)
    assert fork.changed_ids(parent) == set()


@pytest.mark.parametrize("before_fork", [False, True])
def test_changed_ids_names_what_was_added_removed_or_edited(before_fork: bool) -> None:
    parent = conversation()
    if before_fork:
        _ = [m.parts for m in parent], parent.system_messages()
    fork = parent.fork()
    first, second, third = fork.all.ids()
    text_part(fork[0]).text = "changed"
    assert fork.changed_ids(parent) == {first}
    fork.remove(second)
    fork.add(Message("user", "x", id="new"))
    tool_part(fork.all[1], 1).args["deep"][0]["x"] = True  # equal to 1, and yet another value
    system = fork.system_messages()[0]
    system.metadata["k"] = 1
    assert fork.changed_ids(parent) == {first, second, third, "new", system.id}


def test_a_changed_order_is_a_change() -> None:
    parent = named("a", "b")
    fork = parent.fork()
    fork.assign(list(fork)[::-1])
    assert fork.changed_from(parent)
    fork.assign(list(fork)[::-1])
    assert not fork.changed_from(parent)


def test_adopt_takes_the_whole_content_and_views_follow() -> None:
    parent = conversation()
    view, held = parent.all, parent[0]
    fork = parent.fork()
    change_everything(fork)
    parent.adopt(fork)
    assert parent.to_json() == fork.to_json()
    assert view.texts() == fork.texts()
    text_part(held).text = "ghost"
    text_part(fork[0]).text = "of the fork alone"
    assert "ghost" not in parent.texts()
    assert parent.texts()[0] != fork.texts()[0]
    assert parent.system_tags == fork.system_tags


def test_the_last_message_of_a_fresh_fork_of_a_long_list_is_one_copy_away() -> None:
    base = MessageList([Message.user(f"message {n}") for n in range(1_000)])
    fork = base.fork()
    assert fork.all[-1].text == "message 999"
    assert fork._talk._snapshot is base._talk._snapshot
    assert list(fork._talk._touched) == [base.all[-1].id]
    assert not fork._talk._opened


operations = st.lists(
    st.tuples(
        st.sampled_from(["text", "metadata", "add", "remove", "fork", "adopt", "settle", "role"]), st.integers(0, 9)
    ),
    max_size=12,
)


@settings(max_examples=150)
@given(operations)
def test_forks_behave_as_if_each_were_a_full_copy(steps: list[tuple[str, int]]) -> None:
    """Against a model that copies everything."""
    lists = [named("a", "b", "c")]
    models: list[list[tuple[str, str, str, int]]] = [[(i, f"text of {i}", "user", 0) for i in ("a", "b", "c")]]
    for number, (step, pick) in enumerate(steps):
        at = pick % len(lists)
        messages, model = lists[at], models[at]
        row = pick % len(model) if model else None
        if step == "fork" and len(lists) < 4:
            lists.append(messages.fork())
            models.append(list(model))
        elif step == "adopt":
            other = (at + 1) % len(lists)
            lists[other].adopt(messages)
            models[other] = list(model)
        elif step == "settle":
            messages.settle()
        elif step == "add":
            messages.add(Message("user", "new", id=f"n{number}"))
            model.append((f"n{number}", "new", "user", 0))
        elif row is not None:
            id_, text, role, mark = model[row]
            if step == "remove":
                messages.remove(id_)
                del model[row]
                continue
            if step == "text":
                text += "!"
                text_part(messages.all[row]).text = text
            elif step == "metadata":
                mark += 1
                messages.all[row].metadata["mark"] = mark
            elif step == "role":
                role = "assistant"
                messages.all[row].role = "assistant"
            model[row] = (id_, text, role, mark)
    for messages, model in zip(lists, models, strict=True):
        assert [(m.id, m.text, m.role, m.metadata.get("mark", 0)) for m in messages.fork()] == model
        assert [(m.id, m.text) for m in messages._talk.current()] == [row[:2] for row in model]
