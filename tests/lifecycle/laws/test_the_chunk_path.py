"""Law: whatever the graph, chunks come out of the fused path as the rules say, told here anew in the plainest way.

The reference runs a graph on one chunk by recursion: no plan, no tasks, nothing made beforehand, nothing shared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
from hypothesis import given
from hypothesis import strategies as st

from interlock import Agent, Completed, Phase, Workflow
from interlock.messages import Chunk, TextDelta
from interlock.processors import OutputStreamContext
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Everywhere, Patient, chunks_and_result, flow, picking

Rule = Callable[[str], list[str]]
RULES: dict[str, Rule] = {
    "same": lambda text: [text],
    "drop": lambda text: [],
    "drop a": lambda text: [] if text.startswith("a") else [text],
    "shout": lambda text: [text.upper()],
    "star": lambda text: [f"*{text}"],
    "split": lambda text: list(text),
    "twice": lambda text: [text, text],
}


@dataclass(frozen=True)
class Node:
    """A part of a graph.

    Attributes:
        kind: ``"leaf"``, ``"chain"``, ``"map"``, or ``"merge"`` (of one that changes chunks and others that do not).
        rule: What a leaf does.
        turns: How long it takes; 0: it is a ``def``.
        below: The parts below.
        pick: For a map, which branch goes on.
    """

    kind: str
    rule: str = "same"
    turns: int = 0
    below: tuple[Node, ...] = ()
    pick: int = 0


def reference(node: Node, texts: Sequence[str]) -> list[str]:
    """What a graph makes of texts that come one after the other."""
    return [out for text in texts for out in reference_of_one(node, text)]


def reference_of_one(node: Node, text: str) -> list[str]:
    """What a graph makes of one text."""
    match node.kind:
        case "leaf":
            return RULES[node.rule](text)
        case "chain":
            texts = [text]
            for below in node.below:
                texts = reference(below, texts)
            return texts
        case "map":
            return reference_of_one(node.below[node.pick], text)
        case _:
            outs = [reference_of_one(below, text) for below in node.below]
            if [] in outs:
                return []
            return next((out for out in outs if out != [text]), [text])


LEAF = st.builds(Node, st.just("leaf"), st.sampled_from(list(RULES)), st.integers(0, 2))
QUIET = st.builds(Node, st.just("leaf"), st.just("same"), st.integers(0, 2))


def around(children: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    """Chains, maps and merges of such parts."""
    several = st.lists(children, min_size=1, max_size=3).map(tuple)
    chains = several.map(lambda below: Node("chain", below=below))
    maps = several.flatmap(
        lambda below: st.integers(0, len(below) - 1).map(lambda pick: Node("map", below=below, pick=pick))
    )
    merges = st.tuples(children, st.lists(QUIET, max_size=2), st.booleans()).map(
        lambda made: Node("merge", below=(made[0], *made[1]) if made[2] else (*made[1], made[0]))
    )
    return chains | maps | merges


NODES = st.recursive(LEAF, around, max_leaves=6)
TEXTS = st.lists(st.sampled_from(["a", "b", "ab", "abc", "ba"]), max_size=4)


class Made:
    """A graph as a workflow of processors, whose names begin alike."""

    def __init__(self, node: Node, name: str = "part") -> None:
        self.name = name
        self.count = 0
        self.workflow = self._workflow(node)

    def _name(self) -> str:
        self.count += 1
        return f"{self.name}-{self.count}"

    def _leaf(self, node: Node) -> Everywhere:
        rule = RULES[node.rule]

        def act(ctx: OutputStreamContext) -> object:
            chunk = ctx.chunk
            if not isinstance(chunk, TextDelta):
                return chunk
            texts = rule(chunk.text)
            if texts == [chunk.text]:
                return chunk
            made = [chunk.replace(text=text) for text in texts]
            return made[0] if len(made) == 1 else made or None

        acts = {Phase.OUTPUT_STREAM: act}
        return Patient(self._name(), acts, turns=node.turns) if node.turns else Everywhere(self._name(), acts)

    def _workflow(self, node: Node) -> Workflow[Any, Any]:
        if node.kind == "leaf":
            return flow(self._name()).then(self._leaf(node)).commit()
        below = [self._workflow(one) for one in node.below]
        if node.kind == "chain":
            builder = flow(self._name())
            for one in below:
                builder = builder.then(one)
            return builder.commit()
        block = flow(self._name()).parallel(below)
        return (block.merge() if node.kind == "merge" else block.map(picking(below[node.pick].id))).commit()


def texts_of(chunks: Sequence[Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks if isinstance(chunk, TextDelta)]


@given(nodes=st.lists(NODES, min_size=1, max_size=3), texts=TEXTS, backend=st.sampled_from(["asyncio", "trio"]))
def test_what_comes_out_in_an_agent_is_what_the_rules_say(nodes: list[Node], texts: list[str], backend: str) -> None:
    async def run() -> list[str]:
        workflows = [Made(node, f"part-{n}").workflow for n, node in enumerate(nodes)]
        model = ScriptedModel([[TextDelta(text) for text in texts]])
        chunks, result = await chunks_and_result(Agent(model=model, output_processors=workflows))
        assert result.status == "success"
        assert result.text == "".join(texts_of(chunks))
        return texts_of(chunks)

    expected = texts
    for node in nodes:
        expected = reference(node, expected)
    assert anyio.run(run, backend=backend) == expected


@given(node=NODES, text=st.sampled_from(["a", "ab", "abc"]), backend=st.sampled_from(["asyncio", "trio"]))
def test_what_comes_out_of_a_workflow_by_itself_is_the_same(node: Node, text: str, backend: str) -> None:
    async def run() -> list[str]:
        outcome = await Made(node).workflow.run(OutputStreamContext(chunk=TextDelta(text)))
        assert isinstance(outcome, Completed)
        return texts_of(outcome.output.out)

    assert anyio.run(run, backend=backend) == reference_of_one(node, text)
