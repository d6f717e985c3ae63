"""A block is a block for a real provider, too: a server on this machine sees the connection closed in time."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from typing import Any

import anyio
import pytest

from interlock import Agent, Processor
from interlock.messages import Chunk, TextDelta
from interlock.processors import OutputStepContext, OutputStreamContext, StreamErrorRetryProcessor
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import flow, kinds
from tests.models.asked import model_at
from tests.models.loopback import Exchange, LoopbackServer, Play, delta, events, streamed

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def requests_are_made_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interlock.models.http.FIRST_WAIT", 0.0)


@contextlib.contextmanager
def serving(*plays: Play) -> Generator[LoopbackServer]:
    with LoopbackServer(*plays) as server:
        yield server
    assert server.faults == []


def never_ending(*texts: str) -> Play:
    """An answer that says this and then waits until nobody listens any more."""

    def play(exchange: Exchange) -> None:
        exchange.head()
        for text in texts:
            exchange.send(events(delta(content=text), done=False).encode())
        exchange.wait_until_closed()

    return play


class Plain(Processor):
    """Blocks at a word."""

    id = "plain"

    def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
        if "secret" in ctx.text:
            ctx.abort("not here")
        return ctx.chunk


class Waiting(Processor):
    """The same, and waits before it does."""

    id = "waiting"

    async def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
        await anyio.lowlevel.checkpoint()
        if "secret" in ctx.text:
            ctx.abort("not here")
        return ctx.chunk


class Stubborn(Processor):
    """The same, swallows its own verdict and never comes back."""

    id = "stubborn"

    async def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
        if "secret" in ctx.text:
            with contextlib.suppress(BaseException):
                ctx.abort("not here")
            await anyio.sleep_forever()
        return ctx.chunk


GUARDS: dict[str, Any] = {
    "plain": lambda: [Plain()],
    "waiting": lambda: [Waiting()],
    "stubborn": lambda: [Stubborn()],
    "in parallel": lambda: [flow().parallel([Waiting(), Plain()]).merge().commit()],
}


@pytest.mark.parametrize("guards", list(GUARDS))
async def test_the_connection_is_closed_before_the_reader_gets_the_tripwire(guards: str) -> None:
    with serving(never_ending("a ", "secret ", "never read")) as server:
        agent = Agent(model=model_at(server), output_processors=GUARDS[guards]())
        read: list[Chunk] = []
        async with agent.stream("hello") as stream:
            async for chunk in stream:
                read.append(chunk)
                if chunk.type == "tripwire":
                    assert server.sees_the_connection_closed()
        assert kinds(read)[-1] == "tripwire"
        assert "".join(c.text for c in read if isinstance(c, TextDelta)) == "a "
        assert len(server.requests) == 1


async def test_generate_returns_when_the_connection_is_closed() -> None:
    with serving(never_ending("secret")) as server:
        result = await Agent(model=model_at(server), output_processors=[Plain()]).generate("hello")
        assert result.status == "tripwire"
        assert server.sees_the_connection_closed()


@pytest.mark.parametrize("way", ["left", "canceled", "task cancelled"])
async def test_whoever_leaves_early_closes_the_connection(way: str) -> None:
    with serving(never_ending("a ", "b ")) as server:
        stream = Agent(model=model_at(server)).stream("hello")
        with anyio.CancelScope() as scope:
            async with stream:
                async for chunk in stream:
                    if chunk.type == "text-delta":
                        if way == "left":
                            break
                        if way == "canceled":
                            stream.cancel()
                        else:
                            scope.cancel()
        assert server.sees_the_connection_closed()
        assert (await stream.result()).status == "canceled"


async def test_a_rejected_answer_is_closed_before_the_model_is_asked_again() -> None:
    closed: list[bool] = []

    class Again(Processor):
        id = "again"

        def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
            if "secret" in ctx.text:
                ctx.abort("say it differently", retry=True)
            return ctx.chunk

    def second(exchange: Exchange) -> None:
        closed.append(server.sees_the_connection_closed())
        streamed(events(delta(content="well"), delta("stop")))(exchange)

    with serving(never_ending("secret"), second) as server:
        agent = Agent(model=model_at(server), output_processors=[Again()], max_processor_retries=1)
        result = await agent.generate("hello")
        assert result.text == "well"
        assert closed == [True]
        told = [m["content"] for m in server.requests[1].body["messages"] if m["role"] == "system"]
        assert len(told) == 1
        assert "say it differently" in told[0]


async def test_a_stream_that_breaks_off_is_recovered_from_and_leaves_nothing_behind() -> None:
    def breaks(exchange: Exchange) -> None:
        exchange.head()
        exchange.send(events(delta(content="half an answer"), done=False).encode())
        exchange.break_off()

    with serving(breaks, streamed(events(delta(content="a whole one"), delta("stop")))) as server:
        agent = Agent(model=model_at(server), error_processors=[StreamErrorRetryProcessor(delay=0.0)])
        result = await agent.generate("hello")
        assert result.text == "a whole one"
        assert "half" not in str(server.requests[1].body)
        assert [m.text for m in result.messages.all] == ["hello", "a whole one"]


async def test_nothing_blocked_is_in_the_next_turns_prompt() -> None:
    class Late(Processor):
        id = "late"

        def process_output_step(self, ctx: OutputStepContext) -> None:
            if "secret" in ctx.text:
                ctx.abort("not here")

    model = ScriptedModel(["a secret", "well"])
    agent = Agent(model=model, output_processors=[Late()])
    blocked = await agent.generate("hello")
    messages = blocked.messages.fork()
    messages.add("and now?", source="input")
    await agent.generate(messages)
    assert "secret" not in model.received(1)
    assert "hello" in model.received(1)
