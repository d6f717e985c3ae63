"""Random graphs of every combinator, as plain data: what the engine is given and what the naive interpreter reads."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias, cast

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

__all__ = [
    "FALSY",
    "Act",
    "Branch",
    "Dag",
    "Each",
    "Graph",
    "Loop",
    "Map",
    "Nap",
    "Node",
    "Parallel",
    "Sub",
    "acts_in",
    "graphs",
]

FALSY: tuple[Any, ...] = (0, "", False, {}, [], None)
Does = Literal["give", "falsy", "fail", "abort", "bail", "suspend"]
Say = Literal["yes", "no", "fail", "bail", "abort"]


class Short:
    """Shows itself without what is as most often."""

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))

    def __repr__(self) -> str:
        told = [
            f"{f.name}={value!r}" for f in fields(cast("Any", self)) if (value := getattr(self, f.name)) != f.default
        ]
        return f"{type(self).__name__}({', '.join(told)})"


@dataclass(frozen=True, repr=False)
class Act(Short):
    """A step of one function.

    Attributes:
        kind: ``"def"``, ``"async"`` or ``"thread"``.
        waits: How often it lets others run, where it is async.
        does: What it comes to.
        falsy: Which falsy value it gives.
        flaky: How many attempts fail first.
        attempts: How often it may be tried; None: as its workflow says.
        swallows: Whether it catches the signal it raised, and returns.
    """

    id: str
    kind: str = "def"
    waits: int = 0
    does: Does = "give"
    falsy: int = 0
    flaky: int = 0
    attempts: int | None = None
    swallows: bool = False


@dataclass(frozen=True, repr=False)
class Sub(Short):
    """A workflow as a step.

    Attributes:
        attempts: How often it is tried as a whole; None: once.
        retry: How often its steps may be tried; None: as around it.
    """

    id: str
    nodes: tuple[Node, ...]
    attempts: int | None = None
    retry: int | None = None


One: TypeAlias = Act | Sub


@dataclass(frozen=True, repr=False)
class Parallel(Short):
    """``merged``: whether a merge with a function follows."""

    arms: tuple[One, ...]
    join: int | None = None
    on_error: Any = "fail_fast"
    concurrency: int | None = None
    merged: bool = False


@dataclass(frozen=True, repr=False)
class Branch(Short):
    """``conditions``: what each says, and whether it is async."""

    conditions: tuple[tuple[Say, bool], ...]
    arms: tuple[tuple[One, ...], ...]
    otherwise: tuple[One, ...] | None = None
    mode: Any = "first"
    merged: bool = False


@dataclass(frozen=True, repr=False)
class Map(Short):
    """A map; ``fails``: whether it raises."""

    waits: bool = False
    fails: bool = False


@dataclass(frozen=True, repr=False)
class Each(Short):
    """A map to a list of so many items (-1: to no list), then the body on each."""

    count: int
    body: One
    concurrency: int = 1
    asked: bool = False
    on_error: Any = "fail_fast"


@dataclass(frozen=True, repr=False)
class Loop(Short):
    """The body so many times; ``fails``: whether the condition then raises."""

    body: One
    until: bool
    times: int
    waits: bool = False
    fails: bool = False
    most: int = 1000


@dataclass(frozen=True, repr=False)
class Dag(Short):
    """Nodes with the places of those they need."""

    items: tuple[tuple[One, tuple[int, ...]], ...]


@dataclass(frozen=True, repr=False)
class Nap(Short):
    """A wait of no time; ``time``: how it is said."""

    time: Literal["number", "def", "async", "fail", "until"]


Node: TypeAlias = Act | Sub | Parallel | Branch | Map | Each | Loop | Dag | Nap


@dataclass(frozen=True, repr=False)
class Graph(Short):
    """A whole workflow."""

    nodes: tuple[Node, ...]
    retry: int | None = None


@dataclass(frozen=True)
class Temper:
    """What may happen in a graph.

    Attributes:
        does: What steps may come to; the first is what most do.
        flaky: Whether steps may fail at first.
        upsets: Whether conditions, maps and waits may raise, and what is no list may flow into a foreach.
        threads: Whether steps may run in threads.
        partial: Whether parallel blocks may be content with some of their arms.
        collects: Whether blocks may make values of failures.
        heals: Whether steps that fail at first are always tried often enough.
        waits: How often an async step lets others run at most.
    """

    does: tuple[Does, ...] = ("give", "falsy", "fail", "abort", "bail", "suspend")
    flaky: bool = True
    upsets: bool = True
    threads: bool = False
    partial: bool = True
    collects: bool = True
    heals: bool = False
    waits: int = 3


def acts_in(nodes: tuple[Any, ...]) -> Iterator[Act]:
    """Every act of some nodes."""
    for node in nodes:
        match node:
            case Act():
                yield node
            case Sub(nodes=inner):
                yield from acts_in(inner)
            case Parallel(arms=arms):
                yield from acts_in(arms)
            case Branch(arms=arms, otherwise=rest):
                yield from acts_in((*itertools.chain(*arms), *(rest or ())))
            case Each(body=body) | Loop(body=body):
                yield from acts_in((body,))
            case Dag(items=items):
                yield from acts_in(tuple(one for one, _ in items))
            case _:
                pass


@st.composite
def graphs(draw: DrawFn, temper: Temper = Temper(), *, depth: int = 2, size: int = 4) -> Graph:
    """Random graphs.

    Args:
        draw: Hypothesis'.
        temper: What may happen in them.
        depth: How deep workflows are nested.
        size: How many nodes a chain has at most.
    """
    drawn = _Drawing(draw, temper)
    return Graph(drawn.chain(depth, size), draw(st.sampled_from([None, None, 1, 2])) if temper.flaky else None)


class _Drawing:
    """Draws one graph; every id stands once."""

    def __init__(self, draw: DrawFn, temper: Temper) -> None:
        self._draw = draw
        self._temper = temper
        self._ids = itertools.count(1)

    def _one_of(self, *values: Any) -> Any:
        return self._draw(st.sampled_from(values))

    def _chance(self, part: int) -> bool:
        """One time of so many."""
        return self._draw(st.integers(0, part - 1)) == part - 1

    def chain(self, depth: int, size: int) -> tuple[Node, ...]:
        count = self._draw(st.integers(1, size))
        return tuple(self._node(depth) for _ in range(count))

    def _node(self, depth: int) -> Node:
        kind = self._one_of("act", "parallel", "branch", "each", "loop", "dag", "map", "nap", "sub")
        match kind:
            case "parallel":
                return self._parallel(depth)
            case "branch":
                return self._branch(depth)
            case "each":
                return self._each(depth)
            case "loop":
                return self._loop(depth)
            case "dag":
                return self._dag(depth)
            case "map":
                return Map(self._chance(2), self._upset())
            case "nap":
                return Nap(self._one_of("number", "def", "async", "until") if not self._upset() else "fail")
            case "sub" if depth > 0:
                return self._sub(depth)
            case _:
                return self._act()

    def _upset(self) -> bool:
        return self._temper.upsets and self._chance(16)

    def _one(self, depth: int) -> One:
        return self._sub(depth) if depth > 0 and self._chance(4) else self._act()

    def _sub(self, depth: int) -> Sub:
        nodes = self.chain(depth - 1, 3)
        flaky = self._temper.flaky
        return Sub(
            f"w{next(self._ids)}",
            nodes,
            self._one_of(None, None, None, 2) if flaky else None,
            self._one_of(None, None, 1, 3) if flaky else None,
        )

    def _act(self) -> Act:
        temper = self._temper
        kinds = ("def", "async", "async", *(("thread",) if temper.threads and self._chance(4) else ()))
        kind = self._one_of(*kinds)
        does = temper.does[0] if not self._chance(4) else self._one_of(*temper.does)
        flaky = self._one_of(0, 0, 0, 1, 2) if temper.flaky else 0
        return Act(
            f"s{next(self._ids)}",
            kind,
            self._draw(st.integers(0, temper.waits)) if kind == "async" else 0,
            does,
            self._draw(st.integers(0, len(FALSY) - 1)) if does == "falsy" else 0,
            flaky,
            self._one_of(*(() if temper.heals else (None,)), flaky + 1, flaky + 2) if flaky else None,
            does in ("abort", "bail", "suspend") and self._chance(3),
        )

    def _arms(self, depth: int, least: int = 1) -> tuple[One, ...]:
        return tuple(self._one(depth) for _ in range(self._draw(st.integers(least, 3))))

    def _parallel(self, depth: int) -> Parallel:
        arms = self._arms(depth)
        partial = self._temper.partial
        return Parallel(
            arms,
            self._draw(st.sampled_from([None, None, *range(1, len(arms) + 1)])) if partial else None,
            self._on_error(),
            self._one_of(None, None, 1, 2),
            self._chance(2),
        )

    def _on_error(self) -> str:
        modes = ("fail_fast", "fail_fast", "wait_all", *(("collect",) if self._temper.collects else ()))
        return cast("str", self._one_of(*modes))

    def _say(self) -> Say:
        said: Say = self._one_of("yes", "no")
        return self._one_of("fail", "bail", "abort") if self._upset() else said

    def _branch(self, depth: int) -> Branch:
        arms = tuple(self._arm(depth) for _ in range(self._draw(st.integers(1, 3))))
        return Branch(
            tuple((self._say(), self._chance(2)) for _ in arms),
            arms,
            self._arm(depth) if self._chance(2) else None,
            self._one_of("first", "all"),
            self._chance(2),
        )

    def _arm(self, depth: int) -> tuple[One, ...]:
        return tuple(self._one(depth) for _ in range(self._draw(st.integers(1, 2))))

    def _each(self, depth: int) -> Each:
        return Each(
            -1 if self._upset() else self._draw(st.integers(0, 4)),
            self._one(depth),
            self._draw(st.integers(1, 3)),
            self._chance(4),
            self._on_error(),
        )

    def _loop(self, depth: int) -> Loop:
        times = self._draw(st.integers(1, 3))
        most = 1 if self._upset() else 1000
        return Loop(self._one(depth), self._chance(2), times, self._chance(2), self._upset(), most)

    def _dag(self, depth: int) -> Dag:
        items: list[tuple[One, tuple[int, ...]]] = []
        for number in range(self._draw(st.integers(1, 5))):
            needs = self._draw(st.lists(st.integers(0, number - 1), unique=True, max_size=3)) if number else []
            items.append((self._one(0 if self._chance(2) else depth), tuple(needs)))
        order = self._draw(st.permutations(range(len(items))))
        place = {old: new for new, old in enumerate(order)}
        return Dag(tuple((items[old][0], tuple(place[need] for need in items[old][1])) for old in order))
