"""A store whose writes raise what looks like a cancellation, or no ``Exception`` at all: the run's failure, no hang."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from interlock import StepContext, Workflow, create_step, create_workflow
from interlock.errors import StorageError
from interlock.runtime import Completed, Failed, MemoryRunStore, Suspended
from interlock.storage import JournalRow

pytestmark = pytest.mark.anyio


class Odd(BaseException):
    """No ``Exception``."""


class Breaking(MemoryRunStore):
    """Fails at one write.

    Args:
        at: At which, from 1; 0: at none.
        fail: Raises.
    """

    def __init__(self, at: int, fail: Callable[[], object]) -> None:
        super().__init__()
        self.writes = 0
        self._at = at
        self._fail = fail

    async def append(self, run_id: str, after: int, rows: Sequence[JournalRow]) -> bool:
        self.writes += 1
        if self.writes == self._at:
            await anyio.lowlevel.checkpoint()
            result = self._fail()
            if isinstance(result, asyncio.Future):
                await result
        return await super().append(run_id, after, rows)


def cancelled() -> object:
    raise asyncio.CancelledError


def cancelled_future() -> object:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    future.cancel()
    return future


def odd() -> object:
    raise Odd("odd")


def grouped() -> object:
    raise BaseExceptionGroup("several", [Odd("odd"), OSError("full")])


async def aside(ctx: StepContext[Any]) -> Any:
    await anyio.lowlevel.checkpoint()
    return ctx.input


def some(told: list[str] | None = None) -> Workflow[Any, Any]:
    """Three steps, of which two are beside one another."""
    said: list[str] = [] if told is None else told
    return (
        create_workflow(id="some", on_finish=lambda outcome: said.append(outcome.status))
        .then(create_step(aside, id="one"))
        .parallel([create_step(aside, id="left"), create_step(aside, id="right")])
        .map(lambda ctx: 7)
        .commit()
    )


async def fails_anywhere(fail: Callable[[], object]) -> None:
    """Wherever but at the first write the store fails, the run has failed and can be recovered."""
    for at in range(2, 30):
        store, told = Breaking(at, fail), list[str]()
        with anyio.fail_after(5):
            outcome = await some(told).create_run("r", store=store).start(1)
        if store.writes < at:
            assert isinstance(outcome, Completed)
            assert at > 4
            return
        assert isinstance(outcome, Failed), f"at write {at}"
        assert isinstance(outcome.error, StorageError)
        assert "failed to write the journal of run 'r'" in str(outcome.error)
        with anyio.fail_after(5):
            again = await some().recover("r", store=store)
        assert isinstance(again, Completed)
        assert again.output == 7
    raise AssertionError("it never comes to its end")


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("fail", [cancelled, cancelled_future])
async def test_a_write_that_was_cancelled_by_nobody_here_is_the_runs_failure(fail: Callable[[], object]) -> None:
    await fails_anywhere(fail)


@pytest.mark.parametrize("fail", [odd, grouped])
async def test_a_write_that_raises_no_exception_is_the_runs_failure(fail: Callable[[], object]) -> None:
    await fails_anywhere(fail)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_a_wish_to_stop_the_program_comes_out_of_a_write(stop: type[BaseException], backend: str) -> None:
    """In a loop of its own, which asyncio leaves at once."""

    def stops() -> object:
        raise stop

    store = Breaking(3, stops)

    async def main() -> None:
        await some().create_run("r", store=store).start(1)

    async def again() -> None:
        assert isinstance(await some().recover("r", store=store), Completed)

    with pytest.raises((stop, BaseExceptionGroup)) as caught:
        anyio.run(main, backend=backend)
    assert caught.errisinstance(stop) or caught.group_contains(stop)
    anyio.run(again, backend=backend)


async def test_a_reader_along_is_told_of_such_a_failure_at_the_end() -> None:
    store = Breaking(3, odd)
    with anyio.fail_after(5):
        async with some().create_run("r", store=store).stream(1) as events:
            last = [event async for event in events][-1]
    assert last.type == "workflow-finish"
    assert isinstance(last.outcome, Failed)
    assert isinstance(last.outcome.error, StorageError)


async def test_a_leg_behind_an_answer_fails_in_the_same_way() -> None:
    def ask(ctx: StepContext[Any]) -> Any:
        if ctx.resume_data is None:
            ctx.suspend()
        return ctx.resume_data

    workflow = create_workflow(id="w").then(create_step(ask)).then(create_step(aside)).commit()
    for at in range(5, 30):
        store = Breaking(at, odd)
        run = workflow.create_run("r", store=store)
        assert isinstance(await run.start(1), Suspended)
        with anyio.fail_after(5):
            outcome = await run.resume(2)
        if store.writes < at:
            assert isinstance(outcome, Completed)
            assert at > 6
            return
        assert isinstance(outcome, Failed)
        assert isinstance(outcome.error, StorageError)
        again = await workflow.recover("r", store=store)
        assert isinstance(again, Completed)
        assert again.output == 2
    raise AssertionError("it never comes to its end")
