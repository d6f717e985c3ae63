"""What a processor made of a text, seen from what went in and out."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.processors.lanes.delayed import Delayed, compared
from interlock.processors.stream_context import Piece
from tests.processors.lanes.strategies import pieces_of

MANY = settings(max_examples=300, deadline=None)


def text_of(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


def assert_in_order(pieces: Sequence[Piece], text: str) -> None:
    """They are ranges of the text, one behind the other; what is kept is the text itself."""
    at = 0
    for piece in pieces:
        assert piece.start == at
        assert not piece.kept or piece.text == text[piece.start : piece.end]
        at = piece.end


@MANY
@given(pieces_of(), st.data())
def test_what_comes_later_and_in_order_is_the_text_itself(pieces: list[str], data: st.DataObject) -> None:
    text = "".join(pieces)
    lane = Delayed()
    told: list[Piece] = []
    came = gone = 0
    for piece in pieces:
        came += len(piece)
        upto = data.draw(st.integers(gone, came))
        told += lane.step(piece, text[gone:upto])
        gone = upto
    told += lane.step("", text[gone:])
    assert all(piece.kept for piece in told)
    assert text_of(told) == text
    assert lane.end() == []


@MANY
@given(st.lists(st.tuples(st.text("ab ", max_size=4), st.sampled_from(["go", "as they are", "drop", "other"]))))
def test_what_has_gone_on_is_told_as_ranges_of_what_came(steps: list[tuple[str, str]]) -> None:
    lane = Delayed()
    told: list[Piece] = []
    out = ""
    for text, what in steps:
        if what == "as they are":
            told += lane.passed(text, "<", ">")
            out += f"<{text}>"
        else:
            gone = {"go": text, "drop": "", "other": f"{text[:1]}c "}[what]
            told += lane.step(text, gone)
            out += gone
    assert text_of(told) == out
    told += lane.end()
    text = "".join(text for text, _ in steps)
    assert_in_order(told, text)
    assert (told[-1].end if told else 0) == len(text)


def test_what_was_dropped_is_told_once_something_behind_it_has_gone_on() -> None:
    lane = Delayed()
    assert lane.step("one ", "") == []
    assert lane.passed("two ") == [Piece(0, 4, "", False), Piece(4, 8, "two ", True)]
    assert lane.step("three ", "") == []
    assert lane.step("four ", "four ") == [Piece(8, 14, "", False), Piece(14, 19, "four ", True)]


def test_of_what_is_replaced_by_less_the_rest_may_yet_come() -> None:
    lane = Delayed()
    assert lane.step("card 4711", "") == []
    assert lane.step("", "****") == [Piece(0, 4, "****", False)]
    assert lane.step(" is", " 4711") == [Piece(4, 9, " 4711", True)]
    assert lane.end() == [Piece(9, 12, "", False)]


@MANY
@given(st.text("ab ", max_size=12), st.text("ab ", max_size=12))
def test_a_text_that_was_changed_as_a_whole_is_pieces_of_it(before: str, after: str) -> None:
    pieces = compared(0, before, after)
    assert text_of(pieces) == after
    assert_in_order(pieces, before)
    assert (pieces[-1].end if pieces else 0) == len(before)


@MANY
@given(st.lists(st.booleans(), max_size=40))
def test_where_characters_are_gone_each_is_told(keep: list[bool]) -> None:
    text = "".join(chr(0x4E00 + number) for number in range(len(keep)))
    after = "".join(one for one, kept in zip(text, keep, strict=True) if kept)
    assert "".join(piece.text for piece in compared(0, text, after) if piece.kept) == after


def test_words_that_were_not_changed_are_kept_between_those_that_were() -> None:
    pieces = compared(0, "my card 4711 is here", "My card 4711 is HERE")
    assert " card 4711 is " in [piece.text[1:] for piece in pieces if piece.kept]
