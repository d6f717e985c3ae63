"""What a graph comes to, told by a plain recursive interpreter that knows nothing of the engine.

It tells every result that some order of events gives. Where nothing depends on time, that is one.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from interlock.workflows import StepError
from tests.runtime.laws.building import answer_to, digest, normal
from tests.runtime.laws.graphs import (
    FALSY,
    Act,
    Branch,
    Dag,
    Each,
    Graph,
    Loop,
    Map,
    Nap,
    Node,
    One,
    Parallel,
    Sub,
    acts_in,
)

__all__ = ["MANY", "Result", "TooMany", "results"]

Result = tuple[Any, ...]
"""``("value", v)``, ``("fail", path)``, ``("abort", step id)`` or ``("bail", v)``."""

MANY = 300


class TooMany(Exception):
    """More results than are worth telling."""


class _Said(Exception):
    """Stands for a failure in a collected value."""


def _failed(path: str) -> Exception:
    return _Said(f"'{path}'")


def results(graph: Graph) -> list[Result]:
    """Every result the run of a graph may have; a bail is its value."""
    strict = not any(act.does == "suspend" for act in acts_in(graph.nodes))
    found = _Naive(strict).chain(graph.nodes, 7, _Place("", graph.retry))
    return _distinct(("value", normal(one[1])) if one[0] in ("value", "bail") else one for one in found)


@dataclass(frozen=True)
class _Place:
    path: str
    retry: int | None
    names: Counter[str] = field(default_factory=Counter[str])

    def name(self, kind: str) -> str:
        """The path of the next block of a kind."""
        self.names[kind] += 1
        count = self.names[kind]
        return self.path + (kind if count == 1 else f"{kind}-{count}")


def _distinct(found: Iterable[Result]) -> list[Result]:
    """Each once."""
    known: dict[str, Result] = {}
    for one in found:
        known.setdefault(repr((one[0], normal(one[1]))), one)
        if len(known) > MANY:
            raise TooMany
    return list(known.values())


class _Naive:
    """One reading of a graph.

    Args:
        strict: Whether nothing waits to be resumed: then what ends early may still come after what ends late.
    """

    def __init__(self, strict: bool) -> None:
        self._strict = strict

    def chain(self, nodes: Sequence[Node], value: Any, place: _Place) -> list[Result]:
        now: list[Result] = [("value", value)]
        for node in nodes:
            begin = self._node(node, place)
            now = _distinct(itertools.chain.from_iterable(begin(one[1]) if one[0] == "value" else [one] for one in now))
        return now

    def _node(self, node: Node, place: _Place) -> Callable[[Any], Iterable[Result]]:
        """What gives the results of a node for a value. Its name is taken once, whatever flows."""
        match node:
            case Act() | Sub():
                return lambda value: self._one(node, value, place)
            case Parallel():
                path, merge = place.name("parallel"), place.name("merge") if node.merged else None
                return lambda value: _merged(self._parallel(node, value, path, place), merge, value)
            case Branch():
                path, merge = place.name("branch"), place.name("merge") if node.merged else None
                return lambda value: _merged(self._branch(node, value, path, place), merge, value)
            case Map():
                path = place.name("map")
                return lambda value: [("fail", path) if node.fails else ("value", digest("map", value))]
            case Each():
                place.name("map")
                path = place.name("foreach")
                return lambda value: self._each(node, value, path, place)
            case Loop():
                path = place.name("do-until" if node.until else "do-while")
                return lambda value: self._loop(node, value, path, place)
            case Dag():
                place.name("dag")
                return lambda value: self._dag(node, value, place)
            case Nap():
                path = place.name("sleep-until" if node.time == "until" else "sleep")
                return lambda value: [("fail", path) if node.time == "fail" else ("value", value)]

    def _one(self, one: One, value: Any, place: _Place) -> list[Result]:
        if isinstance(one, Act):
            return [self._act(one, value, place)]
        inner = _Place(f"{place.path}{one.id}/", place.retry if one.retry is None else one.retry)
        found = self.chain(one.nodes, value, inner)
        return _distinct(("value", this[1]) if this[0] == "bail" else this for this in found)

    def _act(self, act: Act, value: Any, place: _Place) -> Result:
        attempts = act.attempts or place.retry or 1
        if act.does == "fail" or act.flaky >= attempts:
            return ("fail", place.path + act.id)
        match act.does:
            case "falsy":
                return ("value", FALSY[act.falsy])
            case "abort":
                return ("abort", act.id)
            case "bail":
                return ("bail", digest("bail", act.id, value))
            case "suspend":
                return ("value", digest(act.id, value, answer_to(digest(act.id, value))))
            case _:
                return ("value", digest(act.id, value))

    def _parallel(self, node: Parallel, value: Any, path: str, place: _Place) -> list[Result]:
        arms = [self._one(arm, value, place) for arm in node.arms]
        keys = [arm.id for arm in node.arms]
        return _distinct(
            itertools.chain.from_iterable(
                self._joined(keys, combination, node.join, node.on_error) for combination in _product(arms)
            )
        )

    def _joined(self, keys: list[str], arms: Sequence[Result], join: int | None, on_error: str) -> Iterator[Result]:
        """What some results of arms come to together."""
        wanted = len(arms) if join is None else join
        stops = [one for one in arms if one[0] in ("abort", "bail")]
        fails = [n for n, one in enumerate(arms) if one[0] == "fail"]
        good = [n for n, one in enumerate(arms) if one[0] == "value"]
        yield from stops
        lost = len(arms) - len(fails) < wanted and on_error != "collect"
        if lost and (on_error == "fail_fast" or not stops):
            yield from (arms[n] for n in fails)
        for chosen in itertools.combinations(good, min(wanted, len(good))) if not lost else ():
            if len(chosen) < wanted and stops:
                continue  # those that stop end the wait
            if on_error != "collect":
                if len(chosen) == wanted:
                    yield _keyed(keys, arms, chosen)
            elif wanted == len(arms):
                if not stops:
                    yield _keyed(keys, arms, range(len(arms)))
            elif len(chosen) < wanted:
                yield _keyed(keys, arms, (*chosen, *fails))
            else:
                for count in range(len(fails) + 1):
                    yield from (_keyed(keys, arms, (*chosen, *some)) for some in itertools.combinations(fails, count))

    def _branch(self, node: Branch, value: Any, path: str, place: _Place) -> list[Result]:
        chosen: list[tuple[One, ...]] = []
        for (say, _), arm in zip(node.conditions, node.arms, strict=True):
            if say == "fail":
                return [("fail", path)]
            if say == "abort":
                return [("abort", path.rpartition("/")[2])]
            if say == "bail":
                return [("bail", digest("bail", value))]
            if say == "yes":
                chosen.append(arm)
                if node.mode == "first":
                    break
        if not chosen and node.otherwise is not None:
            chosen = [node.otherwise]
        arms = [self.chain(arm, value, place) for arm in chosen]
        keys = [arm[-1].id for arm in chosen]
        return _distinct(
            itertools.chain.from_iterable(
                self._joined(keys, combination, None, "fail_fast") for combination in _product(arms)
            )
        )

    def _each(self, node: Each, value: Any, path: str, place: _Place) -> list[Result]:
        if node.count < 0:
            return [("fail", path)]
        items = [self._one(node.body, digest(value, number), place) for number in range(node.count)]
        found: list[Result] = []
        for combination in _product(items):
            if node.concurrency == 1 and self._strict:
                found += _in_turn(combination, node.on_error)
                continue
            found += self._joined([str(n) for n in range(node.count)], combination, None, node.on_error)
        return _distinct(
            ("value", [_renamed(one, node.body.id) for one in this[1].values()]) if this[0] == "value" else this
            for this in found
        )

    def _loop(self, node: Loop, value: Any, path: str, place: _Place) -> list[Result]:
        now: list[Result] = [("value", value)]
        for number in range(1, node.times + 1):
            now = _distinct(
                itertools.chain.from_iterable(
                    self._one(node.body, one[1], place) if one[0] == "value" else [one] for one in now
                )
            )
            if (number == node.times and node.fails) or (number < node.times and number >= node.most):
                return _distinct(("fail", path) if one[0] == "value" else one for one in now)
        return now

    def _dag(self, node: Dag, value: Any, place: _Place) -> list[Result]:
        items = node.items
        order: list[int] = []
        while len(order) < len(items):
            order += [n for n in range(len(items)) if n not in order and all(m in order for m in items[n][1])]
        needed = {need for _, needs in items for need in needs}
        sinks = [n for n in range(len(items)) if n not in needed]
        found: list[Result] = []

        def given(n: int, known: dict[int, Result]) -> Any:
            needs = items[n][1]
            if not needs:
                return value
            if len(needs) == 1:
                return known[needs[0]][1]
            return {items[need][0].id: known[need][1] for need in needs}

        def walk(at: int, known: dict[int, Result]) -> None:
            if len(found) > MANY:
                raise TooMany
            if at == len(order):
                early = [one for one in known.values() if one[0] != "value"]
                if early:
                    found.extend(early)
                elif len(sinks) == 1:
                    found.append(known[sinks[0]])
                else:
                    found.append(("value", {items[sink][0].id: known[sink][1] for sink in sinks}))
                return
            n = order[at]
            if any(need not in known or known[need][0] != "value" for need in items[n][1]):
                walk(at + 1, known)
                return
            for one in self._one(items[n][0], given(n, known), place):
                walk(at + 1, {**known, n: one})

        walk(0, {})
        return _distinct(found)


def _product(arms: Sequence[list[Result]]) -> Iterator[tuple[Result, ...]]:
    count = 1
    for arm in arms:
        count *= len(arm)
    if count > MANY:
        raise TooMany
    return itertools.product(*arms)


def _keyed(keys: Sequence[str], arms: Sequence[Result], chosen: Iterable[int]) -> Result:
    """The keyed output, in list order."""
    return (
        "value",
        {
            keys[n]: arms[n][1] if arms[n][0] == "value" else StepError(keys[n], _failed(arms[n][1]))
            for n in sorted(chosen)
        },
    )


def _in_turn(items: Sequence[Result], on_error: str) -> list[Result]:
    """What a list comes to whose items run one after the other."""
    failed: Result | None = None
    for one in items:
        if one[0] in ("abort", "bail"):
            return [one]
        if one[0] == "fail":
            if on_error == "fail_fast":
                return [one]
            failed = failed or one
    if failed is not None and on_error != "collect":
        return [failed]
    return [_keyed([str(n) for n in range(len(items))], items, range(len(items)))]


def _renamed(value: Any, name: str) -> Any:
    return (
        StepError(name, value.error)
        if isinstance(value, StepError) and isinstance(value.error, _Said) and value.step_id.isdigit()
        else value
    )


def _merged(found: list[Result], path: str | None, value: Any) -> list[Result]:
    """What a merge makes of keyed outputs."""
    if path is None:
        return found
    return _distinct(_merge(one, path, value) if one[0] == "value" else one for one in found)


def _merge(one: Result, path: str, value: Any) -> Result:
    outputs: dict[str, Any] = one[1]
    if not outputs:
        return ("value", value)
    if len(outputs) > 1:
        return ("value", digest("merge", outputs))
    (only,) = outputs.values()
    return ("fail", path) if isinstance(only, StepError) else ("value", only)
