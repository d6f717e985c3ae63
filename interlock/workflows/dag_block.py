"""A dag as a block of a terminal drawing: layers, with wires from one to the next.

Each node's way out is a wire of its own, which turns in a line of its own where it needs one; where it crosses another
the other is interrupted. What leads into one node is gathered right above it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from interlock.workflows.blocks import Block, junction, row
from interlock.workflows.layers import Slot, layered, settled

__all__ = ["dag_block"]

_GAP = 3
_WIRE: Final = Block(("│",), 1, 0)


def dag_block(blocks: Sequence[Block], needs: Sequence[Sequence[int]], room: float) -> Block:
    """The blocks in layers, each below all those it needs, at most ``room`` columns wide where that can be.

    Args:
        blocks: In list order.
        needs: For each of them the places of those it needs.
        room: How many columns there are.
    """
    widest = len(blocks)
    drawn = _drawn(blocks, needs, widest)
    while drawn.width > room and widest > 1:
        widest = min(widest - 1, max(1, int(widest * room / drawn.width)))
        drawn = min(drawn, _drawn(blocks, needs, widest), key=lambda block: block.width)
    return drawn


def _drawn(blocks: Sequence[Block], needs: Sequence[Sequence[int]], widest: int) -> Block:
    rows = layered(needs, widest=widest)
    held = {slot: _WIRE if slot.item is None else blocks[slot.item] for each in rows for slot in each}
    axes = _axes(rows, held)
    width = max(axes[slot] + max(block.width - block.axis, len(slot.above) + 1) for slot, block in held.items())
    lines: list[str] = []
    for number, each in enumerate(rows):
        if number:
            lines += _channel(rows[number - 1], each, axes, width)
        height = max(len(held[slot].lines) for slot in each)
        lines += _beside([(axes[slot] - held[slot].axis, held[slot].lengthened(height)) for slot in each], width)
    return Block(tuple(lines), width, axes[rows[0][0]])


def _axes(rows: Sequence[Sequence[Slot]], held: Mapping[Slot, Block]) -> dict[Slot, int]:
    """The column of each slot's axis: even, and the same for the way in and the way out."""
    left = [[float(max(held[slot].axis, len(slot.above))) for slot in each] for each in rows]
    right = [[float(max(held[s].width - held[s].axis, len(s.above) + 1)) for s in each] for each in rows]
    wished = settled(rows, left, right, _GAP)
    axes: dict[Slot, int] = {}
    for each, lefts, rights in zip(rows, left, right, strict=True):
        end = -(10**9)
        for slot, to_left, to_right in zip(each, lefts, rights, strict=True):
            column = round(wished[slot] / 2) * 2
            while column - to_left < end:
                column += 2
            axes[slot] = column
            end = column + int(to_right) + _GAP - 1
    axes[rows[-1][0]] = axes[rows[0][0]]
    start = min(
        axes[s] - int(reach)
        for each, lefts in zip(rows, left, strict=True)
        for s, reach in zip(each, lefts, strict=True)
    )
    start -= start % 2
    return {slot: column - start for slot, column in axes.items()}


def _beside(placed: Sequence[tuple[int, Block]], width: int) -> list[str]:
    """Blocks of one height, each from its column on."""
    lines: list[str] = []
    for parts in zip(*(block.lines for _, block in placed), strict=True):
        line, end = "", 0
        for (column, block), part in zip(placed, parts, strict=True):
            line += f"{' ' * (column - end)}{part}"
            end = column + block.width
        lines.append(f"{line}{' ' * (width - end)}")
    return lines


def _channel(above: Sequence[Slot], below: Sequence[Slot], axes: Mapping[Slot, int], width: int) -> list[str]:
    """The lines between two layers."""
    ports = _ports(above, below, axes)
    spans = {
        slot: (
            min(axes[slot], *(ports[slot, end] for end in slot.below)),
            max(axes[slot], *(ports[slot, end] for end in slot.below)),
        )
        for slot in above
        if slot.below
    }
    tracks = _tracks(spans)
    height = max(tracks.values(), default=-1) + 1
    cells: defaultdict[tuple[int, int], dict[Slot, set[str]]] = defaultdict(dict)
    for slot in above:
        track = tracks.get(slot, height)
        for y in range(min(track, height)):
            _mark(cells, y, axes[slot], slot, "up", "down")
        if track == height:
            continue
        _mark(cells, track, axes[slot], slot, "up")
        for end in slot.below:
            _mark(cells, track, ports[slot, end], slot, "down")
            for y in range(track + 1, height):
                _mark(cells, y, ports[slot, end], slot, "up", "down")
        first, last = spans[slot]
        for x in range(first, last):
            _mark(cells, track, x, slot, "right")
            _mark(cells, track, x + 1, slot, "left")
    lines = ["".join(_cell(cells.get((y, x), {})) for x in range(width)) for y in range(height)]
    lines += _gathered(below, ports, axes, width)
    return lines or [row({axes[slot]: "│" for slot in below}, width)]


def _ports(above: Sequence[Slot], below: Sequence[Slot], axes: Mapping[Slot, int]) -> dict[tuple[Slot, Slot], int]:
    """The column in which each wire arrives above the node it leads to.

    Nodes stand in even columns. Where a wire would come down in the column in which another leaves, it comes down in
    the odd one beside that.
    """
    sources = {axes[slot]: slot for slot in above}
    ports: dict[tuple[Slot, Slot], int] = {}
    for end in below:
        ends = sorted(dict.fromkeys(end.above), key=axes.__getitem__)
        for number, slot in enumerate(ends):
            column = axes[end] + 2 * number - (len(ends) - 1)
            if sources.get(column, slot) is not slot:
                column += 1
            ports[slot, end] = column
    return ports


def _tracks(spans: Mapping[Slot, tuple[int, int]]) -> dict[Slot, int]:
    """The line in which each wire that must turn does so; wires that would touch have lines of their own."""
    tracks: dict[Slot, int] = {}
    ends: list[int] = []
    for slot, (first, last) in sorted(spans.items(), key=lambda span: span[1]):
        if first == last:
            continue
        track = next((number for number, end in enumerate(ends) if end + 1 < first), len(ends))
        ends[track : track + 1] = [last]
        tracks[slot] = track
    return tracks


def _gathered(
    below: Sequence[Slot], ports: Mapping[tuple[Slot, Slot], int], axes: Mapping[Slot, int], width: int
) -> list[str]:
    """The line in which what leads to one node comes together; none where nothing has to."""
    marks: dict[int, str] = {}
    needed = False
    for end in below:
        columns = {ports[slot, end] for slot in end.above}
        first, last = min(axes[end], *columns), max(axes[end], *columns)
        needed = needed or first != last
        for x in range(first, last + 1):
            marks[x] = junction(up=x in columns, down=x == axes[end], left=x > first, right=x < last)
    return [row(marks, width)] if needed else []


def _mark(cells: defaultdict[tuple[int, int], dict[Slot, set[str]]], y: int, x: int, slot: Slot, *ways: str) -> None:
    cells[y, x].setdefault(slot, set()).update(ways)


def _cell(wires: Mapping[Slot, set[str]]) -> str:
    """The character where wires are; of two that cross the one that goes down."""
    if not wires:
        return " "
    ways = max(wires.values(), key=lambda ways: "up" in ways or "down" in ways)
    return junction(**dict.fromkeys(ways, True))
