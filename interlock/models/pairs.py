"""Characters that come apart: the two halves of a surrogate pair in two pieces of one text."""

from __future__ import annotations

__all__ = ["PairJoiner"]


class PairJoiner:
    """Puts pairs together again where a text comes in pieces, as JSON that escapes each half for itself may send them.

    A first half at the end of a piece waits for the next piece (Unicode 16, section 3.8, D71 to D75: which are halves,
    and what a pair stands for). A half without its other is given as it came.

    Example:
        >>> joiner = PairJoiner()
        >>> [joiner.take("so \\ud83d"), joiner.take("\\ude00!"), joiner.rest()]
        ['so ', '😀!', '']
    """

    def __init__(self) -> None:
        self._half = ""

    def take(self, piece: str) -> str:
        """The text that is certain after this piece, without what was given before."""
        if not piece:
            return ""
        half, self._half = self._half, ""
        if half and "\udc00" <= piece[0] <= "\udfff":
            half, piece = "", _paired(half, piece[0]) + piece[1:]
        if "\ud800" <= piece[-1:] <= "\udbff":
            piece, self._half = piece[:-1], piece[-1]
        return half + piece

    def rest(self) -> str:
        """A half that still waits, once no more pieces come."""
        half, self._half = self._half, ""
        return half


def _paired(high: str, low: str) -> str:
    return (high + low).encode("utf-16-le", "surrogatepass").decode("utf-16-le")
