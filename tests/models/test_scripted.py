"""A model that answers from a script."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import cast

import anyio
import pytest

from interlock.errors import DefinitionError, ModelError
from interlock.messages.chunks import (
    Chunk,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    SourceChunk,
    StepFinish,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolCallDelta,
    ToolCallStart,
)
from interlock.messages.parts import TextPart
from interlock.messages.prompt import PromptMessage
from interlock.messages.usage import Usage
from interlock.models import ModelRequest, ScriptedModel, ToolSpec
from interlock.models.scripted import Script, ScriptEntry
from tests.models.asked import asking, chunks_of, deltas

call, reasoning = ScriptedModel.tool_call, ScriptedModel.reasoning


def finish(chunks: list[Chunk]) -> StepFinish:
    last = chunks[-1]
    assert isinstance(last, StepFinish)
    return last


@pytest.mark.anyio
async def test_a_text_is_one_part_in_one_delta() -> None:
    chunks = await chunks_of(ScriptedModel(["a whole answer"]))
    assert chunks[:-1] == [TextStart("0"), TextDelta("a whole answer", "0"), TextEnd("0")]
    assert finish(chunks).finish_reason == "stop"


@pytest.mark.anyio
async def test_a_list_of_texts_is_one_part_with_a_delta_for_each() -> None:
    chunks = await chunks_of(ScriptedModel([["an ", "", "answer"]]))
    assert deltas(chunks) == ["an ", "", "answer"]
    assert [type(c) for c in chunks] == [TextStart, TextDelta, TextDelta, TextDelta, TextEnd, StepFinish]


@pytest.mark.anyio
async def test_each_call_is_given_the_next_entry() -> None:
    model = ScriptedModel(["one", ["two"], "three"])
    assert [deltas(await chunks_of(model)) for _ in range(3)] == [["one"], ["two"], ["three"]]
    assert model.calls == 3


@pytest.mark.anyio
async def test_a_tool_call_comes_whole_after_its_start_and_arguments() -> None:
    chunks = await chunks_of(ScriptedModel([call("track", {"id": "ä"}, id="x")]))
    assert chunks[:-1] == [
        ToolCallStart("x", "track"),
        ToolCallDelta("x", '{"id": "ä"}'),
        ToolCall("x", "track", {"id": "ä"}),
    ]
    assert finish(chunks).finish_reason == "tool-calls"


@pytest.mark.anyio
async def test_text_reasoning_and_calls_follow_one_another_as_written() -> None:
    chunks = await chunks_of(ScriptedModel([[reasoning("hm", signature="s"), "one", call("t"), "two"]]))
    assert chunks[:-1] == [
        ReasoningStart("0"),
        ReasoningDelta("hm", "0"),
        ReasoningEnd("0", "s"),
        TextStart("1"),
        TextDelta("one", "1"),
        TextEnd("1"),
        ToolCallStart("call_1", "t"),
        ToolCallDelta("call_1", "{}"),
        ToolCall("call_1", "t", {}),
        TextStart("2"),
        TextDelta("two", "2"),
        TextEnd("2"),
    ]


@pytest.mark.anyio
async def test_tool_call_ids_are_never_given_twice() -> None:
    model = ScriptedModel([[call("a"), call("b", id="call_2"), call("c")], call("d")])
    calls = [c for _ in range(2) for c in await chunks_of(model) if isinstance(c, ToolCall)]
    assert [c.tool_call_id for c in calls] == ["call_1", "call_2", "call_3", "call_4"]


@pytest.mark.anyio
@pytest.mark.parametrize(("written", "decoded"), [('{"a": 1', '{"a": 1'), ('{"a":1}', {"a": 1})])
async def test_arguments_given_as_text_are_sent_as_they_are(written: str, decoded: object) -> None:
    chunks = await chunks_of(ScriptedModel([call("t", written)]))
    assert [c.args_text for c in chunks if isinstance(c, ToolCallDelta)] == [written]
    assert [c.args for c in chunks if isinstance(c, ToolCall)] == [decoded]


@pytest.mark.anyio
async def test_ready_chunks_are_sent_as_the_same_objects_and_end_as_they_say() -> None:
    source, last = SourceChunk("1", "https://example.com"), StepFinish("length", Usage(1, 2))
    chunks = await chunks_of(ScriptedModel([["so", source, last]]))
    assert chunks[3] is source
    assert chunks[4] is last
    assert len(chunks) == 5


@pytest.mark.anyio
async def test_a_call_that_the_provider_ran_is_no_reason_to_call_tools() -> None:
    chunks = await chunks_of(ScriptedModel([[ToolCall("1", "search", {}, provider_executed=True), "found"]]))
    assert finish(chunks).finish_reason == "stop"


@pytest.mark.anyio
async def test_an_error_is_raised_on_entering() -> None:
    error = ModelError("overloaded", status=529)
    model = ScriptedModel([error, "better"])
    with pytest.raises(ModelError) as caught:
        await chunks_of(model)
    assert caught.value is error
    assert deltas(await chunks_of(model)) == ["better"]
    assert (model.calls, model.closed, model.pulled) == (2, 0, 4)


@pytest.mark.anyio
async def test_an_error_in_a_list_is_raised_at_its_place() -> None:
    model = ScriptedModel([["half an ", ModelError("gone"), "never"]])
    async with model.stream(asking("Hello")) as stream:
        assert [await anext(stream), await anext(stream)] == [TextStart("0"), TextDelta("half an ", "0")]
        with pytest.raises(ModelError, match="gone"):
            await anext(stream)
    assert model.closed == 0, "a stream that broke off was not closed before its end"


@pytest.mark.anyio
async def test_an_entry_may_be_a_function_of_the_request() -> None:
    async def answer(request: ModelRequest) -> ScriptEntry:
        return ["later: ", request.prompt[-1].text]

    script: list[ScriptEntry] = [
        lambda request: request.prompt[-1].text.upper(),
        cast("Callable[[ModelRequest], Awaitable[str]]", answer),
    ]
    model = ScriptedModel(script)
    assert deltas(await chunks_of(model, asking("hi"))) == ["HI"]
    assert deltas(await chunks_of(model, asking("ho"))) == ["later: ", "ho"]


@pytest.mark.anyio
async def test_a_script_may_be_one_function_for_every_call() -> None:
    model = ScriptedModel(lambda request: call("t") if model.calls == 1 else "done")
    assert isinstance((await chunks_of(model))[0], ToolCallStart)
    assert deltas(await chunks_of(model)) == ["done"]
    assert deltas(await chunks_of(model)) == ["done"]


@pytest.mark.anyio
async def test_a_script_that_is_used_up_says_how_long_it_was() -> None:
    model = ScriptedModel(["one", "two"])
    await chunks_of(model)
    await chunks_of(model)
    with pytest.raises(ModelError, match="used up: it has 2 entries, and this is call 3") as caught:
        await chunks_of(model)
    assert not caught.value.retryable
    assert model.calls == 3


@pytest.mark.anyio
async def test_requests_are_kept_as_they_were() -> None:
    model = ScriptedModel(["one", "two"])
    part, settings, tools = TextPart("my card"), {"stop": ["a"]}, [ToolSpec("t", "", {})]
    prompt = [PromptMessage("system", [TextPart("Be kind.")]), PromptMessage("user", [part])]
    await chunks_of(model, ModelRequest(prompt, tools=tools, settings=settings))
    part.text = "[card]"
    settings["stop"].append("b")
    tools.clear()
    prompt.append(PromptMessage("assistant", [TextPart("Yes?")]))
    await chunks_of(model, ModelRequest(prompt))
    assert model.received(0) == "Be kind.\nmy card"
    assert model.received() == "Be kind.\n[card]\nYes?"
    assert [tool.name for tool in model.requests[0].tools] == ["t"]
    assert model.requests[0].settings == {"stop": ["a"]}
    with pytest.raises(IndexError, match="called 2 times: there is no call 2"):
        model.received(2)


@pytest.mark.anyio
async def test_usage_counts_the_words_of_prompt_and_answer() -> None:
    script: Script = [[reasoning("let me think"), "one ", "t", "wo", call("t", {"a": 1})]]
    chunks = await chunks_of(ScriptedModel(script), asking("Hello  there, model"))
    assert finish(chunks).usage == Usage(input_tokens=3, output_tokens=3 + 2 + 2, reasoning_tokens=3)


@pytest.mark.anyio
async def test_streams_left_early_are_counted() -> None:
    model = ScriptedModel([["a", "b"], ["c"], "d"])
    async with model.stream(asking("Hello")) as stream:
        assert isinstance(await anext(stream), TextStart)
    assert (model.closed, model.pulled) == (1, 1)
    with pytest.raises(ValueError, match="mine"):
        async with model.stream(asking("Hello")):
            raise ValueError("mine")
    assert (model.closed, model.pulled) == (2, 1)
    await chunks_of(model)
    assert (model.closed, model.pulled) == (2, 5)


@pytest.mark.anyio
async def test_the_last_chunk_ends_a_stream_even_where_nobody_asks_for_more() -> None:
    model = ScriptedModel(["a"])
    async with model.stream(asking("Hello")) as stream:
        while not isinstance(await anext(stream), StepFinish):
            pass
    assert model.closed == 0


@pytest.mark.anyio
async def test_a_chunk_is_made_only_when_it_is_asked_for() -> None:
    reached: list[int] = []

    model = ScriptedModel([["a", lambda: reached.append(1), "b"]])
    async with model.stream(asking("Hello")) as stream:
        await anext(stream)
        assert await anext(stream) == TextDelta("a", "0")
        assert (reached, model.pulled) == ([], 2)
        assert await anext(stream) == TextDelta("b", "0")
        assert (reached, model.pulled) == ([1], 3)


@pytest.mark.anyio
async def test_a_stream_can_be_held_and_cancelled_there() -> None:
    held, never = anyio.Event(), anyio.Event()

    async def hold() -> None:
        held.set()
        await never.wait()

    model = ScriptedModel([["a", hold, "b"]])
    async with anyio.create_task_group() as group:
        group.start_soon(chunks_of, model)
        await held.wait()
        group.cancel_scope.cancel()
    assert (model.closed, model.pulled) == (1, 3)


@pytest.mark.anyio
async def test_an_error_while_held_ends_the_stream() -> None:
    async def fail() -> None:
        raise RuntimeError("lost")

    model = ScriptedModel([["a", fail]])
    with pytest.raises(RuntimeError, match="lost"):
        await chunks_of(model)
    assert model.closed == 0


@pytest.mark.anyio
async def test_a_cancelled_run_ends_on_entering_as_with_a_network() -> None:
    model = ScriptedModel(["a"])
    with anyio.CancelScope() as scope:
        scope.cancel()
        async with model.stream(asking("Hello")):
            pytest.fail("a cancelled run was answered")
    assert scope.cancelled_caught
    assert (model.calls, model.pulled, model.closed) == (1, 0, 0)


@pytest.mark.anyio
async def test_several_runs_may_use_one_model_at_once() -> None:
    model = ScriptedModel(lambda request: request.prompt[0].text)
    heard: list[str] = []

    async def ask(text: str) -> None:
        heard.extend(deltas(await chunks_of(model, asking(text))))

    async with anyio.create_task_group() as group:
        for n in range(5):
            group.start_soon(ask, str(n))
    assert sorted(heard) == ["0", "1", "2", "3", "4"]
    assert model.calls == 5


@pytest.mark.parametrize("script", ["a text", 7, None, {"a": 1}])
def test_a_script_that_is_no_list_is_refused(script: object) -> None:
    with pytest.raises(DefinitionError, match="a list with one entry per model call"):
        ScriptedModel(cast("Script", script))


def test_every_wrong_entry_is_told_at_once() -> None:
    with pytest.raises(DefinitionError) as caught:
        ScriptedModel(cast("Script", ["fine", 7, ["fine", None], b"x"]))
    assert [fault[:20] for fault in caught.value.faults] == [
        "entry 1 is 7; an ent",
        "item 1 of entry 2 is",
        "item 0 of entry 3 is",
    ]


def test_arguments_that_are_no_json_are_refused_where_they_are_written() -> None:
    with pytest.raises(DefinitionError, match="call of 'track'"):
        call("track", {"parcel": object()})


def again(_: ModelRequest) -> str:
    return "again"


@pytest.mark.anyio
@pytest.mark.parametrize("made", [7, None, again])
async def test_a_function_that_makes_no_answer_is_refused(made: object) -> None:
    def answer(_: ModelRequest) -> object:
        return made

    with pytest.raises(DefinitionError, match="the answer to call 1, made by a function, is"):
        await chunks_of(ScriptedModel([cast("ScriptEntry", answer)]))


def test_name_and_provider_can_be_set() -> None:
    assert ScriptedModel([], name="m", provider="acme").id == "acme/m"
    assert ScriptedModel([]).id == "scripted/model"
