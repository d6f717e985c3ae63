"""A graph as a piece of a picture: which box, frame and wire goes where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from interlock.schema import is_set, schema_name
from interlock.workflows.columns import folded
from interlock.workflows.forks import LABEL_SIZE, Arm, forked
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
from interlock.workflows.labels import printable, shortened
from interlock.workflows.node_labels import NONE_HOLDS
from interlock.workflows.overlay import Mark, Overlay
from interlock.workflows.pieces import FORK, GAP, Box, Frame, Label, Part, Piece, TextLine, Wire, stacked
from interlock.workflows.svg_dag import dag_piece
from interlock.workflows.text_size import fitted, text_width

__all__ = ["FRAME_MARGIN", "PAGE_WIDTH", "chain_piece", "framed", "line_height", "terminal_piece"]

PAGE_WIDTH: Final = 1400.0
"""The width a picture keeps to where it can: that of a page on a screen, so that it is read without being shrunk."""

_SIZES: Final = {"label": 13.0, "heading": 12.5, "about": 10.5, "mark": 11.0, "note": 10.5}
"""Of fonts, by what a line is."""
_WIDEST: Final = 200.0
"""A label that is wider is broken."""
_NARROWEST: Final = 96.0
_SIDE: Final = 12.0
_HEAD: Final = 9.0
FRAME_MARGIN: Final = 16.0
"""Between what is in a frame and the frame, but for its top."""
_ABOUT_LENGTH: Final = 60
_LANE: Final = 22.0
_EXTRA: Final = {"map": 8.0, "sleep": 24.0, "merge": 30.0, "processor": 8.0}
"""How much wider than its text a box of a kind is, besides the usual."""
_JOIN: Final = 9.0


def chain_piece(
    chain: Chain,
    overlay: Overlay | None = None,
    room: float = PAGE_WIDTH,
    *,
    ends: tuple[Piece, Piece] | None = None,
) -> Piece:
    """A chain of a graph.

    Args:
        chain: The chain.
        overlay: A run to show.
        room: The width to keep to where that can be.
        ends: Where the whole begins and where it ends, if nothing else is drawn around it.
    """
    return _Layout(overlay).chain(chain, room, ends)


def terminal_piece(text: str, *, live: bool) -> Piece:
    """A small box for where a whole workflow begins or ends."""
    lines = [TextLine(line, 11.0, "mark") for line in fitted(text, _WIDEST, 11.0, lines=2, prose=True)]
    width, height = _widest(lines) + 2 * _SIDE, line_height(lines) + 8.0
    box = Box("", "terminal", width, height, lines, printable(text), faint=not live)
    return Piece(width, height, width / 2, width / 2, [(0.0, 0.0, box)], live, live)


def framed(
    inner: Piece,
    frame_of: Frame,
    *,
    least: float = 0.0,
    axis: float | None = None,
    wired: bool = True,
    left: bool = True,
) -> Piece:
    """A frame around a piece.

    Args:
        inner: What is in it.
        frame_of: Its heading, kind and so on; its size is found here.
        least: How wide it is at least.
        axis: Where it is entered, from its left; default: where that is if what is in it stands in its middle.
        wired: Whether something is run in it, so that there is a way in and out.
        left: Whether the way out leads to its foot.
    """
    head = line_height(frame_of.heading) + _HEAD
    aside = text_width(frame_of.aside, _SIZES["about"]) + 2 * _SIDE if frame_of.aside else 0.0
    width = max(least, inner.width + 2 * FRAME_MARGIN, _widest(frame_of.heading) + 2 * _SIDE + aside)
    x = (width - inner.width) / 2 if axis is None else axis - inner.enter
    y = head + (FORK / 2 if not inner.arrow else GAP - 8.0 if wired else 0.0)
    height = y + inner.height + FRAME_MARGIN
    enter, leave = x + inner.enter, x + inner.leave
    frame = Frame(
        frame_of.path,
        frame_of.kind,
        width,
        height,
        frame_of.heading,
        frame_of.title,
        frame_of.mark,
        frame_of.faint,
        frame_of.aside,
    )
    parts: list[Part] = [(0.0, 0.0, frame), (x, y, inner)]
    if wired:
        way_in = Wire([(enter, head), (enter, y)], inner.arrow, not inner.live)
        parts.append((0.0, 0.0, way_in))
    if wired and left:
        parts.append((0.0, 0.0, Wire([(leave, y + inner.height), (leave, height)], faint=not inner.gone)))
    return Piece(width, height, enter, leave, parts, inner.live, inner.gone)


def line_height(lines: Sequence[TextLine]) -> float:
    """How high lines of text are, one under the other."""
    return sum(line.size * 1.3 for line in lines)


class _Layout:
    """Lays out one graph."""

    def __init__(self, overlay: Overlay | None) -> None:
        self._overlay = overlay

    def chain(self, chain: Chain, room: float, ends: tuple[Piece, Piece] | None = None) -> Piece:
        """What runs one after the other."""
        pieces: list[Piece] = []
        for member in chain.members:
            gone = not pieces or pieces[-1].gone
            pieces.append(self._join(member, live=gone) if _is_join(member) else self._member(member, room))
        return folded(pieces, room, ends=ends)

    def _member(self, member: Member, room: float) -> Piece:
        match member:
            case Vertex():
                return self._vertex(member)
            case ParallelCluster(arms=arms):
                pieces = [Arm(self.chain(arm, room)) for arm in arms]
                return forked(pieces, room, live=any(arm.piece.live for arm in pieces), caption=self._caption(member))
            case BranchCluster():
                return self._branch(member, room)
            case NestedCluster(chain=chain):
                return framed(self.chain(chain, room - 2 * FRAME_MARGIN), self._frame(member, "workflow"))
            case BodyCluster(kind=kind, body=body, again=again):
                inner = self.chain(body, room - 2 * FRAME_MARGIN)
                if again is not None:
                    inner = _looped(inner, again, repeated=self._repeats(member))
                return framed(inner, self._frame(member, kind))
            case DagCluster(items=items, needs=needs):
                inner_room = room - 2 * FRAME_MARGIN
                inner = dag_piece([self.chain(item, inner_room) for item in items], needs, inner_room)
                return framed(inner, self._frame(member, "dag"))

    def _branch(self, cluster: BranchCluster, room: float) -> Piece:
        mark = self._mark(cluster.path)
        named = zip(cluster.arms, cluster.conditions, strict=True)
        arms = [Arm(self.chain(arm, room), condition) for arm, condition in named]
        if cluster.passes:
            passed = mark is None or mark.passed
            arms.append(Arm(Piece(0.0, 0.0, 0.0, 0.0, (), passed, passed, arrow=False), NONE_HOLDS))
        choice = self._vertex(cluster.choice)
        return stacked([choice, forked(arms, room, live=choice.live)])

    def _vertex(self, vertex: Vertex) -> Piece:
        mark = self._mark(vertex.path)
        lines = _lines("label", vertex.label, 3)
        if vertex.kind == "idle":
            lines += _lines("about", "does nothing here", 1)
        elif vertex.description and vertex.description.strip():
            lines += _lines("about", shortened(vertex.description, _ABOUT_LENGTH), 2)
        if mark is not None:
            lines += _lines("mark", mark.line, 2)
            lines += _lines("note", mark.note, 3) if mark.note else ()
        height = line_height(lines) + 14.0
        width = max(_NARROWEST, _widest(lines) + 2 * _SIDE + _EXTRA.get(vertex.kind, 0.0))
        if vertex.kind == "branch":
            width = _widest(lines) + height + _SIDE
        box = Box(vertex.path, vertex.kind, width, height, lines, _title(vertex, mark), mark, _is_faint(mark))
        live, gone = (True, True) if mark is None else (mark.ran, mark.handed_on)
        return Piece(width, height, width / 2, width / 2, [(0.0, 0.0, box)], live, gone)

    def _join(self, member: Member, *, live: bool) -> Piece:
        box = Box(member.path, "join", _JOIN, _JOIN, (), "join", faint=not live)
        return Piece(_JOIN, _JOIN, _JOIN / 2, _JOIN / 2, [(0.0, 0.0, box)], live, live, arrow=False)

    def _frame(self, cluster: Cluster, kind: str) -> Frame:
        mark = self._mark(cluster.path)
        heading = _lines("heading", cluster.label, 2, 2 * _WIDEST)
        if mark is not None:
            heading += _lines("mark", mark.line, 2, 2 * _WIDEST)
            heading += _lines("note", mark.note, 2, 2 * _WIDEST) if mark.note else ()
        return Frame(cluster.path, kind, 0.0, 0.0, heading, _title(cluster, mark), mark, _is_faint(mark))

    def _caption(self, cluster: Cluster) -> str:
        """What a parallel block has to say beyond what is seen."""
        mark = self._mark(cluster.path)
        told = (
            ""
            if mark is None or mark.status == "not-run"
            else " · ".join(word for word in (mark.line, mark.note) if word)
        )
        if not told:
            return "" if cluster.label == cluster.id else shortened(cluster.label, 2 * _ABOUT_LENGTH)
        return shortened(f"{cluster.label}: {told}", 2 * _ABOUT_LENGTH)

    def _repeats(self, cluster: BodyCluster) -> bool:
        if self._overlay is None:
            return True
        first = self._mark(cluster.body.members[0].path)
        whole = self._mark(cluster.path)
        return first is not None and first.times > max(1, 0 if whole is None else whole.times)

    def _mark(self, path: str) -> Mark | None:
        return None if self._overlay is None else self._overlay.marks.get(path)


def _looped(body: Piece, again: str, *, repeated: bool) -> Piece:
    """A body with the way back on its right."""
    label = shortened(again, _ABOUT_LENGTH)
    lane = max(body.width + _LANE, body.leave + _LANE + text_width(label, LABEL_SIZE))
    top = GAP
    foot = top + body.height
    leg = foot + LABEL_SIZE + 12.0
    parts: list[Part] = [
        (0.0, top, body),
        (0.0, 0.0, Wire([(body.enter, 0.0), (body.enter, top)], body.arrow, not body.live)),
        (0.0, 0.0, Wire([(body.leave, foot), (body.leave, leg)], faint=not body.gone)),
        (
            0.0,
            0.0,
            Wire(
                [(body.leave, leg), (lane, leg), (lane, FORK / 2), (body.enter + 1.0, FORK / 2)],
                arrow=True,
                faint=not repeated,
                dashed=True,
            ),
        ),
        (body.leave + 7.0, leg - LABEL_SIZE - 4.0, Label(label, not repeated)),
    ]
    return Piece(lane + 2.0, leg, body.enter, body.leave, parts, body.live, body.gone, arrow=False)


def _lines(role: str, text: str, most: int, width: float = _WIDEST) -> list[TextLine]:
    size = _SIZES[role]
    return [TextLine(line, size, role) for line in fitted(text, width, size, lines=most, prose=role != "label")]


def _widest(lines: Sequence[TextLine]) -> float:
    return max((text_width(line.text, line.size) for line in lines), default=0.0)


def _title(member: Member, mark: Mark | None) -> str:
    """What a box says to who points at it."""
    told = [member.label]
    if isinstance(member, Vertex | NestedCluster):
        told.append(member.kind if isinstance(member, Vertex) else "workflow")
        if member.description:
            told.append(shortened(member.description, 4 * _ABOUT_LENGTH))
        if is_set(member.input_schema) or is_set(member.output_schema):
            told.append(f"{schema_name(member.input_schema)} → {schema_name(member.output_schema)}")
    if mark is not None:
        told += [text for text in (mark.line, mark.note) if text]
    return "\n".join(printable(text) for text in told)


def _is_join(member: Member) -> bool:
    return isinstance(member, Vertex) and member.kind == "join"


def _is_faint(mark: Mark | None) -> bool:
    return mark is not None and mark.status == "not-run"
