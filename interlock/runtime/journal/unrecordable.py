"""What cannot be written to a journal: found deep inside a value, told by the way that leads there."""

from __future__ import annotations

from interlock.errors import UnrecordableValue

__all__ = ["Unrecordable"]


class Unrecordable(Exception):
    """Something cannot be written.

    Args:
        why: What is wrong with it: "is a socket".
        hint: What to do, where that is not the usual.
        deep: Whether it lies too deep.
    """

    def __init__(self, why: str, *, hint: str | None = None, deep: bool = False) -> None:
        self.why = why
        self.hint = hint
        self.deep = deep
        self._way: list[tuple[str, int]] = []
        super().__init__(why)

    def behind(self, step: str, value: object) -> None:
        """Note that it was found behind a step from a value that holds it."""
        self._way.append((step, id(value)))

    def told(self, where: str) -> UnrecordableValue:
        """The error for the user."""
        way = self._way[::-1]
        if self.deep:
            seen: set[int] = set()
            for at, (_, held) in enumerate(way):
                if held in seen:
                    place = where + "".join(step for step, _ in way[:at])
                    return UnrecordableValue(place, "holds itself", hint="leave one of the two out")
                seen.add(held)
        steps: list[str] = [step for step, _ in way]
        if len(steps) > 20:
            steps[8:-8] = ["…"]
        return UnrecordableValue(where + "".join(steps), self.why, hint=self.hint)
