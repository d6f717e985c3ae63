"""Pieces folded into columns, and side by side between a fork and a join."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.workflows.columns import folded
from interlock.workflows.pieces import GAP, Box, Piece, Wire, placed, stacked

ROOM = 1400.0


def piece(number: int, width: float, height: float, enter: float, leave: float) -> Piece:
    box = Box(str(number), "function", width, height, (), str(number))
    return Piece(width, height, enter * width, leave * width, [(0.0, 0.0, box)])


shares = st.sampled_from((0.1, 0.5, 0.9))
sizes = st.tuples(st.floats(20, 900), st.floats(20, 1500), shares, shares)
chains = st.lists(sizes, min_size=1, max_size=40).map(
    lambda drawn: [piece(number, *size) for number, size in enumerate(drawn)]
)


def boxes(whole: Piece) -> Sequence[tuple[float, float, Box]]:
    return [(x, y, shape) for x, y, shape in placed(whole) if isinstance(shape, Box)]


@given(chains)
def test_every_piece_stands_in_the_whole_once_and_clear_of_the_others(pieces: list[Piece]) -> None:
    for whole in (folded(pieces, ROOM), stacked(pieces)):
        found = boxes(whole)
        assert [box.path for _, _, box in found] == [str(number) for number in range(len(pieces))]
        for x, y, box in found:
            assert -0.01 <= x <= x + box.width <= whole.width + 0.01
            assert -0.01 <= y <= y + box.height <= whole.height + 0.01
        for (x1, y1, one), (x2, y2, other) in itertools.combinations(found, 2):
            beside = x1 + one.width <= x2 + 0.01 or x2 + other.width <= x1 + 0.01
            assert beside or y1 + one.height <= y2 + 0.01 or y2 + other.height <= y1 + 0.01


@given(chains)
def test_the_whole_is_no_wider_than_the_room_or_its_widest_column(pieces: list[Piece]) -> None:
    widest = max(piece.enter for piece in pieces) + max(piece.width - piece.enter for piece in pieces)
    assert folded(pieces, ROOM).width <= max(ROOM, widest) + 0.01


def test_what_is_no_taller_than_a_page_is_not_folded() -> None:
    pieces = [piece(number, 100, 40, 0.5, 0.5) for number in range(14)]
    assert len({x for x, _, _ in boxes(folded(pieces, ROOM))}) == 1


def test_columns_are_about_as_tall_as_one_another_and_read_from_left_to_right() -> None:
    pieces = [piece(number, 100, 40, 0.5, 0.5) for number in range(60)]
    found = boxes(folded(pieces, ROOM))
    columns = [len(list(group)) for _, group in itertools.groupby(found, key=lambda placed_: placed_[0])]
    assert len(columns) > 1
    assert max(columns) - min(columns) <= len(columns)
    assert [x for x, _, _ in found] == sorted(x for x, _, _ in found)


def test_what_does_not_fit_beside_stands_below() -> None:
    pieces = [piece(number, 400, 300, 0.5, 0.5) for number in range(20)]
    found = boxes(folded(pieces, 900))
    assert len({x for x, _, _ in found}) == 2
    assert max(y for _, y, _ in found) > 1500


def test_something_tall_has_a_column_of_its_own_and_does_not_keep_the_rest_from_being_folded() -> None:
    heights = [*([40] * 40), 3000, *([40] * 40)]
    found = boxes(folded([piece(n, 100, height, 0.5, 0.5) for n, height in enumerate(heights)], ROOM))
    assert len({x for x, _, _ in found[:40]}) > 1
    assert len({x for x, _, _ in found[41:]}) > 1


@given(chains)
def test_the_ends_stand_right_above_the_first_and_right_below_the_last(pieces: list[Piece]) -> None:
    begin, end = piece(-1, 60, 20, 0.5, 0.5), piece(-2, 60, 20, 0.5, 0.5)
    whole = folded(pieces, ROOM, ends=(begin, end))
    (_, begin_top, _), (_, first_top, _), *_ = found = boxes(whole)
    (_, last_top, last), (_, end_top, _) = found[-2:]
    assert first_top - begin_top - begin.height == pytest.approx(GAP)
    assert end_top - last_top - last.height == pytest.approx(GAP)
    wires = [(x, y, shape) for x, y, shape in placed(whole) if isinstance(shape, Wire)]
    assert len(wires) == len(pieces) + 1  # none leads to the first end, and none from the last
    assert [box.path for _, _, box in found] == ["-1", *(str(number) for number in range(len(pieces))), "-2"]
    for x, y, shape in wires:
        assert all(-0.01 <= y + dy <= whole.height + 0.01 and x + dx >= -0.01 for dx, dy in shape.points)
