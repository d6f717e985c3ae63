"""The record that a guard's decision to stop leaves, and the signal that carries it."""

from __future__ import annotations

import contextlib
import threading

import pytest

from interlock.verdict import AbortSignal, CheckRecord, Latch, Phase, Signal, Tripwire

FIRST, SECOND = Tripwire("one", "a"), Tripwire("two", "b", Phase.INPUT, True, {"kind": "card"})


def test_the_ten_points_stand_in_running_order() -> None:
    assert [str(phase) for phase in Phase] == [
        "input",
        "input_step",
        "llm_request",
        "api_error",
        "output_stream",
        "llm_response",
        "output_step",
        "tool_call",
        "tool_result",
        "output_result",
    ]


def test_an_abort_is_recorded_before_it_is_raised() -> None:
    latch = Latch()
    with pytest.raises(AbortSignal) as caught:
        latch.abort(FIRST)
    assert latch.tripwire is FIRST
    assert caught.value.tripwire is FIRST
    assert str(caught.value) == "one"


def test_a_second_abort_unwinds_for_the_tripwire_that_stands() -> None:
    latch = Latch()
    latch.trip(FIRST)
    with pytest.raises(AbortSignal) as caught:
        latch.abort(SECOND)
    assert caught.value.tripwire is FIRST


def test_except_exception_lets_the_signal_pass() -> None:
    assert issubclass(AbortSignal, Signal)
    assert not issubclass(Signal, Exception)


def test_the_record_stands_where_the_signal_is_swallowed() -> None:
    latch = Latch()

    def swallowing() -> str:
        with contextlib.suppress(BaseException):
            latch.abort(FIRST)
        return "went on"

    assert swallowing() == "went on"
    assert latch.tripwire is FIRST


def test_only_the_first_tripwire_counts() -> None:
    latch = Latch()
    assert latch.trip(FIRST) is FIRST
    assert latch.trip(SECOND) is FIRST
    assert latch.tripwire is FIRST


def test_who_waits_is_woken_when_it_trips() -> None:
    latch, woken = Latch(), list[str]()
    latch.watch(lambda: woken.append("early"))
    assert woken == []
    latch.trip(FIRST)
    assert woken == ["early"]


def test_who_comes_too_late_is_woken_at_once() -> None:
    latch, woken = Latch(), list[Tripwire | None]()
    latch.trip(FIRST)
    latch.watch(lambda: woken.append(latch.tripwire))
    assert woken == [FIRST]


def test_who_no_longer_watches_is_left_alone() -> None:
    latch, woken = Latch(), list[str]()

    def wake() -> None:
        woken.append("x")

    latch.watch(wake)
    latch.unwatch(wake)
    latch.trip(FIRST)
    assert woken == []


def test_threads_that_trip_at_once_agree_on_one_tripwire() -> None:
    for _ in range(50):
        latch, seen = Latch(), list[Tripwire]()
        start = threading.Barrier(8)

        def trip(n: int, latch: Latch = latch, start: threading.Barrier = start, seen: list[Tripwire] = seen) -> None:
            start.wait()
            seen.append(latch.trip(Tripwire(f"reason {n}", f"guard-{n}")))

        threads = [threading.Thread(target=trip, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(seen) == 8
        assert {id(tripwire) for tripwire in seen} == {id(latch.tripwire)}


def test_a_check_that_says_nothing_else_was_kept_and_ran_once() -> None:
    record = CheckRecord("pii", Phase.INPUT, "input", "passed")
    assert (record.kept, record.runs, record.step_number, record.reason) == (True, 1, None, None)
