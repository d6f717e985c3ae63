"""Pieces side by side, between a fork and a join."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from interlock.workflows.forks import Arm, forked
from interlock.workflows.pieces import Label, Wire, placed
from tests.workflows.test_columns import boxes, piece, sizes

labels = st.sampled_from(("", "holds", "a-rather-long-condition"))
all_arms = st.lists(st.tuples(sizes, labels), min_size=1, max_size=20).map(
    lambda drawn: [Arm(piece(number, *size), label) for number, (size, label) in enumerate(drawn)]
)


@given(all_arms, st.sampled_from(("", "parallel: join any")), st.sampled_from((300.0, 1400.0)))
def test_every_arm_stands_in_the_whole_once_clear_of_the_others(arms: list[Arm], caption: str, room: float) -> None:
    whole = forked(arms, room, live=True, caption=caption)
    found = boxes(whole)
    assert [box.path for _, _, box in found] == [str(number) for number in range(len(arms))]
    for x, y, box in found:
        assert -0.01 <= x <= x + box.width <= whole.width + 0.01
        assert 0 < y < y + box.height < whole.height
    for (x1, y1, one), (x2, y2, other) in itertools.combinations(found, 2):
        beside = x1 + one.width <= x2 + 0.01 or x2 + other.width <= x1 + 0.01
        assert beside or y1 + one.height <= y2 + 0.01 or y2 + other.height <= y1 + 0.01


@given(all_arms, st.sampled_from((300.0, 1400.0)))
def test_a_wire_leads_from_the_way_in_to_each_arm_and_from_each_to_the_way_out(arms: list[Arm], room: float) -> None:
    whole = forked(arms, room, live=True)
    ways = [[(x + dx, y + dy) for dx, dy in shape.points] for x, y, shape in placed(whole) if isinstance(shape, Wire)]
    for (x, y, box), arm in zip(boxes(whole), arms, strict=True):
        assert any(abs(way[-1][0] - x - arm.piece.enter) < 0.01 and abs(way[-1][1] - y) < 0.01 for way in ways)
        foot = y + box.height
        assert any(abs(way[0][0] - x - arm.piece.leave) < 0.01 and abs(way[0][1] - foot) < 0.01 for way in ways)
    assert any(way[0] == (whole.enter, 0.0) for way in ways)
    assert any(way[-1] == (whole.leave, whole.height) for way in ways)


def test_arms_that_fit_stand_in_one_row_and_others_in_rows_of_like_length() -> None:
    arms = [Arm(piece(number, 100, 40, 0.5, 0.5)) for number in range(20)]
    assert len({y for _, y, _ in boxes(forked(arms[:5], 700, live=True))}) == 1
    rows = [len(list(row)) for _, row in itertools.groupby(boxes(forked(arms, 700, live=True)), key=lambda b: b[1])]
    assert rows == [5, 5, 5, 5]


def test_arms_in_rows_stand_below_one_another() -> None:
    arms = [Arm(piece(number, 90 + number % 3, 40, 0.5, 0.5)) for number in range(20)]
    middles = [x + box.width / 2 for x, _, box in boxes(forked(arms, 700, live=True))]
    assert len({round(middle, 2) for middle in middles}) == 5


def test_a_label_stands_beside_its_way() -> None:
    whole = forked([Arm(piece(0, 100, 40, 0.5, 0.5), "holds"), Arm(piece(1, 100, 40, 0.5, 0.5))], 1400, live=True)
    [(x, y, label)] = [(x, y, shape) for x, y, shape in placed(whole) if isinstance(shape, Label)]
    assert label.text == "holds"
    assert 50 < x < 70
    assert y < boxes(whole)[0][1]


def test_the_way_to_an_arm_where_nothing_came_is_faint_and_so_is_the_way_out_where_nothing_left() -> None:
    dead = piece(1, 100, 40, 0.5, 0.5)
    arms = [Arm(piece(0, 100, 40, 0.5, 0.5)), Arm(type(dead)(100, 40, 50, 50, dead.parts, live=False, gone=False))]
    faint = [shape.faint for _, _, shape in placed(forked(arms, 1400, live=True)) if isinstance(shape, Wire)]
    assert faint == [False, False, True, True]


@given(st.integers(150, 230), st.integers(150, 230), st.integers(150, 230))
def test_a_middle_arm_about_in_the_middle_hangs_straight_down(left: int, middle: int, right: int) -> None:
    arms = [Arm(piece(number, width, 40, 0.5, 0.5)) for number, width in enumerate((left, middle, right))]
    whole = forked(arms, 1400, live=True)
    _, (x, _, box), _ = boxes(whole)
    assert whole.enter == whole.leave == x + box.width / 2
