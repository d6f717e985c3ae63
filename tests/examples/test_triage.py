"""The triage of a ticket: every combinator does its part, and every drawing of it is made."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from examples.triage import LONGEST, SAMPLE, Ticket, workflow
from interlock import Completed, Outcome
from interlock.workflows import LoopNode, Node, Plan, plans_in

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.anyio


async def _completed(ticket: Ticket) -> Completed[list[str]]:
    outcome: Outcome[list[str]] = await workflow.run(ticket)
    assert isinstance(outcome, Completed), outcome
    return outcome


def _taken(outcome: Completed[list[str]]) -> list[str]:
    return [arm for record in outcome.steps if record.kind == "branch" for arm in record.chosen or ()]


def _nodes(plan: Plan) -> Iterator[Node]:
    """The nodes of a plan, at any depth."""
    for node in plan.nodes:
        yield node
        for inner in plans_in(node):
            yield from _nodes(inner)


def test_every_combinator_stands_in_it() -> None:
    assert {type(node).__name__ for node in _nodes(workflow.plan)} == {
        "BranchNode",
        "DagNode",
        "ForeachNode",
        "LoopNode",
        "MapNode",
        "MergeNode",
        "NestedNode",
        "ParallelNode",
        "SleepNode",
        "StepNode",
    }
    assert {node.until for node in _nodes(workflow.plan) if isinstance(node, LoopNode)} == {True, False}


@pytest.mark.parametrize(
    ("text", "arm", "queue"),
    [
        ("Where is it!", "escalate", "duty officer"),
        ("I want a refund", "to-billing", "billing team"),
        ("Good morning", "to-inbox", "support team"),
    ],
)
async def test_the_mood_and_the_words_decide_who_takes_it(text: str, arm: str, queue: str) -> None:
    outcome = await _completed(Ticket(customer="bob", text=text))
    assert _taken(outcome) == [arm]
    assert f"Our {queue} has your ticket." in outcome.output[0]


async def test_everybody_who_follows_the_ticket_gets_the_answer() -> None:
    outcome = await _completed(SAMPLE)
    assert [letter.partition(":")[0] for letter in outcome.output] == ["ann", "bob", "carol"]
    assert sorted(outcome.state.notes[-3:]) == ["wrote to ann", "wrote to bob", "wrote to carol"]  # two at once


async def test_the_answer_shows_no_number_and_fits() -> None:
    outcome = await _completed(SAMPLE)
    (answer,) = {letter.partition("] ")[2] for letter in outcome.output}
    assert "555" not in answer
    assert answer.count("our hotline") == 2
    assert len(answer) <= LONGEST
    rounds = {record.path: record.iteration for record in outcome.steps if record.path in ("hide-number", "shorten")}
    assert rounds["hide-number"] == 2
    assert rounds["shorten"] >= 2


async def test_the_register_is_asked_again_when_it_is_busy() -> None:
    outcome = await _completed(SAMPLE)
    (record,) = [record for record in outcome.steps if record.path == "customer/ask-register"]
    assert (record.status, record.output, record.attempts) == ("success", "gold", 2)


async def test_costs_of_steps_at_once_add_up() -> None:
    outcome = await _completed(SAMPLE)
    assert outcome.state.cost == pytest.approx(0.3)
    (mapped,) = [cast("dict[str, object]", record.output) for record in outcome.steps if record.step_id == "map-2"]
    assert mapped["cost"] == pytest.approx(0.3)


async def test_the_language_is_found() -> None:
    outcome = await _completed(Ticket(customer="new", text="Ich finde das nicht gut"))
    assert outcome.output[0].startswith("new: [de] Welcome!")


def _run(*command: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", *map(str, command)],
        env={**os.environ, "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"},
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )


def test_the_script_draws_its_run_and_says_what_was_sent() -> None:
    done = _run("examples/triage.py")
    assert (done.returncode, done.stderr) == (0, "")
    drawing, _, told = done.stdout.partition("\nsent ")
    assert drawing.startswith("triage: Ticket → list[str]\n✓ completed in ")
    assert "took escalate" in drawing
    assert "2 attempts" in drawing
    assert max(map(len, drawing.splitlines())) <= 100
    assert told.count("\nsent ") == 2
    assert told.rstrip().endswith("cost   0.30")


FIRST = {"svg": "<svg", "mmd": "flowchart", "dot": "digraph", "json": "{"}
"""What the first line of a drawing holds."""


@pytest.mark.parametrize("suffix", FIRST)
def test_the_command_draws_it(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"triage.{suffix}"
    done = _run("-m", "interlock.cli", "graph", "examples/triage.py:workflow", "-o", file)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    drawn = file.read_text("utf-8")
    assert FIRST[suffix] in drawn.splitlines()[0]
    names = ("tidy", "language", "escalate", "draft", "hide-number", "send")
    assert [name for name in names if name not in drawn] == []


def test_the_command_runs_it() -> None:
    ticket = json.dumps({"customer": "ann", "text": "Refund me"})
    done = _run("-m", "interlock.cli", "run", "examples/triage.py:workflow", "--input", ticket)
    assert (done.returncode, done.stderr) == (0, "")
    (letter,) = json.loads(done.stdout)
    assert letter.startswith("ann: [en] Thank you for ten years with us. Our billing team has your ticket.")
