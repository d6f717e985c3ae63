"""Judging a text by windows of sentences: what a stream can do, done alike to a text that is there as a whole."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from interlock.errors import DefinitionError
from interlock.processors.detection.escapes import SpellingRules
from interlock.processors.detection.finding import Finding, Rules
from interlock.processors.lanes.sentences import Sentences

__all__ = ["Window", "WindowedRules", "strongest"]


class Window:
    """The sentences that are seen together: the newest, and those before it.

    Args:
        size: How many sentences.
        reach: More than so many where they come to less than this, in characters.

    Raises:
        DefinitionError: The size is no number from 1.

    Example:
        >>> window = Window(2)
        >>> [window.with_next(s) for s in ("One. ", "Two. ", "Three.")]
        ['One. ', 'One. Two. ', 'Two. Three.']
    """

    __slots__ = ("_length", "_reach", "_sentences", "_size")

    def __init__(self, size: int, *, reach: int = 0) -> None:
        if isinstance(size, bool) or size < 1:
            raise DefinitionError(f"a window is a number of sentences from 1, not {size!r}", subject="window")
        self._size = size
        self._reach = reach
        self._length = 0
        self._sentences: deque[str] = deque()

    @property
    def length(self) -> int:
        """Characters that are seen together."""
        return self._length

    def with_next(self, sentence: str) -> str:
        """The window when this sentence has come."""
        sentences = self._sentences
        sentences.append(sentence)
        self._length += len(sentence)
        while len(sentences) > self._size and self._length - len(sentences[0]) >= self._reach:
            self._length -= len(sentences.popleft())
        return "".join(sentences)

    def forget_last(self) -> None:
        """The newest sentence has been dealt with: the next ones are seen without it."""
        self._length -= len(self._sentences.pop())


class WindowedRules:
    """Offline rules, asked window by window, as they are in a stream.

    Args:
        rules: What is asked about each window.
        size: Sentences seen together.
        reach: Characters that the rules weigh together: no window is shorter where there is more.
    """

    def __init__(self, rules: Rules, size: int, *, reach: int) -> None:
        self.rules = rules
        self._size = size
        self._reach = reach
        self.window()

    def window(self) -> Window:
        """A window to be moved along a text."""
        return Window(self._size, reach=self._reach)

    def of_json(self) -> WindowedRules:
        """The same for texts that are JSON: each window is looked at as it came and spelled out."""
        return WindowedRules(SpellingRules(self.rules), self._size, reach=self._reach)

    def find(self, text: str) -> list[Finding]:
        """Of each kind the strongest finding."""
        cutting, window = Sentences(), self.window()
        sentences = [*cutting.push(text), *cutting.end()]
        if len(sentences) < 2:
            return self.rules.find(text)
        found: list[Finding] = []
        for sentence in sentences:
            seen = window.with_next(sentence.text)
            start = sentence.end - window.length
            for one in self.rules.find(seen):
                found.append(Finding(one.kind, one.start + start, one.end + start, one.score, one.explanation))
        return strongest(found)


def strongest(findings: Iterable[Finding]) -> list[Finding]:
    """One finding a kind: the surest, of equals the first; the surest kind first.

    Example:
        >>> [f.kind for f in strongest([Finding("a", 0, 1, 0.5), Finding("b", 0, 1, 0.7), Finding("a", 2, 3, 0.6)])]
        ['b', 'a']
    """
    best: dict[str, Finding] = {}
    for one in findings:
        if one.kind not in best or best[one.kind].score < one.score:
            best[one.kind] = one
    return sorted(best.values(), key=lambda f: (-f.score, f.kind))
