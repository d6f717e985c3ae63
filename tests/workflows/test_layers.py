"""Acyclic graphs in layers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from interlock.workflows.layers import Slot, layered, settled

GAP = 10.0


@st.composite
def graphs(draw: st.DrawFn) -> list[tuple[int, ...]]:
    count = draw(st.integers(1, 12))
    return [tuple(sorted(draw(st.sets(st.integers(0, n - 1), max_size=3)))) if n else () for n in range(count)]


def _reached(slot: Slot) -> set[int]:
    """The nodes that a slot leads to, past those that only pass it on."""
    return {found for below in slot.below for found in ({below.item} if below.item is not None else _reached(below))}


@given(graphs(), st.integers(1, 5))
def test_every_edge_leads_down_and_what_leads_on_is_exactly_what_is_needed(
    needs: list[tuple[int, ...]], widest: int
) -> None:
    rows = layered(needs, widest=widest)
    levels = {slot: level for level, row in enumerate(rows) for slot in row}
    for slot, level in levels.items():
        assert all(levels[below] == level + 1 for below in slot.below)
        assert all(slot in below.above for below in slot.below)
    slots = {slot.item: slot for slot in levels if slot.item is not None}
    assert set(slots) == set(range(len(needs)))
    for item, slot in slots.items():
        assert _reached(slot) == {user for user, each in enumerate(needs) if item in each}
    assert _reached(rows[0][0]) == {item for item, each in enumerate(needs) if not each}


@given(graphs(), st.integers(1, 5))
def test_the_first_layer_is_the_way_in_and_the_last_the_way_out_of_all_that_nobody_needs(
    needs: list[tuple[int, ...]], widest: int
) -> None:
    rows = layered(needs, widest=widest)
    assert [len(rows[0]), len(rows[-1])] == [1, 1]
    assert rows[0][0].item is rows[-1][0].item is None
    needed = {need for each in needs for need in each}
    assert _sources(rows[-1][0]) == set(range(len(needs))) - needed


def _sources(slot: Slot) -> set[int]:
    return {found for above in slot.above for found in ({above.item} if above.item is not None else _sources(above))}


@given(graphs(), st.integers(1, 4))
def test_no_layer_holds_more_nodes_than_it_may(needs: list[tuple[int, ...]], widest: int) -> None:
    for row in layered(needs, widest=widest):
        assert sum(slot.item is not None for slot in row) <= widest


def test_two_edges_that_need_not_cross_do_not() -> None:
    rows = layered([(), (), (1,), (0,)], widest=4)
    order = [[slot.item for slot in row] for row in rows[1:3]]
    assert order in ([[0, 1], [3, 2]], [[1, 0], [2, 3]])


def test_what_needs_nothing_stands_right_above_what_needs_it() -> None:
    rows = layered([(), (0,), (1,), (), (2, 3)], widest=4)
    assert {slot.item for slot in rows[3] if slot.item is not None} == {2, 3}


def test_edges_out_of_one_node_pass_a_layer_as_one_and_so_do_those_to_the_way_out() -> None:
    rows = layered([(), (0,), (1,), (0, 2), (0, 3)], widest=4)
    passing = [sum(slot.item is None for slot in row) for row in rows[1:-1]]
    assert passing == [0, 1, 1, 1, 0]
    sinks = layered([(), (), (), (0,), (3,)], widest=4)
    assert [sum(slot.item is None for slot in row) for row in sinks[1:-1]] == [0, 1, 1]


@given(graphs(), st.data())
def test_what_stands_beside_one_another_keeps_its_distance(needs: list[tuple[int, ...]], data: st.DataObject) -> None:
    rows = layered(needs, widest=4)
    reach = st.floats(0, 50)
    left = [[data.draw(reach) for _ in row] for row in rows]
    right = [[data.draw(reach) for _ in row] for row in rows]
    axes = settled(rows, left, right, GAP)
    for row, lefts, rights in zip(rows, left, right, strict=True):
        edges = [(axes[s] - a, axes[s] + b) for s, a, b in zip(row, lefts, rights, strict=True)]
        assert all(after[0] - before[1] >= GAP - 1e-6 for before, after in itertools.pairwise(edges))


def test_a_chain_is_straight() -> None:
    rows = layered([(), (0,), (1,)], widest=4)
    widths: Sequence[Sequence[float]] = [[0.0], [10.0], [30.0], [5.0], [0.0]]
    axes = settled(rows, widths, widths, GAP)
    assert max(axes.values()) - min(axes.values()) < 1e-6
