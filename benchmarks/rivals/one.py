"""One engine on one workload, in this process: ``python -m benchmarks.rivals.one ENGINE WORKLOAD SIZE SECONDS``.

Prints one line of JSON. The engine and the work by hand are sampled in turn, as for the budgets; the answer of the
first run must be right, or nothing is measured. Processor time counts: it is the time that passes on a quiet machine,
and says the same on a busy one. Where steps wait, the time that passes counts.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import statistics
import sys
import time
import traceback
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from benchmarks.hand import SLEEP, Run
from benchmarks.harness import Clock
from benchmarks.rivals.adapter import Adapter, Built, Unsupported
from benchmarks.rivals.engines import ENGINES
from benchmarks.rivals.workloads import BUILD_CHECK, Workload, workload

__all__ = ["measure", "result_of"]

SAMPLE: Final = 0.004
"""Seconds that a sample takes at least."""

PAIRS: Final = 41
FEW: Final = 5
FEWER: Final = 3
"""Pairs that are measured however long they take; the smaller number where a run takes longer than ``SLOW``."""

SLOW: Final = 2.0

VERY_SLOW: Final = 6.0
"""Where the first run takes so many seconds, it is the only one."""

RECURSION: Final = 100_000
"""Some engines walk a graph by recursion, and a chain of 1,000 steps is deeper than Python allows by default."""

QUIET: Final = {
    "HAMILTON_TELEMETRY_ENABLED": "false",
    "HAYSTACK_TELEMETRY_ENABLED": "false",
    "LANGSMITH_TRACING": "false",
    "DO_NOT_TRACK": "1",
}


def main(arguments: Sequence[str]) -> None:
    """Measure what the arguments name and print the result."""
    engine, key, size, seconds = arguments
    _search_installed_packages_first()
    os.environ.update(QUIET)
    sys.setrecursionlimit(RECURSION)
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    print(json.dumps(result_of(ENGINES[engine].adapter(), workload(key), int(size), float(seconds))), flush=True)


def _search_installed_packages_first() -> None:
    """The repository's root has links with the names of packages (``workflows``), and must not hide them."""
    root = str(Path(__file__).parents[2])
    sys.path[:] = [*(path for path in sys.path if path not in ("", root)), root]


def result_of(adapter: Adapter, work: Workload, size: int, seconds: float) -> Mapping[str, object]:
    """What came of it: measured, wrong, failed or unsupported."""
    try:
        return asyncio.run(_measured(adapter, work, size, seconds))
    except Unsupported as unsupported:
        return {"status": "unsupported", "why": str(unsupported)}
    except ModuleNotFoundError as error:
        return {"status": "missing", "why": f"it is not installed here: {error}"}
    except Exception as error:  # a rival that fails is told of, and the others are still measured
        traceback.print_exc()
        return {"status": "failed", "why": f"{type(error).__name__}: {error}"[:300]}


async def _measured(adapter: Adapter, work: Workload, size: int, seconds: float) -> Mapping[str, object]:
    if work.key == "build":
        assert adapter.chain is not None
        check = adapter.chain(BUILD_CHECK).run()
        return await measure(_building(adapter.chain(size)), None, work, size, seconds, check=check)
    assert work.hand is not None
    return await measure(_run_of(adapter, work.key, size), work.hand(size), work, size, seconds)


def _run_of(adapter: Adapter, key: str, size: int) -> Run:
    if key in ("chain", "sequence") and adapter.chain is not None:
        return adapter.chain(size).run()
    if key in ("fan-out", "parallel", "sleep") and adapter.fan_out is not None:
        return adapter.fan_out(size, SLEEP if key == "sleep" else 0.0)
    if key == "map" and adapter.map is not None:
        return adapter.map(size)
    if key == "dag" and adapter.dag is not None:
        return adapter.dag(size)
    raise Unsupported("nobody has written how this engine does it")


def _building(built: Built) -> Run:
    async def run() -> int:
        built.make()
        return 0

    return run


async def measure(
    run: Run, hand: Run | None, work: Workload, size: int, seconds: float, *, check: Run | None = None
) -> Mapping[str, object]:
    """Check the answer, then time the engine and the work by hand in turn.

    Args:
        run: The engine's run.
        hand: The same work by hand.
        work: What is done.
        size: Its size.
        seconds: After this long no further pair is begun, once there are enough.
        check: What gives the answer where ``run`` does not; its size is ``BUILD_CHECK``.
    """
    expected = work.answer(BUILD_CHECK if check else size)
    clock = time.perf_counter if work.waits else time.process_time
    begin = clock()
    answer = await (check or run)()
    first = clock() - begin
    if answer != expected:
        return {"status": "wrong", "why": f"it gave {answer!r:.60} and not {expected}"}
    if hand is not None and await hand() != expected:
        raise AssertionError("the work by hand gave something else")
    by_hand = 1 if hand is None else await _repeats(hand, clock)
    ours: list[float] = []
    theirs: list[float] = []
    if first > VERY_SLOW and check is None:
        ours.append(first)
        theirs += [await _seconds(hand, by_hand, clock) / by_hand] if hand is not None else []
    else:
        enough = FEWER if first > SLOW else FEW
        repeat = await _repeats(run, clock)
        end = time.perf_counter() + seconds
        while len(ours) < PAIRS and (len(ours) < enough or time.perf_counter() < end):
            gc.collect()
            hand_first = len(ours) % 2 == 0
            if hand is not None and hand_first:
                theirs.append(await _seconds(hand, by_hand, clock) / by_hand)
            ours.append(await _seconds(run, repeat, clock) / repeat)
            if hand is not None and not hand_first:
                theirs.append(await _seconds(hand, by_hand, clock) / by_hand)
    scale = 1e6 / work.units(size)
    result: dict[str, object] = {"status": "measured", "us": statistics.median(ours) * scale, "pairs": len(ours)}
    if theirs:
        result["hand_us"] = statistics.median(theirs) * scale
        result["ratio"] = statistics.median(one / other for one, other in zip(ours, theirs, strict=True))
    return result


async def _repeats(run: Run, clock: Clock) -> int:
    """How often it fits in a sample: the best of a few, one of which may have been interrupted."""
    times = [await _seconds(run, 1, clock)]
    while len(times) < 5 and sum(times) < 20 * SAMPLE:
        times.append(await _seconds(run, 1, clock))
    return max(1, round(SAMPLE / max(min(times), 1e-9)))


async def _seconds(run: Run, repeat: int, clock: Clock) -> float:
    begin = clock()
    for _ in range(repeat):
        await run()
    return clock() - begin


if __name__ == "__main__":
    main(sys.argv[1:])
