"""What a journal tells of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from interlock.errors import StorageError, UnknownRun
from interlock.runtime import MemoryRunStore, Suspended
from interlock.runtime.journal.history import History, RunHistory
from interlock.runtime.journal.rows import RowForm
from interlock.runtime.journal.values import ValueCodec
from interlock.storage import JournalRow

pytestmark = pytest.mark.anyio

FORM = RowForm(ValueCodec())


def history(*rows: tuple[Any, ...]) -> History:
    """The history of a run with these rows behind the first: type, path, data, and iterations."""
    start = JournalRow(1, "workflow-start", 10.0, data={"workflow": "w", "input": 5, "state": {}, "fingerprint": "f"})
    made = [start]
    for seq, (kind, path, data, *at) in enumerate(rows, 2):
        made.append(JournalRow(seq, kind, 10.0 + seq, path, tuple(at), data))
    return History("r", made, FORM)


def result(status: str, **more: Any) -> Mapping[str, Any]:
    """The data of a result."""
    return {"status": status, "duration": 0.5, "attempts": 1, **more}


def test_the_first_row_says_what_the_run_is() -> None:
    told = history()
    assert (told.workflow_id, told.input, told.fingerprint) == ("w", 5, "f")
    assert (told.status, told.seq, told.untouched) == ("running", 1, True)
    assert told.outcome() is None


def test_a_turn_is_unfinished_until_its_result() -> None:
    told = history(("step-start", "one", {"input": 1, "kind": "function"}))
    assert [(one.path, one.status, one.input) for one in told.steps] == [("one", "unfinished", 1)]
    assert not told.untouched
    told.take(JournalRow(3, "step-result", 12.0, "one", data=result("success", output=2)))
    assert [(one.status, one.output, one.duration) for one in told.steps] == [("success", 2, 0.5)]


def test_iterations_are_turns_of_their_own() -> None:
    told = history(
        ("step-start", "each", {"input": 1}, 1),
        ("step-start", "each", {"input": 2}, 2),
        ("step-result", "each", result("success", output=20), 2),
    )
    assert [(one.iteration, one.status) for one in told.steps] == [(1, "unfinished"), (2, "success")]
    assert told.past().known("each", (2,)) is not None
    assert told.past().known("each", ()) is None


def test_a_block_that_is_tried_again_begins_with_nothing_known_inside_but_its_records_stay() -> None:
    told = history(
        ("step-start", "w", {}),
        ("step-start", "w/one", {}),
        ("step-result", "w/one", result("success", output=1)),
        ("step-retry", "w", {"attempt": 1, "error": None, "delay": 0.0}),
        ("step-start", "w/one", {}),
    )
    assert [(one.path, one.status) for one in told.steps] == [
        ("w", "unfinished"),
        ("w/one", "success"),
        ("w/one", "unfinished"),
    ]
    known = told.past().known("w/one", ())
    assert known is not None
    assert known.status == "unfinished"
    outer = told.past().known("w", ())
    assert outer is not None
    assert outer.noted().attempts == 2


def test_what_waits_is_known_by_its_token_until_it_is_answered() -> None:
    told = history(
        ("step-start", "ask", {}),
        ("step-suspended", "ask", {"token": "t", "label": "l", "payload": [1], "index": None}),
        ("workflow-finish", "", {"status": "suspended", "duration": 1.0, "state": {}}),
    )
    outcome = told.outcome()
    assert isinstance(outcome, Suspended)
    assert [(one.token, one.label, one.payload) for one in outcome.suspensions] == [("t", "l", [1])]
    told.take(JournalRow(5, "workflow-resume", 15.0, data={"token": "t", "resume_data": 7}))
    assert (told.status, told.suspensions, list(told.answered)) == ("running", [], ["t"])
    known = told.past().known("ask", ())
    assert known is not None
    assert known.noted().resume_data == 7


def test_changes_of_the_state_are_those_of_steps_that_succeeded_in_order() -> None:
    deltas = [["n", 1]]
    told = history(
        ("step-start", "one", {}),
        ("step-result", "one", result("success", output=1, state=deltas)),
        ("state-changed", "one", {"state": {"n": 1}}),
        ("step-start", "two", {}),
        ("step-result", "two", result("success", output=1, state=deltas)),
    )
    assert told.deltas == [("n", 1), ("n", 1)]


@pytest.mark.parametrize(
    "row",
    [
        JournalRow(3, "step-start", 0.0, "one"),
        JournalRow(2, "workflow-start", 0.0),
        JournalRow(2, "step-result", 0.0, "one"),
        JournalRow(2, "step-result", 0.0, "one", data={"status": "failed"}),
        JournalRow(2, "workflow-finish", 0.0),
        JournalRow(2, "step-start", 0.0, "one", data={"input": {"$": "nothing"}}),
    ],
    ids=["a gap", "two starts", "no status", "no error", "no end", "no value"],
)
def test_a_row_that_tells_nothing_is_a_storage_error(row: JournalRow) -> None:
    with pytest.raises(StorageError, match=rf"run 'r'.*row {row.seq}|row {row.seq} .*run 'r'"):
        history().take(row)


async def test_a_store_without_the_run_does_not_know_it() -> None:
    with pytest.raises(UnknownRun):
        await RunHistory(MemoryRunStore(), FORM).read("r")


def test_a_row_of_a_kind_that_is_new_is_passed_over() -> None:
    told = history(("something-new", "one", {"what": 1}))
    assert told.seq == 2
    assert told.steps == []
