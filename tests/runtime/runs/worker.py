"""A process that runs one stored run, and does nothing without being told: for tests that kill it.

It is started as ``python -m tests.runtime.runs.worker FILE RUN_ID COMMAND [TOKEN]``. Its steps say on standard
output that they have come, and go on at a line on standard input. The outcome is the last it says.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from interlock import StepContext, Workflow, create_step, create_workflow
from interlock.runtime import Failed, SQLiteRunStore

__all__ = ["WORKFLOW", "told"]


def say(*words: str) -> None:
    """Tell whoever started this process."""
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


async def _first(ctx: StepContext[int]) -> int:
    say("first")
    return ctx.input + 1


async def _second(ctx: StepContext[int]) -> int:
    say("second")
    await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True)
    return ctx.input + 10


async def _asks(ctx: StepContext[int]) -> int:
    if ctx.resume_data is None:
        ctx.suspend("may I?")
    return ctx.input + int(ctx.resume_data)


WORKFLOW: Workflow[Any, Any] = (
    create_workflow(id="whole", input_schema=int)
    .then(create_step(_first, id="first"))
    .then(create_step(_second, id="second"))
    .then(create_step(_asks, id="asks"))
    .commit()
)


def told(outcome: Any) -> str:
    """An outcome as one line."""
    what: object = None
    if outcome.status == "success":
        what = outcome.output
    elif isinstance(outcome, Failed):
        what = type(outcome.error).__name__
    return json.dumps([outcome.status, what])


async def main(*arguments: str) -> None:
    """Do what is said, at once or when told to."""
    path, run_id, command = arguments[:3]
    token = arguments[3] if len(arguments) > 3 else None
    store = SQLiteRunStore(Path(path))
    run = WORKFLOW.create_run(run_id, store=store)
    name, _, extra = command.partition(":")
    say("ready")
    if extra.startswith("wait"):
        await anyio.to_thread.run_sync(sys.stdin.readline)
    try:
        match name:
            case "start":
                outcome: Any = await run.start(1)
            case "pause":
                outcome = await run.start(1, pause=True)
            case "next":
                outcome = await run.next()
            case "recover":
                outcome = await WORKFLOW.recover(run_id, store=store)
            case _:
                outcome = await run.resume(100, token=token)
    except Exception as error:
        say("raised", type(error).__name__)
    else:
        say("outcome", told(outcome))


if __name__ == "__main__":
    anyio.run(main, *sys.argv[1:])
