"""A case in a process of its own, so that no engine sees what another has left behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, cast

from benchmarks.rivals.engines import ENGINES
from benchmarks.rivals.places import HERE, NODE_FOLDER, ROOT, node

__all__ = ["LIMIT", "measure_fresh", "result_of_command"]

LIMIT: Final = 150.0
"""Seconds after which a case is ended."""


def measure_fresh(engine: str, workload: str, size: int, seconds: float) -> Mapping[str, object]:
    """Measure one case.

    Args:
        engine: A key of ``ENGINES``.
        workload: The key of a workload.
        size: One of its sizes.
        seconds: How long to measure.
    """
    cannot = ENGINES[engine].adapter().cannot
    if workload in cannot:
        return {"status": "unsupported", "why": cannot[workload]}
    arguments = [workload, str(size), str(seconds)]
    if not ENGINES[engine].on_node:
        return result_of_command([sys.executable, "-m", "benchmarks.rivals.one", engine, *arguments], ROOT)
    command = node()
    if command is None or not (NODE_FOLDER / "node_modules" / "@mastra" / "core").is_dir():
        missing = "npm" if shutil.which("npm") is None else "Mastra with a node of version 22"
        return {"status": "missing", "why": f"{missing} is not on this machine"}
    script = shutil.copy(HERE / "mastra" / "measure.mjs", NODE_FOLDER)
    return result_of_command([command, str(script), *arguments], NODE_FOLDER)


def result_of_command(command: Sequence[str], folder: Path, *, limit: float = LIMIT) -> Mapping[str, object]:
    """The JSON that a command prints last; where it prints none, what became of it."""
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return {"status": "timeout", "why": f"there was no result after {limit:g} s"}
    try:
        return cast("dict[str, object]", json.loads(out.splitlines()[-1]))
    except (IndexError, ValueError):
        said = (err.strip().splitlines() or ["it said nothing"])[-1]
        return {"status": "failed", "why": f"it ended with code {process.returncode}: {said}"[:300]}
