"""Measure Interlock and its rivals on the same work, then write the results, the page and the plot."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

from benchmarks.rivals.engines import ENGINES
from benchmarks.rivals.figures import cell
from benchmarks.rivals.fresh import measure_fresh
from benchmarks.rivals.machine import describe, load, now, versions
from benchmarks.rivals.page import page
from benchmarks.rivals.places import FIGURES, PAGE, RESULTS
from benchmarks.rivals.plot import draw
from benchmarks.rivals.results import Case, Results, Status, read, write
from benchmarks.rivals.workloads import WORKLOADS, Workload

__all__ = ["main"]

BAD_USAGE = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write. The exit code is 0 whatever the rivals do: their gaps stand on the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rivals", description=__doc__)
    parser.add_argument(
        "--only", action="append", metavar="ENGINE", choices=ENGINES, help="only this engine; repeatable"
    )
    parser.add_argument("--work", action="append", metavar="WORKLOAD", choices=[work.key for work in WORKLOADS])
    parser.add_argument("--seconds", type=float, default=1.5, help="how long to measure a case (%(default)s)")
    parser.add_argument("--page", action="store_true", help="measure nothing: write the page and the plot again")
    options = parser.parse_args(arguments)
    if not options.page:
        _measure(read(RESULTS), options.only or list(ENGINES), options.work, options.seconds)
    results = read(RESULTS)  # with the figures as they are kept, so that --page writes the same page
    if not results.cases:
        print("nothing has been measured yet", file=sys.stderr)
        return BAD_USAGE
    PAGE.write_text(page(results), "utf-8")
    for path in (PAGE, *_drawn(results)):
        print(f"written: {path}")
    return 0


def _drawn(results: Results) -> Sequence[Path]:
    try:
        return draw(results, FIGURES)
    except ModuleNotFoundError as error:
        print(f"the plot is left as it was: {error}", file=sys.stderr)
        return ()


def _measure(kept: Results, engines: Sequence[str], works: Sequence[str] | None, seconds: float) -> None:
    """Measure, and keep each figure as soon as it is there. What is not measured again stays as it was."""
    everything = works is None and len(engines) == len(ENGINES)
    results = Results(describe(), versions(), () if everything else kept.cases)
    for work in WORKLOADS:
        if works is not None and work.key not in works:
            continue
        for size in work.sizes:
            print(f"\n{work.name(size)}" + ("" if work.unit == "run" else f", {work.per}"), flush=True)
            for case in _cases(engines, work, size, seconds):
                results = results.with_cases([case])
                write(results, RESULTS)


def _cases(engines: Sequence[str], work: Workload, size: int, seconds: float) -> Iterator[Case]:
    widest = max(len(engine.title) for engine in ENGINES.values())
    for engine in engines:
        before = load()
        result = dict(measure_fresh(engine, work.key, size, seconds))
        status = cast("Status", result.pop("status"))
        case = Case(engine, work.key, size, now(), status, load=before, **result)  # type: ignore[arg-type]
        print(f"  {ENGINES[engine].title:{widest}}  {cell(case)}  {case.why}".rstrip(), flush=True)
        yield case


if __name__ == "__main__":
    sys.exit(main())
