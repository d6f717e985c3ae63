"""Joining edits of one text: all that do not overlap, and nothing that any branch took away."""

from __future__ import annotations

import string
from itertools import permutations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from interlock.errors import MergeConflict
from interlock.messages import Message, MessageList, TextEdit, TextPart, merge
from interlock.messages.rewriting import apply_edits

LETTERS = string.ascii_letters + string.digits


def listed(text: str) -> MessageList:
    return MessageList([Message("user", [TextPart(text)], id="m")])


def edited(base: MessageList, *edits: TextEdit) -> MessageList:
    fork = base.fork()
    fork.edit_text("m", 0, edits)
    return fork


def in_place(base: MessageList, text: str) -> MessageList:
    fork = base.fork()
    part = fork[0].parts[0]
    assert isinstance(part, TextPart)
    part.text = text
    return fork


def merged(base: MessageList, forks: dict[str, MessageList], prefer: str | None = None) -> str:
    return merge(base, forks, prefer).texts()[0]


# The law: edits that do not overlap


@st.composite
def apart(draw: st.DrawFn) -> tuple[str, list[TextEdit]]:
    """A text and edits of it, sorted, of which no two overlap or insert at one point."""
    text = draw(st.text("ab \n", max_size=14))
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=8)))
    edits = [TextEdit(a, b, draw(st.text("abX ", max_size=3))) for a, b in zip(cuts[::2], cuts[1::2], strict=False)]
    return text, edits


@settings(max_examples=250)
@given(apart(), st.data())
def test_edits_that_do_not_overlap_are_all_made_in_any_order(
    given_edits: tuple[str, list[TextEdit]], data: st.DataObject
) -> None:
    text, edits = given_edits
    base = listed(text)
    names = [data.draw(st.sampled_from("xyz")) for _ in edits]
    forks = {
        name: edited(base, *(edit for edit, owner in zip(edits, names, strict=True) if owner == name))
        for name in data.draw(st.permutations("xyz"))
    }
    one_after_the_other = text
    shift = dict.fromkeys(edits, 0)
    for edit in data.draw(st.permutations(edits)):
        at = shift[edit]
        one_after_the_other = apply_edits(
            one_after_the_other, [TextEdit(edit.start + at, edit.end + at, edit.replacement)]
        )
        for other in edits:
            if other.start >= edit.end and other is not edit:
                shift[other] += len(edit.replacement) - (edit.end - edit.start)
    assert merged(base, forks) == one_after_the_other


# The law: nothing that was taken away comes back

MARKS = [chr(code) for code in range(0x3041, 0x3091)]
"""Replacements of letters that no base text has, each used once."""


class Marks:
    def __init__(self) -> None:
        self.left = iter(MARKS)

    def take(self, count: int) -> str:
        return "".join(next(self.left) for _ in range(count))


@st.composite
def changed(draw: st.DrawFn, base: MessageList, marks: Marks, exact: bool, depth: int = 0) -> MessageList:
    """A fork after some edits: redactions, rewrites, changes in place, and parallel blocks within."""
    fork = base.fork()
    for _ in range(draw(st.integers(0, 2))):
        text = fork.texts()[0]
        start, end = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
        new = marks.take(draw(st.integers(0, 2)))
        how = draw(
            st.sampled_from(["redact", "rewrite", "block"] if exact else ["redact", "rewrite", "block", "place"])
        )
        if how == "block":
            if depth < 2:
                inner = {name: draw(changed(fork, marks, exact, depth + 1)) for name in "pq"}
                fork = merge(fork, inner)
        elif how == "place":
            fork = in_place(fork, text[:start] + new + text[end:])
        else:
            fork.edit_text("m", 0, TextEdit(start, end, new, "redaction" if how == "redact" else "rewrite"))
    return fork


@settings(max_examples=250)
@given(st.data(), st.booleans())
def test_a_character_survives_only_if_it_survives_in_every_branch(data: st.DataObject, exact: bool) -> None:
    letters = data.draw(st.lists(st.sampled_from(LETTERS), unique=True, min_size=1, max_size=14))
    width = data.draw(st.sampled_from([2, 3, 20]))
    text = " ".join("".join(letters[at : at + width]) for at in range(0, len(letters), width))
    base, marks = listed(text), Marks()
    try:
        forks = {name: data.draw(changed(base, marks, exact)) for name in "xyz"}
        result = merged(base, forks)
    except MergeConflict:
        assume(False)
        raise
    everywhere = [c for c in text if c != " " and all(c in fork.texts()[0] for fork in forks.values())]
    survived = [c for c in result if c in LETTERS]
    if exact:
        assert survived == everywhere
    else:  # a change in place is seen coarsely: more may go, but nothing may come back, and in no other order
        rest = iter(everywhere)
        assert all(c in rest for c in survived)


@settings(max_examples=200)
@given(st.data())
def test_a_redacted_range_never_reappears_whatever_else_overlaps_it(data: st.DataObject) -> None:
    words = data.draw(st.lists(st.text("abcdefgh", min_size=2, max_size=4), min_size=1, max_size=4))
    at = data.draw(st.integers(0, len(words)))
    words.insert(at, "4111222233334444")
    text = " ".join(words)
    base = listed(text)
    start = text.index("4111")
    guard = edited(base, TextEdit(start, start + 16, "[CARD]"))
    low, high = sorted((data.draw(st.integers(0, len(text))), data.draw(st.integers(0, len(text)))))
    kept = data.draw(st.sampled_from(["", "*", "4444", "4111222233334444"]))
    other = data.draw(
        st.sampled_from(
            [
                edited(base, TextEdit(low, high, kept)),
                edited(base, TextEdit(low, high, kept, "rewrite")),
                in_place(base, text[:low] + kept + text[high:]),
            ]
        )
    )
    forks = {"guard": guard, "other": other}
    for order in permutations(forks):
        try:
            result = merged(base, {name: forks[name] for name in order})
        except MergeConflict:
            continue
        overlap = max(low, start) < min(high, start + 16)
        if overlap:
            assert "4111222233334444" not in result
        assert not any(result.count(run) > kept.count(run) for run in ("41112222", "33334444"))


def test_a_mask_that_was_set_as_one_span_does_not_keep_what_another_redacted() -> None:
    base = listed("+49 170 1234567")
    masked = "+49 *** ***4567"
    pin = edited(base, TextEdit(11, 15, "[PIN]"))
    for mask in (edited(base, TextEdit(0, 15, masked)), in_place(base, masked)):
        assert merged(base, {"mask": mask, "pin": pin}) == "+49 *** ***[PIN]"


def test_a_replacement_does_not_say_again_what_another_took_away() -> None:
    base = listed("card 41112222 of ann")
    loud = edited(base, TextEdit(0, 20, "[someone's 41112222]"))
    quiet = edited(base, TextEdit(5, 13, "[CARD]"))
    assert merged(base, {"loud": loud, "quiet": quiet}) == "[someone's ]"


# Overlaps


@pytest.mark.parametrize(
    ("first", "second", "result"),
    [
        (TextEdit(2, 6, "A"), TextEdit(4, 8, "B"), "01A89"),  # what starts first keeps its replacement
        (TextEdit(4, 8, "A"), TextEdit(2, 6, "B"), "01B89"),  # whatever the list order
        (TextEdit(2, 4, "A"), TextEdit(2, 6, "B"), "01B6789"),  # ties: the longer
        (TextEdit(2, 4, "A"), TextEdit(2, 4, "B"), "01A456789"),  # then list order
        (TextEdit(2, 4, "A"), TextEdit(2, 4, "A"), "01A456789"),  # equal edits count once
        (TextEdit(2, 2, "A"), TextEdit(2, 2, "B"), "01AB23456789"),  # insertions at one point in list order
        (TextEdit(2, 2, "A"), TextEdit(2, 2, "A"), "01A23456789"),
        (TextEdit(2, 4, "A"), TextEdit(4, 6, "B"), "01AB6789"),  # what only touches does not overlap
        (TextEdit(2, 4, "A"), TextEdit(2, 2, "B"), "01BA456789"),
        (TextEdit(2, 4, "A"), TextEdit(3, 3, "B"), "01A456789"),  # an insertion into what is taken away goes with it
        (TextEdit(2, 6, "2X5"), TextEdit(5, 8, "B"), "012XB89"),  # edits count in their least form
        (TextEdit(2, 6, "A", "rewrite"), TextEdit(4, 8, "B"), "01B89"),  # a redaction over a rewrite
        (TextEdit(4, 8, "A"), TextEdit(2, 6, "B", "rewrite"), "01A89"),
        (TextEdit(2, 4, "A", "rewrite"), TextEdit(2, 4, "A"), "01A456789"),
    ],
)
def test_where_edits_meet(first: TextEdit, second: TextEdit, result: str) -> None:
    base = listed("0123456789")
    assert merged(base, {"x": edited(base, first), "y": edited(base, second)}) == result


def test_a_chain_of_overlaps_keeps_the_first_replacement_only() -> None:
    base = listed("0123456789abcdef")
    forks = {
        "x": edited(base, TextEdit(0, 7, "A"), TextEdit(12, 13, "X")),
        "y": edited(base, TextEdit(5, 10, "B")),
        "z": edited(base, TextEdit(9, 11, "C")),
    }
    assert merged(base, forks) == "AbXdef"


def test_edits_trimmed_to_one_point_keep_the_order_of_their_ranges() -> None:
    base = listed("abcdef")
    before, after = TextEdit(0, 3, "abcX"), TextEdit(3, 6, "Ydef")
    assert merged(base, {"x": edited(base, after), "y": edited(base, before)}) == "abcXYdef"
    same = TextEdit(0, 3, "abcX"), TextEdit(3, 6, "Xdef")
    assert merged(base, {"x": edited(base, same[0]), "y": edited(base, same[1])}) == "abcXXdef"


def test_two_ways_to_one_text_are_not_one_edit() -> None:
    base = listed("aaab")
    assert merged(base, {"x": edited(base, TextEdit(0, 1)), "y": edited(base, TextEdit(2, 3))}) == "ab"


# Conflicts


def test_two_rewrites_that_differ_are_a_conflict_unless_one_is_preferred() -> None:
    base = listed("0123456789")
    forks = {
        "x": edited(base, TextEdit(2, 6, "A", "rewrite")),
        "y": edited(base, TextEdit(4, 8, "B", "rewrite")),
        "z": edited(base, TextEdit(9, 10, "C", "rewrite")),
    }
    with pytest.raises(MergeConflict, match="'x' and 'y' changed the text of part 0 of message 'm'") as caught:
        merged(base, forks)
    assert caught.value.branches == ("x", "y")
    with pytest.raises(MergeConflict):
        merged(base, forks, prefer="z")
    assert merged(base, forks, prefer="x") == "01A8C"
    assert merged(base, forks, prefer="y") == "01B8C"
    assert merged(base, {**forks, "guard": edited(base, TextEdit(5, 5, "#"))}) == "01#8C"


def test_a_change_in_place_that_may_lie_elsewhere_is_a_conflict_where_another_branch_edits() -> None:
    base = listed("secret secret")
    dropped = in_place(base, "secret")
    redacted = edited(base, TextEdit(7, 13, "[X]"))
    with pytest.raises(MergeConflict, match="'dropped' and 'redacted'") as caught:
        merged(base, {"dropped": dropped, "redacted": redacted})
    assert caught.value.branches == ("dropped", "redacted")
    assert merged(base, {"dropped": dropped, "redacted": redacted}, prefer="redacted") == "[X]"
    assert merged(base, {"dropped": dropped, "redacted": redacted}, prefer="dropped") == ""


def test_a_doubt_that_cannot_matter_is_no_conflict() -> None:
    base = listed("secret secret, call 555-1234")
    dropped = in_place(base, "secret, call 555-1234")
    assert merged(base, {"x": dropped, "y": edited(base, TextEdit(20, 28, "[P]"))}) == "secret, call [P]"
    assert merged(base, {"x": dropped, "y": edited(base, TextEdit(0, 13, "[S]"))}) == "[S], call 555-1234"
    assert merged(base, {"x": dropped, "y": in_place(base, "secret, call 555-1234")}) == "secret, call 555-1234"


def test_a_text_changed_beyond_comparison_leaves_no_room_for_another_edit() -> None:
    base = listed(" ".join(f"word{n}" for n in range(400)) + " 4111222233334444 end")
    replaced = in_place(base, " ".join(f"other{n}" for n in range(400)) + " 4111222233334444 stop")
    start = base.texts()[0].index("4111")
    guard = edited(base, TextEdit(start, start + 16, "[CARD]"))
    with pytest.raises(MergeConflict):
        merged(base, {"replaced": replaced, "guard": guard})
    for winner in ("replaced", "guard"):
        assert "4111" not in merged(base, {"replaced": replaced, "guard": guard}, prefer=winner)


def test_words_moved_in_place_do_not_escape_a_redaction() -> None:
    base = listed("ann 4111222233334444 said hello")
    moved = in_place(base, "ann said hello 4111222233334444")
    guard = edited(base, TextEdit(4, 20, "[CARD]"))
    assert "4111" not in merged(base, {"moved": moved, "guard": guard})


def test_a_merge_remembers_the_exact_edits_for_an_outer_one() -> None:
    base = listed("no no no no")
    inner = merge(base, {"p": edited(base, TextEdit(0, 3)), "q": edited(base, TextEdit(9, 11, "yes"))})
    assert inner.texts() == ["no no yes"]
    assert merged(base, {"inner": inner, "other": edited(base, TextEdit(3, 5, "[X]"))}) == "[X] no yes"


def test_a_merge_can_be_a_branch_of_an_outer_one() -> None:
    base = listed("ann, bob, 555-1234, rome")
    inner_base = edited(base, TextEdit(0, 3, "[A]"))
    inner = merge(
        inner_base,
        {
            "p": edited(inner_base, TextEdit(5, 8, "[B]")),
            "q": edited(inner_base, TextEdit(10, 18, "[P]")),
        },
    )
    city = edited(base, TextEdit(20, 24, "[C]"))
    digits = edited(base, TextEdit(14, 18, "****"))
    assert merged(base, {"inner": inner, "city": city}) == "[A], [B], [P], [C]"
    assert merged(base, {"digits": digits, "inner": inner, "city": city}) == "[A], [B], [P], [C]"


def test_two_texts_written_anew_in_place_are_a_conflict_and_no_mixture() -> None:
    base = MessageList("hello X and Y")
    forks = {"a": base.fork(), "b": base.fork()}
    for fork, text in zip(forks.values(), ("totally other words", "something else entirely here"), strict=True):
        part = fork.all[0].parts[0]
        assert isinstance(part, TextPart)
        part.text = text
    with pytest.raises(MergeConflict):
        merge(base, forks, None)
