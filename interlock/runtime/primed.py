"""A coroutine's first part at once, the rest awaited: what never suspends costs no preparations for waiting."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from typing import Any

__all__ = ["Primed"]


class Primed:
    """The rest of a coroutine that was begun by hand, with ``send(None)``, and has suspended.

    It is awaited by the task in which it began, so that is the task it knows all along.

    Args:
        coroutine: The coroutine.
        yielded: What it gave its event loop when it suspended.
    """

    __slots__ = ("_coroutine", "_yielded")

    def __init__(self, coroutine: Coroutine[Any, Any, Any], yielded: object) -> None:
        self._coroutine = coroutine
        self._yielded = yielded

    def __await__(self) -> Generator[Any, Any, Any]:
        coroutine, yielded = self._coroutine, self._yielded
        while True:
            try:
                sent = yield yielded
            except GeneratorExit:
                coroutine.close()
                raise
            except BaseException as error:
                try:
                    yielded = coroutine.throw(error)
                except StopIteration as ended:
                    return ended.value
            else:
                try:
                    yielded = coroutine.send(sent)
                except StopIteration as ended:
                    return ended.value
