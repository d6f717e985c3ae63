"""What ``import interlock`` adds to the start of Python."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence

from benchmarks.harness import Effort, Measured, Row, measure_cost

__all__ = ["ROWS"]


def _start(code: str) -> Callable[[], None]:
    """A fresh interpreter that runs ``code``."""

    def run() -> None:
        subprocess.run([sys.executable, "-c", code], check=True)

    return run


def _import(effort: Effort) -> Measured:
    """With every public name looked up, should the package load some of them late."""
    whole = _start("import interlock; [getattr(interlock, name) for name in interlock.__all__]")
    return measure_cost(whole, effort, unit="ms", over=_start("pass"))


ROWS: Sequence[Row] = (Row("import interlock, over bare Python", 150, 100, "ms", _import),)
