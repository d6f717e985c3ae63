"""A workflow as a picture: SVG that stands alone, without scripts, fonts or anything else from outside."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final
from xml.sax.saxutils import escape, quoteattr

from interlock.schema import is_set, schema_name
from interlock.workflows.forks import LABEL_SIZE
from interlock.workflows.graph_of import graph_of
from interlock.workflows.labels import printable
from interlock.workflows.overlay import Run, overlay_of
from interlock.workflows.pieces import Box, Frame, Label, Piece, Shape, TextLine, Wire, placed, stacked
from interlock.workflows.status_colours import STATUS_COLOURS
from interlock.workflows.svg_layout import PAGE_WIDTH, chain_piece, line_height, terminal_piece
from interlock.workflows.svg_style import FONT, KIND_FILLS, LIGHT, style_sheet
from interlock.workflows.text_size import fitted, text_width

if TYPE_CHECKING:
    from interlock.workflows.workflow import Workflow

__all__ = ["picture", "workflow_svg"]

_MARGIN: Final = 20.0
_TITLE_SIZE: Final = 16.0
_SUBTITLE_SIZE: Final = 12.0
_CORNER: Final = 6.0
_TIP: Final = 5.0
"""Half the width of an arrow's tip."""


def workflow_svg(workflow: Workflow[Any, Any], *, run: Run | None = None) -> str:
    """The workflow as an SVG picture, from top to bottom, about as wide as a page.

    Steps are boxes, processors boxes with a bar on their left, maps and sleeps rounded ones (a sleep has a clock),
    merges funnels, branches pointed boxes with a labelled way to each arm; nested workflows, dags, loops with their
    way back, and ``foreach``, which looks like a pile, are frames with their nodes inside. A long chain is folded into
    columns, arms that do not fit side by side stand in rows between a line on the left and one on the right. Who points
    at a node is told its kind, description and schemas.

    The picture holds everything it needs, follows the reader's choice of light or dark, and may stand in a page, a
    file or a notebook. Each node's group says its path in ``data-path``.

    Args:
        workflow: The workflow.
        run: How a run of it ended, or where one stands: nodes are coloured by how they ended and say what else there
            is to know, ways that were not taken are faint, and the heading says how the run ended.

    Example:
        >>> from interlock.workflows import create_workflow
        >>> svg = create_workflow(id="double", input_schema=int).map(lambda ctx: ctx.input * 2).commit().to_svg()
        >>> svg.startswith("<svg xmlns="), "double: int → anything" in svg
        (True, True)
    """
    graph = graph_of(workflow.plan)
    overlay = None if run is None else overlay_of(graph, run)
    begins = terminal_piece(_terminal("input", workflow.input_schema), live=True)
    ends = terminal_piece(
        _terminal("output", workflow.output_schema), live=overlay is None or overlay.status == "success"
    )
    whole = stacked([begins, chain_piece(graph.chain, overlay), ends])
    title = f"{workflow.id}: {schema_name(workflow.input_schema)} → {schema_name(workflow.output_schema)}"
    subtitles = [text for text in (workflow.description, None if overlay is None else overlay.heading) if text]
    return picture(whole, title, subtitles)


def picture(piece: Piece, title: str, subtitles: Sequence[str] = ()) -> str:
    """A piece as a whole picture.

    Args:
        piece: What it shows.
        title: Stands at its top, and is its name for who cannot see it.
        subtitles: More lines below the title.
    """
    room = max(piece.width, PAGE_WIDTH / 2)
    head = [TextLine(line, _TITLE_SIZE, "title") for line in fitted(title, room, _TITLE_SIZE, lines=3, prose=True)]
    for text in subtitles:
        head += [
            TextLine(line, _SUBTITLE_SIZE, "mark") for line in fitted(text, room, _SUBTITLE_SIZE, lines=3, prose=True)
        ]
    widest = max(text_width(line.text, line.size) for line in head)
    width = max(piece.width, widest) + 2 * _MARGIN
    top = _MARGIN + line_height(head) + _MARGIN
    height = top + piece.height + _MARGIN
    shapes = list(placed(piece, (width - piece.width) / 2, top))
    size = f'width="{_number(width)}" height="{_number(height)}" viewBox="0 0 {_number(width)} {_number(height)}"'
    name = printable(title)
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="interlock-drawing" role="img" aria-label={quoteattr(name)} '
            f'{size} font-family="{FONT}" style="max-width:100%;height:auto">',
            f"<title>{escape(name)}</title>",
            *(f"<desc>{escape(printable(text))}</desc>" for text in subtitles[-1:]),
            f"<style>{style_sheet()}</style>",
            f'<rect class="page" width="100%" height="100%" rx="8" fill="{LIGHT["page"]}"/>',
            *_texts(head, _MARGIN, _MARGIN, "start"),
            *_frames(shapes),
            *_wires(shapes),
            *_boxes(shapes),
            *_labels(shapes),
            "</svg>",
        )
    )


def _terminal(name: str, schema: object) -> str:
    return f"{name}: {schema_name(schema)}" if is_set(schema) else name


def _frames(shapes: Sequence[tuple[float, float, Shape]]) -> Iterator[str]:
    for x, y, shape in shapes:
        if not isinstance(shape, Frame):
            continue
        yield f"<g{_path(shape.path)}{_faint(faint=shape.faint)}><title>{escape(shape.title)}</title>"
        if shape.kind == "foreach":
            yield _rectangle(x + 5.0, y + 5.0, shape.width, shape.height, 7.0, _frame_look(shape))
        yield _rectangle(x, y, shape.width, shape.height, 7.0, _frame_look(shape))
        yield from _texts(shape.heading, x + 12.0, y + 6.0, "start")
        if shape.aside:
            yield from _texts([TextLine(shape.aside, 10.5, "about")], x + shape.width - 12.0, y + 6.0, "end")
        yield "</g>"


def _frame_look(frame: Frame) -> str:
    dashes = ' stroke-dasharray="7 4"' if frame.kind == "dag" else ""
    if frame.mark is None or frame.mark.status == "not-run":
        return f'class="frame" fill="{LIGHT["frame"]}" stroke="{LIGHT["edge"]}"{dashes}'
    colours = STATUS_COLOURS[frame.mark.status]
    return f'class="{frame.mark.status} frame" fill="{LIGHT["frame"]}" stroke="{colours.line}"{dashes}'


def _boxes(shapes: Sequence[tuple[float, float, Shape]]) -> Iterator[str]:
    for x, y, shape in shapes:
        if isinstance(shape, Box):
            yield f"<g{_path(shape.path)}{_faint(faint=shape.faint)}><title>{escape(shape.title)}</title>"
            yield _outline(shape, x, y)
            middle = x + shape.width / 2 + (3.0 if shape.kind == "processor" else 9.0 if shape.kind == "sleep" else 0.0)
            yield from _texts(shape.lines, middle, y + (shape.height - line_height(shape.lines)) / 2, "middle")
            yield "</g>"


def _outline(box: Box, x: float, y: float) -> str:
    """The outline of a box by its kind."""
    width, height = box.width, box.height
    look = _look(box)
    match box.kind:
        case "words":
            return ""
        case "join":
            return f'<circle cx="{_number(x + width / 2)}" cy="{_number(y + height / 2)}" r="{_number(width / 2)}" {look}/>'
        case "branch":
            point = height / 2
            return _polygon(
                [
                    (x, y + height / 2),
                    (x + point, y),
                    (x + width - point, y),
                    (x + width, y + height / 2),
                    (x + width - point, y + height),
                    (x + point, y + height),
                ],
                look,
            )
        case "merge":
            return _polygon([(x, y), (x + width, y), (x + width - 14.0, y + height), (x + 14.0, y + height)], look)
        case "map" | "terminal":
            return _rectangle(x, y, width, height, min(height / 2, 16.0), look)
        case "sleep":
            cx, cy = x + 16.0, y + height / 2
            hands = f"M{_number(cx)} {_number(cy - 4)}V{_number(cy)}H{_number(cx + 3)}"
            clock = f'<circle cx="{_number(cx)}" cy="{_number(cy)}" r="6.5"/><path d="{hands}"/>'
            frame = _rectangle(x, y, width, height, min(height / 2, 16.0), look)
            return f'{frame}<g class="bare wire" fill="none" stroke="{LIGHT["wire"]}">{clock}</g>'
        case "processor":
            bar = f'<path class="accent" fill="{LIGHT["accent"]}" d="M{_number(x + 5)} {_number(y)}h-1a4 4 0 0 0 -4 4v{_number(height - 8)}a4 4 0 0 0 4 4h1z"/>'
            return _rectangle(x, y, width, height, 4.0, look) + bar
        case _:
            return _rectangle(x, y, width, height, 4.0, look)


def _look(box: Box) -> str:
    if box.mark is not None and box.kind != "join":
        colours = STATUS_COLOURS[box.mark.status]
        dashes = ' stroke-dasharray="4 3"' if colours.dashed else ""
        return f'class="{box.mark.status}" fill="{colours.fill}" stroke="{colours.line}" stroke-width="1.4"{dashes}'
    fill = KIND_FILLS.get(box.kind, (LIGHT["box"],))[0]
    dashes = ' stroke-dasharray="2 3"' if box.kind == "idle" else ""
    kind = f" {box.kind}" if box.kind in KIND_FILLS else ""
    return f'class="box{kind}" fill="{fill}" stroke="{LIGHT["line"]}"{dashes}'


def _wires(shapes: Sequence[tuple[float, float, Shape]]) -> Iterator[str]:
    """All wires of a look as one path; those not taken first, so that the others lie above them."""
    for faint in (True, False):
        look = "unused" if faint else "wire"
        tips: list[str] = []
        for dashed in (False, True):
            lines: list[str] = []
            for x, y, shape in shapes:
                if isinstance(shape, Wire) and (shape.faint, shape.dashed) == (faint, dashed):
                    points = [(x + px, y + py) for px, py in shape.points]
                    lines.append(_curve(points, tip=shape.arrow) if shape.curved else _line(points, tip=shape.arrow))
                    if shape.arrow:
                        tips.append(_tip(points, curved=shape.curved))
            if lines:
                dashes = ' stroke-dasharray="5 4"' if dashed else ""
                yield f'<path class="{look}" fill="none" stroke="{LIGHT[look]}" stroke-width="1.4"{dashes} d="{"".join(lines)}"/>'
        if tips:
            tip = "unused-tip" if faint else "tip"
            yield f'<path class="{tip}" fill="{LIGHT[look]}" d="{"".join(tips)}"/>'


def _line(points: Sequence[tuple[float, float]], *, tip: bool) -> str:
    """A line with rounded corners."""
    corners = [point for n, point in enumerate(points) if not n or math.dist(point, points[n - 1]) > 0.1]
    if tip:
        corners[-1] = _toward(corners[-1], corners[-2], _TIP) if len(corners) > 1 else corners[-1]
    told = [f"M{_point(corners[0])}"]
    for before, corner, after in zip(corners, corners[1:], corners[2:], strict=False):
        round_ = min(_CORNER, math.dist(before, corner) / 2, math.dist(corner, after) / 2)
        told.append(
            f"L{_point(_toward(corner, before, round_))}Q{_point(corner)} {_point(_toward(corner, after, round_))}"
        )
    told += [f"L{_point(corners[-1])}"] if len(corners) > 1 else []
    return "".join(told)


def _curve(points: Sequence[tuple[float, float]], *, tip: bool) -> str:
    """Down from the first point to the second, then in a swing to the third."""
    first, (x1, y1), (x2, y2) = points
    middle = (y1 + y2) / 2
    end = (x2, y2 - _TIP if tip else y2)
    return f"M{_point(first)}L{_point((x1, y1))}C{_point((x1, middle))} {_point((x2, middle))} {_point(end)}"


def _tip(points: Sequence[tuple[float, float]], *, curved: bool) -> str:
    """The tip of an arrow at the end of a line."""
    x, y = points[-1]
    sideways = not curved and len(points) > 1 and abs(points[-2][1] - y) < 0.1
    if sideways:
        return f"M{_point((x, y))}l8 -4v8z"
    return f"M{_point((x, y))}l-4 -8h8z"


def _labels(shapes: Sequence[tuple[float, float, Shape]]) -> Iterator[str]:
    for x, y, shape in shapes:
        if isinstance(shape, Label):
            yield f"<g{_faint(faint=shape.faint)}>"
            yield from _texts([TextLine(shape.text, LABEL_SIZE, "mark")], x, y - 2.0, "start")
            yield "</g>"


def _texts(lines: Sequence[TextLine], x: float, y: float, anchor: str) -> Iterator[str]:
    for line in lines:
        y += line.size * 1.3
        soft = line.role in ("about", "mark")
        look = f'class="{"soft" if soft else "text"}" fill="{LIGHT["soft" if soft else "text"]}"'
        weight = ' font-weight="600"' if line.role in ("title", "heading") else ""
        slant = ' font-style="italic"' if line.role == "note" else ""
        where = f'x="{_number(x)}" y="{_number(y - line.size * 0.3)}"'
        yield f'<text {where} {look} font-size="{_number(line.size)}" text-anchor="{anchor}"{weight}{slant}>{escape(line.text)}</text>'


def _rectangle(x: float, y: float, width: float, height: float, round_: float, look: str) -> str:
    place = f'x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}"'
    return f'<rect {place} rx="{_number(round_)}" {look}/>'


def _polygon(points: Sequence[tuple[float, float]], look: str) -> str:
    return f'<polygon points="{" ".join(_point(point) for point in points)}" {look}/>'


def _path(path: str) -> str:
    return f" data-path={quoteattr(printable(path))}" if path else ""


def _faint(*, faint: bool) -> str:
    return ' opacity="0.55"' if faint else ""


def _toward(point: tuple[float, float], other: tuple[float, float], by: float) -> tuple[float, float]:
    """The point moved toward another by so many pixels."""
    share = by / (math.dist(point, other) or 1.0)
    return point[0] + (other[0] - point[0]) * share, point[1] + (other[1] - point[1]) * share


def _point(point: tuple[float, float]) -> str:
    return f"{_number(point[0])} {_number(point[1])}"


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
