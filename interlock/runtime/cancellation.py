"""Telling a cancellation that somebody asked for from one that only looks like it."""

from __future__ import annotations

import sys
from typing import cast

from interlock.errors import InterlockError

__all__ = ["cancelled_itself", "interrupts", "lonely_cancellation"]

_CANCELLATIONS = frozenset({("asyncio", "CancelledError"), ("trio", "Cancelled")})
"""By package and name: neither is imported here."""


def interrupts(error: BaseException) -> bool:
    """Whether an error means that somebody wants this to stop: a cancellation, Ctrl-C, the exit of the program.

    Any other ``BaseException`` that a step or hook raises is its failure. So is a ``GeneratorExit``, unless it is the
    coroutine that catches the error which is being closed. To be asked where the error was caught.
    """
    if isinstance(error, BaseExceptionGroup):
        return any(interrupts(one) for one in cast("BaseExceptionGroup[BaseException]", error).exceptions)
    if isinstance(error, KeyboardInterrupt | SystemExit):
        return True
    if isinstance(error, GeneratorExit):
        return not _came_up(error)
    if isinstance(error, Exception):
        return False
    return any((kind.__module__.partition(".")[0], kind.__name__) in _CANCELLATIONS for kind in type(error).__mro__)


def _came_up(error: GeneratorExit) -> bool:
    """Whether it was raised in what was called or awaited: of what is closed, each frame gets one of its own."""
    return error.__traceback__ is not None and error.__traceback__.tb_next is not None


def cancelled_itself(error: BaseException) -> bool:
    """Whether an error is a ``CancelledError``, or a group with one, although nobody has cancelled this task.

    That happens on asyncio alone, to code that awaits a task or future which somebody else has cancelled. It is a
    failure like any other: passed on, it would look to every caller as if it had been cancelled itself. (On Python 3.11
    a task group may leave a count of cancellations behind. Then this says False, and the error passes as it is.)
    """
    if "asyncio" not in sys.modules:  # it is slow to import
        return False
    if isinstance(error, BaseExceptionGroup):
        stops = [one for one in cast("BaseExceptionGroup[BaseException]", error).exceptions if interrupts(one)]
        return bool(stops) and all(map(cancelled_itself, stops))
    import asyncio

    if not isinstance(error, asyncio.CancelledError):
        return False
    try:
        task = asyncio.current_task()
    except RuntimeError:  # another event loop than asyncio's is running
        return False
    return task is not None and not task.cancelling()


def lonely_cancellation(error: BaseException) -> InterlockError:
    """The failure that such a cancellation is."""
    made = InterlockError(
        "CancelledError was raised, but nobody cancelled this: it awaited what somebody else cancelled"
    )
    made.__cause__ = error
    return made
