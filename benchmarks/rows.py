"""Every budget, in the order in which it is measured."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks import build, chain, chunk, fan_out, fork, imports
from benchmarks.harness import Row

__all__ = ["ROWS"]

ROWS: Sequence[Row] = (*chain.ROWS, *fan_out.ROWS, *chunk.ROWS, *fork.ROWS, *build.ROWS, *imports.ROWS)
