"""Every budget, in the order in which it is measured."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.harness import Row

__all__ = ["ROWS"]

ROWS: Sequence[Row] = ()
