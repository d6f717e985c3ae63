"""What hooks and tools write for the client: when it goes out, who looks at it, and where it is stored."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import pytest
from anyio import to_thread

from interlock import Agent, Phase, Processor, create_workflow, tool
from interlock.errors import RunError, StepFailed
from interlock.messages import Chunk, DataChunk, DataPart, Message, ToolOutput
from interlock.processors import (
    InputContext,
    OutputResultContext,
    OutputStreamContext,
    PIIDetector,
    ProcessorStepSchema,
)
from interlock.processors.hook_context import HookContext
from interlock.testing import ScriptedModel
from interlock.tools import ToolContext

from .acting import Act, Everywhere

pytestmark = pytest.mark.anyio


def writing(*, transient: bool = False) -> Act:
    """Writes the name of the phase; in the stream at each text."""

    def act(ctx: HookContext) -> object:
        chunk: Chunk | None = getattr(ctx, "chunk", None)
        if chunk is None or chunk.type == "text-delta":
            ctx.write("at", str(ctx.phase), transient=transient)
        return chunk

    return act


async def read(agent: Agent, **options: object) -> tuple[list[Chunk], Sequence[Message]]:
    """The chunks of a run, and its messages."""
    async with agent.stream("hello", **options) as stream:  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        chunks = [chunk async for chunk in stream]
        return chunks, (await stream.result()).messages


def told(chunks: Sequence[Chunk]) -> list[str]:
    """Chunks in short: data by its value, others by their type."""
    return [str(chunk.data) if isinstance(chunk, DataChunk) else chunk.type for chunk in chunks]


def stored(messages: Sequence[Message]) -> list[object]:
    """The data that is stored."""
    return [part.data for message in messages for part in message.parts if isinstance(part, DataPart)]


def look() -> str:
    """Look."""
    return "seen"


async def test_what_is_written_goes_out_at_the_point_where_it_was_written() -> None:
    acts = {phase: writing() for phase in Phase}
    model = ScriptedModel([[ScriptedModel.tool_call("look", {}), "one"], "two"])
    both = Everywhere(acts=acts)
    chunks, messages = await read(Agent(model=model, tools=[look], input_processors=[both], output_processors=[both]))
    order = [one for one in told(chunks) if one not in ("text-start", "text-end", "tool-call-input-streaming-start")]
    step = ["input_step", "llm_request", "step-start"]
    assert [one for one in order if one != "tool-call-delta"] == [
        *["start", "input", *step],
        *["tool-call", "output_stream", "text-delta", "llm_response", "output_step", "tool_call", "step-finish"],
        *["tool_result", "tool-result", *step],
        *["output_stream", "text-delta", "llm_response", "output_step", "step-finish", "output_result", "finish"],
    ]
    assert stored(messages) == [one for one in order if one in {str(phase) for phase in Phase}]


async def test_what_is_transient_is_shown_and_not_stored() -> None:
    acts = {Phase.INPUT: writing(transient=True), Phase.OUTPUT_STREAM: writing(transient=True)}
    both = Everywhere(acts=acts)
    chunks, messages = await read(Agent(model="embedded/echo", input_processors=[both], output_processors=[both]))
    assert "input" in told(chunks)
    assert "output_stream" in told(chunks)
    assert stored(messages) == []


class Progress(Processor):
    """Writes how far it is, under one id."""

    id = "progress"

    def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
        if ctx.chunk.type == "text-delta":
            ctx.write("progress", len(ctx.text), id="p")
        return ctx.chunk

    def process_output_result(self, ctx: OutputResultContext) -> None:
        ctx.write("progress", "done", id="p")


async def test_data_of_one_id_is_stored_once_with_its_last_value() -> None:
    agent = Agent(model=ScriptedModel([["ab", "cd"]]), output_processors=[Progress()])
    chunks, messages = await read(agent)
    assert [c.data for c in chunks if isinstance(c, DataChunk)] == [2, 4, "done"]
    assert stored(messages) == ["done"]


async def test_data_for_another_message_is_stored_there() -> None:
    class Marks(Processor):
        id = "marks"

        def process_input(self, ctx: InputContext) -> None:
            ctx.write("seen", True, message_id=ctx.messages[0].id)

    _, messages = await read(Agent(model="embedded/echo", input_processors=[Marks()]))
    assert [len(stored([message])) for message in messages] == [1, 0]


async def test_data_of_a_rejected_answer_is_not_stored_and_what_came_before_is() -> None:
    asked = 0

    def once(ctx: HookContext) -> object:
        nonlocal asked
        asked += 1
        ctx.write("try", asked)
        if asked == 1:
            ctx.abort("again", retry=True)
        return None

    both = Everywhere(acts={Phase.INPUT: writing(), Phase.OUTPUT_STEP: once})
    model = ScriptedModel(["no", "yes"])
    agent = Agent(model=model, input_processors=[both], output_processors=[both], max_processor_retries=1)
    chunks, messages = await read(agent)
    assert [c.data for c in chunks if isinstance(c, DataChunk)] == ["input", 1, 2]
    assert stored(messages) == ["input", 2]


@pytest.mark.parametrize("phase", [Phase.OUTPUT_STEP, Phase.OUTPUT_RESULT])
async def test_a_guard_may_stop_the_run_for_what_was_written_with_a_rejected_answer(phase: Phase) -> None:
    def act(ctx: HookContext) -> None:
        ctx.write("why", "a card")
        ctx.abort("again", retry=True)

    output = [Everywhere("writes", {phase: act}), Looks(stops=True)]
    model = ScriptedModel(["no", "yes"])
    chunks, _ = await read(Agent(model=model, output_processors=output, max_processor_retries=1))
    assert told(chunks)[-1] == "tripwire"
    assert "a card" not in told(chunks)
    assert model.calls == 1


async def test_what_was_written_before_an_abort_goes_out_before_the_tripwire() -> None:
    def act(ctx: HookContext) -> None:
        ctx.write("why", "a card")
        ctx.abort("no")

    agent = Agent(model="embedded/echo", input_processors=[Everywhere(acts={Phase.INPUT: act})])
    chunks, messages = await read(agent)
    assert told(chunks) == ["start", "a card", "tripwire"]
    assert stored(messages) == []


async def test_what_was_written_by_a_hook_that_goes_on_after_its_abort_goes_out_too() -> None:
    class GoesOn(Processor):
        id = "goes-on"

        async def process_input(self, ctx: InputContext) -> None:
            ctx.write("why", "a card")
            try:
                ctx.abort("no")
            except BaseException:
                await anyio.sleep_forever()

    with anyio.fail_after(10):
        chunks, _ = await read(Agent(model="embedded/echo", input_processors=[GoesOn()]))
    assert told(chunks) == ["start", "a card", "tripwire"]


@pytest.mark.parametrize("release", ["step", "run"])
async def test_what_is_held_back_holds_the_data_in_its_place(release: str) -> None:
    acts = {Phase.OUTPUT_STREAM: writing(), Phase.OUTPUT_STEP: writing()}
    agent = Agent(model="embedded/echo", output_processors=[Everywhere(acts=acts)])
    held, _ = await read(agent, release=release)
    at_once, _ = await read(agent)
    assert told(held) == told(at_once)


class Looks(Processor):
    """Looks at data, and notes what it sees."""

    process_data_parts = True

    def __init__(self, id: str = "looks", *, stops: bool = False) -> None:  # noqa: A002
        super().__init__(id=id)
        self.stops = stops
        self.seen: list[str] = []

    def process_output_stream(self, ctx: OutputStreamContext) -> Chunk | None:
        self.seen.append(ctx.chunk.type)
        if isinstance(ctx.chunk, DataChunk):
            if self.stops:
                ctx.abort("no data")
            return ctx.chunk.replace(data="[X]")
        return ctx.chunk


class Passes(Looks):
    """The same, but data goes past it."""

    process_data_parts = False


def _parallel(*processors: Processor) -> object:
    flow = create_workflow(id="flow", input_schema=ProcessorStepSchema, output_schema=ProcessorStepSchema)
    return flow.parallel(list(processors)).merge().commit()


@pytest.mark.parametrize("parallel", [False, True])
async def test_data_comes_to_those_only_that_ask_for_it(parallel: bool) -> None:
    looks, passes = Looks(), Passes("passes")
    output = [_parallel(looks, passes)] if parallel else [looks, passes]
    writes = Everywhere("writes", {Phase.INPUT: writing()})
    agent = Agent(model="embedded/echo", input_processors=[writes], output_processors=output)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    async with agent.stream("hello") as stream:
        chunks = [chunk async for chunk in stream]
        result = await stream.result()
    assert [c.data for c in chunks if isinstance(c, DataChunk)] == ["[X]"]
    assert stored(result.messages) == ["[X]"]
    assert ("data" in looks.seen, "data" in passes.seen) == (True, False)
    runs = {check.processor_id: check.verdict for check in result.checks if check.phase is Phase.OUTPUT_STREAM}
    assert (runs["looks"], runs["passes"]) == ("changed", "passed")


async def test_where_nobody_asks_for_data_it_goes_out_as_it_is() -> None:
    passes = Passes("passes")
    writes = Everywhere("writes", {Phase.INPUT: writing()})
    chunks, _ = await read(Agent(model="embedded/echo", input_processors=[writes], output_processors=[passes]))
    assert "input" in told(chunks)
    assert "data" not in passes.seen


async def test_data_that_a_guard_stops_does_not_go_out() -> None:
    writes = Everywhere("writes", {Phase.INPUT: writing()})
    agent = Agent(model="embedded/echo", input_processors=[writes], output_processors=[Looks(stops=True)])
    chunks, _ = await read(agent)
    assert told(chunks) == ["start", "tripwire"]


async def test_data_that_nobody_has_looked_at_any_more_does_not_go_out_where_somebody_looks_at_data() -> None:
    def act(ctx: HookContext) -> None:
        ctx.write("why", "a card")
        ctx.abort("no")

    writes = Everywhere("writes", {Phase.INPUT: act})
    chunks, _ = await read(Agent(model="embedded/echo", input_processors=[writes], output_processors=[Looks()]))
    assert told(chunks) == ["start", "tripwire"]


async def test_data_in_answer_to_data_without_end_fails_the_run() -> None:
    class Echoes(Looks):
        def process_output_stream(self, ctx: OutputStreamContext) -> Chunk | None:
            ctx.write("echo", 1)
            return ctx.chunk

    with pytest.raises(RunError, match="process_data_parts write data each time"):
        await Agent(model="embedded/echo", output_processors=[Echoes("echoes")]).generate("x")


async def test_what_cannot_be_written_fails_the_hook_that_wrote_it() -> None:
    def act(ctx: HookContext) -> None:
        ctx.write("n", object())

    agent = Agent(model="embedded/echo", input_processors=[Everywhere(acts={Phase.INPUT: act})])
    with pytest.raises(StepFailed, match="the data written as 'n'"):
        await agent.generate("x")


async def test_a_tool_writes_while_it_runs() -> None:
    """The second piece is written only when the first has come to the reader."""
    came = anyio.Event()

    @tool
    async def work(ctx: ToolContext) -> str:
        """Work."""
        ctx.write("half", 1)
        ctx.stream({"line": 1})
        await ctx.delivered()
        with anyio.fail_after(10):
            await came.wait()
        await to_thread.run_sync(lambda: ctx.write("half", 2))
        return "done"

    agent = Agent(model=ScriptedModel([ScriptedModel.tool_call("work", {}), "ok"]), tools=[work])
    chunks: list[Chunk] = []
    async with agent.stream("hello") as stream:
        async for chunk in stream:
            chunks.append(chunk)
            if isinstance(chunk, ToolOutput):
                assert chunk == ToolOutput(chunk.tool_call_id, "work", {"line": 1})
                came.set()
        result = await stream.result()
    at = told(chunks)
    assert at[at.index("1") : at.index("tool-result") + 1] == ["1", "tool-output", "2", "tool-result"]
    assert stored(result.messages) == [1, 2]


async def test_what_a_tool_streams_passes_the_guards() -> None:
    class Drops(Processor):
        id = "drops"

        def process_output_stream(self, ctx: OutputStreamContext) -> Chunk | None:
            return None if isinstance(ctx.chunk, ToolOutput) else ctx.chunk

    @tool
    async def work(ctx: ToolContext) -> str:
        """Work."""
        ctx.stream("secret")
        return "done"

    model = ScriptedModel([ScriptedModel.tool_call("work", {}), "ok"])
    chunks, _ = await read(Agent(model=model, tools=[work], output_processors=[Drops()]))
    assert "tool-output" not in told(chunks)


async def test_shipped_guards_look_at_the_values_that_a_tool_streams() -> None:
    @tool
    async def work(ctx: ToolContext) -> str:
        """Work."""
        ctx.stream({"to": ["ann@example.com"], "n": 1})
        ctx.stream("nothing here")
        return "done"

    model = ScriptedModel([ScriptedModel.tool_call("work", {}), "ok"])
    chunks, _ = await read(Agent(model=model, tools=[work], output_processors=[PIIDetector(method="placeholder")]))
    assert [c.output for c in chunks if isinstance(c, ToolOutput)] == [{"to": ["[EMAIL]"], "n": 1}, "nothing here"]


async def test_two_tools_write_at_once_and_each_before_its_result() -> None:
    @tool
    async def work(n: int, ctx: ToolContext) -> int:
        """Work."""
        for step in range(3):
            ctx.write("step", [n, step])
            await anyio.lowlevel.checkpoint()
        return n

    calls = [ScriptedModel.tool_call("work", {"n": n}) for n in (1, 2)]
    agent = Agent(model=ScriptedModel([calls, "ok"]), tools=[work])
    async with agent.stream("hello") as stream:
        chunks = [chunk async for chunk in stream]
    written = [c.data for c in chunks if isinstance(c, DataChunk)]
    assert sorted(written) == [[n, step] for n in (1, 2) for step in range(3)]
    results = [at for at, chunk in enumerate(chunks) if chunk.type == "tool-result"]
    for n, ended in zip((1, 2), results, strict=True):
        own = [at for at, c in enumerate(chunks) if isinstance(c, DataChunk) and c.data[0] == n]
        assert [chunks[at].data[1] for at in own] == [0, 1, 2]  # type: ignore[union-attr]  # pyright: ignore[reportAttributeAccessIssue]
        assert max(own) < ended
