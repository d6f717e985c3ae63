"""``interlock runs list``, ``show`` and ``cancel``: what they print, exit with, and leave in the store."""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Done, Interlock
from tests.cli.shop import died_after, json_of, paused, rows_of, started

# list


def test_the_list_tells_of_each_run_the_last_written_first(interlock: Interlock, shop: Path, db: Path) -> None:
    started(interlock, shop, db)
    interlock("run", f"{shop}:numbers", "[1, 2]", "--store", db, "--run-id", "r2")
    done = interlock("runs", "list", "--store", db)
    assert (done.code, done.err) == (0, "")
    heading, second, first = done.out.splitlines()
    assert heading.split() == ["run", "workflow", "status", "started", "elapsed", "rows", "waits"]
    assert second.split()[:3] == ["r2", "numbers", "success"]
    assert first.split()[:3] == ["r1", "refund", "suspended"]
    assert first.endswith(f"  {len(rows_of(db, 'r1'))}  approve (refund)")


def test_the_list_has_runs_of_the_wanted_statuses_and_no_more_than_wanted(
    interlock: Interlock, shop: Path, db: Path
) -> None:
    for number in range(3):
        started(interlock, shop, db, run_id=f"w{number}")
        started(interlock, shop, db, "bad", run_id=f"f{number}")
        started(interlock, shop, db, "fraud", run_id=f"b{number}")

    def listed(*options: str) -> list[str]:
        return [run["run_id"] for run in json_of(interlock("runs", "list", "--store", db, "--json", *options))]

    assert listed("--status", "suspended") == ["w2", "w1", "w0"]
    assert listed("--status", "failed", "--status", "tripwire", "-n", "3") == ["b2", "f2", "b1"]
    assert listed("--limit", "2") == ["b2", "f2"]
    assert listed("--status", "running") == []


def test_the_list_as_json_has_what_waits(interlock: Interlock, shop: Path, db: Path) -> None:
    started(interlock, shop, db)
    (run,) = json_of(interlock("runs", "list", "--store", db, "--json"))
    assert (run["run_id"], run["workflow"], run["status"], run["rows"]) == ("r1", "refund", "suspended", 7)
    (waits,) = run["waits"]
    assert (waits["path"], waits["label"], waits["payload"]) == ("approve", "refund", {"amount": 900.0})


def test_a_store_without_such_runs_says_so(interlock: Interlock, shop: Path, db: Path) -> None:
    started(interlock, shop, db)
    done = interlock("runs", "list", "--store", db, "--status", "failed")
    assert (done.code, done.out, done.err) == (0, "", f"interlock: {db} has no such runs\n")


def _three(interlock: Interlock, shop: Path, db: Path, damage: str) -> None:
    """Three runs that wait, of which the second is damaged, and one that has ended."""
    for run_id in ("r1", "r2", "r3"):
        started(interlock, shop, db, run_id=run_id)
    interlock("run", f"{shop}:numbers", "[1]", "--store", db, "--run-id", "r4")
    with closing(sqlite3.connect(db)) as connection, connection:
        connection.execute(damage)


DAMAGES = [
    "UPDATE journal SET data = '{bad' WHERE run_id = 'r2' AND seq = 1",
    "DELETE FROM journal WHERE run_id = 'r2' AND seq = 2",
    "DELETE FROM journal WHERE run_id = 'r2'",
    "UPDATE runs SET started_at = 'noon' WHERE run_id = 'r2'",
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_run_is_listed_as_such_beside_the_others(
    interlock: Interlock, shop: Path, db: Path, damage: str
) -> None:
    _three(interlock, shop, db, damage)
    done = interlock("runs", "list", "--store", db)
    assert done.code == 0
    stand = [line.split()[:3:2] for line in done.out.splitlines()[1:]]
    assert stand == [["r4", "success"], ["r3", "suspended"], ["r2", "damaged"], ["r1", "suspended"]]
    if "journal" in damage:
        assert done.err.startswith("interlock: r2 is damaged: ")
    runs = json.loads(interlock("runs", "list", "--store", db, "--json").out)
    assert [(run["run_id"], run["status"], len(run["waits"])) for run in runs] == [
        ("r4", "success", 0),
        ("r3", "suspended", 1),
        ("r2", "damaged", 0),
        ("r1", "suspended", 1),
    ]
    assert ["damage" in run for run in runs] == [False, False, "journal" in damage, False]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_runs_are_listed_alone_and_count_as_no_others(
    interlock: Interlock, shop: Path, db: Path, damage: str
) -> None:
    _three(interlock, shop, db, damage)

    def listed(*options: str) -> list[str]:
        done = interlock("runs", "list", "--store", db, "--json", *options)
        return [run["run_id"] for run in json.loads(done.out)]

    assert listed("--status", "damaged") == ["r2"]
    assert listed("--status", "suspended") == ["r3", "r1"]
    assert listed("--status", "suspended", "--status", "damaged", "-n", "2") == ["r3", "r2"]


@pytest.mark.parametrize("damage", DAMAGES[:3])
@pytest.mark.parametrize(
    "args",
    [
        ("runs", "show", "r2"),
        ("runs", "cancel", "r2"),
        ("runs", "cancel", "r2", "--force"),
        ("runs", "resume", "{shop}:refund", "r2", "--data", '{{"approved": true}}'),
        ("runs", "recover", "{shop}:refund", "r2"),
    ],
)
def test_a_damaged_run_is_told_by_every_other_call(
    interlock: Interlock, shop: Path, db: Path, args: tuple[str, ...], damage: str
) -> None:
    _three(interlock, shop, db, damage)
    done = interlock(*(arg.format(shop=shop) for arg in args), "--store", db)
    assert (done.code, done.out) == (1, "")
    assert "damaged" in done.err
    assert "r2" in done.err


@pytest.mark.parametrize("seconds", ["1e300", "-1e18"])
def test_a_time_that_is_none_is_shown_as_a_number(interlock: Interlock, shop: Path, db: Path, seconds: str) -> None:
    _three(interlock, shop, db, f"UPDATE runs SET updated_at = {seconds}, started_at = {seconds} WHERE run_id = 'r4'")
    assert interlock("runs", "list", "--store", db).out.splitlines()[1].split()[:2] == ["r4", "numbers"]
    (run, *_) = json_of(interlock("runs", "list", "--store", db, "--json"))
    assert (float(run["started_at"]), run["run_id"]) == (float(seconds), "r4")


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


def test_elapsed_is_from_the_first_row_to_the_last_with_the_wait_between(
    interlock: Interlock, shop: Path, db: Path
) -> None:
    started(interlock, shop, db)
    connection = sqlite3.connect(db)
    connection.execute("UPDATE journal SET time = time - 7200")
    connection.execute("UPDATE runs SET started_at = started_at - 7200, updated_at = updated_at - 7200")
    connection.commit()
    connection.close()

    assert json_of(interlock("runs", "list", "--store", db, "--json"))[0]["elapsed"] < 7200  # nothing written since
    interlock("runs", "resume", f"{shop}:refund", "r1", "--data", '{"approved": true}', "--store", db)
    assert json_of(interlock("runs", "list", "--store", db, "--json"))[0]["elapsed"] >= 7200
    assert json_of(interlock("runs", "show", "r1", "--store", db, "--json"))["elapsed"] >= 7200


# show


def test_a_run_is_shown_with_its_steps_and_what_waits(interlock: Interlock, shop: Path, db: Path) -> None:
    started(interlock, shop, db)
    done = interlock("runs", "show", "r1", "--store", db)
    assert (done.code, done.err) == (0, "")
    (waits,) = json_of(interlock("runs", "show", "r1", "--store", db, "--json"))["waits"]
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
    started(interlock, shop, db)
    told = json_of(interlock("runs", "show", "r1", "--store", db, "--json"))
    assert told["input"] == rows_of(db, "r1")[0].data["input"]
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
    started(interlock, shop, db, order)
    shop.unlink()
    del sys.modules["__interlock_file__"]
    assert line in interlock("runs", "show", "r1", "--store", db).out.splitlines()
    assert key in json_of(interlock("runs", "show", "r1", "--store", db, "--json"))


def test_a_failed_step_says_what_it_raised_below_its_row(interlock: Interlock, shop: Path, db: Path) -> None:
    started(interlock, shop, db, "bad")
    lines = interlock("runs", "show", "r1", "--store", db).out.splitlines()
    row = next(number for number, line in enumerate(lines) if line.startswith("score "))
    assert lines[row + 1] == "    ValueError: no such order"


def test_a_guards_verdict_is_shown(interlock: Interlock, shop: Path, db: Path) -> None:
    done = interlock("run", f"{shop}:guard", "write to ann@example.com", "--store", db, "--run-id", "r1")
    assert done.code == 0
    row = next(x for x in interlock("runs", "show", "r1", "--store", db).out.splitlines() if "pii-detector " in x)
    assert row.split()[:5] == ["processor:pii-detector", "success", "1", "1", "changed"]


def test_a_run_whose_process_died_says_how_to_go_on(interlock: Interlock, shop: Path, db: Path) -> None:
    started(interlock, shop, db)
    died_after(db, "r1", after=3, copy="r2")
    lines = interlock("runs", "show", "r2", "--store", db).out.splitlines()
    assert lines[1] == "status   running, or its process died"
    assert lines[-1].endswith(f"interlock runs recover FILE:NAME r2 --store {db}")


def test_a_paused_run_says_what_stands_ready_and_how_to_take_one_step_or_all(
    interlock: Interlock, shop: Path, db: Path
) -> None:
    paused(shop, db, "r1")
    shown = interlock("runs", "show", "r1", "--store", db)
    lines = shown.out.splitlines()
    assert "status   paused" in lines
    assert "next     left, right" in lines
    again = f"await workflow.create_run('r1', store=SQLiteRunStore({str(db)!r})).next()"
    assert f"take one step, in Python: {again}" in lines
    assert lines[-1] == f"run all the rest without stopping: interlock runs recover FILE:NAME r1 --store {db}"
    assert "died" not in shown.out
    assert json_of(interlock("runs", "show", "r1", "--store", db, "--json"))["next"] == ["left", "right"]


def test_what_a_run_holds_cannot_steer_the_terminal(interlock: Interlock, shop: Path, db: Path) -> None:
    started(interlock, shop, db, "\x1b[2J", run_id="\x1b]0;x")
    for args in (("list",), ("show", "\x1b]"), ("show", "\x1b]", "--json"), ("cancel", "\x1b]")):
        done = interlock("runs", *args, "--store", db)
        assert done.code == 0
        assert "\x1b" not in done.out + done.err
    assert "\\x1b]0;x" in interlock("runs", "list", "--store", db).out


# ids


def test_an_id_may_be_cut_short_as_long_as_it_is_the_only_one(interlock: Interlock, shop: Path, db: Path) -> None:
    started(interlock, shop, db, run_id="alpha-1")
    started(interlock, shop, db, run_id="alpha")
    started(interlock, shop, db, run_id="beta")

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
    listed = f"interlock runs list --store {db}"
    assert unknown.err.endswith(f"runs.db; did you mean alpha? Those there are: {listed}\n")
    assert shown("nope").err.endswith(f"there is no run 'nope' in {db}. Those there are: {listed}\n")
    assert shown("").code == 2


# cancel


def test_a_run_that_waits_is_canceled_at_once(interlock: Interlock, shop: Path, db: Path) -> None:
    started(interlock, shop, db)
    done = interlock("runs", "cancel", "r", "--store", db)
    assert (done.code, done.out, done.err) == (0, "run r1 is canceled\n", "")
    assert json_of(interlock("runs", "list", "--store", db, "--json"))[0]["status"] == "canceled"
    resumed = interlock("runs", "resume", f"{shop}:refund", "r1", "--data", '{"approved": true}', "--store", db)
    assert (resumed.code, resumed.out) == (2, "")
    again = interlock("runs", "cancel", "r1", "--store", db)
    assert (again.code, again.out) == (0, "run r1 had ended already: canceled\n")


def test_a_run_that_seems_to_run_is_asked_and_with_force_canceled(interlock: Interlock, shop: Path, db: Path) -> None:
    started(interlock, shop, db)
    died_after(db, "r1", after=3, copy="r2")
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
