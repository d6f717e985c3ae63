"""Dags in terminal drawings."""

from __future__ import annotations

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from interlock.workflows.blocks import Block, box, width_of
from interlock.workflows.dag_block import dag_block
from tests.workflows.test_layers import graphs

WAYS = {"│": "ud", "─": "lr", "┘": "ul", "┐": "dl", "┤": "udl", "└": "ur", "┌": "dr", "├": "udr"}
WAYS.update({"┴": "ulr", "┬": "dlr", "┼": "udlr", "▼": "ud"})
MOVES = {"u": (-1, 0), "d": (1, 0), "l": (0, -1), "r": (0, 1)}
BACK = {"u": "d", "d": "u", "l": "r", "r": "l"}


def named(count: int) -> list[Block]:
    return [box([chr(ord("a") + number)]) for number in range(count)]


def test_a_diamond_forks_and_joins() -> None:
    assert dag_block(named(4), [(), (0,), (0,), (1, 2)], 100).lines == (
        "      │      ",
        "      │      ",
        "    ┌─▼─┐    ",
        "    │ a │    ",
        "    └─┬─┘    ",
        "  ┌───┴───┐  ",
        "┌─▼─┐   ┌─▼─┐",
        "│ b │   │ c │",
        "└─┬─┘   └─┬─┘",
        "  └──┐ ┌──┘  ",
        "     └┬┘     ",
        "    ┌─▼─┐    ",
        "    │ d │    ",
        "    └─┬─┘    ",
        "      │      ",
        "      │      ",
    )


def test_where_wires_cross_one_is_interrupted_and_each_node_has_a_wire_of_its_own() -> None:
    assert dag_block(named(4), [(), (), (0, 1), (0, 1)], 100).lines[4:10] == (
        "└─┬─┘   └─┬─┘",
        " ┌┴──────┐│  ",
        " │ ┌─────│┴┐ ",
        " └┬┘     └┬┘ ",
        "┌─▼─┐   ┌─▼─┐",
        "│ c │   │ d │",
    )


@given(graphs(), st.integers(1, 100))
def test_every_line_is_as_wide_as_the_block(needs: list[tuple[int, ...]], room: int) -> None:
    block = dag_block(named(len(needs)), needs, room)
    assert {width_of(line) for line in block.lines} == {block.width}
    assert block.lines[0][block.axis] in "│┴└┘├┤┼"
    assert block.lines[-1][block.axis] in "│┬┌┐├┤┼"


@given(graphs())
def test_wires_lead_from_each_node_to_those_that_need_it_and_nowhere_else(needs: list[tuple[int, ...]]) -> None:
    lines = dag_block(named(len(needs)), needs, 100).lines
    needed = {need for each in needs for need in each}
    for number in range(len(needs)):
        users = {chr(ord("a") + user) for user, each in enumerate(needs) if number in each}
        found = _led_to(lines, chr(ord("a") + number))
        assert found == (users if number in needed else users | {"out"})


def _led_to(lines: tuple[str, ...], name: str) -> set[str]:
    """What one comes to by following the wire out of a node, downwards and sideways.

    Where it goes straight on over another wire it crosses that, and does not turn.
    """
    y, x = next((y, line.index(f"│ {name} │") + 2) for y, line in enumerate(lines) if f"│ {name} │" in line)
    found: set[str] = set()
    seen: set[tuple[int, int, str]] = set()
    ahead = deque([(y + 2, x, "d")])
    while ahead:
        y, x, heading = ahead.popleft()
        if (y, x, heading) in seen:
            continue
        seen.add((y, x, heading))
        if y == len(lines):
            found.add("out")
            continue
        if lines[y][x] == "▼":
            found.add(lines[y + 1][x])
            continue
        ways = WAYS[lines[y][x]]
        if BACK[heading] not in ways:  # a wire that is interrupted here goes on behind the other
            assert lines[y][x] == "│"
            ways = "lr"
        for way in ways:
            if way not in (BACK[heading], "u"):
                dy, dx = MOVES[way]
                ahead.append((y + dy, x + dx, way))
    return found


def test_where_there_is_little_room_fewer_stand_side_by_side() -> None:
    needs: list[tuple[int, ...]] = [() for _ in range(10)]
    wide, narrow = dag_block(named(10), needs, 100), dag_block(named(10), needs, 40)
    assert narrow.width <= 40 < wide.width
    assert len(narrow.lines) > len(wide.lines)
