"""What ``import interlock`` adds to the start of Python.

Processor time counts, that of the started interpreters included: importing waits for nothing, and the time that passes
while other programs use the machine says nothing about the package.
"""

from __future__ import annotations

import resource
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


def _processor_seconds() -> float:
    """What this process and the children it has waited for have used so far."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _import(effort: Effort) -> Measured:
    """With every public name looked up, should the package load some of them late."""
    whole = _start("import interlock; [getattr(interlock, name) for name in interlock.__all__]")
    return measure_cost(whole, effort, unit="ms", over=_start("pass"), clock=_processor_seconds)


ROWS: Sequence[Row] = (Row("import interlock, over bare Python", 150, 100, "ms", _import),)
