"""A stream hook on a fork of its own: what it leaves there counts only where it has ended well."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from inspect import iscoroutinefunction
from typing import Any, cast

from interlock.processors.returns import chunks_returned
from interlock.processors.stream_context import OutputStreamContext
from interlock.runtime.chunk_stages.values import own
from interlock.runtime.strand import close, is_awaitable

__all__ = ["forked"]

Call = Callable[[Any], object]


def forked(call: Call) -> Call:
    """A hook of which a call that fails leaves nothing behind, even if something of it still runs.

    Args:
        call: The hook.
    """

    async def waited(target: OutputStreamContext) -> object:
        return await _ended(target, _fork(target), call)

    def called(target: OutputStreamContext) -> object:
        fork = _fork(target)
        try:
            out = call(fork)
            if is_awaitable(out):
                return _Forked(target, fork, cast("Awaitable[object]", out))
            return _adopted(target, fork, out)
        except BaseException:
            fork._seat.retire()
            raise

    return waited if iscoroutinefunction(call) else called


async def _ended(target: OutputStreamContext, fork: OutputStreamContext, call: Call) -> object:
    try:
        return _adopted(target, fork, await cast("Awaitable[object]", call(fork)))
    except BaseException:
        fork._seat.retire()
        raise


def _fork(target: OutputStreamContext) -> OutputStreamContext:
    fork = target.seated(target._seat.twin())
    fork.chunk = cast("Any", own(target.chunk))
    fork.out = (fork.chunk,)
    fork.held = target.held.fork() if hasattr(target.held, "fork") else target.held
    fork.pieces = None if target.pieces is None else []
    return fork


def _adopted(target: OutputStreamContext, fork: OutputStreamContext, out: object) -> object:
    """What the hook returned, and what it has left in its fork.

    Raises:
        InvalidProcessorReturn: It is neither chunks nor None.
    """
    if out is not fork.chunk:
        chunks_returned(fork, out)
    target.held, target.edited = fork.held, fork.edited
    if target.pieces is not None and fork.pieces is not None:
        target.pieces += fork.pieces
    target._seat.not_checked = fork._seat.not_checked
    return target.chunk if out is fork.chunk and out == target.chunk else out


class _Forked:
    """A hook that waits."""

    __slots__ = ("_awaitable", "_fork", "_target")

    def __init__(self, target: OutputStreamContext, fork: OutputStreamContext, awaitable: Awaitable[object]) -> None:
        self._target = target
        self._fork = fork
        self._awaitable = awaitable

    def __await__(self) -> Generator[Any, Any, object]:
        return _ended(self._target, self._fork, lambda _: self._awaitable).__await__()

    def close(self) -> None:
        """Drop it."""
        close(self._awaitable)
