"""Joining forks of a list: messages, their order, parts, metadata, system messages."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.errors import MergeConflict
from interlock.messages import (
    DataPart,
    FilePart,
    Message,
    MessageList,
    Part,
    ReasoningPart,
    TextEdit,
    TextPart,
    ToolInvocationPart,
    merge,
)


def named(*ids: str) -> MessageList:
    return MessageList([Message("user", f"text of {id_}", id=id_) for id_ in ids])


def one(*parts: Part) -> MessageList:
    return MessageList([Message("assistant", parts, id="m")], source="response")


def text_part(messages: MessageList, at: int = 0, part: int = 0) -> TextPart:
    found = messages[at].parts[part]
    assert isinstance(found, TextPart)
    return found


def tool_part(messages: MessageList) -> ToolInvocationPart:
    found = messages[0].parts[0]
    assert isinstance(found, ToolInvocationPart)
    return found


# Laws


@st.composite
def changed(draw: st.DrawFn, base: MessageList, name: str, moves: bool) -> MessageList:
    """A fork after some changes that no other branch's can contradict."""
    fork = base.fork()
    for number in range(draw(st.integers(0, 3))):
        ids = fork.all.ids()
        how = draw(
            st.sampled_from(["add", "insert", "remove", "edit", "place", "metadata", *(["move"] if moves else [])])
        )
        at = draw(st.integers(0, max(0, len(ids) - 1)))
        if how == "add":
            fork.add(Message("user", "new", id=f"{name}{number}"))
        elif how == "insert":
            messages = list(fork)
            messages.insert(at, Message("user", "new", id=f"{name}{number}"))
            fork.assign(messages)
        elif how == "move":
            fork.assign(draw(st.permutations(list(fork))))
        elif not ids:
            continue
        elif how == "remove":
            fork.remove(ids[at])
        elif how == "edit":
            fork.edit_text(ids[at], 0, TextEdit(0, 0, name))
        elif how == "place":
            text_part(fork, at).text += f" {name}"
        else:
            fork[at].metadata[name] = number
    return fork


@settings(max_examples=150)
@given(st.data())
def test_the_result_holds_what_all_kept_and_what_any_added_with_every_change(data: st.DataObject) -> None:
    base = named(*"abcd"[: data.draw(st.integers(0, 4))])
    before = base.to_json()
    forks = {name: data.draw(changed(base, name, name == "y")) for name in "xyz"}
    states = {name: fork.to_json() for name, fork in forks.items()}
    merged = merge(base, forks)
    kept = {id_ for id_ in base.all.ids() if all(id_ in fork.all.ids() for fork in forks.values())}
    added = {id_ for fork in forks.values() for id_ in fork.all.ids()} - set(base.all.ids())
    assert sorted(merged.all.ids()) == sorted(kept | added)
    assert [i for i in merged.all.ids() if i in kept] == [i for i in forks["y"].all.ids() if i in kept]
    for message in merged:
        for name, fork in forks.items():
            mine = fork.get(message.id)
            if mine is not None:
                assert message.text.count(name) >= mine.text.count(name)
                assert name not in mine.metadata or message.metadata[name] == mine.metadata[name]
    assert base.to_json() == before
    assert {name: fork.to_json() for name, fork in forks.items()} == states


@settings(max_examples=100)
@given(st.data())
def test_one_changed_fork_gives_that_forks_list(data: st.DataObject) -> None:
    base = named("a", "b", "c")
    fork = data.draw(changed(base, "x", moves=True))
    bystander = base.fork()
    _ = [(m.parts, m.metadata) for m in bystander]
    assert merge(base, {"before": base.fork(), "x": fork, "after": bystander}).to_json() == fork.to_json()


@settings(max_examples=100)
@given(st.data())
def test_an_unchanged_fork_changes_nothing(data: st.DataObject) -> None:
    base = named("a", "b", "c")
    forks = {name: data.draw(changed(base, name, name == "y")) for name in "xyz"}
    bystander = base.fork()
    _ = [(m.parts, m.metadata) for m in bystander]
    alone = merge(base, forks)
    assert merge(base, {"first": base.fork(), **forks, "last": bystander}).to_json() == alone.to_json()


def test_nobody_changed_anything() -> None:
    base = named("a")
    assert not merge(base, {"x": base.fork(), "y": base.fork()}).changed_from(base)
    assert not merge(base, {}).changed_from(base)


def test_any_ancestor_can_be_the_base() -> None:
    base = named("a", "b")
    child = base.fork()
    child.edit_text("a", 0, TextEdit(0, 4, "T"))
    grandchild = child.fork().fork()
    text_part(grandchild, 1).text = "text of [B]"
    sibling = base.fork()
    sibling.edit_text("a", 0, TextEdit(8, 9, "[A]"))
    assert merge(base, {"x": grandchild, "y": sibling}).texts() == ["T of [A]", "text of [B]"]
    assert merge(child, {"x": grandchild, "y": child.fork()}).texts() == ["T of a", "text of [B]"]


def test_the_base_may_have_been_looked_into_before() -> None:
    base = named("a", "b")
    text_part(base, 0).text = "ann and bob"
    forks = {name: base.fork() for name in "xyz"}
    text_part(forks["x"]).text = "[A] and bob"
    forks["y"].edit_text("a", 0, TextEdit(8, 11, "[B]"))
    assert merge(base, forks).texts() == ["[A] and [B]", "text of b"]


def test_the_merged_list_shares_nothing_that_can_be_edited() -> None:
    base = one(ToolInvocationPart("c", "t", {"deep": {"x": 1}}))
    forks = {"x": base.fork(), "y": base.fork()}
    tool_part(forks["x"]).args["deep"]["x"] = 2
    forks["y"][0].metadata["k"] = [1]
    forks["y"].add(Message("user", [DataPart("d", [1])], id="new"))
    merged = merge(base, forks)
    tool_part(forks["x"]).args["deep"]["x"] = 3
    forks["y"][0].metadata["k"].append(2)
    tool_part(merged).args["deep"]["y"] = 4
    assert tool_part(merged).args == {"deep": {"x": 2, "y": 4}}
    assert merged[0].metadata == {"k": [1]}
    assert tool_part(base).args == {"deep": {"x": 1}}


# Messages


def test_a_message_that_any_branch_deleted_is_gone_whoever_edited_it() -> None:
    base = named("a", "b")
    removed, edited = base.fork(), base.fork()
    removed.remove("a")
    edited.edit_text("a", 0, TextEdit(0, 4, "T"))
    edited[0].metadata["k"] = 1
    for forks in ({"x": removed, "y": edited}, {"y": edited, "x": removed}):
        assert merge(base, forks).all.ids() == ["b"]


def test_a_deleted_message_to_which_another_branch_added_parts_is_a_conflict() -> None:
    base = named("a", "b")
    removed, extended = base.fork(), base.fork()
    removed.remove("a")
    extended[0].parts.append(DataPart("note", 1))
    with pytest.raises(MergeConflict, match="message 'a'") as caught:
        merge(base, {"removed": removed, "extended": extended})
    assert set(caught.value.branches) == {"removed", "extended"}
    assert merge(base, {"removed": removed, "extended": extended}, "removed").all.ids() == ["b"]
    kept = merge(base, {"removed": removed, "extended": extended}, "extended")
    assert kept.all.ids() == ["a", "b"]
    assert kept[0].parts == [DataPart("note", 1)]


def test_two_orders_are_a_conflict() -> None:
    base = named("a", "b", "c")
    forks = {"x": base.fork(), "y": base.fork()}
    forks["x"].assign(list(forks["x"])[::-1])
    forks["y"].assign([forks["y"][1], forks["y"][0], forks["y"][2]])
    with pytest.raises(MergeConflict, match="the order of the messages"):
        merge(base, forks)
    assert merge(base, forks, "y").all.ids() == ["b", "a", "c"]


def test_one_new_message_in_two_branches_is_one_unless_they_differ() -> None:
    base = named("a")
    recalled = Message("user", "recalled", id="r")
    forks = {"x": base.fork(), "y": base.fork()}
    for fork in forks.values():
        fork.add(recalled, source="memory")
    assert merge(base, forks).all.ids() == ["a", "r"]
    assert merge(base, forks).source_of("r") == "memory"
    text_part(forks["y"], 1).text = "other"
    with pytest.raises(MergeConflict, match="the new message 'r'"):
        merge(base, forks)
    assert merge(base, forks, "y").texts() == ["text of a", "other"]


def test_metadata_is_joined_key_by_key() -> None:
    base = named("a")
    forks = {"x": base.fork(), "y": base.fork()}
    forks["x"][0].metadata["x"] = {"score": 1}
    forks["y"][0].metadata["y"] = 2
    forks["y"][0].provider_metadata = {"openai": {"name": "ann"}}
    merged = merge(base, forks)[0]
    assert merged.metadata == {"x": {"score": 1}, "y": 2}
    assert merged.provider_metadata == {"openai": {"name": "ann"}}
    forks["x"][0].metadata["y"] = 3
    with pytest.raises(MergeConflict, match=r"'metadata' of message 'a'\['y'\]"):
        merge(base, forks)
    assert merge(base, forks, "x")[0].metadata["y"] == 3


def test_two_roles_are_a_conflict_and_one_is_not() -> None:
    base = named("a")
    forks = {"x": base.fork(), "y": base.fork()}
    forks["x"][0].role = "assistant"
    forks["y"][0].metadata["k"] = 1
    assert merge(base, forks)[0].role == "assistant"
    forks["y"][0].role = "signal"
    with pytest.raises(MergeConflict, match="'role' of message 'a'"):
        merge(base, forks)


def test_a_changed_source_is_merged_too() -> None:
    base = MessageList([Message("user", "a", id="a"), Message("user", "b", id="b")], source="memory")
    forks = {"x": base.fork(), "y": base.fork()}
    forks["x"].add(Message("user", "a", id="a"), source="input")
    forks["y"].edit_text("a", 0, TextEdit(0, 1, "[A]"))
    merged = merge(base, forks)
    assert [(m.id, m.text) for m in merged.input] == [("a", "[A]")]
    assert [(m.id, m.text) for m in merged.remembered] == [("b", "b")]


# System messages


def test_system_messages_are_merged_like_others() -> None:
    base = named("a")
    base.add_system("for ann and bob")
    base.add_system("old", tag="t")
    forks = {"x": base.fork(), "y": base.fork()}
    id_ = base.system_messages()[0].id
    forks["x"].edit_text(id_, 0, TextEdit(4, 7, "[A]"))
    forks["x"].add_system("x", tag="new")
    forks["y"].edit_text(id_, 0, TextEdit(12, 15, "[B]"))
    forks["y"].clear_system("t")
    forks["y"].add_system("y", tag="newer")
    merged = merge(base, forks)
    assert [m.text for m in merged.system_messages()] == ["for [A] and [B]"]
    assert merged.system_messages("t") == []
    assert merged.system_tags == ("t", "new", "newer")
    assert [m.text for m in merged.to_prompt()] == ["for [A] and [B]", "x", "y", "text of a"]


def test_nothing_is_left_of_a_message_that_was_merged_away_when_its_id_comes_back() -> None:
    base = named("a", "b")
    text_part(base).text = "changed"
    base.settle()
    forks = {"x": base.fork(), "y": base.fork()}
    forks["x"].remove("a")
    forks["y"].add(Message("user", "c", id="c"))
    merged = merge(base, forks)
    merged.add(Message("user", "new", id="a"))
    assert merged.texts() == ["text of b", "c", "new"]


# Parts


def test_tool_results_are_joined_string_by_string() -> None:
    base = one(ToolInvocationPart("c", "t", {"to": "ann"}, "result", {"text": "ann at 555-1234", "n": [1, 2]}))
    forks = {"x": base.fork(), "y": base.fork()}
    tool_part(forks["x"]).result["text"] = "[NAME] at 555-1234"
    forks["y"].update_tool_invocation("c", result={"text": "ann at [PHONE]", "n": [1, 3]}, model_output="short")
    tool_part(forks["y"]).args["to"] = "[NAME]"
    assert tool_part(merge(base, forks)) == ToolInvocationPart(
        "c", "t", {"to": "[NAME]"}, "result", {"text": "[NAME] at [PHONE]", "n": [1, 3]}, None, "short"
    )


def test_a_result_that_one_branch_took_away_stays_away() -> None:
    base = one(ToolInvocationPart("c", "t", {}, "result", {"text": "ann"}))
    forks = {"x": base.fork(), "y": base.fork()}
    forks["x"].update_tool_invocation("c", result={"text": "[NAME]"})
    forks["y"].update_tool_invocation("c", error="denied")
    assert tool_part(merge(base, forks)) == ToolInvocationPart("c", "t", {}, "error", None, "denied")


def test_two_values_of_one_argument_are_a_conflict() -> None:
    base = one(ToolInvocationPart("c", "t", {"n": 1}))
    forks = {"x": base.fork(), "y": base.fork()}
    forks["x"].update_tool_invocation("c", args={"n": 2})
    forks["y"].update_tool_invocation("c", args={"n": 3})
    with pytest.raises(MergeConflict, match=r"'args' of part 0 of message 'm'\['n'\]"):
        merge(base, forks)
    assert tool_part(merge(base, forks, "y")).args == {"n": 3}


def test_reasoning_that_was_redacted_in_two_places_has_no_seal() -> None:
    base = one(ReasoningPart("ann knows bob", "seal"))
    forks = {"x": base.fork(), "y": base.fork()}
    for name, text in (("x", "[A] knows bob"), ("y", "ann knows [B]")):
        part = forks[name][0].parts[0]
        assert isinstance(part, ReasoningPart)
        part.text = text
    assert merge(base, forks)[0].parts == [ReasoningPart("[A] knows [B]", None)]


def test_files_are_not_mixed() -> None:
    base = one(FilePart("image/png", data="AAAA"))
    forks = {"x": base.fork(), "y": base.fork()}
    for name, fork in forks.items():
        fork[0].parts[0] = FilePart("image/png", data=f"AA{name}A")
    with pytest.raises(MergeConflict, match="'data' of part 0 of message 'm'"):
        merge(base, forks)


def test_parts_may_be_removed_added_and_moved_while_another_branch_edits() -> None:
    base = one(TextPart("call ann"), TextPart("call bob"), DataPart("d", 1))
    guard = base.fork()
    guard.edit_text("m", 1, TextEdit(5, 8, "[B]"))
    other = base.fork()
    parts = other[0].parts
    del parts[0]
    parts.reverse()
    parts.insert(0, TextPart("new"))
    for forks in ({"guard": guard, "other": other}, {"other": other, "guard": guard}):
        assert merge(base, forks)[0].parts == [TextPart("new"), DataPart("d", 1), TextPart("call [B]")]


def test_a_part_that_any_branch_removed_is_gone() -> None:
    base = one(TextPart("ann"), TextPart("bob"))
    removed, edited = base.fork(), base.fork()
    del removed[0].parts[0]
    edited.edit_text("m", 0, TextEdit(0, 3, "[A]"))
    assert merge(base, {"x": removed, "y": edited}).texts() == ["bob"]


def replaced(base: MessageList, *parts: Part) -> MessageList:
    fork = base.fork()
    fork.replace(Message("assistant", parts, id="m"))
    return fork


def test_a_message_made_from_scratch_is_compared_part_by_part() -> None:
    base = one(TextPart("call ann"), TextPart("or bob"), DataPart("d", 1))
    guard = base.fork()
    guard.edit_text("m", 0, TextEdit(0, 4, "ring"))
    fresh = replaced(base, TextPart("call [A]"), TextPart("or bob"), DataPart("d", 1))
    assert merge(base, {"guard": guard, "fresh": fresh})[0].parts == [
        TextPart("ring [A]"),
        TextPart("or bob"),
        DataPart("d", 1),
    ]


@pytest.mark.parametrize(
    "parts",
    [
        [TextPart("call ann or bob, 555-1234")],  # two texts made one
        [TextPart("call ann"), TextPart("or bob,"), TextPart("555-1234")],  # one made two
        [TextPart("or bob, then 555-1234"), TextPart("and so on")],  # the first one dropped, or was it?
        [ReasoningPart("or bob, 555-1234")],  # another kind of part
    ],
)
def test_what_was_made_of_a_part_that_another_branch_redacted_cannot_be_guessed(parts: list[Part]) -> None:
    base = one(TextPart("call ann"), TextPart("or bob, 555-1234"))
    guard = base.fork()
    guard.edit_text("m", 1, TextEdit(8, 16, "[PHONE]"))
    fresh = replaced(base, *parts)
    for forks in ({"guard": guard, "fresh": fresh}, {"fresh": fresh, "guard": guard}):
        with pytest.raises(MergeConflict, match="part 1 of message 'm'"):
            merge(base, forks)
        assert "555-1234" not in str(merge(base, forks, "guard")[0].parts)


def test_one_part_made_into_two_is_no_way_around_a_redaction() -> None:
    base = one(TextPart("ann 555-1234"))
    guard, split = base.fork(), base.fork()
    guard.edit_text("m", 0, TextEdit(4, 12, "[PHONE]"))
    half = text_part(split).copy()
    half.text = "555-1234"
    split[0].parts.append(half)
    text_part(split).text = "ann "
    with pytest.raises(MergeConflict, match="part 0 of message 'm'"):
        merge(base, {"guard": guard, "split": split})
    assert "555" not in str(merge(base, {"guard": guard, "split": split}, "guard")[0].parts)


def test_only_the_one_who_is_preferred_settles_a_conflict() -> None:
    base = one(ToolInvocationPart("c", "t", {"n": 1}))
    forks: dict[str, Any] = {name: base.fork() for name in "xyz"}
    forks["x"].update_tool_invocation("c", args={"n": 2})
    forks["y"].update_tool_invocation("c", args={"n": 3})
    with pytest.raises(MergeConflict) as caught:
        merge(base, forks, "z")
    assert caught.value.branches == ("x", "y")


def test_a_list_merges_its_own_forks_with_or_without_names() -> None:
    base = MessageList(["Ann in Berlin"])
    names, places = base.fork(), base.fork()
    names.edit_text(base[0].id, 0, TextEdit(0, 3, "[N]"))
    places.edit_text(base[0].id, 0, TextEdit(7, 13, "[P]"))
    assert base.merge([names, places]).texts() == ["[N] in [P]"]
    assert MessageList.merge(base, {"names": names, "places": places}).texts() == ["[N] in [P]"]
