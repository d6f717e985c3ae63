"""Several plans in one picture, each in a titled frame, with the ways between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from interlock.workflows.draw_svg import picture
from interlock.workflows.graph_of import graph_of
from interlock.workflows.labels import printable
from interlock.workflows.nodes import Plan
from interlock.workflows.overlay import Mark, MarkStatus, Overlay
from interlock.workflows.pieces import GAP, Box, Frame, Part, Piece, TextLine, Wire, between
from interlock.workflows.svg_layout import FRAME_MARGIN, chain_piece, framed, line_height, terminal_piece
from interlock.workflows.text_size import fitted, text_width

__all__ = ["FramedSection", "sections_picture"]

_NARROWEST: Final = 480.0
_LANE: Final = 20.0
_HEAD: Final = 13.0
_FOOT: Final = 12.0
_APART: Final = 7.0
"""Between two ways that lead out of one frame, or into one."""
_HEADING: Final = 12.5
_WORDS: Final = 11.5
_SMALL: Final = 10.5
_GAPS: Final = 16.0
_FOLDED: Final = 60.0
"""A way that comes out so far beside where it went in has turned into another column."""
_LEGEND: Final[Sequence[tuple[MarkStatus, str]]] = (
    ("success", "passed, changed, warned"),
    ("tripwire", "blocked"),
    ("failed", "failed"),
    ("not-run", "did not check"),
)


class FramedSection(NamedTuple):
    """One section.

    Attributes:
        id, label, note: As of a section.
        body: A plan, or words.
        idle: Whether nothing acts there.
        overlay: What a run made of it.
        unused: Whether a run has not come there.
    """

    id: str
    label: str
    note: str
    body: Plan | str
    idle: bool
    overlay: Overlay | None = None
    unused: bool = False


class _Drawn(NamedTuple):
    """The place of a section in the picture.

    Attributes:
        top, foot: Of its frame.
        leave: Where the way out comes to the foot of what is in it; None where a wire leads it on, or nothing is run.
    """

    top: float
    foot: float
    leave: float | None


def sections_picture(
    title: str,
    sections: Sequence[FramedSection],
    edges: Sequence[tuple[int, int]],
    *,
    ends: tuple[str, str] | None = None,
    unused: Collection[tuple[int, int]] = (),
) -> str:
    """The sections as a picture.

    Args:
        title: What they are sections of.
        sections: In running order.
        edges: By the places of sections.
        ends: What stands where the first is entered, and where the last is left.
        unused: The edges that a run has not gone.
    """
    inner = [_content(section) for section in sections]
    alone = [framed(piece, _frame(section)) for piece, section in zip(inner, sections, strict=True)]
    upright = [piece.width for piece in alone]
    upright += [2 * max(f.enter, f.width - f.enter) for f, p in zip(alone, inner, strict=True) if _is_upright(p)]
    widest = max(_NARROWEST, *upright)
    axis = widest / 2
    onward = {source for source, target in edges if target == source + 1}
    aside = sorted((edge for edge in edges if edge[1] != edge[0] + 1), key=lambda edge: abs(edge[0] - edge[1]))
    parts: list[Part] = []
    drawn: list[_Drawn] = []
    y = 0.0
    way: tuple[float, float, bool] | None = None
    begin, end = (
        (None, None)
        if ends is None
        else (terminal_piece(text, live=not (n and sections and sections[-1].unused)) for n, text in enumerate(ends))
    )
    if begin is not None:
        parts.append((axis - begin.enter, y, begin))
        y += begin.height
        way = (axis, y, False)
        y += GAP
    for number, (section, piece) in enumerate(zip(sections, inner, strict=True)):
        runs = isinstance(section.body, Plan)
        goes_on = number in onward or (end is not None and number == len(sections) - 1)
        placed_at = axis if _is_upright(piece) else None
        frame = framed(piece, _frame(section), least=widest, axis=placed_at, wired=runs, left=goes_on)
        if way is not None:
            parts.append(_arrow(way[0], frame.enter if runs else axis, way[1], faint=way[2]))
            way = None
        parts.append((0.0, y, frame))
        drawn.append(_Drawn(y, y + frame.height, frame.leave if runs and not goes_on else None))
        y += frame.height
        if goes_on:
            faint = section.unused if number not in onward else (number, number + 1) in unused
            way = (frame.leave, y, faint)
        y += GAP
    if end is not None:
        if way is not None:
            parts.append(_arrow(way[0], axis, way[1], faint=way[2]))
        parts.append((axis - end.enter, y, end))
        y += end.height + GAP
    parts += _ways_aside(aside, drawn, widest, unused)
    if any(section.overlay is not None for section in sections):
        legend = _legend()
        parts.append(((widest - legend.width) / 2, y, legend))
        y += legend.height + GAP
    width = widest + (len(aside) + 1) * _LANE if aside else widest
    return picture(Piece(width, max(y - GAP, 0.0), axis, axis, parts), title)


def _is_upright(piece: Piece) -> bool:
    """Whether what is entered is left below: not so where a long chain is folded into columns."""
    return abs(piece.enter - piece.leave) < _FOLDED


def _legend() -> Piece:
    """What the colours of the boxes mean."""
    parts: list[Part] = []
    x = 0.0
    for status, text in _LEGEND:
        lines = [TextLine(text, _SMALL, "mark")]
        width = text_width(text, _SMALL) + _GAPS
        parts.append((x, 0.0, Box("", "legend", width, line_height(lines) + 6.0, lines, text, Mark(status))))
        x += width + _APART
    return Piece(x - _APART, line_height([TextLine("", _SMALL, "mark")]) + 6.0, x / 2, x / 2, parts)


def _arrow(x: float, to: float, y: float, *, faint: bool) -> Part:
    """An arrow down to the next."""
    return 0.0, 0.0, between((x, y), (to, y + GAP), arrow=True, faint=faint)


def _content(section: FramedSection) -> Piece:
    if isinstance(section.body, Plan):
        return chain_piece(graph_of(section.body).chain, section.overlay)
    lines = [
        TextLine(line, _WORDS, "mark" if section.idle else "label")
        for line in fitted(section.body, _NARROWEST, _WORDS, lines=4, prose=True)
    ]
    width = max(text_width(line.text, line.size) for line in lines)
    box = Box("", "words", width, line_height(lines), lines, printable(section.body), faint=section.unused)
    return Piece(width, box.height, width / 2, width / 2, [(0.0, 0.0, box)])


def _frame(section: FramedSection) -> Frame:
    heading = [
        TextLine(line, _HEADING, "heading")
        for line in fitted(section.label, _NARROWEST / 2, _HEADING, lines=1, prose=True)
    ]
    [note] = fitted(section.note, _NARROWEST, _HEADING, lines=1, prose=True) if section.note else [""]
    return Frame(
        "", "section", 0.0, 0.0, heading, printable(section.label), faint=section.idle or section.unused, aside=note
    )


def _ways_aside(
    edges: Sequence[tuple[int, int]], drawn: Sequence[_Drawn], side: float, unused: Collection[tuple[int, int]]
) -> Iterator[Part]:
    """The ways along the right side, the shortest next to the frames."""
    used: Counter[tuple[str, int]] = Counter()
    for number, (source, target) in enumerate(edges):
        lane = side + (number + 1) * _LANE
        foot, leave = drawn[source].foot, drawn[source].leave
        if leave is not None and not used["out", source]:
            out = foot - FRAME_MARGIN / 2
            begins = [(leave, foot - FRAME_MARGIN), (leave, out)]
        else:
            out = foot - _FOOT - _APART * used["out", source]
            begins = [(side, out)]
        into = drawn[target].top + _HEAD + _APART * used["into", target]
        used["out", source] += 1
        used["into", target] += 1
        way = [*begins, (lane, out), (lane, into), (side, into)]
        yield 0.0, 0.0, Wire(way, arrow=True, faint=(source, target) in unused, dashed=target <= source)
