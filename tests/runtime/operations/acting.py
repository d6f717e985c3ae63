"""Steps for tests of operations: some give, some fail, some wait until the test lets them go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import anyio
import anyio.lowlevel

from interlock import Completed, Failed, StepContext, create_step, create_workflow
from interlock.steps import RetryPolicy, Step
from interlock.workflows import StepRecord, WorkflowBuilder

__all__ = ["Actor", "completed", "failed", "flow", "record", "retry", "statuses", "turns"]


def flow(id: str = "flow", **options: Any) -> WorkflowBuilder[Any, Any, Any]:  # noqa: A002
    """A workflow without schemas."""
    return create_workflow(id=id, **options)


async def turns(count: int) -> None:
    """Let others run so many times."""
    for _ in range(count):
        await anyio.lowlevel.checkpoint()


class Actor:
    """What steps of one test do, and a log of it."""

    def __init__(self) -> None:
        self.log: list[str] = []

    def gives(self, name: str, value: Any = None, *, waits: int | None = None, **options: Any) -> Step[Any, Any]:
        """A step that gives a value (default: what it is given), after so many turns; None: at once."""

        def now(ctx: StepContext[Any]) -> Any:
            self.log.append(name)
            return ctx.input if value is None else value

        async def later(ctx: StepContext[Any]) -> Any:
            await self._wait(name, waits or 0)
            return now(ctx)

        return create_step(now if waits is None else later, id=name, **options)

    def fails(self, name: str, *, waits: int | None = None, times: int = 1_000, **options: Any) -> Step[Any, Any]:
        """A step whose first so many attempts fail."""

        def now(ctx: StepContext[Any]) -> Any:
            self.log.append(name)
            if ctx.attempt <= times:
                raise OSError(f"{name} is broken")
            return ctx.input

        async def later(ctx: StepContext[Any]) -> Any:
            await self._wait(name, waits or 0)
            return now(ctx)

        return create_step(now if waits is None else later, id=name, **options)

    def stays(self, name: str) -> Step[Any, Any]:
        """A step that waits for ever, and notes that it was cancelled."""

        async def stay(ctx: StepContext[Any]) -> Any:
            await self._wait(name, None)

        return create_step(stay, id=name)

    def asks(self, name: str, *, waits: int | None = None) -> Step[Any, Any]:
        """A step that waits to be resumed, and gives the answer."""

        def now(ctx: StepContext[Any]) -> Any:
            self.log.append(name)
            if ctx.resume_data is None:
                ctx.suspend({"input": ctx.input}, label=f"about {name}")
            return ctx.resume_data

        async def later(ctx: StepContext[Any]) -> Any:
            await self._wait(name, waits or 0)
            return now(ctx)

        return create_step(now if waits is None else later, id=name)

    def bails(self, name: str, value: Any, *, waits: int | None = None) -> Step[Any, Any]:
        """A step that ends its workflow."""

        def now(ctx: StepContext[Any]) -> Any:
            self.log.append(name)
            ctx.bail(value)

        async def later(ctx: StepContext[Any]) -> Any:
            await self._wait(name, waits or 0)
            now(ctx)

        return create_step(now if waits is None else later, id=name)

    async def _wait(self, name: str, count: int | None) -> None:
        try:
            if count is None:
                await anyio.sleep_forever()
            else:
                await turns(count)
        except anyio.get_cancelled_exc_class():
            self.log.append(f"{name} cancelled")
            raise


def completed(outcome: Any) -> Any:
    """What it gave."""
    assert isinstance(outcome, Completed), outcome
    return cast("Completed[Any]", outcome).output


def failed(outcome: Any) -> Exception:
    """What it failed with."""
    assert isinstance(outcome, Failed), outcome
    return outcome.error


def statuses(outcome: Any) -> dict[str, str]:
    """How each step ended, by path; of several times, the last."""
    return {one.path: one.status for one in outcome.steps}


def record(outcome: Any, path: str) -> StepRecord:
    """The last record of a path."""
    found: Sequence[StepRecord] = [one for one in outcome.steps if one.path == path]
    return found[-1]


def retry(attempts: int, **options: Any) -> RetryPolicy:
    """A policy."""
    return RetryPolicy(attempts=attempts, **options)
