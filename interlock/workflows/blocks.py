"""Rectangles of characters that a terminal drawing is put together from.

A :class:`Block` is entered at its top and left at its bottom, in one column: its axis. Blocks are put one under the
other, side by side between a fork and a join, or in a frame. Widths are counted in terminal cells: a wide East Asian
character takes two, a combining one none.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from rich.cells import cell_len

__all__ = [
    "Block",
    "beside",
    "box",
    "clipped",
    "framed",
    "junction",
    "labelled",
    "listed",
    "looped",
    "padded",
    "row",
    "stacked",
    "width_of",
    "worded",
    "wrapped",
]

_JUNCTIONS = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"
"""By the sum of 1 (a line goes up), 2 (down), 4 (left), 8 (right)."""

_GAP = 2
_NEAR = 3


@dataclass(frozen=True, slots=True)
class Block:
    """A rectangle.

    Attributes:
        lines: Each as wide as the block.
        width: In cells.
        axis: The column, from 0, by which it is entered and left.
        arrow: Whether its first line is nothing but the arrow that leads in.
    """

    lines: tuple[str, ...]
    width: int
    axis: int
    arrow: bool = False

    def moved(self, axis: int, width: int) -> Block:
        """The same with blanks around it, so that it has this axis (not left of its own) and at least this width."""
        left = axis - self.axis
        whole = max(width, left + self.width)
        right = whole - left - self.width
        return Block(tuple(f"{' ' * left}{line}{' ' * right}" for line in self.lines), whole, axis, self.arrow)

    def lengthened(self, height: int) -> Block:
        """The same with its way out drawn down to this height."""
        wire = tuple([row({self.axis: "│"}, self.width)] * (height - len(self.lines)))
        return Block(self.lines + wire, self.width, self.axis)


def width_of(text: str) -> int:
    """How many cells of a terminal the text takes."""
    return cell_len(text)


def clipped(text: str, width: float) -> str:
    """The text, cut where it takes more than this many cells; "…" says so."""
    if width_of(text) <= width:
        return text
    start = _chopped(text, width - 1)[0]
    return f"{start}…" if width_of(start) < width else "…"


def padded(text: str, width: int, *, centred: bool = False) -> str:
    """The text with blanks around it, so that it takes this many cells."""
    blank = width - width_of(text)
    left = blank // 2 if centred else 0
    return f"{' ' * left}{text}{' ' * (blank - left)}"


def wrapped(text: str, width: float, *, measure: Callable[[str], float] = width_of) -> list[str]:
    """The text in lines of at most ``width``: broken after colons, then after other marks, then anywhere.

    Args:
        text: What to break.
        width: The room for a line.
        measure: How much of it a text takes; default: cells.
    """
    lines: list[str] = []
    for part in re.findall(r"[^:]*:*", text):
        start = len(lines)
        for piece in re.findall(r"[^-_, ]*[-_, ]*", part):
            if len(lines) > start and measure((lines[-1] + piece).rstrip()) <= width:
                lines[-1] += piece
            else:
                lines += _chopped(piece, width, measure)
    return [line.strip() for line in lines if line.strip()] or [""]


def worded(text: str, width: float, *, measure: Callable[[str], float] = width_of) -> list[str]:
    """The text in lines of at most ``width``, broken between words; as by :func:`wrapped` where a word is too long."""
    lines: list[str] = []
    for word in text.split():
        if lines and measure(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines += [word] if measure(word) <= width else wrapped(word, width, measure=measure)
    return lines or [""]


def _chopped(text: str, width: float, measure: Callable[[str], float] = width_of) -> list[str]:
    """The text cut into pieces of at most ``width``, or of one character where that is wider."""
    if measure(text) <= width:
        return [text] if text else []
    pieces: list[str] = []
    for char in text:
        if pieces and measure(pieces[-1] + char) <= width:
            pieces[-1] += char
        else:
            pieces.append(char)
    return pieces


def junction(*, up: bool = False, down: bool = False, left: bool = False, right: bool = False) -> str:
    """The character in which lines of these directions meet."""
    return _JUNCTIONS[up + 2 * down + 4 * left + 8 * right]


def row(marks: dict[int, str], width: int) -> str:
    """One line with single characters at some columns."""
    return "".join(marks.get(column, " ") for column in range(width))


def box(*texts: Sequence[str], border: str = "┌─┐│└┘") -> Block:
    """A box around lines of text; where there are several texts, a ladder of boxes that share their borders.

    Args:
        texts: The lines of each, at least one.
        border: Upper left corner, horizontal, upper right, vertical, lower left, lower right.
    """
    upper_left, flat, upper_right, side, lower_left, lower_right = tuple(border)
    inner = max(width_of(line) for lines in texts for line in lines) + 2
    half, rest = flat * (inner // 2), flat * (inner - inner // 2 - 1)
    rungs: list[str] = []
    for lines in texts:
        rungs.append(f"├{half}▼{rest}┤" if rungs else f"{upper_left}{half}▼{rest}{upper_right}")
        rungs += [f"{side}{padded(line, inner, centred=True)}{side}" for line in lines]
    rungs.append(f"{lower_left}{half}┬{rest}{lower_right}")
    return Block(tuple(rungs), inner + 2, inner // 2 + 1)


def stacked(blocks: Sequence[Block]) -> Block:
    """One under the other, their ways in and out joined."""
    axis = max(block.axis for block in blocks)
    width = max(axis - block.axis + block.width for block in blocks)
    lines: list[str] = []
    for block in blocks:
        if lines and not block.arrow:
            lines.append(row({axis: "│"}, width))
        lines += block.moved(axis, width).lines
    return Block(tuple(lines), width, axis, blocks[0].arrow)


def beside(blocks: Sequence[Block]) -> Block:
    """Side by side, between a fork and a join."""
    height = max(len(block.lines) for block in blocks)
    arms = [block.lengthened(height) for block in blocks]
    lefts = [0, *itertools.accumulate(arm.width + _GAP for arm in arms[:-1])]
    axes = [left + arm.axis for left, arm in zip(lefts, arms, strict=True)]
    width = lefts[-1] + arms[-1].width
    axis = _middle(axes, width)
    lines = [(" " * _GAP).join(parts) for parts in zip(*(arm.lines for arm in arms), strict=True)]
    return Block((_rail(axes, width, above={axis}), *lines, _rail(axes, width, below={axis})), width, axis)


def _middle(axes: Sequence[int], width: int) -> int:
    """Where a fork is entered: in the middle arm if that is about the middle of the whole, else there."""
    middle = min(max(width // 2, axes[0]), axes[-1])
    arm = axes[len(axes) // 2]
    return arm if len(axes) % 2 and abs(arm - middle) <= _NEAR else middle


def _rail(arms: Collection[int], width: int, *, above: Collection[int] = (), below: Collection[int] = ()) -> str:
    """The line of a fork (``above`` it the way in) or a join (``below`` it the way out)."""
    first, last = min(arms), max(arms)
    up, down = (set(above), set(arms)) if above else (set(arms), set(below))
    return "".join(
        junction(up=x in up, down=x in down, left=first < x <= last, right=first <= x < last) for x in range(width)
    )


def listed(arms: Sequence[Sequence[str] | Block]) -> Block:
    """One under the other, between a line of the fork on the left and one of the join on the right.

    Args:
        arms: Each lines of text, or a block.
    """
    inner = max(arm.width + 2 if isinstance(arm, Block) else max(map(width_of, arm)) + 7 for arm in arms)
    lines = [
        line for arm in arms for line in (_block_rows(arm, inner) if isinstance(arm, Block) else _rows(arm, inner))
    ]
    width = inner + 2
    axis = width // 2
    ends = (0, width - 1)
    return Block((_rail(ends, width, above={axis}), *lines, _rail(ends, width, below={axis})), width, axis)


def _rows(text: Sequence[str], inner: int) -> list[str]:
    first, *more = text
    return [
        f"├──▶ {first} {'─' * (inner - 5 - width_of(first))}┤",
        *(f"│    {padded(line, inner - 4)}│" for line in more),
    ]


def _block_rows(block: Block, inner: int) -> list[str]:
    before, after = block.axis + 1, inner - block.axis - 2
    return [
        f"├{'─' * before}┐{' ' * after}│",
        *(f"│{line}│" for line in block.moved(before, inner).lines),
        f"│{' ' * before}└{'─' * after}┤",
    ]


def labelled(block: Block, text: str) -> Block:
    """The block with a text beside the way in."""
    width = max(block.width, block.axis + 2 + width_of(text))
    below = block.moved(block.axis, width)
    line = padded(f"{' ' * block.axis}│ {text}", width)
    return Block((line, *below.lines), width, block.axis)


def looped(block: Block, text: str) -> Block:
    """The block with a way back on its right, from below it to above it, and a text on that."""
    tail = f"─ {text} ─"
    lane = max(block.width + 1, block.axis + 1 + width_of(tail))
    width, blank = lane + 1, " " * block.axis
    top = f"{blank}├◀{'─' * (lane - block.axis - 2)}┐"
    bottom = f"{blank}├{tail}{'─' * (lane - block.axis - 1 - width_of(tail))}┘"
    body = [f"{padded(line, lane)}│" for line in block.lines]
    return Block((top, *body, bottom), width, block.axis)


def framed(block: Block, title: str, border: str = "╔═╗║╚╝╪", *, notes: Sequence[str] = ()) -> Block:
    """A frame with a title around a block. Above it stands an arrow that leads in.

    Args:
        block: What is inside.
        title: Stands in the upper border.
        border: As of :func:`box`, and where the way out crosses it.
        notes: Lines of text below the title.
    """
    upper_left, flat, upper_right, side, lower_left, lower_right, crossing = tuple(border)
    inner = max(block.width, width_of(title) + 2, *map(width_of, notes), 0)
    axis = block.axis + (inner - block.width) // 2
    body = list(block.moved(axis, inner).lines)
    if not block.arrow:
        body.insert(0, row({axis: "│"}, inner))
    body[:0] = [padded(note, inner) for note in notes]
    width, axis = inner + 4, axis + 2
    return Block(
        (
            row({axis: "▼"}, width),
            f"{upper_left}{flat} {title} {flat * (inner - width_of(title) - 1)}{upper_right}",
            *(f"{side} {line} {side}" for line in body),
            f"{lower_left}{flat * (axis - 1)}{crossing}{flat * (width - axis - 2)}{lower_right}",
        ),
        width,
        axis,
        arrow=True,
    )
