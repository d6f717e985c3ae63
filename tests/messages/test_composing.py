"""Several edits of one text, told as changes of the text before all of them."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.messages import Message, MessageList, TextEdit, TextPart
from interlock.messages.composing import changes_between, changes_since
from interlock.messages.rewriting import apply_edits


def text_of(messages: MessageList) -> TextPart:
    part = messages[0].parts[0]
    assert isinstance(part, TextPart)
    return part


def listed(text: str) -> MessageList:
    return MessageList([Message("user", [TextPart(text)], id="m")])


def changes(base: MessageList, fork: MessageList) -> list[tuple[int, int, str]]:
    return [(c.start, c.end, c.replacement) for c in changes_since(text_of(base), text_of(fork))]


def test_an_edit_after_another_is_told_in_offsets_of_the_first_text() -> None:
    base = listed("0123456789")
    fork = base.fork()
    fork.edit_text("m", 0, TextEdit(0, 2, ""))
    fork.edit_text("m", 0, TextEdit(3, 5, "XX"))
    assert fork.texts() == ["234XX789"]
    assert changes(base, fork) == [(0, 2, ""), (5, 7, "XX")]


def test_a_replaced_piece_that_is_edited_again_counts_as_one_piece() -> None:
    base = listed("0123456789")
    fork = base.fork()
    fork.edit_text("m", 0, TextEdit(2, 6, "ABCD"))
    fork.edit_text("m", 0, TextEdit(3, 8, "x"))
    assert fork.texts() == ["01Ax89"]
    assert changes(base, fork) == [(2, 8, "Ax")]


def test_putting_something_where_a_piece_was_taken_out_is_a_replacement() -> None:
    base = listed("0123456789")
    fork = base.fork()
    fork.edit_text("m", 0, TextEdit(2, 6, ""))
    fork.edit_text("m", 0, TextEdit(2, 2, "x"))
    assert changes(base, fork) == [(2, 6, "x")]


def test_a_change_in_place_between_exact_edits_is_found_by_comparing() -> None:
    base = listed("ann met bob in rome")
    fork = base.fork()
    fork.edit_text("m", 0, TextEdit(0, 3, "[A]"))
    text_of(fork).text = text_of(fork).text.replace("bob", "[B]")
    fork.edit_text("m", 0, TextEdit(15, 19, "[C]"))
    assert fork.texts() == ["[A] met [B] in [C]"]
    assert changes(base, fork) == [(0, 3, "[A]"), (8, 11, "[B]"), (15, 19, "[C]")]
    assert [c.derived for c in changes_since(text_of(base), text_of(fork))] == [False, True, False]


def test_what_was_redacted_stays_a_redaction_and_what_was_found_stays_found() -> None:
    base = listed("0123456789")
    fork = base.fork()
    fork.edit_text("m", 0, TextEdit(0, 4, "AB"))
    text_of(fork).text = text_of(fork).text.replace("89", "YZ")
    fork.edit_text("m", 0, [TextEdit(1, 3, "x", "rewrite"), TextEdit(7, 8, "z", "rewrite")])
    assert fork.texts() == ["Ax567Yz"]
    kinds = [(c.kind, c.derived) for c in changes_since(text_of(base), text_of(fork))]
    assert kinds == [("redaction", False), ("redaction", True)]


def test_a_text_of_another_descent_is_compared() -> None:
    base = listed("ann met bob")
    base.edit_text("m", 0, TextEdit(0, 3, "[A]"))
    fork = base.fork()
    fork.replace(Message("user", [TextPart("[A] met [B]")], id="m"))
    assert changes(base, fork) == [(8, 11, "[B]")]


def test_an_edit_that_changes_nothing_is_no_change() -> None:
    base = listed("abc")
    fork = base.fork()
    fork.edit_text("m", 0, TextEdit(0, 2, "ab"))
    assert changes(base, fork) == []


STEPS = st.lists(
    st.tuples(st.booleans(), st.integers(0, 12), st.integers(0, 12), st.text("xy ", max_size=3)), min_size=1, max_size=5
)


@settings(max_examples=300)
@given(st.text("ab ", max_size=12), STEPS, st.integers(0, 4))
def test_the_changes_since_any_ancestor_lead_to_the_text(
    text: str, steps: list[tuple[bool, int, int, str]], generation: int
) -> None:
    ancestor = messages = listed(text)
    for number, (exact, one, other, new) in enumerate(steps):
        messages = messages.fork()
        if number == generation:
            ancestor = messages.fork()
        now = messages.texts()[0]
        start, end = sorted((min(one, len(now)), min(other, len(now))))
        if exact:
            messages.edit_text("m", 0, TextEdit(start, end, new))
        else:
            text_of(messages).text = now[:start] + new + now[end:]
    found = changes_since(text_of(ancestor), text_of(messages))
    assert apply_edits(ancestor.texts()[0], found) == messages.texts()[0]
    assert all(one.end <= other.start for one, other in pairwise(found))


@given(st.text("ab ", max_size=10), st.text("ab ", max_size=10))
def test_changes_between_two_texts_lead_from_one_to_the_other(before: str, after: str) -> None:
    assert apply_edits(before, changes_between(before, after)) == after
