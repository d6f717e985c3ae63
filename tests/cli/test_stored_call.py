"""``interlock run --store``, ``runs resume`` and ``runs recover``: runs that are kept, and gone on with."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Done, Interlock
from tests.cli.shop import died_after, json_of, rows_of, started

# interlock run --store


def test_a_run_that_suspends_exits_with_4_and_says_what_waits_and_how_to_answer(
    interlock: Interlock, shop: Path, db: Path
) -> None:
    done = started(interlock, shop, db)
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
    (run,) = json_of(interlock("runs", "list", "--store", db, "--json"))
    assert done.err == f"interlock: run {run['run_id']}\n"


def test_a_run_id_is_taken_once(interlock: Interlock, shop: Path, db: Path) -> None:
    started(interlock, shop, db)
    before = rows_of(db, "r1")
    done = started(interlock, shop, db)
    assert (done.code, done.out) == (2, "")
    assert "there is a run 'r1' in" in done.err
    assert rows_of(db, "r1") == before


@pytest.mark.parametrize("kept", [True, False])
def test_a_run_id_is_not_empty(interlock: Interlock, shop: Path, db: Path, kept: bool) -> None:
    store = ("--store", db) if kept else ()
    done = interlock("run", f"{shop}:numbers", "[1]", *store, "--run-id", "")
    assert (done.code, done.out) == (2, "")
    assert done.err == "interlock: --run-id is empty: name the run, or leave the option out for a fresh id\n"
    assert not db.exists()


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
    done = started(interlock, shop, db.parent / "nowhere" / "runs.db")
    assert (done.code, done.out) == (2, "")
    assert "there is no folder" in done.err


# resume


def test_an_answer_lets_the_run_end_and_its_output_is_printed(interlock: Interlock, shop: Path, db: Path) -> None:
    started(interlock, shop, db)
    done = interlock("runs", "resume", f"{shop}:refund", "r", "--data", '{"approved": true}', "--store", db)
    assert (done.code, done.out, done.err) == (0, "paid for A\n", "")  # and nothing ran again
    assert json_of(interlock("runs", "list", "--store", db, "--json"))[0]["status"] == "success"


def test_an_answer_comes_from_standard_input(interlock: Interlock, shop: Path, db: Path) -> None:
    started(interlock, shop, db)
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
    started(interlock, shop, db)
    before = rows_of(db, "r1")
    done = interlock("runs", "resume", f"{shop}:refund", "r1", "--data", data, "--store", db)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert rows_of(db, "r1") == before


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
    (run,) = json_of(interlock("runs", "list", "--store", db, "--json"))
    token = next(waits["token"] for waits in run["waits"] if waits["path"] == "right")
    done = interlock("runs", "resume", f"{shop}:both", "r1", "--store", db, "--token", token, "--data", '"a"')
    assert done.code == 4
    (run,) = json_of(interlock("runs", "list", "--store", db, "--json"))
    assert [waits["path"] for waits in run["waits"]] == ["left"]


@pytest.mark.parametrize(
    ("name", "says"), [("numbers", "is one of workflow 'refund', and"), ("agent_like", "is a int")]
)
@pytest.mark.parametrize("command", [("resume", "--data", "1"), ("recover",)])
def test_a_run_is_gone_on_with_by_its_own_workflow_only(
    interlock: Interlock, shop: Path, db: Path, name: str, says: str, command: tuple[str, ...]
) -> None:
    started(interlock, shop, db)
    verb, *options = command
    done = interlock("runs", verb, f"{shop}:{name}", "r1", "--store", db, *options)
    assert (done.code, done.out) == (2, "")
    assert says in done.err


@pytest.mark.parametrize("command", [("resume", "--data", "1"), ("recover",)])
def test_an_agent_has_no_stored_runs(interlock: Interlock, agents: Path, db: Path, command: tuple[str, ...]) -> None:
    verb, *options = command
    done = interlock("runs", verb, f"{agents}:agent", "r1", "--store", db, *options)
    assert done.code == 2
    assert "is an agent: what its runs wait for is answered with interlock runs approve" in done.err


def test_a_run_under_way_is_not_resumed(interlock: Interlock, shop: Path, db: Path) -> None:
    started(interlock, shop, db)
    died_after(db, "r1", after=3, copy="r2")
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
    assert json_of(interlock("runs", "list", "--store", db, "--json"))[0]["status"] == "running"
    shop.write_text(shop.read_text("utf-8").replace('"kill"', '"nobody"'), "utf-8")
    done = interlock("runs", "recover", f"{shop}:refund", "r1", "--store", db)
    assert (done.code, done.out) == (4, "")
    assert done.err.startswith("scoring\ninterlock: suspended\n  'approve' waits")


def test_what_had_finished_does_not_run_again(interlock: Interlock, shop: Path, db: Path) -> None:
    started(interlock, shop, db)
    died_after(db, "r1", after=5, copy="r2")
    done = interlock("runs", "recover", f"{shop}:refund", "r2", "--store", db)
    assert done.code == 4
    assert "scoring" not in done.err


def test_recovering_a_run_that_had_ended_tells_what_it_gave(interlock: Interlock, shop: Path, db: Path) -> None:
    interlock("run", f"{shop}:numbers", "[1]", "--store", db, "--run-id", "r1")
    before = rows_of(db, "r1")
    done = interlock("runs", "recover", f"{shop}:numbers", "r1", "--store", db)
    assert (done.code, done.out) == (0, "{}\n")
    assert "the run had ended before" in done.err
    assert rows_of(db, "r1") == before


def test_a_run_of_another_shape_is_refused_unless_that_is_wanted(interlock: Interlock, shop: Path, db: Path) -> None:
    interlock("run", f"{shop}:both", "x", "--store", db, "--run-id", "r1")
    refused = interlock("runs", "resume", f"{shop}:changed", "r1", "--label", "left", "--data", "1", "--store", db)
    assert (refused.code, refused.out) == (2, "")
    assert "was made by another shape of workflow 'both'" in refused.err
    died_after(db, "r1", after=2, copy="r2")
    refused = interlock("runs", "recover", f"{shop}:changed", "r2", "--store", db)
    assert refused.code == 2
    assert "or pass --allow-changed-graph" in refused.err
    done = interlock("runs", "recover", f"{shop}:changed", "r2", "--store", db, "--allow-changed-graph")
    assert done.code == 4
    assert "'middle' waits" in done.err
