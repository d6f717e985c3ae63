"""Several plans in one drawing, each in a titled box: the points of a life, with the plan that runs at each.

Whoever has such a life (an agent) says what its points are called and which may follow which; nothing here knows.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from interlock.errors import DefinitionError
from interlock.workflows.blocks import (
    Block,
    clipped,
    junction,
    padded,
    row,
    width_of,
    wrapped,
)
from interlock.workflows.draw_json import plan_json
from interlock.workflows.draw_mermaid import MermaidChart
from interlock.workflows.draw_text import TEXT_WIDTH, plan_block
from interlock.workflows.labels import printable
from interlock.workflows.nodes import Plan
from interlock.workflows.overlay import Overlay

__all__ = ["NOTHING_ACTS", "Edge", "Section", "sections_json", "sections_mermaid", "sections_svg", "sections_text"]

Edge = tuple[str, str]
"""From a section's id to a section's id."""

NOTHING_ACTS: Final = "nothing acts here"
"""What stands in the box of a section without a plan."""

_BORDERS = 4
_LANE = 2
"""Columns from one arrow on the right side to the next."""


@dataclass(frozen=True, slots=True)
class Section:
    """One titled box.

    Attributes:
        id: Unique among the sections; edges name it.
        label: Its title.
        note: A few words beside the title: when it runs.
        plan: What runs there; None where nothing does.
        text: Shown where there is no plan, for what is no plan: the model, the tools. Without one the box is dimmed
            and says that nothing acts here.
        overlay: What a run made of the plan; None: no run is drawn.
    """

    id: str
    label: str
    note: str = ""
    plan: Plan | None = None
    text: str | None = None
    overlay: Overlay | None = None

    @property
    def body(self) -> Plan | str:
        """What its box holds: the plan, or words where there is none or nothing in it."""
        if self.plan is not None and self.plan.nodes:
            return self.plan
        return self.text if self.text and printable(self.text) else NOTHING_ACTS


def sections_json(title: str, sections: Sequence[Section], edges: Sequence[Edge] | None = None) -> dict[str, Any]:
    """The sections as a JSON object.

    ::

        {kind: "sections", title, sections: [{id, label, note, text, plan}, …], edges: [[from id, to id], …]}

    ``plan`` is ``{nodes, edges}`` as in ``workflow.to_json()``, or null; its paths begin anew in each section.

    Args:
        title: What they are sections of.
        sections: In running order.
        edges: From section id to section id; None: each leads to the next.

    Raises:
        DefinitionError: A section id stands twice, or an edge names none of them.
    """
    return {
        "kind": "sections",
        "title": title,
        "sections": [
            {
                "id": section.id,
                "label": section.label,
                "note": section.note,
                "text": section.text,
                "plan": None if section.plan is None else plan_json(section.plan, section.overlay),
            }
            for section in sections
        ],
        "edges": [list(edge) for edge in _edges(sections, edges)],
    }


def sections_mermaid(title: str, sections: Sequence[Section], edges: Sequence[Edge] | None = None) -> str:
    """The sections as a Mermaid flowchart: a frame each, with its plan's drawing inside, and arrows between frames.

    An arrow that leads back to an earlier section is dashed. Args and errors are those of :func:`sections_json`.
    """
    places = {section.id: number for number, section in enumerate(sections)}
    known = _edges(sections, edges)
    chart = MermaidChart()
    frames: dict[str, str] = {}
    with chart.frame(title):
        for section in sections:
            with chart.frame(f"{section.label}: {section.note}" if section.note else section.label) as frame:
                frames[section.id] = frame
                if isinstance(section.body, Plan):
                    chart.plan(section.body, overlay=section.overlay)
                else:
                    chart.note(section.body, idle=section.body == NOTHING_ACTS)
    for source, target in known:
        chart.arrows([(frames[source], frames[target])], dashed=places[target] <= places[source])
    return chart.text()


def sections_svg(
    title: str,
    sections: Sequence[Section],
    edges: Sequence[Edge] | None = None,
    *,
    ends: tuple[str, str] | None = None,
    unused: Collection[str | Edge] = (),
) -> str:
    """The sections as an SVG picture: a titled frame each, with its plan's picture inside, one under the other.

    An arrow between two frames leads to the next section; the other edges run along the right side.
    ``ends`` says what is given to the first and what the last gives: it stands in a small box above and one below.
    ``unused`` names sections and edges to which a run has not come: they are faint.
    The other args and the errors are those of :func:`sections_json`.
    """
    from interlock.workflows.svg_sections import FramedSection, sections_picture

    numbered = _numbered(sections, edges)
    framed_ = [
        FramedSection(
            section.id,
            section.label,
            section.note,
            section.body,
            idle=section.body == NOTHING_ACTS,
            overlay=section.overlay,
            unused=section.id in unused,
        )
        for section in sections
    ]
    places = {section.id: number for number, section in enumerate(sections)}
    faint = {(places[one[0]], places[one[1]]) for one in unused if not isinstance(one, str)}
    return sections_picture(title, framed_, numbered, ends=ends, unused=faint)


def sections_text(title: str, sections: Sequence[Section], edges: Sequence[Edge] | None = None) -> str:
    """The sections drawn with lines: a titled box each, with its plan's drawing inside, one under the other.

    An arrow between two boxes leads to the next section; the other edges run along the right side.
    Args and errors are those of :func:`sections_json`.

    Example:
        >>> points = [Section("ask", "ask", "once"), Section("model", "model", text="the model answers")]
        >>> print(sections_text("agent", points, [("ask", "model"), ("model", "ask")]))
        agent
        <BLANKLINE>
        ┌─ ask ────── once ─┐◀─┐
        │ nothing acts here │  │
        └─────────┬─────────┘  │
                  ▼            │
        ┌─ model ───────────┐  │
        │ the model answers ├──┘
        └───────────────────┘
    """
    numbered = _numbered(sections, edges)
    onward = {source for source, target in numbered if target == source + 1}
    aside = sorted((edge for edge in numbered if edge[1] != edge[0] + 1), key=lambda edge: abs(edge[0] - edge[1]))
    room = TEXT_WIDTH - _BORDERS - (_LANE * len(aside) + 1 if aside else 0)
    column = _column([_content(section, room) for section in sections], sections, room)
    lines: list[str] = []
    heads: list[int] = []
    feet: list[int] = []
    for number, (section, block) in enumerate(zip(sections, column, strict=True)):
        if number:
            lines.append(row({block.axis + 2: "▼"} if number - 1 in onward else {}, block.width + _BORDERS))
        heads.append(len(lines))
        lines += _boxed(block, section, onward=number in onward)
        feet.append(len(lines) - 2)
    lanes = [(feet[source], heads[target]) for source, target in aside]
    return "\n".join((printable(title), "", *(line.rstrip() for line in _with_lanes(lines, lanes))))


def _content(section: Section, room: int) -> Block:
    if isinstance(section.body, Plan):
        return plan_block(section.body, room, section.overlay)
    lines = wrapped(printable(section.body), room)
    width = max(map(width_of, lines))
    return Block(tuple(padded(line, width, centred=True) for line in lines), width, width // 2)


def _column(blocks: Sequence[Block], sections: Sequence[Section], room: int) -> list[Block]:
    """The blocks with one axis and one width, in which the titles find a place too."""
    titles = [width_of(printable(section.label)) + width_of(printable(section.note)) + 6 for section in sections]
    axis = max((block.axis for block in blocks), default=0)
    drawn = max((block.width + axis - block.axis for block in blocks), default=0)
    width = max(drawn, min(max(titles, default=0), room))
    axis += (width - drawn) // 2
    return [block.moved(axis, width) for block in blocks]


def _boxed(block: Block, section: Section, *, onward: bool) -> list[str]:
    """A block in its box.

    Args:
        block: What is in it.
        section: Whose box it is.
        onward: Whether an arrow leads to the next box.
    """
    inner, axis = block.width + 2, block.axis + 1
    label, note = printable(section.label), printable(section.note)
    note = clipped(note, max(inner // 2, inner - width_of(label) - 7))
    tail = f" {note} ─" if note else ""
    head = f"─ {clipped(label, inner - width_of(tail) - 4)} "
    body = [f"│ {line} │" for line in block.lines]
    runs = isinstance(section.body, Plan)
    if runs and not block.arrow:
        body.insert(0, f"│{row({axis: '│'}, inner)}│")
    way_out = junction(up=runs, down=onward, left=True, right=True)
    return [
        f"┌{head}{'─' * (inner - width_of(head) - width_of(tail))}{tail}┐",
        *body,
        f"└{'─' * axis}{way_out}{'─' * (inner - axis - 1)}┘",
    ]


def _with_lanes(lines: Sequence[str], lanes: Sequence[tuple[int, int]]) -> list[str]:
    """The lines with an arrow for each lane on their right side, from a row to a row, shortest first."""
    if not lanes:
        return list(lines)
    ways: defaultdict[tuple[int, int], set[str]] = defaultdict(set)
    for number, (source, target) in enumerate(lanes):
        column = _LANE * (number + 1)
        for y in (source, target):
            for x in range(column):
                ways[y, x].add("right")
                ways[y, x + 1].add("left")
        for y in range(min(source, target), max(source, target)):
            ways[y, column].add("down")
            ways[y + 1, column].add("up")
    width = _LANE * len(lanes) + 1
    heads, feet = {target for _, target in lanes}, {source for source, _ in lanes}
    drawn: list[str] = []
    for y, line in enumerate(lines):
        side = "".join(junction(**dict.fromkeys(ways.get((y, x), ()), True)) for x in range(width))
        if y in heads:
            side = f"◀{side[1:]}"
        elif y in feet:
            line, side = f"{line[:-1]}├", f"─{side[1:]}"
        drawn.append(line + side)
    return drawn


def _numbered(sections: Sequence[Section], edges: Sequence[Edge] | None) -> list[tuple[int, int]]:
    """The edges by the places of their sections."""
    places = {section.id: number for number, section in enumerate(sections)}
    return [(places[source], places[target]) for source, target in _edges(sections, edges)]


def _edges(sections: Sequence[Section], edges: Sequence[Edge] | None) -> list[Edge]:
    """The edges, checked; those of a plain sequence where none are given."""
    ids = [section.id for section in sections]
    faults = [f"the section id {id_!r} stands twice" for id_ in dict.fromkeys(ids) if ids.count(id_) > 1]
    if edges is None:
        edges = list(itertools.pairwise(ids))
    for edge in edges:
        faults += [f"the edge {edge} names {id_!r}, which is no section" for id_ in edge if id_ not in ids]
    if faults:
        raise DefinitionError(faults, subject="sections")
    return list(dict.fromkeys(edges))
