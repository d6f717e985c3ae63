"""What was redacted does not come together again of what a change in place put in and what stood beside it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.errors import MergeConflict
from interlock.messages import Message, MessageList, TextEdit, TextPart, merge, merge_values
from interlock.messages.lost_words import fold


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


def without(base: MessageList, secret: str) -> MessageList:
    """A fork with every place redacted exactly that says the secret, in whatever letters."""
    text = base.texts()[0]
    offsets = [0, *accumulate(len(fold(letter)) for letter in text)]
    folded, lost = fold(text), fold(secret)
    edits: list[TextEdit] = []
    at = folded.find(lost)
    while at >= 0:
        low, high = bisect_right(offsets, at) - 1, bisect_left(offsets, at + len(lost))
        if edits and low < edits[-1].end:
            low = edits.pop().start
        edits.append(TextEdit(low, high, "[Y]"))
        at = folded.find(lost, at + 1)
    return edited(base, *edits)


@pytest.mark.parametrize("order", [("guard", "place"), ("place", "guard")])
@pytest.mark.parametrize(
    ("text", "secret", "place", "result"),
    [
        # words that were moved: 42 became 4111, of which only 111 was put in
        (
            "4111 1111 2222 3333 42 Mail Mail",
            "4111 1111 2222 3333",
            "3333 42 mail mail 4111 1111 2222",
            "[Y]   ",
        ),
        (
            "Ｍarjorie Mail Mail Mail the Mail Mail",
            "Ｍarjorie",
            "mail the mail mail ｍarjorie mail mail",
            "[Y] the mail mail  mail mail",
        ),
        ("Marjorie is-Mar", "Marjorie", "Marjorie is-Marjorie", "[Y] is-"),  # put in behind what was kept
        ("Marjorie is-orie", "Marjorie", "Marjorie is-Marjorie", "[Y] is-"),  # before it
        ("Marjorie is-Maie", "Marjorie", "Marjorie is-Marjorie", "[Y] is-"),  # in the middle of it
        ("Marjorie Mar-jorie", "Marjorie", "Marjorie Marjorie", "[Y] "),  # what stood between was taken out
        ("Marjorie xMar y", "Marjorie", "Marjorie xMARJORIEs y", "[Y]  y"),  # the whole word goes
    ],
)
def test_a_redacted_word_does_not_come_together_at_a_seam(
    order: tuple[str, str], text: str, secret: str, place: str, result: str
) -> None:
    base = listed(text)
    forks = {"guard": without(base, secret), "place": in_place(base, place)}
    assert merge(base, {name: forks[name] for name in order}).texts() == [result]
    assert merge(base, forks, "place").texts()[0].count(secret) == 0


def test_neither_does_it_in_a_json_value() -> None:
    branches = {"x": {"a": "[X] Mar b"}, "y": {"a": "Marjorie Marjorie b"}}
    assert merge_values({"a": "Marjorie Mar b"}, branches, None, "the result") == {"a": "[X]  b"}


def test_a_word_in_which_a_lost_one_came_together_goes_but_for_an_exact_replacement() -> None:
    base = listed("Marjorie met Mar-4111 Bo")
    guard = edited(base, TextEdit(0, 8, "[Y]"), TextEdit(17, 21, "NUMBER"))
    assert merge(base, {"guard": guard, "place": in_place(base, "Marjorie met Marjorie4111 Bo")}).texts() == [
        "[Y] met NUMBER Bo"
    ]


def test_exact_replacements_that_would_say_a_lost_word_together_go_too() -> None:
    base = listed("4111 a 9-8 b")
    guard = edited(base, TextEdit(0, 4, "[Y]"), TextEdit(7, 8, "41"), TextEdit(9, 10, "11"))
    assert merge(base, {"guard": guard, "place": in_place(base, "4111 a 98 b")}).texts() == ["[Y] a  b"]


def test_what_stood_there_before_in_other_letters_stays() -> None:
    base = listed("Mail me. Mail you")
    forks = {"x": in_place(base, "mail me. Mail you"), "y": in_place(base, "Mail me. mail you")}
    assert merge(base, forks).texts() == ["mail me. mail you"]
    guard = edited(base, TextEdit(0, 4, "[Y]"))
    assert merge(base, {"guard": guard, "y": forks["y"]}).texts() == ["[Y] me. mail you"]


def test_what_stood_there_before_goes_if_another_branch_touched_it() -> None:
    base = listed("Mail x Mail")
    forks = {
        "loud": edited(base, TextEdit(7, 9, "mA")),
        "guard": edited(base, TextEdit(7, 9, "[Z]")),
        "place": in_place(base, "Mail x #ail"),
    }
    assert merge(base, forks).texts() == ["Mail x mA"]


def test_an_exact_edit_may_say_beside_what_is_kept_what_it_likes() -> None:
    base = listed("Marjorie is-Mar")
    forks = {"guard": edited(base, TextEdit(0, 8, "[Y]")), "exact": edited(base, TextEdit(15, 15, "jorie"))}
    assert merge(base, forks).texts() == ["[Y] is-Marjorie"]


def test_a_lost_word_at_a_seam_where_changes_in_place_overlap_is_a_conflict() -> None:
    base = listed("4111 x 4cb, y")
    forks = {
        "guard": edited(base, TextEdit(0, 4, "[Y]")),
        "p": in_place(base, "4111 x 4111, y"),
        "q": in_place(base, "4111 x 4c-, y"),
    }
    with pytest.raises(MergeConflict, match="'p' and 'q' changed the text of part 0"):
        merge(base, forks)
    assert merge(base, forks, "p").texts() == ["[Y] x , y"]


def test_what_was_taken_out_at_a_seam_stays_out_of_an_outer_merge() -> None:
    base = listed("Marjorie is-Mar here")
    inner = merge(base, {"guard": without(base, "Marjorie"), "place": in_place(base, "Marjorie is-Marjorie here")})
    outer = merge(base, {"inner": inner, "other": edited(base, TextEdit(16, 20, "[H]"))})
    assert outer.texts() == ["[Y] is- [H]"]


SECRETS = ["4111", "marjorie", "e\u0301coles", "1½2xy", "aﷺb"]
OTHERS = ["1", "x", "é", "½", "\u0301", " ", " ", "-", "[X]"]


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_text_that_was_redacted_wherever_it_stood_never_comes_together_through_changes_in_place(
    data: st.DataObject,
) -> None:
    secret = data.draw(st.sampled_from(SECRETS))
    cut = data.draw(st.integers(1, len(secret) - 1))
    some = st.sampled_from([secret, secret[:cut], secret[cut:], secret[:cut].upper(), secret[1:], *OTHERS])
    pieces = [secret, *data.draw(st.lists(some, max_size=6))]
    base = listed("".join(pieces))
    forks = {"guard": without(base, secret)}
    for name in data.draw(st.sampled_from(["p", "pq"])):
        new = list(pieces)
        for _ in range(data.draw(st.integers(1, 3))):
            low = data.draw(st.integers(0, len(new)))
            high = data.draw(st.integers(low, min(len(new), low + 2)))
            new[low:high] = data.draw(st.lists(some, max_size=2))
        forks[name] = in_place(base, "".join(new))
    prefer = data.draw(st.sampled_from([None, *forks]))
    for order in permutations(forks):
        try:
            result = merge(base, {name: forks[name] for name in order}, prefer).texts()[0]
        except MergeConflict:
            continue
        assert fold(secret) not in fold(result), (order, result)
