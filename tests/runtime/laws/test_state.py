"""The state of a run: what reducers make of deltas is the same in every order; else only steps in turn write a key."""

from __future__ import annotations

import operator
from collections import Counter
from typing import Annotated, Any, cast, get_args

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from typing_extensions import TypedDict

from interlock import Completed, Failed, StepContext
from interlock.workflows import append
from tests.runtime.laws.building import built
from tests.runtime.laws.graphs import Act, Branch, Dag, Each, Graph, Loop, Node, Parallel, Sub, Temper, graphs
from tests.runtime.laws.running import Manner, in_loop, run_through

CALM = Temper(does=("give", "falsy", "suspend"), upsets=False, partial=False, collects=False)
STEADY = Temper(does=("give", "falsy", "suspend"), upsets=False, partial=False, flaky=False, collects=False)
manners = st.sampled_from(get_args(Manner))
Turn = tuple[str, tuple[int, ...]]


class Tally(TypedDict, total=False):
    """What steps write."""

    count: Annotated[int, operator.add]
    names: Annotated[list[str], append]
    last: str


class Turns:
    """Which turns steps have in a graph in which nothing fails for good, and which of them may be at once.

    Args:
        graph: The graph.
    """

    def __init__(self, graph: Graph) -> None:
        self.all: list[Turn] = []
        self.clashes: set[frozenset[Turn]] = set()
        self._chain(graph.nodes, ())

    def _chain(self, nodes: tuple[Node, ...], at: tuple[int, ...]) -> list[Turn]:
        return [turn for node in nodes for turn in self._node(node, at)]

    def _node(self, node: Node, at: tuple[int, ...]) -> list[Turn]:
        match node:
            case Act():
                self.all.append((node.id, at))
                return [(node.id, at)]
            case Sub():
                return self._chain(node.nodes, at)
            case Parallel():
                return self._beside([self._node(arm, at) for arm in node.arms])
            case Branch():
                arms = [arm for (say, _), arm in zip(node.conditions, node.arms, strict=True) if say == "yes"]
                if node.mode == "first":
                    arms = arms[:1]
                if not arms and node.otherwise is not None:
                    arms = [node.otherwise]
                return self._beside([self._chain(cast("Any", arm), at) for arm in arms])
            case Each():
                items = [self._node(node.body, (*at, number)) for number in range(1, node.count + 1)]
                if node.concurrency == 1:
                    return [turn for item in items for turn in item]
                return self._beside(items)
            case Loop():
                return [turn for n in range(1, node.times + 1) for turn in self._node(node.body, (*at, n))]
            case Dag():
                before = _before([needs for _, needs in node.items])
                order = sorted(range(len(before)), key=lambda n: len(before[n]))
                made = dict(sorted((n, self._node(node.items[n][0], at)) for n in order))
                for n in range(len(made)):
                    for m in range(n):
                        if m not in before[n] and n not in before[m]:
                            self._clash(made[n], made[m])
                return [turn for turns in made.values() for turn in turns]
            case _:
                return []

    def _beside(self, arms: list[list[Turn]]) -> list[Turn]:
        for n, arm in enumerate(arms):
            for other in arms[:n]:
                self._clash(arm, other)
        return [turn for arm in arms for turn in arm]

    def _clash(self, some: list[Turn], others: list[Turn]) -> None:
        self.clashes |= {frozenset((one, other)) for one in some for other in others}


def _before(needs: list[tuple[int, ...]]) -> list[set[int]]:
    """All that comes before each node of a graph."""

    def of(n: int) -> set[int]:
        return {m for need in needs[n] for m in (need, *of(need))}

    return [of(n) for n in range(len(needs))]


def writing(writers: frozenset[str]) -> Any:
    """What a step does about the state: everybody counts, some write a key that nobody else may write meanwhile."""

    def write(ctx: StepContext[Any], name: str) -> None:
        ctx.set_state(count=1, names=name)
        if name in writers:
            ctx.set_state(last=name)

    return write


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(max_examples=70, deadline=None)
@given(graphs(CALM), manners, st.integers(0, 1_000))
def test_reduced_state_tells_of_every_turn_once_whatever_is_retried_resumed_or_at_once(
    backend: str, graph: Graph, manner: Manner, seed: int
) -> None:
    turns = Turns(graph)
    workflow = built(graph, state_schema=Tally, write=writing(frozenset()))
    outcome, _ = in_loop(backend, lambda: run_through(workflow, manner, seed))
    assume(isinstance(outcome, Completed))
    names = Counter(name for name, _ in turns.all)
    assert outcome.state.get("count", 0) == names.total()
    assert Counter(outcome.state.get("names", [])) == names


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(max_examples=100, deadline=None)
@given(graphs(STEADY), manners, st.data())
def test_steps_that_may_be_at_once_never_write_one_key_and_others_always_may(
    backend: str, graph: Graph, manner: Manner, data: st.DataObject
) -> None:
    turns = Turns(graph)
    assume(turns.all)
    writers = data.draw(st.frozensets(st.sampled_from(sorted({name for name, _ in turns.all})), max_size=3))
    clash = [pair for pair in turns.clashes if all(name in writers for name, _ in pair)]
    workflow = built(graph, state_schema=Tally, write=writing(writers))
    outcome, _ = in_loop(backend, lambda: run_through(workflow, manner, data.draw(st.integers(0, 1_000))))
    if not clash:
        assert isinstance(outcome, Completed), outcome
        assert outcome.state.get("last") == next((name for name, _ in reversed(turns.all) if name in writers), None)
        return
    assert isinstance(outcome, Failed), (outcome, clash)
    named = {frozenset(name for name, _ in pair) for pair in clash}
    said = str(outcome.error)
    assert "'last' of the run's state at the same time" in said
    assert any(all(f"{name}'" in said for name in pair) for pair in named), (said, named)
