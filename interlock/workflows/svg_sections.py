"""Several plans in one picture, each in a titled frame, with the ways between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from interlock.workflows.draw_svg import picture
from interlock.workflows.graph_of import graph_of
from interlock.workflows.labels import printable
from interlock.workflows.nodes import Plan
from interlock.workflows.pieces import GAP, Box, Frame, Part, Piece, TextLine, Wire
from interlock.workflows.svg_layout import chain_piece, framed, line_height
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


class FramedSection(NamedTuple):
    """One section.

    Attributes:
        id, label, note: As of a section.
        body: A plan, or words.
        idle: Whether nothing acts there.
    """

    id: str
    label: str
    note: str
    body: Plan | str
    idle: bool


def sections_picture(title: str, sections: Sequence[FramedSection], edges: Sequence[tuple[int, int]]) -> str:
    """The sections as a picture.

    Args:
        title: What they are sections of.
        sections: In running order.
        edges: By the places of sections.
    """
    inner = [_content(section) for section in sections]
    widest = max(
        [_NARROWEST, *(framed(piece, _frame(section)).width for piece, section in zip(inner, sections, strict=True))]
    )
    onward = {source for source, target in edges if target == source + 1}
    aside = sorted((edge for edge in edges if edge[1] != edge[0] + 1), key=lambda edge: abs(edge[0] - edge[1]))
    parts: list[Part] = []
    spans: list[tuple[float, float]] = []
    y = 0.0
    for number, (section, piece) in enumerate(zip(sections, inner, strict=True)):
        frame = framed(piece, _frame(section), least=widest, wired=isinstance(section.body, Plan))
        parts.append((0.0, y, frame))
        spans.append((y, y + frame.height))
        y += frame.height
        if number in onward:
            parts.append((0.0, 0.0, Wire([(widest / 2, y), (widest / 2, y + GAP)], arrow=True)))
        y += GAP
    parts += _ways_aside(aside, spans, widest)
    width = widest + (len(aside) + 1) * _LANE if aside else widest
    return picture(Piece(width, max(y - GAP, 0.0), widest / 2, widest / 2, parts), title)


def _content(section: FramedSection) -> Piece:
    if isinstance(section.body, Plan):
        return chain_piece(graph_of(section.body).chain)
    lines = [
        TextLine(line, _WORDS, "mark" if section.idle else "label")
        for line in fitted(section.body, _NARROWEST, _WORDS, lines=4, prose=True)
    ]
    width = max(text_width(line.text, line.size) for line in lines)
    box = Box("", "words", width, line_height(lines), lines, printable(section.body))
    return Piece(width, box.height, width / 2, width / 2, [(0.0, 0.0, box)])


def _frame(section: FramedSection) -> Frame:
    heading = [
        TextLine(line, _HEADING, "heading")
        for line in fitted(section.label, _NARROWEST / 2, _HEADING, lines=1, prose=True)
    ]
    [note] = fitted(section.note, _NARROWEST, _HEADING, lines=1, prose=True) if section.note else [""]
    return Frame("", "section", 0.0, 0.0, heading, printable(section.label), faint=section.idle, aside=note)


def _ways_aside(edges: Sequence[tuple[int, int]], spans: Sequence[tuple[float, float]], side: float) -> Iterator[Part]:
    """The ways along the right side, the shortest next to the frames."""
    used: Counter[tuple[str, int]] = Counter()
    for number, (source, target) in enumerate(edges):
        lane = side + (number + 1) * _LANE
        out = spans[source][1] - _FOOT - _APART * used["out", source]
        into = spans[target][0] + _HEAD + _APART * used["into", target]
        used["out", source] += 1
        used["into", target] += 1
        way = [(side, out), (lane, out), (lane, into), (side, into)]
        yield 0.0, 0.0, Wire(way, arrow=True, dashed=target <= source)
