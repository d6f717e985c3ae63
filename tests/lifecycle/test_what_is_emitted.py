"""What is emitted is what is stored and what the model sees; and only the run says how it begins and ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import pytest

from interlock import Agent, Processor, tool
from interlock.errors import InterlockError, InvalidProcessorReturn
from interlock.messages import (
    Chunk,
    Finish,
    StepFinish,
    TextDelta,
    ToolCallApproval,
    ToolInvocationPart,
    ToolResult,
    TripwireChunk,
)
from interlock.processors import (
    CachedResponse,
    LLMRequestContext,
    OutputStepContext,
    OutputStreamContext,
    RequestChanges,
    ToolResultChanges,
    ToolResultContext,
)
from interlock.testing import ScriptedModel

pytestmark = pytest.mark.anyio


def look() -> str:
    """Look."""
    return "secret"


def calling() -> ScriptedModel:
    return ScriptedModel([ScriptedModel.tool_call("look", {}), "done"])


async def test_a_tool_result_changed_in_the_stream_is_what_is_stored_and_what_the_model_sees() -> None:
    class Redact(Processor):
        id = "redact"

        def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
            return ctx.chunk.replace(result="[X]") if isinstance(ctx.chunk, ToolResult) else ctx.chunk

    model = calling()
    result = await Agent(model=model, tools=[look], output_processors=[Redact()]).generate("x")
    (part,) = [p for m in result.messages for p in m.parts if isinstance(p, ToolInvocationPart)]
    assert part.result == "[X]"
    assert "secret" not in model.received(1)
    assert [r.type for r in result.steps[0].tool_results] == ["tool-result"]
    assert "secret" not in str(result.steps)


async def test_what_the_model_is_shown_of_a_result_is_made_of_the_one_that_was_emitted() -> None:
    class Redact(Processor):
        id = "redact"

        def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
            if isinstance(ctx.chunk, ToolResult):
                return ctx.chunk.replace(result={**cast("dict[str, str]", ctx.chunk.result), "who": "[X]"})
            return ctx.chunk

    def find() -> dict[str, str]:
        """Find."""
        return {"who": "ann", "key": "hidden"}

    named = tool(find, to_model_output=lambda found: f"it is {found['who']}")
    model = ScriptedModel([ScriptedModel.tool_call("find", {}), "done"])
    result = await Agent(model=model, tools=[named], output_processors=[Redact()]).generate("x")
    (part,) = [p for m in result.messages for p in m.parts if isinstance(p, ToolInvocationPart)]
    assert (part.result, part.model_output) == ({"who": "[X]", "key": "hidden"}, "it is [X]")
    assert "hidden" not in model.received(1)


async def test_where_no_form_for_the_model_can_be_made_of_what_was_emitted_it_is_told_so() -> None:
    class Redact(Processor):
        id = "redact"

        def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
            return ctx.chunk.replace(result="[X]") if isinstance(ctx.chunk, ToolResult) else ctx.chunk

    def find() -> dict[str, str]:
        """Find."""
        return {"who": "ann"}

    named = tool(find, to_model_output=lambda found: found["who"])
    model = ScriptedModel([ScriptedModel.tool_call("find", {}), "done"])
    result = await Agent(model=model, tools=[named], output_processors=[Redact()]).generate("x")
    assert result.status == "success"
    assert "to_model_output of tool 'find' failed" in model.received(1)


async def test_a_form_for_the_model_that_is_none_shows_it_nothing() -> None:
    hides = tool(look, to_model_output=lambda result: None)
    model = calling()
    result = await Agent(model=model, tools=[hides]).generate("x")
    assert result.text == "done"
    assert "secret" not in model.received(1)


async def test_a_call_that_was_taken_out_does_not_make_the_model_be_asked_again() -> None:
    class Cut(Processor):
        id = "cut"

        def process_output_step(self, ctx: OutputStepContext) -> None:
            last = ctx.messages[-1]
            last.parts = [p for p in last.parts if not isinstance(p, ToolInvocationPart)]

    model = calling()
    await Agent(model=model, tools=[look], output_processors=[Cut()]).generate("x")
    assert model.calls == 1


@pytest.mark.parametrize("chunk", [TripwireChunk("r", "p"), Finish()])
async def test_a_hook_cannot_end_the_stream_with_a_chunk(chunk: Chunk) -> None:
    class Ends(Processor):
        id = "ends"

        def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
            return chunk if ctx.chunk.type == "text-delta" else ctx.chunk

    with pytest.raises(InvalidProcessorReturn, match=r"to stop the run call ctx\.abort"):
        await Agent(model="embedded/echo", output_processors=[Ends()]).generate("x")


@pytest.mark.parametrize("given", [[TripwireChunk("r", "p")], [Finish(), StepFinish()], [None]])
async def test_neither_a_model_nor_a_cached_answer_can_end_the_run_with_a_chunk(given: Sequence[Chunk]) -> None:
    class Cached(Processor):
        id = "cached"

        def process_llm_request(self, ctx: LLMRequestContext) -> RequestChanges:
            return RequestChanges(response=CachedResponse(given))

    with pytest.raises(InterlockError, match=r"which is no chunk|which only the run itself gives"):
        await Agent(model="embedded/echo", input_processors=[Cached()]).generate("x")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (StepFinish("retry"), "the finish reason 'retry'; a model's are stop, length"),
        (StepFinish("odd"), "the finish reason 'odd'"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        (StepFinish(usage=None), "a NoneType as its usage"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        (TextDelta(None), "a TextDelta whose text is a NoneType"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        (ToolCallApproval("c", "look", {}), "which only the run itself gives"),
    ],
)
async def test_what_a_model_cannot_say_is_told(given: Chunk, said: str) -> None:
    with pytest.raises(InterlockError, match=f"model scripted/model (gave|ended its answer with) .*{said}"):
        await Agent(model=ScriptedModel([[given, StepFinish()]])).generate("x")


async def test_a_hook_that_says_that_an_answer_was_not_accepted_does_not_make_the_run_endless() -> None:
    class Says(Processor):
        id = "says"

        def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
            return ctx.chunk.replace(finish_reason="retry") if isinstance(ctx.chunk, StepFinish) else ctx.chunk

    model = ScriptedModel(lambda request: ScriptedModel.tool_call("look", {}))
    result = await Agent(model=model, tools=[look], output_processors=[Says()], max_steps=3).generate("x")
    assert (result.finish_reason, model.calls) == ("max-steps", 3)


async def test_a_result_that_is_no_json_is_refused_where_it_is_returned() -> None:
    class Odd(Processor):
        id = "odd"

        def process_tool_result(self, ctx: ToolResultContext) -> ToolResultChanges:
            return ToolResultChanges(object())

    with pytest.raises(InvalidProcessorReturn, match="the result must be JSON values"):
        await Agent(model=calling(), tools=[look], input_processors=[Odd()]).generate("x")


@pytest.mark.parametrize("hook", ["def", "async def"])
async def test_a_hook_may_make_thousands_of_chunks_of_one(hook: str) -> None:
    class Split(Processor):
        id = "split"

        def process_output_stream(self, ctx: OutputStreamContext) -> Sequence[Chunk]:
            if isinstance(ctx.chunk, TextDelta):
                return [ctx.chunk.replace(text=letter) for letter in ctx.chunk.text]
            return [ctx.chunk]

    class Behind(Processor):
        id = "behind"

        def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
            return ctx.chunk

    class Waiting(Processor):
        id = "waiting"

        async def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
            return ctx.chunk

    kinds: dict[str, Callable[[], Processor]] = {"def": Behind, "async def": Waiting}
    text = "x" * 5_000
    agent = Agent(model=ScriptedModel([text]), output_processors=[Split(), kinds[hook]()])
    assert (await agent.generate("x")).text == text


async def test_no_tool_starts_after_a_verdict_that_came_between() -> None:
    ran: list[str] = []
    kept: list[OutputStreamContext] = []

    def pay() -> str:
        """Pay."""
        ran.append("pay")
        return "paid"

    class Late(Processor):
        id = "late"

        def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
            kept.append(ctx)
            return ctx.chunk

    agent = Agent(
        model=ScriptedModel([ScriptedModel.tool_call("pay", {}), "x"]), tools=[pay], output_processors=[Late()]
    )
    async with agent.stream("go") as stream:
        async for chunk in stream:
            if chunk.type == "step-finish":
                with pytest.raises(BaseException, match="too late"):
                    kept[0].abort("too late")
        result = await stream.result()
    assert result.status == "tripwire"
    assert ran == []
