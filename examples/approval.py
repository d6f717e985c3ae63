"""A refund that outlives the death of its process, and waits for a person. It needs no key and no network.

    python examples/approval.py

The script starts a run in a process of its own and kills that with SIGKILL while a step is under way. Another process
recovers the run: what had finished does not run again. It comes to a step that waits for a person, and stands still, in
a file, with nothing running. A third process brings the answer, and the money is paid out, once.

The commands that the script calls are those you would type; ``interlock runs list --store FILE`` shows what it left.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import anyio
from pydantic import BaseModel

from interlock import Completed, Outcome, RequestContext, StepContext, create_step, create_workflow, step
from interlock.runtime import SQLiteRunStore

RUN_ID = "refund-1041"
TARGET = f"{os.path.relpath(__file__)}:workflow"

# The workflow. Each step notes in a file what it does to the world, as a bank would in its books.


class Refund(BaseModel):
    """What is asked for, and what is known of it so far."""

    order: str
    amount: float
    risk: float = 0.0
    approved: bool = False


class Answer(BaseModel):
    """What a person says to it."""

    approved: bool


@step
def score(ctx: StepContext[Refund]) -> Refund:
    """How much of a risk it is, from 0 to 1."""
    note(ctx, "scored the risk")
    return ctx.input.model_copy(update={"risk": min(ctx.input.amount / 1000, 1.0)})


@step
def reserve(ctx: StepContext[Refund]) -> Refund:
    """Set the money aside. The first process does not get further than the middle of this."""
    note(ctx, "began to reserve the money")
    if is_to_be_killed():
        wait_to_be_killed()
    note(ctx, "reserved the money")
    return ctx.input


def ask(ctx: StepContext[Refund]) -> Refund:
    """A small refund is approved at once; for a large one the run stands still until somebody answers."""
    if ctx.input.risk < 0.5:
        return ctx.input.model_copy(update={"approved": True})
    answer: Answer | None = ctx.resume_data
    if answer is None:
        ctx.suspend({"order": ctx.input.order, "amount": ctx.input.amount, "risk": ctx.input.risk}, label="refund")
    return ctx.input.model_copy(update={"approved": answer.approved})


@step
def pay(ctx: StepContext[Refund]) -> str:
    """Pay it out."""
    note(ctx, "paid")
    return f"{ctx.input.amount:.2f} paid back for order {ctx.input.order}"


@step
def refuse(ctx: StepContext[Refund]) -> str:
    """Keep the money."""
    note(ctx, "refused")
    return f"no refund for order {ctx.input.order}"


def is_approved(ctx: StepContext[Refund]) -> bool:
    """Whether it is to be paid."""
    return ctx.input.approved


workflow = (
    create_workflow(id="refund", input_schema=Refund, output_schema=str)
    .then(score)
    .then(reserve)
    .then(create_step(ask, id="approve", resume_schema=Answer))
    .branch([(is_approved, pay)], otherwise=refuse)
    .merge()
    .commit()
)


def note(ctx: StepContext[Refund], what: str) -> None:
    """Write a line into the books, if the caller said which file they are; the journal remembers that."""
    if "books" in ctx.request_context:
        with Path(str(ctx.request_context["books"])).open("a", encoding="utf-8") as books:
            books.write(f"{what}\n")


# The first process.


def is_to_be_killed() -> bool:
    """Whether this is the first process."""
    return sys.argv[1:2] == ["die"]


def wait_to_be_killed() -> None:
    """Say that the step is under way, and never come back."""
    print("under way", flush=True)
    sys.stdin.read()  # nothing ever comes; the parent kills this process


async def start(store: Path, books: Path) -> None:
    """Start the run. This process does not live to see its end."""
    run = workflow.create_run(RUN_ID, store=SQLiteRunStore(store))
    await run.start(Refund(order="LX-7", amount=900), request_context=RequestContext({"books": str(books)}))


# The demonstration.


def demonstrate(folder: Path) -> bool:
    """Tell the story; whether it went as it should."""
    store, books = folder / "runs.db", folder / "books.txt"
    kept = ("--store", str(store))

    killed = start_and_kill(store, books)
    print(f"1. A process started run {RUN_ID} and was killed (signal {-killed}) in the middle of a step.")

    print("2. Another process recovers the run. It comes to a question, and stands still:")
    recovered = interlock("runs", "recover", TARGET, RUN_ID, *kept)
    after_recovery = noted(books)

    print("3. Whoever may decide answers:")
    resumed = interlock("runs", "resume", TARGET, RUN_ID, "--data", '{"approved": true}', *kept)

    outcome = anyio.run(how_it_ended, store)
    picture = folder / "refund.svg"
    picture.write_text(workflow.to_svg(run=outcome), "utf-8")
    print(f"4. The run, drawn ({picture} is the picture):\n\n{workflow.to_text(run=outcome)}\n")

    print("5. The books:", *noted(books), sep="\n     ")
    began, reserved = "began to reserve the money", "reserved the money"
    claims = {
        "the process was killed before it could end the step": killed < 0,
        "the finished step did not run again": noted(books).count("scored the risk") == 1,
        "the step that was under way began anew": [note for note in noted(books) if note == began] == [began] * 2,
        "the run stood still before anything was paid": recovered == 4 and after_recovery[-1] == reserved,
        "the answer let it end": resumed == 0 and isinstance(outcome, Completed),
        "the money was paid once": noted(books).count("paid") == 1,
    }
    for claim, held in claims.items():
        print(f"   {'✓' if held else '✗ NOT SO:'} {claim}")
    return all(claims.values())


def start_and_kill(store: Path, books: Path) -> int:
    """Start the run in a process of its own, and kill that in the middle of a step; its exit code."""
    command = [sys.executable, __file__, "die", str(store), str(books)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()  # the step is under way; nobody has to guess when
        process.kill()
        return process.wait()


def interlock(*args: str) -> int:
    """Call the command, and show what it says; its exit code."""
    print(f"   $ {shlex.join(['interlock', *args])}")
    command = [sys.executable, "-m", "interlock.cli", *args]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False)
    for line in done.stdout.splitlines():
        print(f"   {line}")
    return done.returncode


async def how_it_ended(store: Path) -> Outcome[str]:
    """What the journal tells of the run: of one that has ended, ``recover`` only tells."""
    return await workflow.recover(RUN_ID, store=SQLiteRunStore(store))


def noted(books: Path) -> list[str]:
    """The lines of the books."""
    return books.read_text("utf-8").splitlines()


def main() -> None:
    """The first process, or the one that tells the story."""
    if is_to_be_killed():
        store, books = sys.argv[2:]
        anyio.run(start, Path(store), Path(books))
    else:
        sys.exit(not demonstrate(Path(tempfile.mkdtemp(prefix="interlock-approval-"))))


if __name__ == "__main__":
    main()
