"""Law: cancelled at any of its waits, a run is in its store as its result says: it waits, or it has ended."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from interlock import Agent, AgentResult, tool
from interlock.errors import NothingSuspended
from interlock.memory import InMemoryMessageStore, Memory
from interlock.runtime import MemoryRunStore, SQLiteRunStore
from interlock.runtime.stream import AgentStream
from interlock.storage import JournalRow, RunStore
from interlock.testing import ScriptedModel
from tests.lifecycle.laws.test_cancelled_anywhere import cancelled_at, natively_cancelled_at

pytestmark = pytest.mark.anyio

Cancel = Callable[[Coroutine[Any, Any, object], int], Awaitable[tuple[bool, int]]]


class Far(MemoryRunStore):
    """Its answers are on their way for a while when it has written already."""

    async def append(self, run_id: str, after: int, rows: Sequence[JournalRow]) -> bool:
        asked = await super().append(run_id, after, rows)
        for _ in range(3):
            await anyio.lowlevel.checkpoint()
        return asked


class Case:
    """A tool that needs an approval, and where its runs are kept."""

    def __init__(self, store: RunStore | None = None) -> None:
        self.store = Far() if store is None else store
        self.memory = InMemoryMessageStore()
        self.ran = 0
        self.result: AgentResult | None = None

    def agent(self, *script: Any) -> Agent:
        @tool(needs_approval=True)
        def pay() -> str:
            self.ran += 1
            return "paid"

        return Agent(model=ScriptedModel(script), tools=[pay], run_store=self.store, memory=Memory(self.memory))

    async def read(self, opened: AgentStream) -> None:
        try:
            async with opened as stream:
                async for _ in stream:
                    pass
        finally:
            if opened._run is not None:  # pyright: ignore[reportPrivateUsage]
                self.result = await opened.result()

    def asks(self) -> AgentStream:
        return self.agent(ScriptedModel.tool_call("pay", {}, id="c1")).stream("hello", thread="t")

    def is_answered(self, run_id: str) -> AgentStream:
        return self.agent("Done.").resume_stream(run_id, approve=True)

    async def status(self) -> str | None:
        return next((told.status for told in await self.store.runs()), None)

    async def ends(self) -> int:
        """How often the store has been told how the run ended."""
        rows = [row for told in await self.store.runs() for row in await self.store.read(told.run_id)]
        return sum(row.type == "agent-finish" for row in rows)


async def begins(case: Case) -> AgentStream:
    return case.asks()


async def goes_on(case: Case) -> AgentStream:
    await case.read(case.asks())
    assert case.result is not None
    run_id, case.result = case.result.run_id, None
    return case.is_answered(run_id)


@pytest.mark.parametrize(
    ("cancel", "anyio_backend"),
    [(cancelled_at, "asyncio"), (natively_cancelled_at, "asyncio"), (cancelled_at, "trio")],
)
@pytest.mark.parametrize("opened", [begins, goes_on])
async def test_a_run_that_was_cancelled_waits_or_has_ended(
    opened: Callable[[Case], Awaitable[AgentStream]], cancel: Cancel
) -> None:
    seen: set[str | None] = set()
    for moment in range(1, 1_000):
        case = Case()
        stream = await opened(case)
        with anyio.fail_after(5):
            _, waits = await cancel(case.read(stream), moment)
        status = await case.status()
        seen.add(status)
        assert status != "running", f"after wait {moment}"
        assert await case.ends() == (status not in (None, "suspended")), f"after wait {moment}"
        if case.result is not None:
            assert status in (None, case.result.status), f"after wait {moment}"
        if status == "suspended":
            assert case.ran == 0
            (told,) = await case.store.runs()
            await case.read(case.is_answered(told.run_id))
            assert (await case.status(), case.ran) == ("success", 1)
        if waits < moment:
            assert seen >= {"suspended", "canceled"}
            return
    raise AssertionError("it never ended")


class Gated(SQLiteRunStore):
    """Its thread says when it is about to write such a row, and writes it when it may."""

    def __init__(self, path: Path, kind: str) -> None:
        super().__init__(path)
        self.kind = kind
        self.about_to_write = threading.Event()
        self.may_write = threading.Event()

    def _append(self, run_id: str, after: int, rows: Sequence[JournalRow]) -> bool:
        if rows[0].type == self.kind:
            self.about_to_write.set()
            assert self.may_write.wait(5)
        return super()._append(run_id, after, rows)


async def cancelled_while_written(case: Case, store: Gated, stream: AgentStream) -> None:
    """Cancel with ``task.cancel()``, once, while a thread is about to write."""
    import asyncio

    task = asyncio.create_task(case.read(stream))
    await asyncio.to_thread(store.about_to_write.wait, 5)
    task.cancel()
    await anyio.lowlevel.checkpoint()
    store.may_write.set()
    await asyncio.wait([task], timeout=5)
    assert task.cancelled()


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_who_is_cancelled_while_a_claim_is_written_has_not_gone_on_with_the_run(tmp_path: Path) -> None:
    store = Gated(tmp_path / "runs.db", "agent-resume")
    case = Case(store)
    stream = await goes_on(case)
    await cancelled_while_written(case, store, stream)
    assert (await case.status(), case.ran) == ("suspended", 0)
    (told,) = await store.runs()
    await case.read(case.is_answered(told.run_id))
    assert (await case.status(), case.ran) == ("success", 1)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_run_that_is_cancelled_while_it_is_written_that_it_waits_has_ended(tmp_path: Path) -> None:
    store = Gated(tmp_path / "runs.db", "agent-suspend")
    case = Case(store)
    await cancelled_while_written(case, store, case.asks())
    assert case.result is not None
    assert (case.result.status, await case.status()) == ("canceled", "canceled")
    with pytest.raises(NothingSuspended, match="it has ended: canceled"):
        await case.read(case.is_answered(case.result.run_id))
