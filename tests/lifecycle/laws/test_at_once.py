"""Laws of time: branches run at once, an unchanged chunk passes as it is, clean text leaves before more is asked."""

from __future__ import annotations

from typing import Any

import anyio
from hypothesis import given
from hypothesis import strategies as st

from interlock import Agent, Phase, Processor, create_step, create_workflow
from interlock.messages import Chunk, ReasoningDelta, StepFinish, TextDelta, TextEnd, TextStart, Usage
from interlock.steps import Step
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Patient, chunks_and_result, flow, picking

BACKENDS = st.sampled_from(["asyncio", "trio"])
TEXTS = st.lists(st.text(max_size=8), max_size=6)


class Meeting:
    """Where so many must have arrived before any goes on: that ends only if all of them run at once."""

    def __init__(self, expected: int) -> None:
        self.expected = expected
        self.arrived = 0
        self.everybody = anyio.Event()

    async def meet(self, ctx: Any) -> Any:
        self.arrived += 1
        if self.arrived == self.expected:
            self.everybody.set()
        await self.everybody.wait()
        return getattr(ctx, "chunk", None)


@given(
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=4),
    phase=st.sampled_from([Phase.INPUT, Phase.LLM_REQUEST, Phase.OUTPUT_STEP, Phase.OUTPUT_RESULT]),
    turns=st.integers(0, 2),
    backend=BACKENDS,
)
def test_all_async_branches_of_a_block_wait_at_the_same_moment_nested_ones_too(
    sizes: list[int], phase: Phase, turns: int, backend: str
) -> None:
    async def run() -> None:
        meeting = Meeting(sum(sizes))
        inner = [
            flow(f"block-{n}")
            .parallel([Patient(f"guard-{n}-{m}", {phase: meeting.meet}, turns=turns) for m in range(size)])
            .map(picking(f"guard-{n}-0"))
            .commit()
            for n, size in enumerate(sizes)
        ]
        block = flow().parallel(inner).map(picking("block-0")).commit()
        with anyio.fail_after(5):
            await Agent(model="embedded/echo", input_processors=[block], output_processors=[block]).generate("hello")
        assert meeting.arrived == sum(sizes)

    anyio.run(run, backend=backend)


@given(size=st.integers(2, 6), backend=BACKENDS)
def test_all_async_branches_look_at_a_chunk_at_the_same_moment(size: int, backend: str) -> None:
    async def run() -> None:
        meeting = Meeting(size)

        async def meet_once(ctx: Any) -> Any:
            return ctx.chunk if meeting.arrived >= size else await meeting.meet(ctx)

        guards = [Patient(f"guard-{n}", {Phase.OUTPUT_STREAM: meet_once}, turns=1) for n in range(size)]
        block = flow().parallel(guards).merge().commit()
        with anyio.fail_after(5):
            await Agent(model="embedded/echo", output_processors=[block]).generate("hello")
        assert meeting.arrived == size

    anyio.run(run, backend=backend)


@given(size=st.integers(2, 8), backend=BACKENDS)
def test_all_async_branches_of_a_typed_workflow_wait_at_the_same_moment(size: int, backend: str) -> None:
    async def run() -> None:
        meeting = Meeting(size)
        steps: list[Step[Any, Any]] = [create_step(meeting.meet, id=f"step-{n}") for n in range(size)]
        with anyio.fail_after(5):
            outcome = await create_workflow(id="meet").parallel(steps).commit().run(None)
        assert outcome.status == "success"

    anyio.run(run, backend=backend)


class Looks(Processor):
    """A guard that changes nothing; ``def``."""

    def __init__(self, name: str) -> None:
        super().__init__(id=name)

    def process_output_stream(self, ctx: Any) -> Chunk:
        assert isinstance(ctx.text, str)
        return ctx.chunk  # type: ignore[no-any-return]


def answers() -> st.SearchStrategy[list[Chunk]]:
    """What a model might stream."""
    delta = st.builds(TextDelta, st.text(max_size=8)) | st.builds(ReasoningDelta, st.text(max_size=8))
    return st.lists(delta, max_size=6).map(
        lambda deltas: [TextStart(), *deltas, TextEnd(), StepFinish(usage=Usage(1, 2))]
    )


LISTS = st.sampled_from(["none", "only other points", "one def", "two async", "block"])


def guards(kind: str) -> list[Any]:
    """A list of processors none of which changes a chunk."""
    other = Looks("a")
    lists: dict[str, list[Any]] = {
        "none": [],
        "only other points": [OnlyResult()],
        "one def": [other],
        "two async": [Patient("b"), Patient("c", turns=2)],
        "block": [flow().parallel([other, Patient("b", turns=2), Looks("c")]).merge().commit()],
    }
    return lists[kind]


class OnlyResult(Processor):
    """Looks at nothing but the result."""

    id = "only-result"

    def process_output_result(self, ctx: Any) -> None: ...


@given(chunks=answers(), kind=LISTS, backend=BACKENDS)
def test_an_unguarded_chunk_and_one_that_no_guard_changed_arrive_as_the_same_object(
    chunks: list[Chunk], kind: str, backend: str
) -> None:
    async def run() -> None:
        agent = Agent(model=ScriptedModel([chunks]), output_processors=guards(kind))
        emitted, _ = await chunks_and_result(agent)
        inside = emitted[2:-1]  # without start, step-start and finish
        assert len(inside) == len(chunks)
        assert all(one is other for one, other in zip(inside, chunks, strict=True))

    anyio.run(run, backend=backend)


@given(texts=TEXTS, kind=LISTS, backend=BACKENDS)
def test_clean_text_leaves_before_the_next_chunk_is_asked_of_the_model(
    texts: list[str], kind: str, backend: str
) -> None:
    async def run() -> None:
        model = ScriptedModel([texts or "x"])
        agent = Agent(model=model, output_processors=guards(kind))
        async with agent.stream("hello") as stream:
            read = 0
            async for chunk in stream:
                if chunk.type not in ("start", "step-start", "finish"):
                    read += 1
                assert model.pulled - read in (0, 1 if chunk.type == "finish" else 0)

    anyio.run(run, backend=backend)
