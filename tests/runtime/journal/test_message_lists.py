"""Conversations in a journal: forks that were recorded are joined as they would have been without a journal."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.errors import MergeConflict
from interlock.messages import Message, MessageList, ReasoningPart, TextEdit, TextPart, merge
from interlock.runtime.journal import message_lists
from interlock.runtime.journal.values import ValueCodec

Edit = Callable[[MessageList], object]


def _conversation() -> MessageList:
    said = Message("user", [TextPart("Ann, 555-1234, called Ann"), TextPart("call back 555")])
    answer = Message("assistant", [ReasoningPart("Ann wants 555-1234"), TextPart("Dear Ann")])
    return MessageList([said, answer])


def _edited(at: int, part: int, start: int, end: int, text: str, kind: Any) -> Edit:
    def edit(messages: MessageList) -> None:
        length = len(messages[at].parts[part].text)  # type: ignore[union-attr]
        low, high = sorted((min(start, length), min(end, length)))
        messages.edit_text(messages[at].id, part, TextEdit(low, high, text, kind))

    return edit


def _written(at: int, part: int, text: str) -> Edit:
    def write(messages: MessageList) -> None:
        messages[at].parts[part].text += text  # type: ignore[union-attr]

    return write


def _parts_turned(at: int) -> Edit:
    return lambda messages: messages[at].parts.reverse()


def _part_removed(at: int) -> Edit:
    return lambda messages: messages[at].parts.pop()


places = st.integers(0, 1)
offsets = st.integers(0, 26)
edits = st.one_of(
    st.builds(
        _edited,
        places,
        places,
        offsets,
        offsets,
        st.text("xyz ", max_size=3),
        st.sampled_from(["redaction", "rewrite"]),
    ),
    st.builds(_written, places, places, st.text("abc", min_size=1, max_size=3)),
)
branches = st.lists(edits, max_size=3)


def _merged(base: MessageList, one: MessageList, two: MessageList) -> Any:
    try:
        return merge(base, {"one": one, "two": two}).to_json()
    except MergeConflict as conflict:
        return str(conflict)


def _forked(base: MessageList, branch: list[Edit]) -> MessageList:
    made = base.fork()
    for edit in branch:
        edit(made)
    return made


def _text(written: object) -> Any:
    return json.loads(json.dumps(written))


@given(before=branches, one=branches, two=branches)
def test_recorded_forks_are_joined_as_the_forks_would_have_been(
    before: list[Edit], one: list[Edit], two: list[Edit]
) -> None:
    base = _forked(_conversation(), before)
    writer = ValueCodec()
    recorded = _text(writer.encode(base))
    forks = [_forked(base, one), _forked(base, two)]
    live = _merged(base, *forks)
    reader = ValueCodec()
    base, first, second = map(reader.decode, _text([recorded, *map(writer.encode, forks)]))
    assert _merged(base, first, second) == live
    assert _merged(base, first, _forked(base, two)) == live  # the second branch had not ended, and runs again
    again = ValueCodec()
    base, first, second = map(again.decode, _text(list(map(reader.encode, (base, first, second)))))
    assert _merged(base, first, second) == live


@pytest.mark.parametrize("change", [_parts_turned(0), _part_removed(0)])
def test_parts_that_were_moved_or_removed_are_known_again(change: Edit) -> None:
    base = _conversation()
    one, two = _forked(base, [change]), _forked(base, [_edited(0, 0, 0, 3, "[NAME]", "redaction")])
    codec = ValueCodec()
    read = [codec.decode(_text(codec.encode(messages))) for messages in (base, one, two)]
    assert _merged(*read) == _merged(base, one, two)


def test_what_was_forgotten_is_found_by_comparing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_lists, "_REMEMBERED", 2)
    base = _conversation()
    one = _forked(base, [_edited(0, 0, 0, 3, "[NAME]", "redaction")])
    two = _forked(base, [_edited(0, 0, 5, 13, "[PHONE]", "redaction")])
    writer, reader = ValueCodec(), ValueCodec()
    read = [reader.decode(_text(writer.encode(messages))) for messages in (base, one, two)]
    merged = merge(read[0], {"one": read[1], "two": read[2]})
    assert merged.texts()[0] == "[NAME], [PHONE], called Anncall back 555"
    for form in (writer._encoder._lists, reader._decoder._lists):
        assert max(len(form._names), len(form._marks), len(form._edits)) <= 2


def test_two_lists_that_are_no_forks_share_no_marks() -> None:
    codec = ValueCodec()
    one, two = codec.encode(MessageList("a")), codec.encode(MessageList("a"))
    assert one["v"]["parts"] != two["v"]["parts"]
    assert ValueCodec().encode(MessageList("a"))["v"]["parts"] != one["v"]["parts"]
