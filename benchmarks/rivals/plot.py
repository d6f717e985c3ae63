"""The results as a picture: a panel for each workload, a bar for each engine, on a scale of powers of ten."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.rivals.adapter import foreign
from benchmarks.rivals.engines import ENGINES
from benchmarks.rivals.figures import ratio, seconds, short
from benchmarks.rivals.results import Case, Results
from benchmarks.rivals.workloads import WORKLOADS, Workload

__all__ = ["draw"]

OURS: Final = "#0b6e4f"
THEIRS: Final = "#9aa5b1"
INK: Final = "#22282f"
FAINT: Final = "#6b7580"
COLUMNS: Final = 2


def draw(results: Results, folder: Path) -> list[Path]:
    """Draw ``rivals.png`` and ``rivals.svg``. Needs matplotlib, which the rivals' environment has.

    Args:
        results: What was measured.
        folder: Where the pictures go.
    """
    matplotlib = foreign("matplotlib")
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "rivals", "svg.fonttype": "none", "font.size": 9, "text.color": INK})
    panels = [(work, size) for work in WORKLOADS for size in work.sizes if results.on(work.key, size)]
    rows = -(-len(panels) // COLUMNS)
    figure, grid = foreign("matplotlib.pyplot").subplots(rows, COLUMNS, figsize=(13, 2.75 * rows), squeeze=False)
    axes = list(grid.flat)
    for axis, (work, size) in zip(axes, panels, strict=False):
        _panel(axis, work, size, results.on(work.key, size))
    for axis in axes[len(panels) :]:
        axis.set_visible(False)
    height = figure.get_figheight()
    title = "What an engine costs, on a logarithmic scale: shorter is better"
    figure.text(0.5, 1 - 0.3 / height, title, ha="center", fontsize=14, weight="bold")
    figure.text(0.5, 1 - 0.55 / height, _caption(results), ha="center", fontsize=9, color=FAINT)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.65 / height), h_pad=1.6, w_pad=2.0)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / "rivals.png", folder / "rivals.svg"]
    figure.savefig(paths[0], dpi=110, pil_kwargs={"optimize": True})
    figure.savefig(paths[1], metadata={"Date": None})
    return paths


def _caption(results: Results) -> str:
    machine = results.machine
    where = ", ".join(machine[name] for name in ("processor", "python") if name in machine)
    return f"measured on {results.days} · {where} · a figure is for one unit, and how often the work by hand fits in it"


def _panel(axis: Any, work: Workload, size: int, cases: Sequence[Case]) -> None:
    compared = work.hand is not None
    shown = sorted(((_value(case, compared=compared), case) for case in cases), key=lambda pair: pair[0] or math.inf)
    known = [value for value, _ in shown if value is not None]
    origin = 1.0 if compared else min(known, default=1.0) / 2
    most = max(known, default=10.0)
    for place, (value, case) in enumerate(shown):
        ours = case.engine == "interlock"
        if value is None:
            axis.text(origin * 1.12, place, _hindered(case), **_label(ours), style="italic")
            continue
        axis.barh(place, value - origin, left=origin, height=0.72, color=OURS if ours else THEIRS)
        axis.text(max(value, origin) * (most / origin) ** 0.012, place, _figure(case), **_label(ours))
    axis.set_yticks(range(len(shown)), [ENGINES[case.engine].title for _, case in shown])
    for label, (_, case) in zip(axis.get_yticklabels(), shown, strict=True):
        label.set(weight="bold" if case.engine == "interlock" else "normal", color=INK)
    axis.set_ylim(len(shown) - 0.4, -0.6)
    axis.set_xscale("log")
    axis.set_xlim(min(origin, *known) / 1.2 if known else origin, most * (most / origin) ** 0.34 * 1.3)
    if compared:
        axis.axvline(1.0, color=INK, linewidth=1.2)
    per = "" if work.unit == "run" else f", {work.per}"
    axis.set_title(f"{work.name(size)}{per}", loc="left", fontsize=10.5, weight="bold")
    axis.set_xlabel("times the same work by hand" if compared else f"µs {work.per}", fontsize=8, color=FAINT)
    axis.tick_params(axis="x", labelsize=8, colors=FAINT)
    axis.tick_params(axis="y", length=0)
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.grid(visible=True, axis="x", color="#e4e8ec", linewidth=0.8)
    axis.set_axisbelow(True)


def _hindered(case: Case) -> str:
    return "no such thing" if case.status == "unsupported" else short(case.status)


def _value(case: Case, *, compared: bool) -> float | None:
    return case.ratio if compared else case.us


def _figure(case: Case) -> str:
    assert case.us is not None
    return seconds(case.us) + (f"  ·  {ratio(case.ratio)}" if case.ratio is not None else "")


def _label(ours: bool) -> dict[str, Any]:
    return {"va": "center", "fontsize": 8.5, "color": INK if ours else FAINT, "weight": "bold" if ours else "normal"}
