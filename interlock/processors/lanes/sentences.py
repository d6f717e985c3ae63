"""A text that comes in pieces, sentence by sentence: what a judge is shown, and what waits for its verdict."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from interlock.errors import DefinitionError

__all__ = ["CAP", "Sentence", "Sentences"]

CAP: Final = 400
"""Characters after which a sentence that does not end is cut."""

_END: Final = re.compile(r"\n|[。！？]|[.!?…]+[\"')\]}”’»]*\s")


class Sentence(NamedTuple):
    """A piece of a text that is judged as one.

    Args:
        start: Where it begins.
        end: Where it ends, exclusive.
        text: What it says, white space at its end included.
    """

    start: int
    end: int
    text: str


class Sentences:
    """Cuts a text behind a terminator, closing quotes and one white space; behind a newline; or after so many
    characters. Where it is cut depends on the text alone, not on the pieces in which it comes.

    Args:
        cap: Characters after which a sentence is cut.

    Raises:
        DefinitionError: The cap is no number above 0.

    Example:
        >>> sentences = Sentences()
        >>> [s.text for piece in ["Is it 3.5", '? "Yes." ', "Then"] for s in sentences.push(piece)]
        ['Is it 3.5? ', '"Yes." ']
        >>> sentences.end()
        [Sentence(start=18, end=22, text='Then')]
    """

    __slots__ = ("_at", "_cap", "_text")

    def __init__(self, cap: int = CAP) -> None:
        if isinstance(cap, bool) or cap < 1:
            raise DefinitionError(f"a sentence is cut after so many characters, a whole number from 1, not {cap!r}")
        self._cap = cap
        self._at = 0
        self._text = ""

    @property
    def held(self) -> int:
        """How many characters stand in no sentence yet."""
        return len(self._text)

    @property
    def open(self) -> tuple[int, str]:
        """The sentence that has not ended yet: where it begins, and its text so far."""
        return self._at, self._text

    def push(self, text: str) -> Sequence[Sentence]:
        """Take more of the text in; gives the sentences that are complete."""
        self._text += text
        made: list[Sentence] = []
        done = 0
        while True:
            found = _END.search(self._text, done)
            if found is not None and found.end() - done <= self._cap:
                stop = found.end()
            elif len(self._text) - done >= self._cap:
                stop = done + self._cap
            else:
                break
            made.append(Sentence(self._at + done, self._at + stop, self._text[done:stop]))
            done = stop
        self._text = self._text[done:]
        self._at += done
        return made

    def end(self) -> Sequence[Sentence]:
        """The text is complete: what is left is the last sentence."""
        if not self._text:
            return []
        last = Sentence(self._at, self._at + len(self._text), self._text)
        self._at, self._text = last.end, ""
        return [last]
