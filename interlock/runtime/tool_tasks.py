"""Where a run's tools run: tasks of their own, stopped when the run is left.

On asyncio these are plain tasks, because a run may be left by another task than the one that entered it: a web server
that drops an asynchronous generator has it closed by the event loop, somewhere else, and a task group cannot be left
there. On trio they run in one of anyio's task groups: trio has every task in a nursery.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from interlock.runtime.join import on_asyncio

if TYPE_CHECKING:
    import asyncio

__all__ = ["ToolTasks", "open_tool_tasks"]


class ToolTasks(Protocol):
    """Tasks that run beside the one that reads the run."""

    def start_soon(self, function: Callable[..., Coroutine[Any, Any, None]], /, *args: Any) -> object:
        """Begin a task."""
        ...

    async def aclose(self) -> None:
        """Cancel those that still run, and wait for them.

        Raises:
            BaseException: What one of them raised that is no failure of a tool's own.
        """
        ...


async def open_tool_tasks() -> ToolTasks:
    """A place for the tools of one run."""
    if on_asyncio():
        return _PlainTasks()
    tasks = _GroupedTasks()
    await tasks.enter()
    return tasks


class _PlainTasks:
    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._raised: BaseException | None = None

    def start_soon(self, function: Callable[..., Coroutine[Any, Any, None]], /, *args: Any) -> None:
        import asyncio

        task = asyncio.get_running_loop().create_task(function(*args))
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def aclose(self) -> None:
        import asyncio

        with anyio.CancelScope(shield=True):
            while self._tasks:
                for task in self._tasks:
                    task.cancel()
                await asyncio.wait(self._tasks)
        if self._raised is not None:
            raised, self._raised = self._raised, None
            raise raised

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        raised = None if task.cancelled() else task.exception()
        if self._raised is None and not isinstance(
            raised, KeyboardInterrupt | SystemExit
        ):  # asyncio raises those itself
            self._raised = raised


class _GroupedTasks:
    def __init__(self) -> None:
        self._stack = AsyncExitStack()
        self._group = anyio.create_task_group()

    async def enter(self) -> None:
        await self._stack.enter_async_context(self._group)

    def start_soon(self, function: Callable[..., Coroutine[Any, Any, None]], /, *args: Any) -> None:
        self._group.start_soon(function, *args)

    async def aclose(self) -> None:
        self._group.cancel_scope.cancel()
        await self._stack.aclose()
