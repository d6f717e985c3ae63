"""A workflow as a drawing for a terminal."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, Final

from interlock.schema import schema_name
from interlock.workflows.blocks import (
    Block,
    beside,
    box,
    clipped,
    framed,
    listed,
    row,
    stacked,
    width_of,
    wrapped,
)
from interlock.workflows.graph import Chain, Member, NestedCluster, ParallelCluster, Vertex, graph_of
from interlock.workflows.labels import printable
from interlock.workflows.nodes import Plan

if TYPE_CHECKING:
    from interlock.workflows.workflow import Workflow

__all__ = ["TEXT_WIDTH", "plan_block", "workflow_text"]

TEXT_WIDTH: Final = 100
"""The columns a drawing keeps to where it can."""

_NARROWEST = 14
_TRIES = 3
_LADDER = 8
"""So many steps in a row are drawn as one box with rungs, which takes half the lines."""
_BORDERS: Final = {"map": "╭─╮│╰╯", "merge": "╭─╮│╰╯", "idle": "┌╌┐╎└┘"}
"""Of a box, by kind; others have the plain one."""
_PLAIN = "┌─┐│└┘"


def workflow_text(workflow: Workflow[Any, Any]) -> str:
    """The workflow drawn with lines, from top to bottom.

    Steps are boxes, maps and merges rounded ones; the arms of a parallel block stand side by side between a fork and
    a join; a nested workflow is a double frame with its drawing inside; an arm that does nothing is a dashed box.
    Where that is wider than 100 columns labels are broken, and where that is not enough the arms of a block stand one
    under the other, from the line of the fork on the left to that of the join on the right.

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
    middle = plan_block(workflow.plan)
    drawing = stacked([_entrance(), middle, _exit()])
    title = f"{workflow.id}: {schema_name(workflow.input_schema)} → {schema_name(workflow.output_schema)}"
    return "\n".join((printable(title), "", *(line.rstrip() for line in drawing.lines)))


def plan_block(plan: Plan, room: int = TEXT_WIDTH) -> Block:
    """The drawing of a plan, at most ``room`` columns wide where that can be."""
    layout, chain = _Layout(), graph_of(plan).chain
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


class _Layout:
    """Lays out chains in the room there is.

    How a chain looks with all the room it likes, and with none, is found out once; so the whole takes a time that
    grows with the number of nodes and the depth, not with the ways to lay them out.
    """

    def __init__(self) -> None:
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
                blocks.append(box(*(_lines(member, room - 4) for member in members if isinstance(member, Vertex))))
            else:
                # A join needs no box: the lines of the block before and of the block after meet.
                blocks += [self._member(m, room) for m in members if not (isinstance(m, Vertex) and m.kind == "join")]
        return stacked(blocks)

    def _member(self, member: Member, room: float) -> Block:
        match member:
            case Vertex(kind=kind):
                return box(_lines(member, room - 4), border=_BORDERS.get(kind, _PLAIN))
            case NestedCluster(label=label, chain=chain):
                inner = self.chain(chain, max(room - 4, 0))
                return framed(inner, clipped(printable(label), max(room - 6, inner.width - 2, _NARROWEST)))
            case ParallelCluster(arms=arms):
                return self._parallel(arms, room)

    def _parallel(self, arms: tuple[Chain, ...], room: float) -> Block:
        wide = beside([self.chain(arm, math.inf) for arm in arms])
        if wide.width <= room:
            return wide
        shares = self._shares(arms, room)
        if shares:
            narrow = beside([self.chain(arm, share) for arm, share in zip(arms, shares, strict=True)])
            if narrow.width <= room:
                return narrow
        down = listed([self._arm(arm, max(room - 4, 0)) for arm in arms])
        return min(down, wide, key=lambda block: block.width)

    def _shares(self, arms: tuple[Chain, ...], room: float) -> list[int]:
        """The columns that each arm gets side by side; none where they do not all find a place."""
        least = [self.chain(arm, 0).width for arm in arms]
        like = [max(self.chain(arm, math.inf).width, low) for arm, low in zip(arms, least, strict=True)]
        spare = room - sum(least) - 2 * (len(arms) - 1)
        if spare < 0:
            return []
        wanted = sum(like) - sum(least)
        return [low + int(spare * (high - low) / max(wanted, 1)) for low, high in zip(least, like, strict=True)]

    def _arm(self, arm: Chain, room: float) -> list[str] | Block:
        match arm.members:
            case (Vertex() as vertex,):
                return _lines(vertex, room - 5)
            case _:
                return self.chain(arm, room)


def _lines(vertex: Vertex, room: float) -> list[str]:
    label = printable(vertex.label)
    texts = [label, "(does nothing here)"] if vertex.kind == "idle" else [label]
    if max(map(width_of, texts)) <= room:
        return texts
    return [line for text in texts for line in wrapped(text, max(int(room), _NARROWEST))]
