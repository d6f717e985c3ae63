"""Lines and arrows as the data of SVG paths."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from interlock.workflows.svg_strokes import arrow_tip, number, polyline, swing

places = st.tuples(st.floats(-1000, 1000), st.floats(-1000, 1000))


def test_a_number_has_a_tenth_at_most_and_no_tenth_for_show() -> None:
    assert [number(value) for value in (1.0, 1.25, 1.04, -3.0, 10)] == ["1", "1.2", "1", "-3", "10"]


def test_a_corner_is_round_and_a_tip_covers_the_end() -> None:
    assert polyline([(0, 0), (0, 20), (30, 20)], arrow=False) == "M0 0L0 14Q0 20 6 20L30 20"
    assert polyline([(0, 0), (0, 20)], arrow=True) == "M0 0L0 16"


def test_a_tip_points_down_or_to_the_left_where_the_line_comes_from_the_right() -> None:
    assert arrow_tip([(0, 0), (0, 20)], curved=False) == "M0 20l-4 -8h8z"
    assert arrow_tip([(30, 20), (0, 20)], curved=False) == "M0 20l8 -4v8z"


def test_a_swing_goes_down_first() -> None:
    assert swing([(0, 0), (0, 10), (40, 50)], arrow=False) == "M0 0L0 10C0 30 40 30 40 50"


@given(st.lists(places, min_size=1, max_size=6), st.booleans())
def test_every_line_is_data_that_a_path_takes(points: list[tuple[float, float]], arrow: bool) -> None:
    assert re.fullmatch(r"M(-?[\d.]+ ?|[LQ])+", polyline(points, arrow=arrow))
