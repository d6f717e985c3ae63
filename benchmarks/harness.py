"""How a row is measured: the engine and its rival in one process, turn by turn, and the median of the pairs.

A machine's speed drifts while a benchmark runs, and two cores shared with others drift a lot. So nothing is compared
with a number from another run: each sample of the engine has a sample of the rival right beside it, and the ratio of
the two is what counts. Budgets in µs and ms are scaled the same way, by a bare loop of coroutines beside each sample.
"""

from __future__ import annotations

import asyncio
import gc
import inspect
import statistics
import time
import tracemalloc
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, cast

__all__ = [
    "NOMINAL_STEP",
    "Clock",
    "Effort",
    "Measured",
    "Row",
    "Unit",
    "Work",
    "bare_loop",
    "measure_cost",
    "measure_memory",
    "measure_ratio",
]

NOMINAL_STEP: Final = 0.09e-6
"""Seconds that one step of the bare loop takes on the machine that the budgets were written for."""

CALIBRATION_STEPS: Final = 1_000

_clock = time.perf_counter

Work = Callable[[], object]
"""What is timed: a function, or a coroutine function. It returns its result, so that two of them can be compared."""

Clock = Callable[[], float]

Unit = Literal["×", "µs", "ms", "MB"]
PER_SECOND: Final[Mapping[str, float]] = {"µs": 1e6, "ms": 1e3}


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure.

    Args:
        pairs: How many pairs at most.
        seconds: After this long no further pair is begun, once there are three.
        sample: Seconds that one sample takes at least; quick work is repeated to fill it.
    """

    pairs: int = 31
    seconds: float = 2.0
    sample: float = 0.005

    def more(self) -> Effort:
        """Three times the effort, for a row that missed its budget and may have been unlucky."""
        return Effort(self.pairs * 3, self.seconds * 3, self.sample)


@dataclass(frozen=True, slots=True)
class Measured:
    """What came out.

    Args:
        value: In the row's unit.
        pairs: How many pairs it is the median of.
        detail: Further figures to show, by name.
    """

    value: float
    pairs: int
    detail: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True)
class Row:
    """One budget.

    Args:
        name: What is measured.
        must: The most it may cost.
        aim: What it should cost.
        unit: ``"×"`` a rival, ``"µs"`` or ``"ms"`` on the nominal machine, or ``"MB"``.
        measure: Measures it once.
    """

    name: str
    must: float
    aim: float
    unit: Unit
    measure: Callable[[Effort], Measured]


def measure_ratio(
    engine: Work, hand: Work, effort: Effort, *, units: int = 1, same: Callable[[object, object], bool] | None = None
) -> Measured:
    """How many times longer the engine takes than the hand-written form.

    Args:
        engine: Ours.
        hand: The same work without us.
        effort: How long to measure.
        units: Steps, branches or chunks in one call; only for the figures shown beside the ratio.
        same: Whether two results mean that the same work was done; by default they must be equal.

    Raises:
        ValueError: The two gave different results, so a ratio would mean nothing.

    >>> measured = measure_ratio(lambda: sum(range(2000)), lambda: sum(range(1000)) + 1499500, Effort(pairs=3))
    >>> 1 < measured.value < 10
    True
    """
    return asyncio.run(_ratio(engine, hand, effort, units, same))


async def _ratio(
    engine: Work, hand: Work, effort: Effort, units: int, same: Callable[[object, object], bool] | None
) -> Measured:
    ours, theirs = await _once(engine), await _once(hand)
    if not (same(ours, theirs) if same else ours == theirs):
        raise ValueError(f"the engine gave {ours!r:.200} and the hand-written form {theirs!r:.200}: not the same work")
    pairs = await _pairs(engine, hand, effort, _clock)
    engine_us, hand_us = (statistics.median(times) * 1e6 / units for times in zip(*pairs, strict=True))
    value = statistics.median(ours / theirs for ours, theirs in pairs)
    return Measured(value, len(pairs), {"engine µs": engine_us, "hand µs": hand_us})


def measure_cost(
    engine: Work,
    effort: Effort,
    *,
    unit: Literal["µs", "ms"],
    units: int = 1,
    over: Work | None = None,
    clock: Clock | None = None,
) -> Measured:
    """What one unit costs on the nominal machine.

    Args:
        engine: Ours.
        effort: How long to measure.
        unit: What the result is in.
        units: Steps, branches or chunks in one call.
        over: What is subtracted from each sample: the work that would be done without us.
        clock: Gives the seconds that count; default: those that pass.
    """
    return asyncio.run(_cost(engine, effort, PER_SECOND[unit], units, over, clock or _clock))


async def _cost(engine: Work, effort: Effort, scale: float, units: int, over: Work | None, clock: Clock) -> Measured:
    pairs = await _pairs(engine, bare_loop(CALIBRATION_STEPS), effort, clock, over=over)
    value = statistics.median(ours / (bare / CALIBRATION_STEPS / NOMINAL_STEP) for ours, bare in pairs)
    raw = statistics.median(ours for ours, _ in pairs)
    step = statistics.median(bare for _, bare in pairs) / CALIBRATION_STEPS
    return Measured(value * scale / units, len(pairs), {"unscaled": raw * scale / units, "bare step µs": step * 1e6})


def measure_memory(engine: Work) -> Measured:
    """How many MB of Python's memory the second run has at its peak beyond what was there before it.

    >>> 8 < measure_memory(lambda: bytearray(10_000_000)).value < 12
    True
    """
    return asyncio.run(_memory(engine))


async def _memory(engine: Work) -> Measured:
    await _once(engine)
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        await _once(engine)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return Measured((peak - before) / 1e6, 1)


def bare_loop(steps: int) -> Callable[[], Awaitable[int]]:
    """The hand-written chain: so many coroutine functions, each awaited with what the one before returned."""
    functions = [_increment() for _ in range(steps)]

    async def run() -> int:
        value = 0
        for function in functions:
            value = await function(value)
        return value

    return run


def _increment() -> Callable[[int], Awaitable[int]]:
    """A coroutine function of its own, as each step of a real chain is."""

    async def increment(value: int) -> int:
        return value + 1

    return increment


async def _once(work: Work) -> object:
    return await cast("Awaitable[object]", work()) if inspect.iscoroutinefunction(work) else work()


async def _pairs(
    first: Work, second: Work, effort: Effort, clock: Clock, *, over: Work | None = None
) -> list[tuple[float, float]]:
    """Seconds a call of each, sampled in turn. ``over`` is sampled too, and subtracted from the first.

    Every other time they are sampled in the opposite order: on a busy machine whatever comes last is interrupted most.
    """
    works = [first, second, *([over] if over else [])]
    repeats = [await _repeats(work, effort.sample, clock) for work in works]
    pairs: list[tuple[float, float]] = []
    end = _clock() + effort.seconds
    while len(pairs) < effort.pairs and (len(pairs) < 3 or _clock() < end):
        gc.collect()
        times = [0.0] * len(works)
        for turn in range(len(works)) if len(pairs) % 2 == 0 else reversed(range(len(works))):
            times[turn] = await _seconds(works[turn], repeats[turn], clock) / repeats[turn]
        pairs.append((times[0] - (times[2] if over else 0.0), times[1]))
    return pairs


async def _repeats(work: Work, sample: float, clock: Clock) -> int:
    """How often the work fits in a sample: warm, and the best of a few, one of which may have been interrupted."""
    await _once(work)
    times = [await _seconds(work, 1, clock)]
    while len(times) < 5 and sum(times) < 20 * sample:
        times.append(await _seconds(work, 1, clock))
    return max(1, round(sample / max(min(times), 1e-9)))


async def _seconds(work: Work, repeat: int, clock: Clock) -> float:
    if inspect.iscoroutinefunction(work):
        begin = clock()
        for _ in range(repeat):
            await work()
        return clock() - begin
    begin = clock()
    for _ in range(repeat):
        work()
    return clock() - begin
