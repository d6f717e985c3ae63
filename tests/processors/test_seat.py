"""A processor's place in a run: whom it is told for, and who is told."""

from __future__ import annotations

import pytest

from interlock import Phase, Tripwire
from interlock.processors.seat import RunFacts, Seat
from interlock.verdict import AbortSignal, Violation

TRIPWIRE = Tripwire("stop", "guard", Phase.INPUT, metadata={"kind": "test"})


def test_an_abort_is_recorded_then_told_then_raised() -> None:
    run = RunFacts()
    seen: list[tuple[Violation, object]] = []
    seat = Seat("guard", run, {}, lambda violation: seen.append((violation, run.latch.tripwire)))
    with pytest.raises(AbortSignal) as raised:
        seat.abort(TRIPWIRE, Phase.INPUT)
    assert raised.value.tripwire is TRIPWIRE
    assert seen == [(Violation("guard", Phase.INPUT, "stop", {"kind": "test"}), TRIPWIRE)]


def test_a_second_abort_does_not_replace_the_first_but_is_told_and_unwinds_too() -> None:
    run = RunFacts()
    told: list[Violation] = []
    run.latch.trip(TRIPWIRE)
    with pytest.raises(AbortSignal):
        Seat("late", run, {}, told.append).abort(Tripwire("late", "late", Phase.INPUT), Phase.INPUT)
    assert run.latch.tripwire is TRIPWIRE
    assert [violation.message for violation in told] == ["late"]


def test_a_warning_is_kept_and_told() -> None:
    told: list[Violation] = []
    seat = Seat("guard", RunFacts(), {}, told.append)
    violation = Violation("guard", Phase.INPUT, "mind", 7)
    seat.warn(violation)
    assert seat.warnings == told == [violation]


def test_an_error_of_who_is_told_is_dropped_and_does_not_keep_the_abort_from_being_raised() -> None:
    def broken(violation: Violation) -> None:
        raise OSError("no log file")

    seat = Seat("guard", RunFacts(), {}, broken)
    seat.warn(Violation("guard", Phase.INPUT, "mind"))
    with pytest.raises(AbortSignal):
        seat.abort(TRIPWIRE, Phase.INPUT)


def test_runs_have_ids_contexts_and_latches_of_their_own() -> None:
    one, two = RunFacts(), RunFacts()
    assert one.run_id != two.run_id
    assert one.latch is not two.latch
    assert one.request_context is not two.request_context
    assert (one.agent_id, one.retry_count) == (None, 0)
    assert RunFacts(run_id="mine").run_id == "mine"
