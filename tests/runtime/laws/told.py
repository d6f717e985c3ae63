"""What the records of a run should tell: a walk over a graph in which nothing ends early."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from tests.runtime.laws.graphs import Act, Branch, Dag, Each, Graph, Loop, Map, Nap, Node, Parallel, Sub

__all__ = ["Told", "records"]


class Told(NamedTuple):
    """What is told of one turn."""

    path: str
    kind: str
    iteration: int
    attempts: int


def records(graph: Graph) -> list[Told]:
    """One for each step, block, map, merge and wait that begins, in list order."""
    return list(_Telling("", ()).chain(graph.nodes))


class _Telling:
    """One workflow.

    Args:
        path: Its path.
        at: The iterations around it.
    """

    def __init__(self, path: str, at: tuple[int, ...], names: Counter[str] | None = None) -> None:
        self._path = path
        self._at = at
        self._names = names if names is not None else Counter[str]()

    def chain(self, nodes: Iterable[Node]) -> Iterator[Told]:
        for node in nodes:
            yield from self._node(node)

    def _block(self, kind: str) -> Told:
        self._names[kind] += 1
        count = self._names[kind]
        return self._told(kind if count == 1 else f"{kind}-{count}", kind)

    def _told(self, name: str, kind: str, attempts: int = 1) -> Told:
        return Told(self._path + name, kind, self._at[-1] if self._at else 1, attempts)

    def _inside(self, number: int, body: Any) -> Iterator[Told]:
        yield from _Telling(self._path, (*self._at, number), self._names).chain([body])

    def _node(self, node: Node) -> Iterator[Told]:
        match node:
            case Act():
                yield self._told(node.id, "function", node.flaky + 1)
            case Sub():
                yield self._told(node.id, "workflow")
                yield from _Telling(f"{self._path}{node.id}/", self._at).chain(node.nodes)
            case Parallel():
                yield self._block("parallel")
                yield from self.chain(node.arms)
                if node.merged:
                    yield self._block("merge")
            case Branch():
                yield self._block("branch")
                arms = [arm for (say, _), arm in zip(node.conditions, node.arms, strict=True) if say == "yes"]
                if node.mode == "first":
                    arms = arms[:1]
                if not arms and node.otherwise is not None:
                    arms = [node.otherwise]
                for arm in arms:
                    yield from self.chain(arm)
                if node.merged:
                    yield self._block("merge")
            case Map():
                yield self._block("map")
            case Each():
                yield self._block("map")
                yield self._block("foreach")
                for number in range(1, node.count + 1):
                    yield from self._inside(number, node.body)
            case Loop():
                yield self._block("do-until" if node.until else "do-while")
                for number in range(1, node.times + 1):
                    yield from self._inside(number, node.body)
            case Dag():
                yield self._block("dag")
                yield from self.chain(one for one, _ in node.items)
            case Nap():
                yield self._block("sleep-until" if node.time == "until" else "sleep")
