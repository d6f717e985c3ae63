"""The order in which the ten points of a run come, and which list is read at which."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from interlock import Agent, Phase, tool
from interlock.errors import ModelError
from interlock.messages import Chunk
from interlock.processors import CachedResponse, OutputStreamContext, RequestChanges
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Act, Everywhere, Patient, chunks_and_result, flow, kinds, model_that_calls

pytestmark = pytest.mark.anyio


def without_repeats(log: list[str]) -> list[str]:
    """Each run of one entry as one entry: the chunks of a stream count once."""
    return [entry for n, entry in enumerate(log) if n == 0 or log[n - 1] != entry]


def noting_agent(model: ScriptedModel, log: list[str], *processors: Everywhere) -> Agent:
    """An agent with two tools, the processors in all three lists."""

    @tool
    async def track(n: int = 0) -> str:
        log.append("tool")
        return "in Leipzig"

    return Agent(
        model=model,
        tools=[track],
        input_processors=processors,
        output_processors=processors,
        error_processors=processors,
    )


@pytest.mark.parametrize("kind", [Everywhere, Patient])
async def test_the_points_of_a_run_with_two_tool_calls(kind: type[Everywhere]) -> None:
    log: list[str] = []
    model = model_that_calls("track", "track")
    await noting_agent(model, log, kind("p", log=log)).generate("hello")
    assert without_repeats(log) == [
        "p:input",
        "p:input_step",
        "p:llm_request",
        "p:output_stream",
        "p:llm_response",
        "p:output_step",
        "p:tool_call",
        "tool",
        "p:tool_result",
        "p:output_stream",
        "p:tool_result",
        "p:output_stream",
        "p:input_step",
        "p:llm_request",
        "p:output_stream",
        "p:llm_response",
        "p:output_step",
        "p:output_result",
    ]
    assert log.count("p:tool_call") == log.count("tool") == log.count("p:tool_result") == 2


async def test_a_failed_model_call_comes_to_api_error_and_nothing_after_it() -> None:
    log: list[str] = []
    agent = noting_agent(ScriptedModel([["some text", ModelError("gone")]]), log, Everywhere("p", log=log))
    _, result = await chunks_and_result(agent)
    assert result.status == "failed"
    assert without_repeats(log) == ["p:input", "p:input_step", "p:llm_request", "p:output_stream", "p:api_error"]


async def test_a_cached_answer_goes_through_the_stream_and_llm_response_like_a_live_one() -> None:
    log: list[str] = []
    from_cache: list[bool] = []
    recorded, _ = await chunks_and_result(Agent(model=ScriptedModel(["from the cache"])))
    cached = CachedResponse([c for c in recorded if c.type not in ("start", "step-start", "finish")])
    guard = Everywhere(
        "p",
        {
            Phase.LLM_REQUEST: lambda ctx: RequestChanges(response=cached),
            Phase.LLM_RESPONSE: lambda ctx: from_cache.append(ctx.from_cache),
        },
        log=log,
    )
    model = ScriptedModel(["live"])
    chunks, result = await chunks_and_result(noting_agent(model, log, guard))
    assert model.calls == 0
    assert from_cache == [True]
    assert result.text == "from the cache"
    assert kinds(chunks) == kinds(recorded)
    assert without_repeats(log)[3:6] == ["p:output_stream", "p:llm_response", "p:output_step"]


async def test_in_a_list_processors_run_one_after_the_other() -> None:
    log: list[str] = []
    names = ["a", "b", "c"]
    agent = noting_agent(ScriptedModel(["x"]), log, *(Patient(n, log=log, turns=3 - i) for i, n in enumerate(names)))
    await agent.generate("hello")
    for phase in (Phase.INPUT, Phase.LLM_REQUEST, Phase.OUTPUT_STEP, Phase.OUTPUT_RESULT):
        assert [entry for entry in log if entry.endswith(f":{phase}")] == [f"{n}:{phase}" for n in names]


async def test_one_chunk_goes_through_the_whole_list_before_the_next() -> None:
    seen: list[tuple[str, int]] = []

    def noting(name: str) -> Patient:
        def act(ctx: OutputStreamContext) -> Chunk:
            seen.append((name, id(ctx.chunk)))
            return ctx.chunk

        return Patient(name, {Phase.OUTPUT_STREAM: act}, turns=2)

    await Agent(model=ScriptedModel([["a", "b"]]), output_processors=[noting("x"), noting("y")]).generate("hello")
    assert [name for name, _ in seen] == ["x", "y"] * (len(seen) // 2)
    assert all(seen[n][1] == seen[n + 1][1] for n in range(0, len(seen), 2))


READ_FROM: dict[Phase, list[str]] = {
    Phase.INPUT: ["input"],
    Phase.INPUT_STEP: ["input"],
    Phase.LLM_REQUEST: ["input"],
    Phase.API_ERROR: ["error", "input", "output"],
    Phase.OUTPUT_STREAM: ["output"],
    Phase.LLM_RESPONSE: ["input"],
    Phase.OUTPUT_STEP: ["output"],
    Phase.TOOL_CALL: ["input", "output"],
    Phase.TOOL_RESULT: ["input", "output"],
    Phase.OUTPUT_RESULT: ["output"],
}


@pytest.mark.parametrize("phase", Phase)
async def test_each_point_reads_its_lists_in_their_order(phase: Phase) -> None:
    log: list[str] = []
    model = ScriptedModel([ModelError("gone")]) if phase is Phase.API_ERROR else model_that_calls("track")
    agent = noting_agent(model, log)
    lists = {name: [Everywhere(name, log=log)] for name in ("input", "output", "error")}
    async with agent.stream(
        "hello",
        input_processors=lists["input"],
        output_processors=lists["output"],
        error_processors=lists["error"],
    ) as stream:
        await stream.result()
    seen = [entry.partition(":")[0] for entry in log if entry.endswith(f":{phase}")]
    assert seen[: len(READ_FROM[phase])] == READ_FROM[phase]
    assert set(seen) == set(READ_FROM[phase])


@pytest.mark.parametrize("phase", [Phase.TOOL_CALL, Phase.TOOL_RESULT, Phase.API_ERROR])
async def test_an_object_that_stands_in_several_lists_runs_once_at_a_point(phase: Phase) -> None:
    log: list[str] = []
    model = ScriptedModel([ModelError("gone")]) if phase is Phase.API_ERROR else model_that_calls("track")
    shared = Everywhere("shared", log=log)
    nested = flow().parallel([shared, Everywhere("other", log=log)]).merge().commit()
    agent = noting_agent(model, log)
    async with agent.stream(
        "hello", input_processors=[shared], output_processors=[nested], error_processors=[shared]
    ) as stream:
        await stream.result()
    assert log.count(f"shared:{phase}") == 1
    assert log.count(f"other:{phase}") == 1


async def test_start_and_the_outer_finish_pass_through_no_hook() -> None:
    seen: list[str] = []

    def act(ctx: OutputStreamContext) -> Chunk:
        seen.append(ctx.chunk.type)
        return ctx.chunk

    agent = Agent(model=ScriptedModel(["x"]), output_processors=[Everywhere("p", {Phase.OUTPUT_STREAM: act})])
    chunks, _ = await chunks_and_result(agent)
    assert kinds(chunks) == ["start", *seen, "finish"]
    assert seen[0] == "step-start"
    assert seen[-1] == "step-finish"


async def test_steps_are_numbered_from_0_and_the_current_one_is_the_last_of_steps() -> None:
    seen: list[tuple[str, int, int]] = []

    def act(ctx: Any) -> None:
        seen.append((str(ctx.phase), ctx.step_number, len(ctx.steps)))

    phases = [Phase.INPUT_STEP, Phase.LLM_REQUEST, Phase.LLM_RESPONSE, Phase.OUTPUT_STEP]
    log: list[str] = []
    await noting_agent(model_that_calls("track"), log, Everywhere("p", dict.fromkeys(phases, act))).generate("hello")
    assert seen == [
        ("input_step", 0, 0),
        ("llm_request", 0, 0),
        ("llm_response", 0, 1),
        ("output_step", 0, 1),
        ("input_step", 1, 1),
        ("llm_request", 1, 1),
        ("llm_response", 1, 2),
        ("output_step", 1, 2),
    ]


async def test_state_is_one_dict_per_object_and_run_shared_by_all_its_hooks_wherever_it_stands() -> None:
    seen: list[object] = []

    def count(ctx: Any) -> None:
        state = ctx.state
        state["n"] = state.get("n", 0) + 1
        seen.append(state["n"])

    phases = [Phase.INPUT, Phase.INPUT_STEP, Phase.TOOL_CALL, Phase.OUTPUT_STEP]
    one, two = (Everywhere(name, dict.fromkeys(phases, count)) for name in ("one", "two"))
    for _ in range(2):
        await noting_agent(ScriptedModel(["x"]), [], one, two).generate("hello")
    assert seen == [1, 1, 2, 2, 3, 3] * 2


async def test_state_survives_from_chunk_to_chunk_and_to_the_other_points() -> None:
    def count(ctx: OutputStreamContext) -> Chunk:
        ctx.state["chunks"] = int(str(ctx.state.get("chunks", 0))) + 1
        return ctx.chunk

    told: list[object] = []
    acts: dict[Phase, Act] = {
        Phase.OUTPUT_STREAM: count,
        Phase.OUTPUT_RESULT: lambda ctx: told.append(ctx.state["chunks"]),
    }
    chunks, _ = await chunks_and_result(Agent(model="embedded/echo", output_processors=[Everywhere("p", acts)]))
    assert told == [len(chunks) - 2]


async def test_runs_at_the_same_time_do_not_mix() -> None:
    log: list[tuple[str, str]] = []

    async def act(ctx: Any) -> None:
        messages, state = ctx.messages, ctx.state
        state.setdefault("text", messages[0].text)
        log.append((str(state["text"]), messages[0].text))

    agent = Agent(
        model="embedded/echo", input_processors=[Patient("p", {Phase.INPUT: act, Phase.INPUT_STEP: act}, turns=3)]
    )
    async with anyio.create_task_group() as group:
        for n in range(5):
            group.start_soon(agent.generate, f"number {n}")
    assert len(log) == 10
    assert all(first == then for first, then in log)
