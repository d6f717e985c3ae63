"""Dask: ``delayed`` functions, which are plain ones, in the calling thread; in threads where they sleep."""

from __future__ import annotations

import time
from typing import Any

from benchmarks.hand import AT_ONCE, INPUT, Run, item
from benchmarks.layered import sinks, value_of
from benchmarks.rivals.adapter import Adapter, Built, foreign
from benchmarks.rivals.workloads import graph

__all__ = ["ADAPTER"]


def _run(delayed: Any, **options: Any) -> Run:
    async def run() -> int:
        return int(delayed.compute(**(options or {"scheduler": "synchronous"})))

    return run


def _chain(length: int) -> Built:
    def add_one(value: int) -> int:
        return value + 1

    increment = foreign("dask").delayed(add_one, pure=False)

    def make() -> Any:
        value: Any = 0
        for _ in range(length):
            value = increment(value)
        return value

    return Built(make, lambda delayed: _run(delayed)())


def _fan_out(width: int, sleep: float) -> Run:
    dask = foreign("dask")

    def branch(value: int, number: int) -> int:
        if sleep:
            time.sleep(sleep)
        return value + number

    lazy = dask.delayed(branch, pure=False)
    total = dask.delayed(sum, pure=False)([lazy(INPUT, number) for number in range(width)])
    return _run(total, scheduler="threads", num_workers=width) if sleep else _run(total)


def _map(length: int) -> Run:
    dask = foreign("dask")
    lazy = dask.delayed(item, pure=False)
    total = dask.delayed(sum, pure=False)([lazy(value) for value in range(length)])
    return _run(total)


def _dag(nodes: int) -> Run:
    dask = foreign("dask")
    needs = graph(nodes)
    lazy = dask.delayed(value_of, pure=False)
    values: dict[int, Any] = {}
    for node in needs:
        values[node] = lazy(node, [values[need] for need in needs[node]] or [INPUT])
    return _run(dask.delayed(sum, pure=False)([values[node] for node in sinks(needs)]))


ADAPTER = Adapter(
    chain=_chain,
    fan_out=_fan_out,
    map=_map,
    dag=_dag,
    notes={
        "": "plain functions in the calling thread, its fastest scheduler for work this small: it runs no coroutines",
        "sleep": "a thread for each branch, that sleeps by `time.sleep`",
        "map": f"one item at a time in one thread, not {AT_ONCE}",
        "build": "the graph is made, not yet optimised, which happens when it runs",
    },
    distributions=("dask",),
)
