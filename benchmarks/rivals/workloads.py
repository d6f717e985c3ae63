"""What every engine is asked to do, what must come out, and the same work by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from benchmarks.hand import INPUT, SLEEP, Run, countdown, fan_out, in_turn, item, workers
from benchmarks.layered import Needs, layered, sinks, value_of

__all__ = ["BUILD_CHECK", "WORKLOADS", "Workload", "graph", "workload"]

BUILD_CHECK: Final = 100
"""Nodes of the chain that is built and run once to see that what is built works."""


@dataclass(frozen=True, slots=True)
class Workload:
    """One kind of work.

    Args:
        key: How results name it.
        title: What it is, with ``{n}`` for its size.
        sizes: The sizes that are measured.
        unit: What a figure is for.
        hand: The same work without an engine, by size; None where there is nothing to compare with.
        answer: What must come out, by size.
        waits: Whether its steps wait: then the time that passes is measured, else that which the processor spends.
    """

    key: str
    title: str
    sizes: Sequence[int]
    unit: str
    hand: Callable[[int], Run] | None
    answer: Callable[[int], int]
    waits: bool = False

    def units(self, size: int) -> int:
        """By how many the time of one run is divided."""
        return 1 if self.unit == "run" else size

    @property
    def per(self) -> str:
        """What a figure is for, with its article.

        >>> workload("map").per
        'an item'
        """
        return f"{'an' if self.unit[0] in 'aeio' else 'a'} {self.unit}"

    def name(self, size: int) -> str:
        """The title with its size.

        >>> workload("chain").name(1_000)
        'chain of 1,000 steps'
        """
        return self.title.format(n=f"{size:,}")


@cache
def graph(nodes: int) -> Needs:
    """The graph of the workload ``dag``, with three edges a node."""
    return layered(nodes, 3 * nodes)


def _of_the_branches(width: int) -> int:
    return width * INPUT + sum(range(width))


def _of_the_graph(nodes: int) -> int:
    needs = graph(nodes)
    values: dict[int, int] = {}
    for node in needs:
        values[node] = value_of(node, [values[need] for need in needs[node]] or [INPUT])
    return sum(values[node] for node in sinks(needs))


WORKLOADS: Sequence[Workload] = (
    Workload("chain", "chain of {n} steps", (100, 1_000), "step", in_turn, lambda n: n),
    Workload("fan-out", "fan-out of {n} and join", (10, 1_000), "branch", fan_out, _of_the_branches),
    Workload(
        "sleep",
        "{n} branches that sleep 10 ms",
        (1_000,),
        "run",
        lambda n: fan_out(n, sleep=SLEEP),
        _of_the_branches,
        waits=True,
    ),
    Workload("map", "map over {n} items, 32 at once", (10_000,), "item", workers, lambda n: sum(map(item, range(n)))),
    Workload("dag", "graph of {n} nodes, 3 edges each", (1_000,), "node", lambda n: countdown(graph(n)), _of_the_graph),
    Workload("sequence", "a run of {n} steps in turn", (5,), "run", in_turn, lambda n: n),
    Workload("parallel", "a run of {n} steps at once", (5,), "run", fan_out, _of_the_branches),
    Workload("build", "build and compile a chain of {n}", (1_000,), "node", None, lambda n: n),
)


def workload(key: str) -> Workload:
    """The workload of that key.

    Raises:
        KeyError: There is none.
    """
    for one in WORKLOADS:
        if one.key == key:
            return one
    raise KeyError(f"no workload {key!r}; there are {', '.join(one.key for one in WORKLOADS)}")
