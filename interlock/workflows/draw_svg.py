"""A workflow as a picture: SVG that stands alone, without scripts, fonts or anything else from outside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final
from xml.sax.saxutils import escape, quoteattr

from interlock.schema import is_set, schema_name
from interlock.workflows.forks import LABEL_SIZE
from interlock.workflows.graph_of import graph_of
from interlock.workflows.labels import printable
from interlock.workflows.overlay import Run, overlay_of
from interlock.workflows.pieces import Box, Frame, Label, Piece, Shape, TextLine, Wire, placed
from interlock.workflows.svg_layout import PAGE_WIDTH, chain_piece, line_height, terminal_piece
from interlock.workflows.svg_outlines import box_outline, frame_outline
from interlock.workflows.svg_strokes import arrow_tip, number, polyline, swing
from interlock.workflows.svg_style import FONT, LIGHT, style_sheet
from interlock.workflows.text_size import fitted, text_width

if TYPE_CHECKING:
    from interlock.workflows.workflow import Workflow

__all__ = ["picture", "workflow_svg"]

_MARGIN: Final = 20.0
_TITLE_SIZE: Final = 16.0
_SUBTITLE_SIZE: Final = 12.0


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
    whole = chain_piece(graph.chain, overlay, ends=(begins, ends))
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
    size = f'width="{number(width)}" height="{number(height)}" viewBox="0 0 {number(width)} {number(height)}"'
    name = printable(title)
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="interlock-drawing" role="img" {size} '
            f'aria-label={quoteattr(name)} font-family="{FONT}">',
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
        yield frame_outline(shape, x, y)
        yield from _texts(shape.heading, x + 12.0, y + 6.0, "start")
        if shape.aside:
            yield from _texts([TextLine(shape.aside, 10.5, "about")], x + shape.width - 12.0, y + 6.0, "end")
        yield "</g>"


def _boxes(shapes: Sequence[tuple[float, float, Shape]]) -> Iterator[str]:
    for x, y, shape in shapes:
        if isinstance(shape, Box):
            yield f"<g{_path(shape.path)}{_faint(faint=shape.faint)}><title>{escape(shape.title)}</title>"
            yield box_outline(shape, x, y)
            middle = x + shape.width / 2 + (3.0 if shape.kind == "processor" else 9.0 if shape.kind == "sleep" else 0.0)
            yield from _texts(shape.lines, middle, y + (shape.height - line_height(shape.lines)) / 2, "middle")
            yield "</g>"


def _wires(shapes: Sequence[tuple[float, float, Shape]]) -> Iterator[str]:
    """All wires of a look as one path; those not taken first, so that the others lie above them."""
    wires = [(x, y, shape) for x, y, shape in shapes if isinstance(shape, Wire)]
    for faint, look, tip in ((True, "unused", "unused-tip"), (False, "wire", "tip")):
        tips: list[str] = []
        for dashes in ("", ' stroke-dasharray="5 4"'):
            lines: list[str] = []
            for x, y, wire in wires:
                if (wire.faint, wire.dashed) == (faint, bool(dashes)):
                    points = [(x + dx, y + dy) for dx, dy in wire.points]
                    lines.append((swing if wire.curved else polyline)(points, arrow=wire.arrow))
                    tips += [arrow_tip(points, curved=wire.curved)] if wire.arrow else []
            if lines:
                stroke = f'fill="none" stroke="{LIGHT[look]}" stroke-width="1.4"{dashes}'
                yield f'<path class="{look}" {stroke} d="{"".join(lines)}"/>'
        if tips:
            yield f'<path class="{tip}" fill="{LIGHT[look]}" d="{"".join(tips)}"/>'


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
        where = f'x="{number(x)}" y="{number(y - line.size * 0.3)}" font-size="{number(line.size)}"'
        yield f'<text {where} {look} text-anchor="{anchor}"{weight}{slant}>{escape(line.text)}</text>'


def _path(path: str) -> str:
    return f" data-path={quoteattr(printable(path))}" if path else ""


def _faint(*, faint: bool) -> str:
    return ' opacity="0.55"' if faint else ""
