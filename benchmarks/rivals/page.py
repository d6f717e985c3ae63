"""``docs/benchmarks.md``, made from the results alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import dedent

from benchmarks.rivals.engines import ENGINES
from benchmarks.rivals.figures import cell, seconds
from benchmarks.rivals.results import Results
from benchmarks.rivals.workloads import WORKLOADS, Workload

__all__ = ["page"]

OPENING = """\
    # Benchmarks

    `make bench` measures Interlock against its budgets, on your machine, and fails when one is missed. `make rivals`
    puts it beside other engines on the same work: it installs them into an environment of their own (`.rivals`; Mastra
    too, where there is an npm), measures, and writes this page.

    ```bash
    make bench
    make rivals
    ```
    """

METHOD = """\
    ## How it is measured

    Each case runs in a process of its own. In it the engine and the same work written by hand take turns; the figure is
    the median time of a unit, and the multiple in brackets is the median of the ratios of neighbours: it says what an
    engine costs over a loop (a chain), `asyncio.TaskGroup` (branches, graphs), or 32 tasks that share one iterator (a
    map). Processor time counts, because other programs change it little; where branches sleep, the time that passes.
    Every step does next to nothing, so this is what the engine itself costs: a step that asks a model dwarfs them all.
    Each run's answer is compared with the right one before anything is timed.

    Every engine is driven as its documentation shows, with whatever it keeps by default (Interlock: a record of each
    step) and without storage. The code is in `benchmarks/rivals/engines`.
    """

QUIET = 1.5
"""A load average up to this says that next to nothing else was running."""

GROUPS: Sequence[Sequence[str]] = (("chain", "fan-out", "sleep"), ("map", "dag", "sequence", "parallel", "build"))


def page(results: Results) -> str:
    """The whole page."""
    parts = [dedent(OPENING), _figures(results), dedent(METHOD), _notes(), _gaps(results), _setting(results)]
    return "\n".join(part for part in parts if part)


def _figures(results: Results) -> str:
    shown = [_table(results, [work for work in WORKLOADS if work.key in group]) for group in GROUPS]
    legend = (
        'A figure is for one unit, which the head of its column names. "–": the engine has no such thing; '
        "see [what is not there](#what-is-not-there).\n"
    )
    picture = "![What each engine costs over code written by hand, a panel for each workload](benchmarks/rivals.png)\n"
    measured = f"Measured on {results.days}. {_busy(results)}\n"
    return "\n".join(["## Beside other engines\n", measured, *shown, legend, picture])


def _busy(results: Results) -> str:
    """How far the figures can be trusted."""
    median, highest = results.load
    if not highest:
        return "How busy the machine was is not known."
    told = f"The load average was {median:.1f} (median; highest {highest:.1f}), of which the measured program is 1"
    if median <= QUIET:
        return f"{told}."
    return f"{told}: other programs used the machine too, so figures are higher than on a quiet one, and scatter."


def _table(results: Results, works: Sequence[Workload]) -> str:
    columns = [(work, size) for work in works for size in work.sizes]
    heads = [work.name(size) + ("" if work.unit == "run" else f", {work.per}") for work, size in columns]
    rows = [["by hand", *(_by_hand(results, work, size) for work, size in columns)]]
    for engine in _ordered(results):
        title = ENGINES[engine].title
        cells = [cell(results.of(engine, work.key, size)) for work, size in columns]
        rows.append([f"**{title}**" if engine == "interlock" else title, *cells])
    return _markdown(["", *heads], rows)


def _by_hand(results: Results, work: Workload, size: int) -> str:
    """What the work by hand took beside Interlock, in Python; the median would hide which process it was."""
    case = results.of("interlock", work.key, size) or next(iter(results.on(work.key, size)), None)
    return seconds(case.hand_us) if case is not None and case.hand_us is not None else "–"


def _ordered(results: Results) -> list[str]:
    """The engines, by what a step of the short chain or a branch costs with them."""

    def cost(engine: str) -> tuple[bool, float]:
        cases = (results.of(engine, key, size) for key, size in (("chain", 100), ("fan-out", 10)))
        costs = [case.us for case in cases if case is not None and case.us is not None]
        return (not costs, costs[0] if costs else 0.0)

    return sorted(ENGINES, key=cost)


def _notes() -> str:
    lines = ["What to know of each:\n"]
    for engine in ENGINES.values():
        notes = engine.adapter().notes
        if notes:
            parts = [note if not key else f"{key}: {note}" for key, note in sorted(notes.items())]
            lines.append(f"- {engine.title}. {' '.join(f'{part[0].upper()}{part[1:]}.' for part in parts)}")
    return "\n".join(lines) + "\n"


def _gaps(results: Results) -> str:
    return "\n".join(["## What is not there\n", *(_bulleted(_why(results)) or ["Nothing is missing."]), ""])


def _why(results: Results) -> Iterator[str]:
    """A line for each case without a figure; those that share their reason share the line."""
    for engine in ENGINES:
        reasons: dict[str, list[str]] = {}
        for work in WORKLOADS:
            for size in work.sizes:
                case = results.of(engine, work.key, size)
                if case is None:
                    reasons.setdefault("was not measured", []).append(work.name(size))
                elif case.us is None:
                    reasons.setdefault(f"{_said(case.status)}{case.why}", []).append(work.name(size))
        for reason, names in reasons.items():
            yield f"{ENGINES[engine].title}, {'; '.join(names)}: {reason}."


def _said(status: str) -> str:
    return {"wrong": "the answer was wrong: ", "failed": "it failed: "}.get(status, "")


def _setting(results: Results) -> str:
    lines = ["## Where\n", *_bulleted(f"{name}: {value}" for name, value in results.machine.items()), ""]
    rows = [
        [ENGINES[engine].title, ", ".join(f"{name} {version}" for name, version in versions.items())]
        for engine, versions in results.versions.items()
        if engine in ENGINES
    ]
    return "\n".join([*lines, _markdown(["engine", "versions"], rows)])


def _bulleted(lines: Iterable[str]) -> list[str]:
    return [f"- {line}" for line in lines]


def _markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
