"""An acyclic graph in layers, each edge leading from one layer to the next: for drawings of it.

An edge that leads further down passes through the layers between. Edges out of one node pass together, as one; so do
those to the way out.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

__all__ = ["Slot", "layered", "settled"]

_SWEEPS: Final = 8
_PASSING_WEIGHT: Final = 4.0
"""How much straighter a line is kept than a node is centred."""
_LOOSE_WEIGHT: Final = 0.05
"""Of what nothing leads to."""


@dataclass(eq=False, slots=True)
class Slot:
    """One place in a layer.

    Attributes:
        item: The node that stands there; None: edges pass through.
        above: The places in the layer above from which edges come.
        below: Those in the layer below to which they go.
    """

    item: int | None
    above: list[Slot] = field(default_factory=list["Slot"])
    below: list[Slot] = field(default_factory=list["Slot"])


def layered(needs: Sequence[Sequence[int]], *, widest: int) -> Sequence[Sequence[Slot]]:
    """Put nodes into layers, each below all those it needs, and order the layers so that few edges cross.

    The first layer holds nothing but the way in, which leads to the nodes that need none; the last nothing but the way
    out, to which those lead that no other needs.

    Args:
        needs: For each node the places of those it needs.
        widest: How many nodes a layer holds at most.
    """
    depth = _depths(needs, widest)
    bottom = max(depth, default=0) + 1
    entry, exit_ = Slot(None), Slot(None)
    rows: list[list[Slot]] = [[] for _ in range(bottom + 1)]
    rows[0].append(entry)
    slots = [Slot(item) for item in range(len(needs))]
    for slot, level in zip(slots, depth, strict=True):
        rows[level].append(slot)
    rows[bottom].append(exit_)
    needed = {need for each in needs for need in each}
    users: defaultdict[int, list[tuple[int, Slot]]] = defaultdict(list)
    for item, each in enumerate(needs):
        for need in each or (-1,):
            users[need].append((depth[item], slots[item]))
    for source, targets in users.items():
        _link(entry if source < 0 else slots[source], 0 if source < 0 else depth[source], targets, rows)
    _link_out([(depth[item], slots[item]) for item in range(len(needs)) if item not in needed], exit_, rows)
    _centre_ways(rows)
    return _with_few_crossings(rows)


def _depths(needs: Sequence[Sequence[int]], widest: int) -> list[int]:
    """The layer of each node, from 1: as high as can be, but what needs nothing right above what needs it."""
    order = _in_order(needs)
    wished = [1] * len(needs)
    first_use: dict[int, int] = {}
    for item in order:
        wished[item] = max((wished[need] for need in needs[item]), default=0) + 1
        for need in needs[item]:
            first_use[need] = min(first_use.get(need, wished[item]), wished[item])
    for item, level in first_use.items():
        if not needs[item]:
            wished[item] = level - 1
    depth = [0] * len(needs)
    held: Counter[int] = Counter()
    for item in sorted(order, key=wished.__getitem__):
        level = max(wished[item], *(depth[need] + 1 for need in needs[item]), 1)
        while held[level] >= widest:
            level += 1
        held[level] += 1
        depth[item] = level
    return depth


def _in_order(needs: Sequence[Sequence[int]]) -> list[int]:
    """The nodes, each behind those it needs."""
    users: defaultdict[int, list[int]] = defaultdict(list)
    left = [len(each) for each in needs]
    for item, each in enumerate(needs):
        for need in each:
            users[need].append(item)
    ready = [item for item, count in enumerate(left) if not count]
    for item in ready:  # grows
        for user in users[item]:
            left[user] -= 1
            if not left[user]:
                ready.append(user)
    return ready


def _link(source: Slot, level: int, targets: Sequence[tuple[int, Slot]], rows: list[list[Slot]]) -> None:
    """Lead from a slot to others below, through one slot in each layer between."""
    by_level: defaultdict[int, list[Slot]] = defaultdict(list)
    for target_level, target in targets:
        by_level[target_level].append(target)
    last = max(by_level)
    here = source
    for below in range(level + 1, last + 1):
        here.below += by_level[below]
        for target in by_level[below]:
            target.above.append(here)
        if below < last:
            passing = Slot(None, above=[here])
            here.below.append(passing)
            rows[below].append(passing)
            here = passing


def _link_out(sinks: Sequence[tuple[int, Slot]], exit_: Slot, rows: list[list[Slot]]) -> None:
    """Lead from slots down to the way out, along one line that takes up each."""
    by_level: defaultdict[int, list[Slot]] = defaultdict(list)
    for level, sink in sinks:
        by_level[level].append(sink)
    line: list[Slot] = []
    for level in range(min(by_level, default=len(rows)), len(rows) - 1):
        last = level == len(rows) - 2
        line = by_level[level] + line
        target = exit_ if last else Slot(None)
        if not last:
            rows[level + 1].append(target)
        for slot in line:
            slot.below.append(target)
            target.above.append(slot)
        line = [target]


def _centre_ways(rows: Sequence[list[Slot]]) -> None:
    """Let what passes on from the way in, and to the way out, begin in the middle of each layer."""
    shared: set[Slot] = {rows[0][0], rows[-1][0]}
    for row in rows:
        shared |= {slot for slot in row if slot.item is None and slot.above and slot.above[0] in shared}
    for row in reversed(rows):
        shared |= {slot for slot in row if slot.item is None and slot.below and slot.below[0] in shared}
    for row in rows:
        others = [slot for slot in row if slot not in shared]
        middle = len(others) // 2
        row[:] = [*others[:middle], *(slot for slot in row if slot in shared), *others[middle:]]


def _with_few_crossings(rows: list[list[Slot]]) -> list[list[Slot]]:
    """Order each layer by where its neighbours stand, down and up again, and keep the best that was seen."""
    places: dict[Slot, float] = {}

    def number(row: Sequence[Slot]) -> None:
        for place, slot in enumerate(row):
            places[slot] = place / max(len(row) - 1, 1) if len(row) > 1 else 0.5

    for row in rows:
        number(row)
    best, fewest = [list(row) for row in rows], _crossings(rows, places)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        down = sweep % 2 == 0
        for row in rows if down else reversed(rows):
            row.sort(
                key=lambda slot: _middle([places[end] for end in (slot.above if down else slot.below)], places[slot])
            )
            number(row)
        crossings = _crossings(rows, places)
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    return best


def _middle(places: Sequence[float], otherwise: float) -> float:
    return math.fsum(places) / len(places) if places else otherwise


def _crossings(rows: Sequence[Sequence[Slot]], places: dict[Slot, float]) -> int:
    """How many pairs of edges cross."""
    total = 0
    for row in rows:
        ranks = {
            slot: rank for rank, slot in enumerate(sorted({e for s in row for e in s.below}, key=places.__getitem__))
        }
        tree = [0] * (len(ranks) + 1)
        seen = 0
        for slot in row:
            ends = [ranks[end] for end in slot.below]
            for end in ends:
                total += seen - _sum(tree, end + 1)
            for end in ends:
                _add(tree, end + 1)
                seen += 1
    return total


def _sum(tree: list[int], upto: int) -> int:
    """How many stand at the places from 1 to this one (a Fenwick tree)."""
    total = 0
    while upto > 0:
        total += tree[upto]
        upto -= upto & -upto
    return total


def _add(tree: list[int], place: int) -> None:
    while place < len(tree):
        tree[place] += 1
        place += place & -place


def settled(
    rows: Sequence[Sequence[Slot]], left: Sequence[Sequence[float]], right: Sequence[Sequence[float]], gap: float
) -> dict[Slot, float]:
    """Where each slot's axis goes, from left to right: near its neighbours, and clear of those beside it.

    The whole is no wider than the widest layer by itself.

    Args:
        rows: The layers.
        left, right: How far each slot reaches to either side of its axis.
        gap: The room between two slots.
    """
    offsets: list[list[float]] = []
    spare: list[float] = []
    for lefts, rights in zip(left, right, strict=True):
        row_offsets: list[float] = []
        at = -gap
        for to_left, to_right in zip(lefts, rights, strict=True):
            at += gap + to_left
            row_offsets.append(at)
            at += to_right
        offsets.append(row_offsets)
        spare.append(at)
    widest = max(spare)
    spare = [widest - width for width in spare]
    axes: dict[Slot, float] = {}
    for row, row_offsets, room in zip(rows, offsets, spare, strict=True):
        for slot, offset in zip(row, row_offsets, strict=True):
            axes[slot] = offset + room / 2
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        order = range(len(rows)) if down else reversed(range(len(rows)))
        for level in order:
            _settle(rows[level], offsets[level], spare[level], axes, down=down)
    return axes


def _wish(slot: Slot, axes: Mapping[Slot, float], *, down: bool) -> tuple[float, float]:
    """Where a slot's neighbours above (or below) want it, and how much that matters: the less, the more others want it.

    A line goes straight on where it can, whatever else joins it.
    """
    ends = slot.above if down else slot.below
    if slot.item is None and slot.above and slot.below:
        line = [end for end in ends if end.item is None]
        if line:
            return _middle([axes[end] for end in line], axes[slot]), _PASSING_WEIGHT
    if not ends:
        return axes[slot], _LOOSE_WEIGHT
    shares = [1.0 / len(end.below if down else end.above) for end in ends]
    weight = sum(shares) / len(ends) / (len(ends) if slot.item is None else 1)
    return _middle([axes[end] for end in ends], axes[slot]), weight


def _settle(
    row: Sequence[Slot], offsets: Sequence[float], spare: float, axes: dict[Slot, float], *, down: bool
) -> None:
    """Move the slots of one layer as near to where they are wanted as those beside them, and the room, allow.

    That is a least-squares fit with a given order and bounds: the pool-adjacent-violators algorithm.

    Args:
        row: The layer.
        offsets: Where its axes are if all stand as far to the left as they can.
        spare: How far to the right the last may move from there.
        axes: All axes, which are changed.
        down: Whether the neighbours above are looked at; else those below.
    """
    pools: list[tuple[float, float, int]] = []  # weighted mean, weight, number of slots
    for slot, offset in zip(row, offsets, strict=True):
        wish, weight = _wish(slot, axes, down=down)
        mean = wish - offset
        count = 1
        while pools and pools[-1][0] > mean:
            other, other_weight, other_count = pools.pop()
            mean = (mean * weight + other * other_weight) / (weight + other_weight)
            weight += other_weight
            count += other_count
        pools.append((mean, weight, count))
    place = 0
    for mean, _, count in pools:
        for _ in range(count):
            axes[row[place]] = min(max(mean, 0.0), spare) + offsets[place]
            place += 1
