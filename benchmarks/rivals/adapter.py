"""What a file in ``engines/`` offers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from benchmarks.hand import Run

__all__ = ["Adapter", "Built", "Unsupported", "foreign"]


class Unsupported(Exception):
    """The engine cannot do this work; the text says why."""


@dataclass(frozen=True, slots=True)
class Built:
    """A chain as an engine builds it.

    Args:
        make: Builds and compiles it.
        drive: Runs what ``make`` gave, to see that it works; not timed.
    """

    make: Callable[[], Any]
    drive: Callable[[Any], Awaitable[int]]

    def run(self) -> Run:
        """Build it once, and give what runs it."""
        made = self.make()
        return lambda: self.drive(made)


@dataclass(frozen=True, slots=True)
class Adapter:
    """How one engine is driven.

    Args:
        chain: A chain of so many steps: each adds one, the first is given 0, and the last one's value is the answer.
        fan_out: So many branches at once, each of which sleeps for the seconds given (0: not at all) and gives
            ``INPUT`` plus its number; the sum is the answer.
        map: ``item`` of each number below so many, at most ``AT_ONCE`` at once; the sum is the answer.
        dag: The graph of so many nodes, ``value_of`` each; the sum of what the sinks give is the answer.
        cannot: Why a workload is left out, by its key.
        notes: What a reader should know of how a workload is driven, by its key; ``""`` for all of them.
        distributions: What is installed for it, whose versions are told.
    """

    chain: Callable[[int], Built] | None = None
    fan_out: Callable[[int, float], Run] | None = None
    map: Callable[[int], Run] | None = None
    dag: Callable[[int], Run] | None = None
    cannot: Mapping[str, str] = field(default_factory=dict[str, str])
    notes: Mapping[str, str] = field(default_factory=dict[str, str])
    distributions: Sequence[str] = ()


def foreign(name: str) -> Any:
    """A module of a rival. It is installed in the rivals' environment alone, so nothing is known of its types here."""
    return import_module(name)
