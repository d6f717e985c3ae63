"""What a hook tells the model counts for nothing where the hook only shadows, or was passed over for its failure.

What one says whose time was up comes too late.
"""

from __future__ import annotations

import threading
from typing import Any

import anyio
import pytest

from interlock import Agent, Phase, Processor, create_step, tool
from interlock.memory import InMemoryMessageStore, Memory
from interlock.messages import DataChunk
from interlock.processors import InputContext
from interlock.processors.hook_context import HookContext
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Everywhere, chunks_and_result

pytestmark = pytest.mark.anyio

SENT = [phase for phase in Phase if phase not in (Phase.API_ERROR, Phase.OUTPUT_RESULT)]


@tool
def look() -> str:
    """Look."""
    return "seen"


@pytest.mark.parametrize("how", ["shadow", "skip", "counts"])
@pytest.mark.parametrize("phase", SENT)
async def test_a_signal_of_one_that_counts_for_nothing_is_not_sent(phase: Phase, how: str) -> None:
    def act(ctx: HookContext) -> object:
        if ctx.state.get("sent"):
            return getattr(ctx, "chunk", None)
        ctx.state["sent"] = True
        ctx.send_signal("mind the gap")
        if how == "skip":
            raise ValueError("it is down")
        return getattr(ctx, "chunk", None)

    ways: dict[str, dict[str, Any]] = {"shadow": {"shadow": True}, "skip": {"on_failure": "skip"}, "counts": {}}
    step = create_step(Everywhere(acts={phase: act}), **ways[how])
    store = InMemoryMessageStore()
    model = ScriptedModel([["a ", ScriptedModel.tool_call("look")], "done"])
    agent = Agent(model=model, tools=[look], memory=Memory(store), input_processors=[step], output_processors=[step])
    assert (await agent.generate("hello", thread="t")).status == "success"
    counts = how == "counts"
    assert any("mind the gap" in model.received(n) for n in range(2)) is counts
    assert ("signal" in [message.role for message in await store.load("t")]) is counts


@pytest.mark.parametrize("shadow", [False, True])
async def test_what_is_written_when_the_time_was_up_is_not_shown(shadow: bool) -> None:
    up, written = threading.Event(), threading.Event()

    class Slow(Processor):
        id = "slow"

        def process_input(self, ctx: InputContext) -> None:
            up.wait(20)
            ctx.write("verdict", {"ok": True})
            written.set()

    @tool
    async def wait() -> str:
        """Wait until it is written."""
        up.set()
        await anyio.to_thread.run_sync(written.wait, 20)
        return "seen"

    model = ScriptedModel([ScriptedModel.tool_call("wait"), "done"])
    options: dict[str, Any] = {"shadow": True} if shadow else {"on_failure": "skip"}
    slow = create_step(Slow(), timeout=0.25, blocking=True, **options)
    chunks, result = await chunks_and_result(Agent(model=model, tools=[wait], input_processors=[slow]))
    assert result.status == "success"
    assert written.is_set()
    assert [chunk for chunk in chunks if isinstance(chunk, DataChunk)] == []
