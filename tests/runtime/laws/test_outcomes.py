"""A random graph comes to what a naive interpreter says of it, whatever fails, waits, stops, and in whatever order."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.runtime.laws.building import built, result_of
from tests.runtime.laws.graphs import Graph, Temper, graphs
from tests.runtime.laws.naive import TooMany, results
from tests.runtime.laws.running import Manner, in_loop, run_through

manners = st.sampled_from(get_args(Manner))
seeds = st.integers(0, 1_000)
CALM = Temper(does=("give", "falsy", "suspend"), flaky=False, upsets=False, partial=False)


def check(graph: Graph, backend: str, manner: Manner, seed: int) -> None:
    """Compare."""
    try:
        expected = results(graph)
    except TooMany:
        assume(False)
        raise
    outcome, _ = in_loop(backend, lambda: run_through(built(graph), manner, seed))
    assert result_of(outcome) in expected, (outcome, expected)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(max_examples=150, deadline=None)
@given(graphs(Temper(threads=True)), manners, seeds)
def test_a_graph_in_which_anything_happens_comes_to_what_some_order_gives(
    backend: str, graph: Graph, manner: Manner, seed: int
) -> None:
    check(graph, backend, manner, seed)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(max_examples=100, deadline=None)
@given(graphs(CALM), manners, seeds)
def test_a_graph_in_which_nothing_fails_comes_to_the_one_result_it_has(
    backend: str, graph: Graph, manner: Manner, seed: int
) -> None:
    assert len(results(graph)) == 1
    check(graph, backend, manner, seed)
