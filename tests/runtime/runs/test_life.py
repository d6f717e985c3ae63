"""The life of a run, whatever people do with it at once: nothing hangs, nothing is lost, nothing is used twice."""

from __future__ import annotations

import contextlib
import gc
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import anyio
import anyio.lowlevel
import pydantic
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlock import StepContext, Workflow, create_step, create_workflow
from interlock.errors import (
    AlreadyResumed,
    AlreadyStarted,
    GraphChanged,
    JournalConflict,
    NothingSuspended,
    RunBusy,
    UnknownRun,
)
from interlock.runtime import Failed, LocalEngine, MemoryRunStore, Outcome, RunStore, SQLiteRunStore, Suspended
from interlock.storage import JournalRow, has_ended

Named = (AlreadyStarted, AlreadyResumed, NothingSuspended, RunBusy, GraphChanged, UnknownRun, pydantic.ValidationError)

Deed = Literal["start", "resume", "resume any", "resume by label", "resume wrongly", "cancel", "recover", "ask"]
DEEDS: Sequence[Deed] = (
    "start",
    "start",
    "resume",
    "resume",
    "resume any",
    "resume by label",
    "resume wrongly",
    "cancel",
    "recover",
    "ask",
)


@dataclass(frozen=True)
class Act:
    """One thing that somebody does.

    Attributes:
        what: What.
        pause: How often others have their turn before it.
        hand: With which run object or store.
        which: Which suspension, of those known.
        left: After how many turns they walk away from it, as if they had died; None: they wait for it.
    """

    what: Deed
    pause: int
    hand: int
    which: int
    left: int | None = None


acts = st.builds(
    Act,
    st.sampled_from(DEEDS),
    st.integers(0, 8),
    st.integers(0, 2),
    st.integers(0, 5),
    st.one_of(st.none(), st.none(), st.none(), st.integers(0, 12)),
)
people = st.lists(st.lists(acts, min_size=1, max_size=8), min_size=1, max_size=4)


def asking() -> Workflow[Any, Any]:
    """A workflow that asks in four places, between steps that give way."""

    async def ask(ctx: StepContext[Any]) -> int:
        await anyio.lowlevel.checkpoint()
        if ctx.resume_data is None:
            ctx.suspend({"for": ctx.step_id}, label=ctx.step_id)
        return 1 + int(ctx.resume_data)

    async def work(ctx: StepContext[Any]) -> Any:
        for _ in range(3):
            await anyio.lowlevel.checkpoint()
        return ctx.input

    def step(id: str, function: Callable[[StepContext[Any]], Any], **options: Any) -> Any:  # noqa: A002
        return create_step(function, id=id, **options)

    return (
        create_workflow(id="asking", input_schema=int)
        .then(step("work", work))
        .parallel([step("one", ask, resume_schema=int), step("two", ask, resume_schema=int)])
        .map(lambda ctx: [1, 2])
        .foreach(step("each", ask, resume_schema=int), concurrency=2)
        .then(step("last", work))
        .commit()
    )


@dataclass
class Log:
    """What has come of it all."""

    tokens: list[str] = field(default_factory=list[str])
    outcomes: Counter[str] = field(default_factory=Counter[str])
    conflicts: int = 0
    errors: list[BaseException] = field(default_factory=list[BaseException])

    def take(self, deed: str, outcome: Outcome[Any]) -> None:
        """Note an outcome."""
        self.outcomes[deed] += 1
        if isinstance(outcome, Suspended):
            self.tokens += [one.token for one in outcome.suspensions if one.token not in self.tokens]
        if isinstance(outcome, Failed):
            if isinstance(outcome.error, JournalConflict):
                self.conflicts += 1
            else:
                self.errors.append(outcome.error)


async def lived(
    workflow: Workflow[Any, Any], stores: Sequence[RunStore | None], lives: Sequence[Sequence[Act]]
) -> tuple[Log, Sequence[JournalRow]]:
    """Everybody does what they do, at once; gives what came of it, and the journal when all have left it alone."""
    log = Log()
    objects = [workflow.create_run("r", store=store) for store in stores]

    async def turns(number: int) -> None:
        for _ in range(number):
            await anyio.lowlevel.checkpoint()

    async def do(deed: Act) -> None:
        run, store = objects[deed.hand % len(objects)], stores[deed.hand % len(stores)]
        token = log.tokens[deed.which % len(log.tokens)] if log.tokens else "none"
        match deed.what:
            case "start":
                log.take("start", await run.start(1))
            case "resume":
                log.take("resume", await run.resume(1, token=token))
            case "resume any":
                log.take("resume", await run.resume(1))
            case "resume by label":
                log.take("resume", await run.resume(1, label="one", step="one", index=None))
            case "resume wrongly":
                log.take("resume", await run.resume("x" if deed.which % 2 else 1, token=token + "x" * (deed.which % 3)))
            case "cancel" if deed.which == 0:
                run.cancel()
            case "recover" if store is not None:
                log.take("recover", await workflow.recover("r", store=store))
            case "ask" if store is not None and deed.which == 0:
                await store.ask_to_cancel("r")
            case _:
                await anyio.lowlevel.checkpoint()

    async def tried(act: Act) -> None:
        with contextlib.suppress(*Named):
            await do(act)

    async def live(life: Sequence[Act]) -> None:
        for act in life:
            await turns(act.pause)
            if act.left is None:
                await tried(act)
                continue
            async with anyio.create_task_group() as group:
                group.start_soon(tried, act)
                await turns(act.left)
                group.cancel_scope.cancel()

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for life in lives:
                group.start_soon(live, life)
        store = stores[0]
        if store is None:
            return log, ()
        if not await store.read("r"):
            with contextlib.suppress(AlreadyStarted):
                await workflow.create_run("r", store=store).start(1)
        for _ in range(10):
            outcome = await workflow.recover("r", store=store) if await store.read("r") else None
            if not isinstance(outcome, Suspended):
                break
            await workflow.create_run("r", store=store).resume(1, token=outcome.suspensions[0].token)
            log.outcomes["resume"] += 1
        return log, await store.read("r")


@contextlib.contextmanager
def some_stores(kind: str) -> Generator[Sequence[RunStore | None]]:
    """A store a hand."""
    if kind == "none":
        yield [None]
    elif kind == "memory":
        store = MemoryRunStore()
        yield [store, store, store]
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "runs.db"
            opened = [SQLiteRunStore(path) for _ in range(2 if kind == "two files" else 1)]
            yield [*opened, opened[0]]
            for one in opened:
                one.close()


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize(("kind", "part"), [("none", 0.7), ("memory", 1.3), ("one file", 0.2), ("two files", 0.3)])
def test_whatever_is_done_with_a_run(backend: str, kind: str, part: float) -> None:
    @settings(max_examples=int(settings().max_examples * part), suppress_health_check=[HealthCheck.too_slow])
    @given(lives=people)
    def check(lives: list[list[Act]]) -> None:
        with some_stores(kind) as stores:
            log, rows = anyio.run(lived, asking(), stores, lives, backend=backend)
        assert not log.errors
        assert kind == "two files" or not log.conflicts, "in one process, with one store, nobody is in another's way"
        if kind == "none":
            return
        assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
        answered = [row.data["token"] for row in rows if row.type == "workflow-resume"]
        assert len(answered) == len(set(answered)), "a suspension was used twice"
        asked = [row.data["token"] for row in rows if row.type == "step-suspended"]
        assert set(answered) <= set(asked)
        assert log.outcomes["resume"] <= len(answered)
        if all(act.left is None for life in lives for act in life):
            assert log.outcomes["resume"] == len(answered)
        assert log.outcomes["start"] <= 1
        assert rows[-1].type == "workflow-finish"
        assert has_ended(rows[-1].data["status"]), "the run was lost"
        ended = Counter(
            (row.path, row.at) for row in rows if row.type == "step-result" and row.data["status"] == "success"
        )
        assert not [key for key, times in ended.items() if times > 1], "a step ended twice"

    check()


@pytest.mark.anyio
async def test_an_engine_keeps_nothing_of_runs_that_nobody_has_any_more() -> None:
    engine, store = LocalEngine(), MemoryRunStore()
    run = engine.create_run(asking(), store=store)
    await run.start(1)
    assert len(engine._turnstiles) == 1
    del run
    await anyio.lowlevel.checkpoint()  # the event loop lets go of what it ran last
    gc.collect()
    assert not engine._turnstiles
