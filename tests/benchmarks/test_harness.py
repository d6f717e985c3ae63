"""The harness measures what it says. A made-up clock stands in for the machine's: nothing here depends on its speed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from benchmarks import harness
from benchmarks.harness import Effort, Work, bare_loop, measure_cost, measure_ratio


class Clock:
    """Time that passes only when work says so; ``drift`` makes the machine slower from one sample to the next."""

    def __init__(self) -> None:
        self.now = 0.0
        self.drift = 1.0
        self.speed = 1.0
        self.order: list[str] = []

    def work(self, name: str, seconds: float) -> Callable[[], None]:
        def run() -> None:
            self.order.append(name)
            self.now += seconds * self.speed
            self.speed *= self.drift

        return run


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock that the harness reads in this test."""
    made_up = Clock()
    monkeypatch.setattr(harness, "_clock", lambda: made_up.now)
    return made_up


SLOW = Effort(pairs=5, seconds=1_000, sample=0.001)


def test_a_ratio_is_how_many_times_longer_the_engine_takes(clock: Clock) -> None:
    measured = measure_ratio(clock.work("ours", 4), clock.work("theirs", 1), SLOW)
    assert measured.value == pytest.approx(4)
    assert measured.pairs == 5


def test_the_two_are_measured_in_turn_and_none_is_always_the_last_of_its_pair(clock: Clock) -> None:
    measure_ratio(clock.work("ours", 1), clock.work("theirs", 1), SLOW)
    assert clock.order[-10:] == ["ours", "theirs", "theirs", "ours"] * 2 + ["ours", "theirs"]


def test_an_interruption_while_the_samples_are_sized_does_not_make_them_short(clock: Clock) -> None:
    work = clock.work("ours", 1e-4)

    def interrupted() -> None:
        work()
        if clock.order.count("ours") == 3:
            clock.now += 0.005

    measure_ratio(interrupted, clock.work("theirs", 1e-4), Effort(pairs=3, seconds=1e9, sample=0.001))
    assert clock.order.count("ours") == pytest.approx(3 * 10, abs=8)


def test_a_machine_that_slows_down_hardly_changes_the_ratio(clock: Clock) -> None:
    clock.drift = 1.02
    measured = measure_ratio(clock.work("ours", 3), clock.work("theirs", 1), Effort(pairs=31, seconds=1e9))
    assert measured.value == pytest.approx(3, rel=0.05)


def test_one_disturbed_pair_does_not_change_the_median(clock: Clock) -> None:
    ours = clock.work("ours", 2)

    def disturbed() -> None:
        ours()
        if clock.order.count("ours") == 5:
            clock.now += 1_000

    assert measure_ratio(disturbed, clock.work("theirs", 1), Effort(pairs=5, seconds=1e9)).value == pytest.approx(2)


def test_the_figures_beside_a_ratio_are_for_one_unit(clock: Clock) -> None:
    measured = measure_ratio(clock.work("ours", 4e-3), clock.work("theirs", 1e-3), SLOW, units=10)
    assert measured.detail["engine µs"] == pytest.approx(400)
    assert measured.detail["hand µs"] == pytest.approx(100)


def test_quick_work_is_repeated_to_fill_a_sample(clock: Clock) -> None:
    measure_ratio(clock.work("ours", 0.25), clock.work("theirs", 1), Effort(pairs=3, seconds=1e9, sample=1))
    assert clock.order[-5:] == ["ours"] * 4 + ["theirs"]


def test_asynchronous_work_is_awaited(clock: Clock) -> None:
    async def engine() -> str:
        await asyncio.sleep(0)
        clock.now += 2
        return "done"

    async def hand() -> str:
        clock.now += 1
        return "done"

    assert measure_ratio(engine, hand, SLOW).value == pytest.approx(2)


def test_two_works_with_different_results_are_not_compared() -> None:
    with pytest.raises(ValueError, match="not the same work"):
        measure_ratio(lambda: 1, lambda: 2, SLOW)


def test_what_counts_as_the_same_work_can_be_told(clock: Clock) -> None:
    del clock
    with pytest.raises(ValueError, match="not the same work"):
        measure_ratio(lambda: 1, lambda: 1, SLOW, same=lambda ours, theirs: ours != theirs)


def _steps_that_take(seconds: float, clock: Clock) -> Callable[[int], Callable[[], Awaitable[int]]]:
    def loop(steps: int) -> Callable[[], Awaitable[int]]:
        async def run() -> int:
            clock.now += seconds * steps
            return steps

        return run

    return loop


def _cost(engine: Work, over: Work | None = None) -> float:
    return measure_cost(engine, Effort(pairs=3, seconds=1e9, sample=1e-9), unit="µs", units=10, over=over).value


@pytest.mark.parametrize("slower", [1, 2, 5])
def test_a_cost_is_that_on_the_nominal_machine(slower: float, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "bare_loop", _steps_that_take(slower * harness.NOMINAL_STEP, clock))
    assert _cost(clock.work("ours", slower * 70e-6)) == pytest.approx(7)


def test_what_would_be_done_anyway_is_subtracted(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "bare_loop", _steps_that_take(harness.NOMINAL_STEP, clock))
    assert _cost(clock.work("ours", 70e-6), clock.work("over", 50e-6)) == pytest.approx(2)


def test_another_clock_can_be_named(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "bare_loop", _steps_that_take(harness.NOMINAL_STEP, clock))
    effort = Effort(pairs=3, seconds=1e9, sample=1e-9)
    measured = measure_cost(clock.work("ours", 70e-6), effort, unit="µs", clock=lambda: 2 * clock.now)
    assert measured.detail["unscaled"] == pytest.approx(140)


def test_the_bare_loop_takes_every_step() -> None:
    assert asyncio.run(_awaited(bare_loop(17))) == 17


async def _awaited(work: Callable[[], Awaitable[int]]) -> int:
    return await work()


def test_measuring_ends_when_its_time_is_up_but_not_before_three_pairs(clock: Clock) -> None:
    ours, theirs = clock.work("ours", 1), clock.work("theirs", 1)
    assert measure_ratio(ours, theirs, Effort(pairs=1_000, seconds=0)).pairs == 3
    assert measure_ratio(ours, theirs, Effort(pairs=1_000, seconds=20)).pairs == 10
