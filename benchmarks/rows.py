"""Every budget, in the order in which it is measured."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks import build, chain, chunk, dag, events, fan_out, fork, imports, map, record, text_guard  # noqa: A004
from benchmarks.harness import Row

__all__ = ["ROWS"]

ROWS: Sequence[Row] = (
    *chain.ROWS,
    *events.ROWS,
    *record.ROWS,
    *fan_out.ROWS,
    *map.ROWS,
    *dag.ROWS,
    *chunk.ROWS,
    *text_guard.ROWS,
    *fork.ROWS,
    *build.ROWS,
    *imports.ROWS,
)
