"""What is known of a run from before."""

from __future__ import annotations

from typing import Any

from interlock.runtime.entry import Entry
from interlock.runtime.journal.past import Past
from interlock.runtime.strand import Operation
from interlock.workflows.outcome import Suspension


def entry(path: str, *at: int, status: Any = "success") -> Entry:
    """An entry of a turn."""
    made = Entry(Operation(path.rpartition("/")[2], path), None, at)
    made.status = status
    return made


def test_of_two_entries_of_one_turn_the_last_counts_and_none_that_is_stale() -> None:
    first, second, third = entry("a"), entry("a"), entry("b")
    third.noted().stale = True
    past = Past([first, second, third])
    assert past.known("a", ()) is second
    assert past.known("b", ()) is None
    assert list(past.entries) == [first, second, third]


def test_what_is_inside_is_found_by_path_and_iterations_in_order() -> None:
    entries = [entry("x", 1), entry("y", 1, 1), entry("y", 1, 2), entry("x", 2), entry("y", 2, 1), entry("z")]
    past = Past(entries)
    assert past.inside(["x", "y"], (1,)) == entries[:3]
    assert past.inside(["y", "x"], (2,)) == entries[3:5]
    assert past.inside(["y"], ()) == [entries[1], entries[2], entries[4]]
    assert past.inside(["none"], ()) == []


def test_what_is_forgotten_is_what_a_workflow_did_in_one_turn() -> None:
    entries = [entry("w", 1), entry("w/a", 1), entry("w/a", 1, 3), entry("w/a", 2), entry("wide", 1)]
    past = Past(entries)
    past.inside(["w/a"], ())
    past.forget("w", (1,))
    assert past.known("w/a", (1,)) is None
    assert past.known("w/a", (1, 3)) is None
    assert past.known("w/a", (2,)) is entries[3]
    assert past.known("w", (1,)) is entries[0]
    assert past.known("wide", (1,)) is entries[4]
    assert past.inside(["w/a"], ()) == [entries[3]]


def test_an_answer_changes_nothing_that_was_told_before() -> None:
    waits = entry("ask", status="suspended")
    waits.noted().suspension = Suspension("ask", "ask", None, None, "t")
    past = Past([waits])
    past.answer("t", 5)
    assert waits.status == "suspended"
    assert waits.noted().suspension is not None
    known = past.known("ask", ())
    assert known is not None
    assert known.status == "unfinished"
    assert known.noted().resume_data == 5
    assert known.noted().suspension is None
