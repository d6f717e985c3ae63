"""An agent as a tool of another: what its client sees of it, and what becomes of its end."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import pytest

from interlock import Agent, Phase, Processor, RequestContext, tool
from interlock.errors import DefinitionError, ModelError
from interlock.messages import Chunk, DataChunk, TextDelta, ToolError, ToolOutput, ToolResult
from interlock.models import LanguageModel
from interlock.processors import InputContext, OutputStreamContext, PIIDetector
from interlock.testing import ScriptedModel
from interlock.tools import ToolContext

pytestmark = pytest.mark.anyio


def asking(name: str = "expert", prompt: str = "how?") -> ScriptedModel:
    """A model that asks the agent of that name."""
    return ScriptedModel([ScriptedModel.tool_call(name, {"prompt": prompt}), "so it is"])


def expert(model: LanguageModel | None = None, **more: object) -> Agent:
    return Agent(id="expert", model=model or ScriptedModel([["like ", "this"]]), **more)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


async def read(agent: Agent) -> Sequence[Chunk]:
    async with agent.stream("hello") as stream:
        return [chunk async for chunk in stream]


async def test_its_chunks_go_out_while_it_runs_and_its_text_is_the_result() -> None:
    inner, outer = ScriptedModel([["like ", "this"]]), asking()
    chunks = await read(Agent(id="boss", model=outer, tools=[expert(inner)]))
    texts = [c.output.text for c in chunks if isinstance(c, ToolOutput) and isinstance(c.output, TextDelta)]
    assert texts == ["like ", "this"]
    kinds = {c.output.type for c in chunks if isinstance(c, ToolOutput)}
    assert kinds.isdisjoint({"start", "finish", "tripwire", "error"})
    (result,) = [c for c in chunks if isinstance(c, ToolResult)]
    assert result.result == "like this"
    assert "how?" in inner.received(0)
    assert "like this" in outer.received(1)


async def test_its_tokens_are_counted_to_the_step_that_asked_it() -> None:
    @tool(name="expert")
    def plain(prompt: str) -> str:
        """Say the same."""
        return "like this"

    alone = (await expert().generate("how?")).usage
    without = await Agent(id="boss", model=asking(), tools=[plain]).generate("hello")
    result = await Agent(id="boss", model=asking(), tools=[expert()]).generate("hello")
    assert alone.total_tokens > 0
    assert [step.usage for step in result.steps] == [without.steps[0].usage + alone, without.steps[1].usage]
    assert result.usage == without.usage + alone


async def test_its_tripwire_is_the_tools_error_and_names_who_stopped_it() -> None:
    class Stops(Processor):
        id = "stops"

        def process_input(self, ctx: InputContext) -> None:
            ctx.abort("not that")

    outer = asking()
    agent = Agent(id="boss", model=outer, tools=[expert(input_processors=[Stops()])])
    chunks = await read(agent)
    (error,) = [c for c in chunks if isinstance(c, ToolError)]
    assert "agent 'expert' was stopped by 'stops': not that" in error.error
    assert [c.type for c in chunks if c.type in ("tripwire", "finish")] == ["finish"]
    assert "was stopped by" in outer.received(1)


async def test_its_failure_is_the_tools_error() -> None:
    agent = Agent(id="boss", model=asking(), tools=[expert(ScriptedModel([ModelError("too much", status=400)]))])
    (error,) = [c for c in await read(agent) if isinstance(c, ToolError)]
    assert "agent 'expert' failed: ModelError" in error.error


async def test_what_it_streams_passes_the_guards_of_the_agent_that_asks() -> None:
    class Masks(Processor):
        id = "masks"

        def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
            return ctx.chunk.replace(text="*") if isinstance(ctx.chunk, TextDelta) and ctx.inside else ctx.chunk

    chunks = await read(Agent(id="boss", model=asking(), tools=[expert()], output_processors=[Masks()]))
    texts = [c.output.text for c in chunks if isinstance(c, ToolOutput) and isinstance(c.output, TextDelta)]
    assert texts == ["*", "*"]


async def test_it_is_cancelled_with_the_run_it_is_part_of() -> None:
    state: list[str] = []

    @tool
    async def wait(ctx: ToolContext) -> None:
        """Wait."""
        ctx.write("waits")
        try:
            await anyio.sleep_forever()
        finally:
            state.append("cancelled")

    inner = expert(ScriptedModel([["first", ScriptedModel.tool_call("wait", {})]]), tools=[wait])
    with anyio.fail_after(10):
        async with Agent(id="boss", model=asking(), tools=[inner]).stream("hello") as stream:
            async for chunk in stream:
                if isinstance(chunk, ToolOutput) and isinstance(chunk.output, DataChunk):
                    break
            assert state == []
    assert state == ["cancelled"]


async def test_a_reader_that_is_slow_slows_it() -> None:
    """It gets no further ahead than by what is on its way: the model is not read to its end before somebody reads."""
    model = ScriptedModel([[f"{n} " for n in range(100)]])
    seen: list[str] = []

    class Counts(Processor):
        id = "counts"

        def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
            if isinstance(ctx.chunk, TextDelta):
                seen.append(ctx.chunk.text)
            return ctx.chunk

    agent = Agent(id="boss", model=asking(), tools=[expert(model, output_processors=[Counts()])])
    async with agent.stream("hello") as stream:
        async for chunk in stream:
            if isinstance(chunk, ToolOutput) and isinstance(chunk.output, TextDelta):
                await anyio.wait_all_tasks_blocked()
                assert len(seen) <= 3
                break


async def test_its_tools_that_need_an_approval_do_not_run_and_its_model_is_told() -> None:
    ran: list[str] = []

    @tool(needs_approval=True)
    def pay() -> None:
        """Pay."""
        ran.append("pay")

    model = ScriptedModel([ScriptedModel.tool_call("pay", {}), "I may not pay"])
    chunks = await read(Agent(id="boss", model=asking(), tools=[expert(model, tools=[pay])]))
    (result,) = [c for c in chunks if isinstance(c, ToolResult)]
    assert (result.result, ran) == ("I may not pay", [])
    assert "nobody can be asked here" in model.received(1)


async def test_what_the_caller_hands_over_reaches_it() -> None:
    seen: list[object] = []

    @tool
    def tenant(ctx: ToolContext) -> None:
        """Who asks."""
        seen.append(ctx.request_context["tenant"])

    inner = expert(ScriptedModel([ScriptedModel.tool_call("tenant", {}), "ok"]), tools=[tenant])
    agent = Agent(id="boss", model=asking(), tools=[inner])
    await agent.generate("hello", request_context=RequestContext({"tenant": "t1"}))
    assert seen == ["t1"]


async def test_name_and_description_may_be_given_and_have_sensible_defaults() -> None:
    made = Agent(id="shop:expert", model="embedded/echo", description="Knows the shop.").as_tool()
    assert (made.name, made.description) == ("shop_expert", "Knows the shop.")
    assert list(made.parameters["properties"]) == ["prompt"]
    named = expert().as_tool(name="ask-expert", description="Ask.")
    assert (named.name, named.description) == ("ask-expert", "Ask.")
    assert "expert" in expert().as_tool().description
    with pytest.raises(DefinitionError, match="is no tool name"):
        expert().as_tool(name="two words")
    with pytest.raises(DefinitionError, match="two tools have one name"):
        Agent(model="embedded/echo", tools=[expert(), expert()])


async def test_its_texts_are_its_own_for_guards_that_hold_text_back() -> None:
    """Two at once, each with a mail address cut in two; what one holds back never meets the other's text."""
    models = [ScriptedModel([["mail ann@exa", "mple.com now"]]), ScriptedModel([["or bob@exa", "mple.org too"]])]
    experts = [Agent(id=f"expert-{n}", model=model) for n, model in enumerate(models)]
    calls = [ScriptedModel.tool_call(f"expert-{n}", {"prompt": "how?"}) for n in (0, 1)]
    guard = PIIDetector(strategy="redact")
    agent = Agent(id="boss", model=ScriptedModel([calls, "ok"]), tools=experts, output_processors=[guard])
    async with agent.stream("hello") as stream:
        chunks = [chunk async for chunk in stream]
        result = await stream.result()
    texts: dict[str, str] = {}
    for chunk in chunks:
        if isinstance(chunk, ToolOutput) and isinstance(chunk.output, TextDelta):
            texts[chunk.tool_name] = texts.get(chunk.tool_name, "") + chunk.output.text
    assert texts == {"expert-0": "mail a*n@*******.com now", "expert-1": "or b*b@*******.org too"}
    (record,) = [check for check in result.checks if check.phase is Phase.OUTPUT_STREAM]
    assert record.verdict == "changed"


async def test_a_guard_that_stops_what_it_says_stops_the_run_that_asked_it() -> None:
    class Stops(Processor):
        id = "stops"

        def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
            if ctx.text == "like this":
                ctx.abort(f"said inside {len(ctx.inside)} calls")
            return ctx.chunk

    inner = ScriptedModel([["like ", "this", "!"]])
    agent = Agent(id="boss", model=asking(), tools=[expert(inner)], output_processors=[Stops()])
    result = await agent.generate("hello")
    assert result.tripwire is not None
    assert result.tripwire.reason == "said inside 1 calls"
    assert inner.closed == 1


async def test_an_agent_in_an_agent_in_an_agent_is_looked_at_too() -> None:
    class Masks(Processor):
        id = "masks"

        def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
            return ctx.chunk.replace(text=f"{len(ctx.inside)}") if isinstance(ctx.chunk, TextDelta) else ctx.chunk

    middle = Agent(id="middle", model=asking(), tools=[expert()])
    agent = Agent(id="boss", model=asking("middle"), tools=[middle], output_processors=[Masks()])
    seen: list[str] = []
    for chunk in await read(agent):
        inner: object = chunk
        while isinstance(inner, ToolOutput):
            inner = inner.output
        if isinstance(inner, TextDelta):
            seen.append(inner.text)
    assert sorted(set(seen)) == ["0", "1", "2"]
