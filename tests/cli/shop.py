"""A file with workflows that wait, fail and are killed, and runs of theirs in a store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio

from interlock.cli.loading import load
from interlock.storage import JournalRow, SQLiteRunStore
from interlock.workflows import Paused, Workflow
from tests.cli.conftest import Done, Interlock

__all__ = ["SHOP", "died_after", "json_of", "paused", "rows_of", "started"]

SHOP = """
import os
import sys
from typing import Annotated

from pydantic import BaseModel

from interlock import ProcessorStepSchema, StepContext, create_step, create_workflow, step
from interlock.processors import PIIDetector
from interlock.steps import RetryPolicy
from interlock.workflows import append


class Refund(BaseModel):
    order: str
    amount: float


class Answer(BaseModel):
    approved: bool


class Notes(BaseModel):
    notes: Annotated[list[str], append] = []


@step
def score(ctx: StepContext[Refund]) -> Refund:
    print("scoring")
    ctx.set_state(notes="scored")
    if ctx.input.order == "kill":
        os.kill(os.getpid(), 9)
    if ctx.input.order == "bad":
        raise ValueError("no such order")
    if ctx.input.order == "fraud":
        ctx.abort("known to the police", metadata={"refund": ctx.input})
    return ctx.input


def ask(ctx: StepContext[Refund]) -> str:
    if ctx.resume_data is None:
        ctx.suspend({"amount": ctx.input.amount}, label="refund")
    return f"{'paid' if ctx.resume_data.approved else 'refused'} for {ctx.input.order}"


approve = create_step(ask, id="approve", resume_schema=Answer)
refund = create_workflow(id="refund", input_schema=Refund, state_schema=Notes).then(score).then(approve).commit()


def wait(ctx: StepContext[str]) -> str:
    if ctx.resume_data is None:
        ctx.suspend(label=ctx.step_id)
    return ctx.resume_data


def both_of(*ids):
    made = create_workflow(id="both", input_schema=str)
    return made.parallel([create_step(wait, id=id_) for id_ in ids]).commit()


both = both_of("left", "right")
changed = both_of("left", "right", "middle")


def flaky(ctx: StepContext[int]) -> int:
    if ctx.attempt == 1:
        raise ConnectionError("busy")
    return ctx.input + 1


tries = create_step(flaky, id="flaky", retry=RetryPolicy(attempts=2))
numbers = (
    create_workflow(id="numbers", input_schema=list[int])
    .foreach(tries)
    .branch([(lambda ctx: sum(ctx.input) > 100, create_step(lambda ctx: "many", id="many"))])
    .commit()
)
guard = create_workflow(id="guard", input_schema=ProcessorStepSchema, output_schema=ProcessorStepSchema)
guard = guard.then(PIIDetector(strategy="redact")).commit()
agent_like = 7
"""


def started(interlock: Interlock, shop: Path, db: Path, order: str = "A", *, run_id: str = "r1") -> Done:
    data = json.dumps({"order": order, "amount": 900})
    return interlock("run", f"{shop}:refund", "--input", data, "--store", db, "--run-id", run_id)


def rows_of(db: Path, run_id: str) -> list[JournalRow]:
    async def read() -> list[JournalRow]:
        return list(await SQLiteRunStore(db).read(run_id))

    return anyio.run(read)


def died_after(db: Path, run_id: str, *, after: int, copy: str) -> None:
    """Another run with the first rows of one: as if its process had died there."""

    async def append() -> None:
        store = SQLiteRunStore(db)
        await store.append(copy, 0, (await store.read(run_id))[:after])

    anyio.run(append)


def paused(shop: Path, db: Path, run_id: str) -> None:
    """A run of the workflow ``both`` that stands before its first steps."""

    async def start() -> None:
        workflow = load(f"{shop}:both")
        assert isinstance(workflow, Workflow)
        assert isinstance(await workflow.create_run(run_id, store=SQLiteRunStore(db)).start("x", pause=True), Paused)

    anyio.run(start)


def json_of(done: Done) -> Any:
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)
