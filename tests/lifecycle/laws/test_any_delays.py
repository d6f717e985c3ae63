"""Law: how long a branch takes changes nothing. With a block the run is blocked and nothing is sent, whoever was first.

Delays are numbers of turns that a branch lets others take; nothing sleeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import anyio
from hypothesis import given
from hypothesis import strategies as st

from interlock import Agent, AgentResult, Phase, Processor, Workflow
from interlock.messages import TextDelta
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Act, Everywhere, Patient, aborting, flow, picking

WORDS = ("card", "mail", "phone", "name", "iban")
TEXT = "my card, mail, phone, name and iban"


@dataclass(frozen=True)
class Shape:
    """A graph of guards: leaves redact a word; the inner nodes are blocks and chains.

    Attributes:
        kind: ``"leaf"``, ``"chain"``, ``"merge"`` or ``"map"``.
        below: The nodes below.
        pick: For a map, which branch continues.
    """

    kind: str
    below: tuple[Shape, ...] = ()
    pick: int = 0

    @property
    def leaves(self) -> int:
        return 1 if self.kind == "leaf" else sum(shape.leaves for shape in self.below)


def blocks(children: st.SearchStrategy[Shape]) -> st.SearchStrategy[Shape]:
    """Shapes with these below them."""
    several = st.lists(children, min_size=2, max_size=3).map(tuple)
    return st.builds(Shape, st.sampled_from(["chain", "merge"]), several) | several.flatmap(
        lambda below: st.integers(0, len(below) - 1).map(lambda pick: Shape("map", below, pick))
    )


SHAPES = st.recursive(st.just(Shape("leaf")), blocks, max_leaves=5).filter(lambda shape: 2 <= shape.leaves <= 5)
DELAYS = st.lists(st.integers(0, 4), min_size=5, max_size=5)
PHASES = st.sampled_from([Phase.INPUT, Phase.INPUT_STEP, Phase.OUTPUT_STREAM])


def redacting(word: str) -> Act:
    """Takes a word out, in messages or in chunks."""

    def act(ctx: Any) -> object:
        if ctx.phase is not Phase.OUTPUT_STREAM:
            for message in ctx.messages:
                for part in message.parts:
                    part.text = part.text.replace(word, "[X]")
            return None
        return (
            ctx.chunk.replace(text=ctx.chunk.text.replace(word, "[X]"))
            if isinstance(ctx.chunk, TextDelta)
            else ctx.chunk
        )

    return act


class Graph:
    """A shape made a workflow, its leaves numbered from the left."""

    def __init__(self, shape: Shape, phase: Phase, delays: Sequence[int], aborters: Sequence[int]) -> None:
        self.phase = phase
        self.delays = delays
        self.aborters = aborters
        self.made = 0
        self.workflow = self._workflow(shape, "0")

    def _leaf(self) -> Processor:
        number, self.made = self.made, self.made + 1
        act = aborting(f"leaf {number}") if number in self.aborters else redacting(WORDS[number])
        turns = self.delays[number]
        name = f"leaf-{number}"
        return Patient(name, {self.phase: act}, turns=turns) if turns else Everywhere(name, {self.phase: act})

    def _workflow(self, shape: Shape, name: str) -> Workflow[Any, Any]:
        if shape.kind == "leaf":
            return flow(name).then(self._leaf()).commit()
        below = [self._workflow(one, f"{name}-{n}") for n, one in enumerate(shape.below)]
        if shape.kind == "chain":
            builder = flow(name)
            for one in below:
                builder = builder.then(one)
            return builder.commit()
        block = flow(name).parallel(below)
        return (block.merge() if shape.kind == "merge" else block.map(picking(below[shape.pick].id))).commit()


def outcome(result: AgentResult, model: ScriptedModel) -> dict[str, object]:
    """All that can be told apart about a run, times and ids left out."""
    return {
        "status": result.status,
        "text": result.text,
        "sent": [model.received(n) for n in range(model.calls)],
        "messages": result.messages.texts(),
        "checks": [
            (c.processor_id, c.phase, c.list, c.verdict, c.kept, c.reason, c.path, c.step_number, c.runs)
            for c in result.checks
        ],
        "usage": result.usage,
    }


def run(backend: str, graph: Graph) -> dict[str, object]:
    """The run of an agent with the graph in its lists."""
    model = ScriptedModel([["I have ", TEXT]])
    agent = Agent(model=model, input_processors=[graph.workflow], output_processors=[graph.workflow])

    async def generate() -> AgentResult:
        with anyio.fail_after(10):
            return await agent.generate(TEXT)

    return outcome(anyio.run(generate, backend=backend), model)


@given(shape=SHAPES, phase=PHASES, delays=DELAYS)
def test_delays_change_neither_what_continues_nor_the_records_nor_the_outcome(
    shape: Shape, phase: Phase, delays: list[int]
) -> None:
    at_once = run("asyncio", Graph(shape, phase, [0] * 5, ()))
    assert at_once["status"] == "success"
    assert run("asyncio", Graph(shape, phase, delays, ())) == at_once


@given(shape=SHAPES, phase=PHASES, delays=DELAYS)
def test_the_other_event_loop_gives_the_same(shape: Shape, phase: Phase, delays: list[int]) -> None:
    assert run("trio", Graph(shape, phase, delays, ())) == run("asyncio", Graph(shape, phase, delays, ()))


@given(
    shape=SHAPES,
    phase=st.sampled_from([Phase.INPUT, Phase.INPUT_STEP]),
    delays=DELAYS,
    aborters=st.sets(st.integers(0, 1), min_size=1),
    backend=st.sampled_from(["asyncio", "trio"]),
)
def test_with_a_block_the_run_is_blocked_and_nothing_is_sent_whichever_came_first(
    shape: Shape, phase: Phase, delays: list[int], aborters: set[int], backend: str
) -> None:
    told = run(backend, Graph(shape, phase, delays, sorted(aborters)))
    assert told["status"] == "tripwire"
    assert told["sent"] == []
    assert told["messages"] == []
    assert told["text"] == ""


@given(shape=SHAPES, delays=DELAYS, aborters=st.sets(st.integers(0, 1), min_size=1))
def test_with_a_block_in_the_stream_nothing_of_the_chunk_is_emitted(
    shape: Shape, delays: list[int], aborters: set[int]
) -> None:
    told = run("asyncio", Graph(shape, Phase.OUTPUT_STREAM, delays, sorted(aborters)))
    assert told["status"] == "tripwire"
    assert told["messages"] == [TEXT]
    assert told["text"] == ""
