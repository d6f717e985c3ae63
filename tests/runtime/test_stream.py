"""A stream is pulled, has one reader, and leaves nothing running behind it, however it is left."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest

from interlock import Agent, AgentResult, AgentStream, Phase, Processor, tool
from interlock.errors import InterlockError, ModelError
from interlock.messages import Chunk, StepFinish, TextDelta
from interlock.models import LanguageModel, ModelRequest
from interlock.processors import OutputStreamContext
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Everywhere, aborting, chunks_and_result, kinds, model_that_calls

pytestmark = pytest.mark.anyio


class OwnModel(LanguageModel):
    """A model written out, to see how its stream is opened and closed.

    Args:
        texts: Its answer.
        close_fails: What closing raises.
    """

    provider = "own"
    name = "model"

    def __init__(self, *texts: str, close_fails: Exception | None = None) -> None:
        self.texts = texts
        self.close_fails = close_fails
        self.asked = 0
        self.log: list[str] = []

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncGenerator[AsyncIterator[Chunk]]:
        self.log.append("opened")
        chunks = self._chunks()
        try:
            yield chunks
        finally:
            await chunks.aclose()
            await anyio.lowlevel.checkpoint()
            await anyio.lowlevel.checkpoint()
            self.log.append("closed")
            if self.close_fails is not None:
                raise self.close_fails

    async def _chunks(self) -> AsyncGenerator[Chunk]:
        for text in self.texts:
            self.asked += 1
            await anyio.lowlevel.checkpoint()
            yield TextDelta(text)
        yield StepFinish()


async def read(stream: AgentStream, kind: str) -> Chunk:
    """Read up to the first chunk of a kind."""
    async for chunk in stream:
        if chunk.type == kind:
            return chunk
    raise AssertionError(f"no {kind}")


async def test_the_model_is_not_asked_for_the_next_chunk_before_the_reader_wants_it() -> None:
    model = OwnModel("a", "b", "c")
    async with Agent(model=model).stream("hello") as stream:
        for number in (1, 2, 3):
            await read(stream, "text-delta")
            for _ in range(5):
                await anyio.lowlevel.checkpoint()
            assert model.asked == number


async def test_the_model_is_not_called_before_the_first_chunk_is_wanted() -> None:
    model = OwnModel("a")
    async with Agent(model=model).stream("hello") as stream:
        await anyio.lowlevel.checkpoint()
        assert (await anext(stream)).type == "start"
        assert model.log == []


async def test_leaving_early_closes_the_model_before_it_returns() -> None:
    model = OwnModel("a", "b", "c")
    async with Agent(model=model).stream("hello") as stream:
        await read(stream, "text-delta")
    assert model.log == ["opened", "closed"]
    assert model.asked == 1
    result = await stream.result()
    assert (result.status, result.text) == ("canceled", "a")


async def test_a_reader_that_is_cancelled_between_two_chunks_closes_the_model_in_peace() -> None:
    model = OwnModel("a", "b", "c")
    with anyio.CancelScope() as scope:
        async with Agent(model=model).stream("hello") as stream:
            await read(stream, "text-delta")
            scope.cancel()
            await anyio.lowlevel.checkpoint()
    assert scope.cancelled_caught
    assert model.log == ["opened", "closed"]


async def test_leaving_early_ends_the_tools_before_it_returns() -> None:
    log: list[str] = []

    @tool
    async def slow() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            log.append("ended")

    agent = Agent(model=model_that_calls("quick", "slow"), tools=[slow, tool(lambda: "quick", name="quick")])
    with anyio.fail_after(5):
        async with agent.stream("hello") as stream:
            await read(stream, "tool-result")
    assert log == ["ended"]


async def test_the_result_that_is_asked_for_after_a_break_is_that_of_the_whole_run() -> None:
    ran: list[str] = []

    @tool
    def note() -> str:
        """Note that it ran."""
        ran.append("note")
        return "noted"

    agent = Agent(model=ScriptedModel([ScriptedModel.tool_call("note", {}), ["do", "ne"]]), tools=[note])
    async with agent.stream("hello") as stream:
        async for _ in stream:
            break
        result = await stream.result()
    assert (result.status, result.text, ran) == ("success", "done", ["note"])


async def test_leaving_early_runs_no_further_hook() -> None:
    guard = Everywhere("guard")
    async with Agent(model="embedded/echo", output_processors=[guard]).stream("hello") as stream:
        await read(stream, "text-delta")
        before = list(guard.log)
    assert guard.log == before


async def test_an_error_of_the_readers_own_comes_out_as_it_is() -> None:
    model = OwnModel("a", "b")

    async def stumbles() -> None:
        async with Agent(model=model).stream("hello") as stream:
            async for _ in stream:
                raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await stumbles()
    assert model.log == []  # the first chunk comes before the call


async def test_leaving_early_when_the_model_cannot_be_closed_tells_it_in_the_result() -> None:
    """No hook for failed model calls runs then: nobody waits for an answer any more."""
    guard = Everywhere("guard")
    model = OwnModel("a", "b", close_fails=OSError("stuck"))
    async with Agent(model=model, error_processors=[guard]).stream("hello") as stream:
        await read(stream, "text-delta")
    result = await stream.result()
    assert result.status == "failed"
    assert isinstance(result.error, OSError)
    assert guard.log == []


async def test_a_block_counts_though_the_model_cannot_be_closed() -> None:
    guard = Everywhere("guard", {Phase.OUTPUT_STREAM: aborting()})
    model = OwnModel("a", "b", close_fails=OSError("stuck"))
    chunks, result = await chunks_and_result(Agent(model=model, output_processors=[guard], error_processors=[guard]))
    assert kinds(chunks)[-1] == "tripwire"
    assert result.status == "tripwire"
    assert model.log == ["opened", "closed"]
    assert guard.log[-1] == f"guard:{Phase.OUTPUT_STREAM}"


async def test_the_model_is_closed_and_awaited_also_after_a_hook_that_swallowed_its_own_abort() -> None:
    class Swallows(Processor):
        id = "guard"

        async def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
            if ctx.chunk.type == "text-delta":
                try:
                    ctx.abort("stop")
                except BaseException:
                    await anyio.sleep_forever()
            return ctx.chunk

    model = OwnModel("a", "b")
    with anyio.fail_after(5):
        chunks, result = await chunks_and_result(Agent(model=model, output_processors=[Swallows()]))
    assert kinds(chunks).count("tripwire") == 1
    assert result.status == "tripwire"
    assert model.log == ["opened", "closed"]


async def test_what_was_given_to_the_client_is_the_text_of_a_canceled_run() -> None:
    """What ``result()`` reads is given to nobody."""
    model = ScriptedModel([["one ", "two ", ModelError("gone")]])
    async with Agent(model=model).stream("hello") as stream:
        await read(stream, "text-delta")
        result = await stream.result()
    assert (result.status, result.text) == ("failed", "one ")


async def test_cancel_ends_the_stream_and_the_result_says_so() -> None:
    model = ScriptedModel([["a", anyio.sleep_forever, "b"]])
    results: list[AgentResult] = []
    with anyio.fail_after(5):
        async with Agent(model=model).stream("hello") as stream, anyio.create_task_group() as group:

            async def reads() -> None:
                chunks = [chunk async for chunk in stream]
                assert kinds(chunks)[-1] == "text-delta"
                results.append(await stream.result())

            group.start_soon(reads)
            while model.pulled < 3:
                await anyio.lowlevel.checkpoint()
            stream.cancel()
    assert [(r.status, r.text, r.finish_reason) for r in results] == [("canceled", "a", "other")]
    assert model.closed == 1


async def test_cancel_between_two_chunks_ends_it_too() -> None:
    model = OwnModel("a", "b")
    async with Agent(model=model).stream("hello") as stream:
        await read(stream, "text-delta")
        stream.cancel()
        assert [chunk async for chunk in stream] == []
        assert (await stream.result()).status == "canceled"
    assert model.log == ["opened", "closed"]
    assert model.asked == 1


async def test_cancel_before_the_first_chunk_asks_nobody() -> None:
    model = OwnModel("a")
    async with Agent(model=model).stream("hello") as stream:
        stream.cancel()
        result = await stream.result()
    assert (result.status, model.log) == ("canceled", [])


async def test_cancel_after_the_end_changes_nothing() -> None:
    async with Agent(model=OwnModel("a")).stream("hello") as stream:
        await stream.result()
        stream.cancel()
        assert (await stream.result()).status == "success"


async def test_two_readers_at_once_are_refused() -> None:
    model = ScriptedModel([["a", anyio.sleep_forever]])
    with anyio.fail_after(5):
        async with Agent(model=model).stream("hello") as stream, anyio.create_task_group() as group:
            group.start_soon(stream.result)
            while model.pulled < 3:
                await anyio.lowlevel.checkpoint()
            with pytest.raises(InterlockError, match="one reader"):
                await anext(stream)
            stream.cancel()


async def test_leaving_while_another_task_reads_ends_both() -> None:
    model = ScriptedModel([["a", anyio.sleep_forever]])
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group, Agent(model=model).stream("hello") as stream:
            group.start_soon(stream.result)
            while model.pulled < 3:
                await anyio.lowlevel.checkpoint()
    assert model.closed == 1
    assert (await stream.result()).status == "canceled"


async def test_a_stream_is_entered_once_and_before_it_is_read() -> None:
    stream = Agent(model="embedded/echo").stream("hello")
    with pytest.raises(InterlockError, match="enter the stream first"):
        await anext(stream)
    with pytest.raises(InterlockError, match="enter the stream first"):
        await stream.result()
    async with stream:
        pass
    with pytest.raises(InterlockError, match="entered already"):
        async with stream:
            pass


async def test_reading_again_after_the_end_gives_nothing_more() -> None:
    async with Agent(model=OwnModel("a")).stream("hello") as stream:
        first = [chunk async for chunk in stream]
        assert kinds(first)[-1] == "finish"
        assert [chunk async for chunk in stream] == []


async def test_a_reader_that_gives_up_on_one_chunk_cancels_the_run() -> None:
    model = ScriptedModel([["a", anyio.sleep_forever]])
    async with Agent(model=model).stream("hello") as stream:
        await read(stream, "text-delta")
        with anyio.move_on_after(0):
            await anext(stream)
        assert model.closed == 1
        assert (await stream.result()).status == "canceled"


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_model_may_hold_a_task_group_open_while_it_streams() -> None:
    """As an agent does that stands behind a model's interface."""

    class Grouped(OwnModel):
        @asynccontextmanager
        async def stream(self, request: ModelRequest) -> AsyncGenerator[AsyncIterator[Chunk]]:
            async with anyio.create_task_group(), super().stream(request) as chunks:
                yield chunks

    result = await Agent(model=Grouped("a", "b")).generate("hello")
    assert result.text == "ab"
