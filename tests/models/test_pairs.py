"""Surrogate pairs that come apart."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from interlock.models.pairs import PairJoiner

HALVES = st.sampled_from(["\ud83d", "\ude00", "\ud800", "\udfff", "a", "😀", "ß"])


def joined(pieces: list[str]) -> list[str]:
    joiner = PairJoiner()
    return [*map(joiner.take, pieces), joiner.rest()]


@given(st.lists(st.lists(HALVES, max_size=3).map("".join), max_size=6))
def test_pieces_give_the_text_that_json_gives_whole(pieces: list[str]) -> None:
    whole: str = json.loads(json.dumps("".join(pieces)))
    assert "".join(joined([json.loads(json.dumps(piece)) for piece in pieces])) == whole


@given(st.lists(st.text(), max_size=6))
def test_text_without_halves_comes_piece_by_piece_as_it_was(pieces: list[str]) -> None:
    assert joined(pieces) == [*pieces, ""]


def test_a_half_without_its_other_is_not_lost() -> None:
    assert joined(["a\ud83d", "b", "\ude00"]) == ["a", "\ud83db", "\ude00", ""]
    assert joined(["\ud83d", ""]) == ["", "", "\ud83d"]
