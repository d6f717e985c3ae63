"""``interlock runs``, and ``interlock run --store``: what they print, exit with, and leave in the store."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from interlock.storage import JournalRow, SQLiteRunStore
from tests.cli.conftest import Done, Interlock, Write

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


@pytest.fixture
def shop(write: Write) -> Path:
    """A file with workflows that wait, fail, and are killed."""
    return write("shop.py", SHOP)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Where runs are kept."""
    return tmp_path / "runs.db"


def _started(interlock: Interlock, shop: Path, db: Path, order: str = "A", *, run_id: str = "r1") -> Done:
    data = json.dumps({"order": order, "amount": 900})
    return interlock("run", f"{shop}:refund", "--input", data, "--store", db, "--run-id", run_id)


def _rows(db: Path, run_id: str) -> list[JournalRow]:
    async def read() -> list[JournalRow]:
        return list(await SQLiteRunStore(db).read(run_id))

    return anyio.run(read)


def _died(db: Path, run_id: str, *, after: int, copy: str) -> None:
    """Another run with the first rows of one: as if its process had died there."""

    async def append() -> None:
        store = SQLiteRunStore(db)
        await store.append(copy, 0, (await store.read(run_id))[:after])

    anyio.run(append)


def _json(done: Done) -> Any:
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)


# interlock run --store


def test_a_run_that_suspends_exits_with_4_and_says_what_waits_and_how_to_answer(
    interlock: Interlock, shop: Path, db: Path
) -> None:
    done = _started(interlock, shop, db)
    assert (done.code, done.out) == (4, "")
    assert done.err.splitlines() == [
        "interlock: run r1",
        "scoring",
        "interlock: suspended",
        "  'approve' waits (label refund): {\"amount\":900.0}",
        f"    answer it with: interlock runs resume {shop}:refund r1 --store {db} --data JSON",
    ]


def test_a_run_that_is_kept_nowhere_says_that_nothing_can_answer_it(interlock: Interlock, shop: Path) -> None:
    done = interlock("run", f"{shop}:refund", '{"order": "A", "amount": 1}')
    assert (done.code, done.out) == (4, "")
    assert "nothing can answer it, for the run is kept nowhere: run it with --store FILE" in done.err


def test_a_run_gets_an_id_of_its_own_and_says_it(interlock: Interlock, shop: Path, db: Path) -> None:
    done = interlock("run", f"{shop}:numbers", "[1]", "--store", db)
    assert done.code == 0
    (run,) = _json(interlock("runs", "list", "--store", db, "--json"))
    assert done.err == f"interlock: run {run['run_id']}\n"


def test_a_run_id_is_taken_once(interlock: Interlock, shop: Path, db: Path) -> None:
    _started(interlock, shop, db)
    before = _rows(db, "r1")
    done = _started(interlock, shop, db)
    assert (done.code, done.out) == (2, "")
    assert "there is a run 'r1' in" in done.err
    assert _rows(db, "r1") == before


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("7", "--input", "7"), "TEXT and --input both say what to run it on"),
        (("--input", "{"), "so --input has to be JSON, and it is none"),
        (("--input", '{"order": 1}'), "--input does not fit what workflow 'refund' takes, Refund: order: Input should"),
    ],
)
def test_an_input_that_does_not_fit_is_a_wrong_call_and_makes_no_store(
    interlock: Interlock, shop: Path, db: Path, args: tuple[str, ...], says: str
) -> None:
    done = interlock("run", f"{shop}:refund", *args, "--store", db)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert not db.exists()


@pytest.mark.parametrize("option", ["--input", "--store", "--run-id"])
def test_an_agent_takes_no_option_of_workflows(interlock: Interlock, agents: Path, option: str) -> None:
    done = interlock("run", f"{agents}:agent", "hello", option, "x")
    assert (done.code, done.out) == (2, "")
    assert f"is an agent, and {option} is for workflows" in done.err


def test_a_store_in_a_folder_that_is_not_there_is_a_wrong_call(interlock: Interlock, shop: Path, db: Path) -> None:
    done = _started(interlock, shop, db.parent / "nowhere" / "runs.db")
    assert (done.code, done.out) == (2, "")
    assert "there is no folder" in done.err


# list


def test_the_list_tells_of_each_run_the_last_written_first(interlock: Interlock, shop: Path, db: Path) -> None:
    _started(interlock, shop, db)
    interlock("run", f"{shop}:numbers", "[1, 2]", "--store", db, "--run-id", "r2")
    done = interlock("runs", "list", "--store", db)
    assert (done.code, done.err) == (0, "")
    heading, second, first = done.out.splitlines()
    assert heading.split() == ["run", "workflow", "status", "started", "duration", "rows", "waits"]
    assert second.split()[:3] == ["r2", "numbers", "success"]
    assert first.split()[:3] == ["r1", "refund", "suspended"]
    assert first.endswith(f"  {len(_rows(db, 'r1'))}  approve (refund)")


def test_the_list_has_runs_of_the_wanted_statuses_and_no_more_than_wanted(
    interlock: Interlock, shop: Path, db: Path
) -> None:
    for number in range(3):
        _started(interlock, shop, db, run_id=f"w{number}")
        _started(interlock, shop, db, "bad", run_id=f"f{number}")
        _started(interlock, shop, db, "fraud", run_id=f"b{number}")

    def listed(*options: str) -> list[str]:
        return [run["run_id"] for run in _json(interlock("runs", "list", "--store", db, "--json", *options))]

    assert listed("--status", "suspended") == ["w2", "w1", "w0"]
    assert listed("--status", "failed", "--status", "tripwire", "-n", "3") == ["b2", "f2", "b1"]
    assert listed("--limit", "2") == ["b2", "f2"]
    assert listed("--status", "running") == []


def test_the_list_as_json_has_what_waits(interlock: Interlock, shop: Path, db: Path) -> None:
    _started(interlock, shop, db)
    (run,) = _json(interlock("runs", "list", "--store", db, "--json"))
    assert (run["run_id"], run["workflow"], run["status"], run["rows"]) == ("r1", "refund", "suspended", 7)
    (waits,) = run["waits"]
    assert (waits["path"], waits["label"], waits["payload"]) == ("approve", "refund", {"amount": 900.0})


def test_a_store_without_such_runs_says_so(interlock: Interlock, shop: Path, db: Path) -> None:
    _started(interlock, shop, db)
    done = interlock("runs", "list", "--store", db, "--status", "failed")
    assert (done.code, done.out, done.err) == (0, "", f"interlock: {db} has no such runs\n")


@pytest.mark.parametrize(
    "args",
    [
        ("runs", "list"),
        ("runs", "show", "r1"),
        ("runs", "cancel", "r1"),
        ("runs", "resume", "{shop}:refund", "r1", "--data", "1"),
        ("runs", "recover", "{shop}:refund", "r1"),
        ("graph", "{shop}:refund", "--run", "r1"),
    ],
)
@pytest.mark.parametrize("there", ["nothing", "an empty file", "a text"])
def test_a_file_that_is_no_store_is_a_wrong_call_and_stays_as_it_is(
    interlock: Interlock, shop: Path, db: Path, args: tuple[str, ...], there: str
) -> None:
    text = b"not a database, but long enough to be one" * 99
    content = {"nothing": None, "an empty file": b"", "a text": text}[there]
    if content is not None:
        db.write_bytes(content)
    done = interlock(*(arg.format(shop=shop) for arg in args), "--store", db)
    assert (done.code, done.out) == (2, "")
    assert str(db) in done.err
    assert (db.read_bytes() if db.exists() else None) == content
    assert list(db.parent.glob("runs.db?*")) == []


def test_another_programs_database_is_a_wrong_call(interlock: Interlock, db: Path) -> None:
    connection = sqlite3.connect(db)
    connection.execute("CREATE TABLE cats (name TEXT)")
    connection.close()
    done = interlock("runs", "list", "--store", db)
    assert (done.code, done.out) == (2, "")
    assert "is another program's database" in done.err


# show


def test_a_run_is_shown_with_its_steps_and_what_waits(interlock: Interlock, shop: Path, db: Path) -> None:
    _started(interlock, shop, db)
    done = interlock("runs", "show", "r1", "--store", db)
    assert (done.code, done.err) == (0, "")
    (waits,) = _json(interlock("runs", "show", "r1", "--store", db, "--json"))["waits"]
    lines = done.out.splitlines()
    assert lines[:2] == ["run r1 of workflow refund", "status   suspended"]
    assert 'input    {"order":"A","amount":900.0}' in lines
    assert 'state    {"notes":["scored"]}' in lines
    table = next(number for number, line in enumerate(lines) if line.startswith("step "))
    assert lines[table].split() == ["step", "status", "iteration", "attempts", "verdict", "time"]
    assert lines[table + 1].split()[:4] == ["score", "success", "1", "1"]
    assert lines[table + 2].split() == ["approve", "suspended", "1", "1"]
    assert f"token    {waits['token']}" in lines
    assert "label    refund" in lines
    assert '           "amount": 900.0' in lines
    assert lines[-1] == f"answer it with: interlock runs resume FILE:NAME r1 --store {db} --data JSON"


def test_a_run_is_shown_as_json_with_its_values_as_they_were_recorded(
    interlock: Interlock, shop: Path, db: Path
) -> None:
    _started(interlock, shop, db)
    told = _json(interlock("runs", "show", "r1", "--store", db, "--json"))
    assert told["input"] == _rows(db, "r1")[0].data["input"]
    assert told["input"]["class"].endswith(":Refund")
    assert told["started_at"].endswith("Z")
    assert [(step["path"], step["status"]) for step in told["steps"]] == [
        ("score", "success"),
        ("approve", "suspended"),
    ]
    assert told["waits"][0]["payload"] == {"amount": 900.0}
    assert "output" not in told


def test_retries_iterations_and_arms_are_shown(interlock: Interlock, shop: Path, db: Path) -> None:
    interlock("run", f"{shop}:numbers", "[1, 2]", "--store", db, "--run-id", "r1")
    shown = interlock("runs", "show", "r1", "--store", db).out
    flaky = [line.split()[1:4] for line in shown.splitlines() if line.startswith("flaky ")]
    assert flaky == [["success", "1", "2"], ["success", "2", "2"]]
    assert "    took no arm" in shown
    assert "output   {}" in shown


@pytest.mark.parametrize(
    ("order", "line", "key"),
    [
        ("bad", "error    step 'score' failed: ValueError: no such order", "error"),
        ("fraud", "blocked  by score: known to the police", "tripwire"),
    ],
)
def test_a_run_that_failed_or_was_blocked_says_why_without_its_code(
    interlock: Interlock, shop: Path, db: Path, order: str, line: str, key: str
) -> None:
    _started(interlock, shop, db, order)
    shop.unlink()
    assert line in interlock("runs", "show", "r1", "--store", db).out.splitlines()
    assert key in _json(interlock("runs", "show", "r1", "--store", db, "--json"))


def test_a_failed_step_says_what_it_raised_below_its_row(interlock: Interlock, shop: Path, db: Path) -> None:
    _started(interlock, shop, db, "bad")
    lines = interlock("runs", "show", "r1", "--store", db).out.splitlines()
    row = next(number for number, line in enumerate(lines) if line.startswith("score "))
    assert lines[row + 1] == "    ValueError: no such order"


def test_a_guards_verdict_is_shown(interlock: Interlock, shop: Path, db: Path) -> None:
    done = interlock("run", f"{shop}:guard", "write to ann@example.com", "--store", db, "--run-id", "r1")
    assert done.code == 0
    row = next(x for x in interlock("runs", "show", "r1", "--store", db).out.splitlines() if "pii-detector " in x)
    assert row.split()[:5] == ["processor:pii-detector", "success", "1", "1", "changed"]


def test_a_run_whose_process_died_says_how_to_go_on(interlock: Interlock, shop: Path, db: Path) -> None:
    _started(interlock, shop, db)
    _died(db, "r1", after=3, copy="r2")
    lines = interlock("runs", "show", "r2", "--store", db).out.splitlines()
    assert lines[1] == "status   running, or its process died"
    assert lines[-1].endswith(f"interlock runs recover FILE:NAME r2 --store {db}")


def test_what_a_run_holds_cannot_steer_the_terminal(interlock: Interlock, shop: Path, db: Path) -> None:
    _started(interlock, shop, db, "\x1b[2J", run_id="\x1b]0;x")
    for args in (("list",), ("show", "\x1b]"), ("show", "\x1b]", "--json"), ("cancel", "\x1b]")):
        done = interlock("runs", *args, "--store", db)
        assert done.code == 0
        assert "\x1b[2J" not in done.out + done.err
    assert "\\x1b]0;x" in interlock("runs", "list", "--store", db).out


# ids


def test_an_id_may_be_cut_short_as_long_as_it_is_the_only_one(interlock: Interlock, shop: Path, db: Path) -> None:
    _started(interlock, shop, db, run_id="alpha-1")
    _started(interlock, shop, db, run_id="alpha")
    _started(interlock, shop, db, run_id="beta")

    def shown(run_id: str) -> Done:
        return interlock("runs", "show", run_id, "--store", db)

    assert shown("b").out.startswith("run beta ")
    assert shown("alpha-").out.startswith("run alpha-1 ")
    assert shown("alpha").out.startswith("run alpha ")  # all of an id is meant, though another begins so
    several = shown("al")
    assert (several.code, several.out) == (2, "")
    assert "2 runs begin with 'al': alpha, alpha-1; write more of the id" in several.err
    unknown = shown("alpah")
    assert unknown.code == 2
    assert "there is no run 'alpah'" in unknown.err
    assert "did you mean alpha?" in unknown.err
    assert shown("").code == 2


# resume


def test_an_answer_lets_the_run_end_and_its_output_is_printed(interlock: Interlock, shop: Path, db: Path) -> None:
    _started(interlock, shop, db)
    done = interlock("runs", "resume", f"{shop}:refund", "r", "--data", '{"approved": true}', "--store", db)
    assert (done.code, done.out, done.err) == (0, "paid for A\n", "")  # and nothing ran again
    assert _json(interlock("runs", "list", "--store", db, "--json"))[0]["status"] == "success"


def test_an_answer_comes_from_standard_input(interlock: Interlock, shop: Path, db: Path) -> None:
    _started(interlock, shop, db)
    done = interlock(
        "runs", "resume", f"{shop}:refund", "r1", "--data", "-", "--store", db, stdin=b'{"approved": false}\n'
    )
    assert (done.code, done.out) == (0, "refused for A\n")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("yes", "--data has to be JSON, and it is none"),
        ('{"approved": 7}', "it still waits: approved: Input should be a valid boolean"),
        ("{}", "it still waits: approved: Field required"),
    ],
)
def test_an_answer_that_does_not_fit_leaves_the_run_waiting(
    interlock: Interlock, shop: Path, db: Path, data: str, says: str
) -> None:
    _started(interlock, shop, db)
    before = _rows(db, "r1")
    done = interlock("runs", "resume", f"{shop}:refund", "r1", "--data", data, "--store", db)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert _rows(db, "r1") == before


def test_where_several_wait_the_answer_names_one_and_the_rest_is_told(
    interlock: Interlock, shop: Path, db: Path
) -> None:
    started = interlock("run", f"{shop}:both", "x", "--store", db, "--run-id", "r1")
    assert started.code == 4
    assert started.err.count("answer it with: ") == started.err.count(" --token wait_") == 2

    def resume(*options: str) -> Done:
        return interlock("runs", "resume", f"{shop}:both", "r1", "--store", db, *options)

    unclear = resume("--data", "1")
    assert (unclear.code, unclear.out) == (2, "")
    assert "several steps wait, 'left' ('left'), 'right' ('right')" in unclear.err
    assert "--step, --label, --index, --token" in unclear.err
    nobody = resume("--data", "1", "--step", "nobody")
    assert nobody.code == 2
    first = resume("--data", '"a"', "--label", "right")
    assert (first.code, first.out) == (4, "")
    assert "'left' waits (label left)" in first.err
    assert "--token" not in first.err
    again = resume("--data", '"a"', "--label", "right")
    assert again.code == 2
    assert "has been resumed already" in again.err
    last = resume("--data", '"b"', "--step", "left")
    assert (last.code, json.loads(last.out)) == (0, {"left": "b", "right": "a"})


def test_a_token_names_what_is_answered(interlock: Interlock, shop: Path, db: Path) -> None:
    interlock("run", f"{shop}:both", "x", "--store", db, "--run-id", "r1")
    (run,) = _json(interlock("runs", "list", "--store", db, "--json"))
    token = next(waits["token"] for waits in run["waits"] if waits["path"] == "right")
    done = interlock("runs", "resume", f"{shop}:both", "r1", "--store", db, "--token", token, "--data", '"a"')
    assert done.code == 4
    (run,) = _json(interlock("runs", "list", "--store", db, "--json"))
    assert [waits["path"] for waits in run["waits"]] == ["left"]


@pytest.mark.parametrize(
    ("name", "says"), [("numbers", "is one of workflow 'refund', and"), ("agent_like", "is a int")]
)
@pytest.mark.parametrize("command", [("resume", "--data", "1"), ("recover",)])
def test_a_run_is_gone_on_with_by_its_own_workflow_only(
    interlock: Interlock, shop: Path, db: Path, name: str, says: str, command: tuple[str, ...]
) -> None:
    _started(interlock, shop, db)
    verb, *options = command
    done = interlock("runs", verb, f"{shop}:{name}", "r1", "--store", db, *options)
    assert (done.code, done.out) == (2, "")
    assert says in done.err


@pytest.mark.parametrize("command", [("resume", "--data", "1"), ("recover",)])
def test_an_agent_has_no_stored_runs(interlock: Interlock, agents: Path, db: Path, command: tuple[str, ...]) -> None:
    verb, *options = command
    done = interlock("runs", verb, f"{agents}:agent", "r1", "--store", db, *options)
    assert done.code == 2
    assert "is an agent; runs that a store keeps are those of workflows" in done.err


def test_a_run_under_way_is_not_resumed(interlock: Interlock, shop: Path, db: Path) -> None:
    _started(interlock, shop, db)
    _died(db, "r1", after=3, copy="r2")
    done = interlock("runs", "resume", f"{shop}:refund", "r2", "--data", "{}", "--store", db)
    assert done.code == 2
    assert "run 'r2' is under way" in done.err
    assert f"interlock runs recover {shop}:refund r2" in done.err


# recover


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows kills otherwise")
def test_a_run_whose_process_was_killed_is_recovered(interlock: Interlock, shop: Path, db: Path) -> None:
    command = [sys.executable, "-m", "interlock.cli", "run", f"{shop}:refund", "--run-id", "r1", "--store", db]
    killed = subprocess.run(
        [*map(str, command), "--input", '{"order": "kill", "amount": 1}'], capture_output=True, check=False, timeout=60
    )
    assert killed.returncode == -signal.SIGKILL
    assert _json(interlock("runs", "list", "--store", db, "--json"))[0]["status"] == "running"
    shop.write_text(shop.read_text("utf-8").replace('"kill"', '"nobody"'), "utf-8")
    done = interlock("runs", "recover", f"{shop}:refund", "r1", "--store", db)
    assert (done.code, done.out) == (4, "")
    assert done.err.startswith("scoring\ninterlock: suspended\n  'approve' waits")


def test_what_had_finished_does_not_run_again(interlock: Interlock, shop: Path, db: Path) -> None:
    _started(interlock, shop, db)
    _died(db, "r1", after=5, copy="r2")
    done = interlock("runs", "recover", f"{shop}:refund", "r2", "--store", db)
    assert done.code == 4
    assert "scoring" not in done.err


def test_recovering_a_run_that_had_ended_tells_what_it_gave(interlock: Interlock, shop: Path, db: Path) -> None:
    interlock("run", f"{shop}:numbers", "[1]", "--store", db, "--run-id", "r1")
    before = _rows(db, "r1")
    done = interlock("runs", "recover", f"{shop}:numbers", "r1", "--store", db)
    assert (done.code, done.out) == (0, "{}\n")
    assert "the run had ended before" in done.err
    assert _rows(db, "r1") == before


def test_a_run_of_another_shape_is_refused_unless_that_is_wanted(interlock: Interlock, shop: Path, db: Path) -> None:
    interlock("run", f"{shop}:both", "x", "--store", db, "--run-id", "r1")
    refused = interlock("runs", "resume", f"{shop}:changed", "r1", "--label", "left", "--data", "1", "--store", db)
    assert (refused.code, refused.out) == (2, "")
    assert "was made by another shape of workflow 'both'" in refused.err
    _died(db, "r1", after=2, copy="r2")
    refused = interlock("runs", "recover", f"{shop}:changed", "r2", "--store", db)
    assert refused.code == 2
    assert "or pass --allow-changed-graph" in refused.err
    done = interlock("runs", "recover", f"{shop}:changed", "r2", "--store", db, "--allow-changed-graph")
    assert done.code == 4
    assert "'middle' waits" in done.err


# cancel


def test_a_run_that_waits_is_canceled_at_once(interlock: Interlock, shop: Path, db: Path) -> None:
    _started(interlock, shop, db)
    done = interlock("runs", "cancel", "r", "--store", db)
    assert (done.code, done.out, done.err) == (0, "run r1 is canceled\n", "")
    assert _json(interlock("runs", "list", "--store", db, "--json"))[0]["status"] == "canceled"
    resumed = interlock("runs", "resume", f"{shop}:refund", "r1", "--data", '{"approved": true}', "--store", db)
    assert (resumed.code, resumed.out) == (2, "")
    again = interlock("runs", "cancel", "r1", "--store", db)
    assert (again.code, again.out) == (0, "run r1 had ended already: canceled\n")


def test_a_run_that_seems_to_run_is_asked_and_with_force_canceled(interlock: Interlock, shop: Path, db: Path) -> None:
    _started(interlock, shop, db)
    _died(db, "r1", after=3, copy="r2")
    asked = interlock("runs", "cancel", "r2", "--store", db)
    assert (asked.code, asked.err) == (0, "")
    assert asked.out.startswith("run r2 is asked to end")
    assert f"interlock runs cancel r2 --store {db} --force" in asked.out
    assert "waits for its end" not in asked.out
    assert "asked to cancel" in interlock("runs", "show", "r2", "--store", db).out
    forced = interlock("runs", "cancel", "r2", "--store", db, "--force")
    assert (forced.code, forced.out) == (0, "run r2 is canceled\n")
    recovered = interlock("runs", "recover", f"{shop}:refund", "r2", "--store", db)
    assert (recovered.code, recovered.out, recovered.err) == (1, "", "interlock: the run was canceled\n")


# graph --run


@pytest.mark.parametrize("form", ["text", "mermaid", "svg", "dot", "json"])
def test_a_graph_is_drawn_with_a_run(interlock: Interlock, shop: Path, db: Path, form: str) -> None:
    _started(interlock, shop, db)
    plain = interlock("graph", f"{shop}:refund", "-f", form)
    drawn = interlock("graph", f"{shop}:refund", "-f", form, "--run", "r1", "--store", db)
    assert (drawn.code, drawn.err) == (0, "")
    assert drawn.out != plain.out
    assert "900.0" in drawn.out  # what waits says what for
    assert "r1" in drawn.out


def test_a_run_whose_process_died_is_drawn_as_far_as_it_came(interlock: Interlock, shop: Path, db: Path) -> None:
    _started(interlock, shop, db)
    for after in range(1, len(_rows(db, "r1"))):
        _died(db, "r1", after=after, copy=f"died-{after}")
        drawn = interlock("graph", f"{shop}:refund", "--run", f"died-{after}", "--store", db)
        assert (drawn.code, drawn.err) == (0, "")
        assert drawn.out.splitlines()[1].startswith("… not ended")
        assert f"run died-{after}" in drawn.out.splitlines()[1]


def test_a_run_is_drawn_on_its_own_workflow(interlock: Interlock, shop: Path, db: Path) -> None:
    _started(interlock, shop, db)
    done = interlock("graph", f"{shop}:numbers", "--run", "r1", "--store", db)
    assert (done.code, done.out) == (2, "")
    assert "is one of workflow 'refund'" in done.err
    interlock("run", f"{shop}:both", "x", "--store", db, "--run-id", "r2")
    other_shape = interlock("graph", f"{shop}:changed", "--run", "r2", "--store", db)
    assert other_shape.code == 0
    assert "made by another shape of the workflow" in other_shape.err


@pytest.mark.parametrize("alone", ["--run", "--store"])
def test_a_run_and_its_store_go_together(interlock: Interlock, shop: Path, alone: str) -> None:
    done = interlock("graph", f"{shop}:refund", alone, "x")
    assert (done.code, done.out) == (2, "")
    assert "--run and --store go together" in done.err
