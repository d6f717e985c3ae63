"""The texts inside a JSON value: read one by one, written back where they were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from pydantic_core import to_jsonable_python

from interlock.messages import JSONValue

__all__ = ["JSONStrings", "JSONText"]

_LONG_NUMBER = 7
"""Digits from which on a number may be somebody's: the shortest phone numbers have so many."""


@dataclass(slots=True)
class JSONText:
    """One text of a value.

    Args:
        text: A string, the literal of a number, or a key.
        can_change: Keys cannot: two might become one.
        holder: The list or dict it is in.
        place: Its index or key there.
    """

    text: str
    can_change: bool
    holder: Any
    place: int | str


class JSONStrings:
    """A value taken apart.

    Strings are read decoded; long numbers by their literal (changed, they become strings); keys too.

    Args:
        value: JSON values, or anything pydantic can turn into them (dataclasses, models, dates, sets …). It is copied.

    Raises:
        ValueError: The value refers to itself, or is nested more than 255 deep.

    Attributes:
        texts: What can be read; an object's keys before what is in it.

    Example:
        >>> strings = JSONStrings({"to": "ann@example.com", "tries": 3})
        >>> [t.text for t in strings.texts]
        ['to', 'tries', 'ann@example.com']
        >>> strings.change(2, "[EMAIL]")
        >>> strings.value
        {'to': '[EMAIL]', 'tries': 3}
    """

    def __init__(self, value: JSONValue) -> None:
        self._root: list[JSONValue] = [to_jsonable_python(value, fallback=str, bytes_mode="base64")]
        self.texts: list[JSONText] = []
        waiting: list[tuple[Any, int | str]] = [(self._root, 0)]
        while waiting:
            holder, place = waiting.pop()
            waiting.extend(reversed(self._read(holder, place)))

    @property
    def value(self) -> JSONValue:
        """The value with the changes; what was given stays as it was."""
        return self._root[0]

    def change(self, index: int, text: str) -> None:
        """Put a string in the place of a text."""
        at = self.texts[index]
        at.holder[at.place] = text

    def _read(self, holder: Any, place: int | str) -> list[tuple[Any, int | str]]:
        """Note the text at a place; give the places inside it."""
        value = holder[place]
        if isinstance(value, str):
            self.texts.append(JSONText(value, True, holder, place))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            literal = str(value)
            if sum(c.isdigit() for c in literal) >= _LONG_NUMBER:
                self.texts.append(JSONText(literal, True, holder, place))
        elif isinstance(value, dict):
            members = cast("dict[str, JSONValue]", value)
            self.texts.extend(JSONText(key, False, members, key) for key in members)
            return [(members, key) for key in members]
        elif isinstance(value, list):
            items = cast("list[JSONValue]", value)
            return [(items, n) for n in range(len(items))]
        return []
