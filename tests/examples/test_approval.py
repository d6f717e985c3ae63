"""The demonstration shows what happens: a killed run goes on where it stood, waits for a person, and pays once."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from examples.approval import RUN_ID, Answer, Refund, workflow
from interlock import Completed, RequestContext
from interlock.runtime import MemoryRunStore, Suspended

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "examples" / "approval.py"


@pytest.fixture
def books(tmp_path: Path) -> Path:
    """Where steps note what they do."""
    return tmp_path / "books.txt"


def _script(folder: Path, script: Path = SCRIPT) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TMPDIR": str(folder), "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, "-W", "error", script],
        env={**environment, "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )


def _last(books: Path) -> str:
    return books.read_text("utf-8").splitlines()[-1]


@pytest.mark.skipif(os.name == "nt", reason="Windows kills otherwise")
def test_the_script_is_killed_recovered_answered_and_pays_once(tmp_path: Path) -> None:
    done = _script(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "killed (signal 9)" in done.stdout
    assert done.stdout.count("✓ ") >= 6
    assert "NOT SO" not in done.stdout
    (folder,) = tmp_path.glob("interlock-approval-*")
    assert (folder / "books.txt").read_text("utf-8").splitlines() == [
        "scored the risk",
        "began to reserve the money",
        "began to reserve the money",
        "reserved the money",
        "paid",
    ]
    assert (folder / "refund.svg").read_text("utf-8").lstrip().startswith("<svg")
    commands = [line.strip() for line in done.stdout.splitlines() if line.strip().startswith("$ ")]
    assert [command.split()[:5] for command in commands] == [
        ["$", "interlock", "runs", verb, "examples/approval.py:workflow"] for verb in ("recover", "resume")
    ]
    drawing = done.stdout[done.stdout.index("refund: Refund → str") :]
    assert "✓ completed in" in drawing
    assert re.search(r"│ +refuse +│\n.*│ not run │", drawing)


@pytest.mark.skipif(os.name == "nt", reason="Windows kills otherwise")
def test_a_claim_that_does_not_hold_fails_the_script(tmp_path: Path) -> None:
    """With a step that pays twice the script must not say that all is well."""
    careless = tmp_path / "careless.py"
    source = SCRIPT.read_text("utf-8")
    assert source.count('    note(ctx, "paid")\n') == 1
    careless.write_text(source.replace('    note(ctx, "paid")\n', '    note(ctx, "paid")\n' * 2), "utf-8")
    done = _script(tmp_path, careless)
    assert done.returncode == 1
    assert "✗ NOT SO: the money was paid once" in done.stdout


@pytest.mark.anyio
@pytest.mark.parametrize("approved", [True, False])
async def test_a_large_refund_waits_for_a_person(books: Path, approved: bool) -> None:
    run = workflow.create_run(RUN_ID, store=MemoryRunStore())
    outcome = await run.start(Refund(order="A", amount=900), request_context=RequestContext({"books": str(books)}))
    assert isinstance(outcome, Suspended)
    assert [waits.payload for waits in outcome.suspensions] == [{"order": "A", "amount": 900.0, "risk": 0.9}]
    outcome = await run.resume(Answer(approved=approved))
    assert isinstance(outcome, Completed)
    assert outcome.output == ("900.00 paid back for order A" if approved else "no refund for order A")
    assert _last(books) == ("paid" if approved else "refused")


@pytest.mark.anyio
async def test_a_small_refund_is_paid_at_once(books: Path) -> None:
    context = RequestContext({"books": str(books)})
    outcome = await workflow.run(Refund(order="A", amount=9), request_context=context)
    assert isinstance(outcome, Completed)
    assert outcome.output == "9.00 paid back for order A"
