"""A workflow as a drawing for a terminal."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from interlock.schema import schema_name
from interlock.workflows.blocks import (
    Block,
    beside,
    box,
    clipped,
    framed,
    labelled,
    listed,
    looped,
    row,
    stacked,
    width_of,
    worded,
    wrapped,
)
from interlock.workflows.dag_block import dag_block
from interlock.workflows.graph import (
    BodyCluster,
    BranchCluster,
    Chain,
    Cluster,
    DagCluster,
    Member,
    NestedCluster,
    ParallelCluster,
    Vertex,
)
from interlock.workflows.graph_of import graph_of
from interlock.workflows.labels import printable
from interlock.workflows.node_labels import NONE_HOLDS
from interlock.workflows.nodes import Plan
from interlock.workflows.overlay import Mark, Overlay, Run, overlay_of

if TYPE_CHECKING:
    from interlock.workflows.workflow import Workflow

__all__ = ["TEXT_WIDTH", "plan_block", "workflow_text"]

TEXT_WIDTH: Final = 100
"""The columns a drawing keeps to where it can."""

_NARROWEST = 14
_WIDEST_NOTE = 40
_TRIES = 3
_LADDER = 8
"""So many steps in a row are drawn as one box with rungs, which takes half the lines."""
_BORDERS: Final = {"map": "╭─╮│╰╯", "merge": "╭─╮│╰╯", "sleep": "╭─╮│╰╯", "idle": "┌╌┐╎└┘", "branch": "╱─╲│╲╱"}
"""Of a box, by kind; others have the plain one."""
_PLAIN = "┌─┐│└┘"
_FRAMES: Final = {"foreach": "┏━┓┃┗┛┿", "loop": "┏━┓┃┗┛┿", "dag": "┌┄┐┆└┘┼"}
"""Of a frame, by kind; that of a nested workflow is double."""
_DOUBLE = "╔═╗║╚╝╪"
_WIRE: Final = Block(("│",), 1, 0)


def workflow_text(workflow: Workflow[Any, Any], *, run: Run | None = None) -> str:
    """The workflow drawn with lines, from top to bottom.

    Steps are boxes, maps, merges and sleeps rounded ones, branches pointed ones; the arms of a parallel block or a
    branch stand side by side between a fork and a join, those of a branch each below its condition; a nested workflow
    is a double frame with its drawing inside, a ``foreach`` or a loop a heavy one, with the loop's way back on its
    right, a dag a dotted one; an arm that does nothing is a dashed box. Where that is wider than 100 columns labels are
    broken, and where that is not enough the arms of a block stand one under the other, from the line of the fork on the
    left to that of the join on the right.

    With a run each box says how it ended, and a line at the top how the run did.

    Args:
        workflow: The workflow.
        run: How a run of it ended, or where one stands.

    Example:
        >>> from interlock.workflows import create_workflow
        >>> from interlock.steps import create_step
        >>> arms = [create_step(lambda ctx: ctx.input, id=id_) for id_ in ("redact", "detect", "judge")]
        >>> print(create_workflow(id="guards", input_schema=str).parallel(arms).map(lambda ctx: 1).commit().to_text())
        guards: str → anything
        <BLANKLINE>
                       input
                         │
             ┌───────────┼──────────┐
        ┌────▼───┐  ┌────▼───┐  ┌───▼───┐
        │ redact │  │ detect │  │ judge │
        └────┬───┘  └────┬───┘  └───┬───┘
             └───────────┼──────────┘
                         │
                      ╭──▼──╮
                      │ map │
                      ╰──┬──╯
                         ▼
                       output
    """
    graph = graph_of(workflow.plan)
    overlay = None if run is None else overlay_of(graph, run)
    drawing = stacked([_entrance(), _fitted(graph.chain, overlay, TEXT_WIDTH), _exit()])
    title = f"{workflow.id}: {schema_name(workflow.input_schema)} → {schema_name(workflow.output_schema)}"
    heading = [] if overlay is None else worded(printable(overlay.heading), TEXT_WIDTH)
    return "\n".join((printable(title), *heading, "", *(line.rstrip() for line in drawing.lines)))


def plan_block(plan: Plan, room: int = TEXT_WIDTH, overlay: Overlay | None = None) -> Block:
    """The drawing of a plan, at most ``room`` columns wide where that can be; with what a run made of it."""
    return _fitted(graph_of(plan).chain, overlay, room)


def _fitted(chain: Chain, overlay: Overlay | None, room: int) -> Block:
    layout = _Layout(overlay)
    block = layout.chain(chain, room)
    tight = room
    for _ in range(_TRIES):
        if block.width <= room:
            break
        tight = max(tight - (block.width - room), 0)  # blocks whose axes differ make a stack wider than each of them
        block = min(block, layout.chain(chain, tight), key=lambda drawn: drawn.width)
    return block


def _entrance() -> Block:
    return Block(("input",), 5, 2)


def _exit() -> Block:
    return Block((row({2: "▼"}, 6), "output"), 6, 2, arrow=True)


class _Arm(NamedTuple):
    """An arm of a block; without a chain a way past the others."""

    chain: Chain | None
    condition: str = ""


class _Layout:
    """Lays out chains in the room there is.

    How a chain looks with all the room it likes, and with none, is found out once; so the whole takes a time that
    grows with the number of nodes and the depth, not with the ways to lay them out.
    """

    def __init__(self, overlay: Overlay | None = None) -> None:
        self._overlay = overlay
        self._known: dict[tuple[int, float], Block] = {}

    def chain(self, chain: Chain, room: float) -> Block:
        """The chain, at most ``room`` columns wide where that can be."""
        if room not in (0, math.inf):
            return self._stack(chain, room)
        key = (id(chain), room)
        if key not in self._known:
            self._known[key] = self._stack(chain, room)
        return self._known[key]

    def _stack(self, chain: Chain, room: float) -> Block:
        blocks: list[Block] = []
        for plain, group in itertools.groupby(chain.members, key=lambda member: isinstance(member, Vertex)):
            members = list(group)
            if plain and len(members) >= _LADDER:
                blocks.append(box(*(self._lines(m, room - 4) for m in members if isinstance(m, Vertex))))
            else:
                # A join needs no box: the lines of the block before and of the block after meet.
                blocks += [self._member(m, room) for m in members if not (isinstance(m, Vertex) and m.kind == "join")]
        return stacked(blocks)

    def _member(self, member: Member, room: float) -> Block:
        match member:
            case Vertex(kind=kind):
                return box(self._lines(member, room - 4), border=_BORDERS.get(kind, _PLAIN))
            case NestedCluster(chain=chain):
                return self._framed(member, self.chain(chain, max(room - 4, 0)), _DOUBLE, room)
            case ParallelCluster(arms=arms):
                block = self._forked([_Arm(arm) for arm in arms], room)
                caption = self._caption(member)
                return labelled(block, clipped(caption, _beside_way(block, room))) if caption else block
            case BranchCluster(choice=choice, arms=arms, conditions=conditions, passes=passes):
                ways = [_Arm(arm, condition) for arm, condition in zip(arms, conditions, strict=True)]
                ways += [_Arm(None, NONE_HOLDS)] if passes else []
                return stacked([self._member(choice, room), self._forked(ways, room)])
            case BodyCluster(kind=kind, body=body, again=again):
                inner = self.chain(body, max(room - (4 if again is None else 6), 0))
                if again is not None:
                    inner = looped(inner, clipped(printable(again), max(room - 10 - inner.axis, _NARROWEST)))
                return self._framed(member, inner, _FRAMES[kind], room)
            case DagCluster():
                return self._framed(member, self._dag(member, max(room - 4, 0)), _FRAMES["dag"], room)

    def _dag(self, cluster: DagCluster, room: float) -> Block:
        wide = dag_block([self.chain(item, math.inf) for item in cluster.items], cluster.needs, room)
        if wide.width <= room:
            return wide
        least = [self.chain(item, 0) for item in cluster.items]
        narrow = dag_block(least, cluster.needs, room)
        if narrow.width >= room:
            return min(narrow, wide, key=lambda block: block.width)
        share = max(block.width for block in least) + room - narrow.width
        middling = dag_block([self.chain(item, share) for item in cluster.items], cluster.needs, room)
        return middling if middling.width <= room else narrow

    def _framed(self, cluster: Cluster, inner: Block, border: str, room: float) -> Block:
        mark = self._mark(cluster.path)
        width = max(room - 6, inner.width - 2, _NARROWEST)
        title = cluster.label if mark is None else f"{cluster.label} · {mark.line}"
        noted = [] if mark is None or not mark.note else worded(printable(mark.note), width)
        return framed(inner, clipped(printable(title), width), border, notes=noted)

    def _caption(self, cluster: Cluster) -> str:
        """What a parallel block has to say beyond what is seen."""
        mark = self._mark(cluster.path)
        if mark is None or mark.status == "not-run":
            return "" if cluster.label == cluster.id else printable(cluster.label)
        return printable(" · ".join((cluster.label, mark.line, *((mark.note,) if mark.note else ()))))

    def _mark(self, path: str) -> Mark | None:
        return None if self._overlay is None else self._overlay.marks.get(path)

    def _forked(self, arms: Sequence[_Arm], room: float) -> Block:
        wide = beside([self._arm_block(arm, math.inf) for arm in arms])
        if wide.width <= room:
            return wide
        shares = self._shares(arms, room)
        if shares:
            narrow = beside([self._arm_block(arm, share) for arm, share in zip(arms, shares, strict=True)])
            if narrow.width <= room:
                return narrow
        down = listed([self._listed_arm(arm, max(room - 4, 0)) for arm in arms])
        return min(down, wide, key=lambda block: block.width)

    def _shares(self, arms: Sequence[_Arm], room: float) -> list[int]:
        """The columns that each arm gets side by side; none where they do not all find a place."""
        least = [self._arm_block(arm, 0).width for arm in arms]
        like = [max(self._arm_block(arm, math.inf).width, low) for arm, low in zip(arms, least, strict=True)]
        spare = room - sum(least) - 2 * (len(arms) - 1)
        if spare < 0:
            return []
        wanted = sum(like) - sum(least)
        return [low + int(spare * (high - low) / max(wanted, 1)) for low, high in zip(least, like, strict=True)]

    def _arm_block(self, arm: _Arm, room: float) -> Block:
        block = _WIRE if arm.chain is None else self.chain(arm.chain, room)
        return labelled(block, clipped(printable(arm.condition), _beside_way(block, room))) if arm.condition else block

    def _listed_arm(self, arm: _Arm, room: float) -> list[str] | Block:
        if arm.chain is None:
            return [clipped(printable(arm.condition), room - 5)]
        match arm.chain.members:
            case (Vertex() as vertex,):
                lines = self._lines(vertex, room - 5)
                if not arm.condition:
                    return lines
                condition = clipped(printable(f"{arm.condition}:"), room - 5)
                together = f"{condition} {lines[0]}"
                return [together, *lines[1:]] if width_of(together) <= room - 5 else [condition, *lines]
            case _:
                return self._arm_block(arm, room)

    def _lines(self, vertex: Vertex, room: float) -> list[str]:
        label = printable(vertex.label)
        width = max(room, _NARROWEST)
        lines = [label] if width_of(label) <= room else wrapped(label, width)
        told = ["(does nothing here)"] if vertex.kind == "idle" else []
        mark = self._mark(vertex.path)
        if mark is not None:
            told += [printable(text) for text in (mark.line, mark.note) if text]
        for text in told:
            lines += worded(text, min(width, max(_WIDEST_NOTE, width_of(label))))
        return lines


def _beside_way(block: Block, room: float) -> float:
    """The columns for a text beside the way into a block."""
    return max(room - block.axis - 2, _NARROWEST)
