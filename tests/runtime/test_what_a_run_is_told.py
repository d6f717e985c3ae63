"""What is told of a run holds for runs that were stopped, failed, did a step again or waited, and tells no content."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from interlock import Agent, AgentResult, Phase, Processor, create_step, tool
from interlock.errors import DefinitionError
from interlock.messages import Message, MessageList
from interlock.processors import (
    InputContext,
    OutputResultContext,
    OutputStepContext,
    OutputStreamContext,
    PIIDetector,
    ToolResultContext,
)
from interlock.runtime.coverage import Coverage
from interlock.storage import MemoryRunStore
from interlock.testing import ScriptedModel

pytestmark = pytest.mark.anyio

SECRET = "hunter2"


@tool
def look(at: str) -> str:
    """Look at something."""
    return f"seen {at}"


class StopsInput(Processor):
    """Asks for another try where there is none."""

    id = "stops-input"

    def process_input(self, ctx: InputContext) -> None:
        ctx.abort("no", retry=True, metadata={"api_key": SECRET})


class StopsStep(Processor):
    """Accepts no answer, and asks for another."""

    id = "stops-step"

    def process_output_step(self, ctx: OutputStepContext) -> None:
        ctx.abort("too short", retry=True)


async def ended(agent: Agent, asked: Any = "hi") -> AgentResult:
    async with agent.stream(asked) as stream:
        return await stream.result()


# Coverage


@pytest.mark.parametrize("policy", ["fail", "skip", "block"])
async def test_a_guard_that_failed_has_read_nothing_whatever_its_policy(
    policy: Literal["fail", "skip", "block"],
) -> None:
    class Crashes(Processor):
        id = "crashes"

        def process_output_result(self, ctx: OutputResultContext) -> None:
            ctx.looked_at("assistant", "text")
            raise ValueError(SECRET)

    guard = create_step(Crashes(), on_failure=policy)
    result = await ended(Agent(model="embedded/echo", output_processors=[guard]))
    [check] = [check for check in result.checks if check.processor_id == "crashes"]
    assert check.failed
    assert result.coverage().rows["assistant", "text"] == ()
    assert ("assistant", "text") in result.coverage().unchecked
    assert "crashes" in result.coverage().able["assistant", "text"]
    assert SECRET not in result.explain()


@pytest.mark.parametrize("policy", ["fail", "skip", "block"])
async def test_a_guard_that_failed_in_the_stream_has_read_nothing_either(
    policy: Literal["fail", "skip", "block"],
) -> None:
    class Crashes(Processor):
        id = "crashes"

        def process_output_stream(self, ctx: OutputStreamContext) -> Any:
            ctx.looked_at("assistant", "text")
            raise ValueError(SECRET)

    guard = create_step(Crashes(), on_failure=policy)
    result = await ended(Agent(model="embedded/echo", output_processors=[guard]))
    assert [check.failed for check in result.checks if check.processor_id == "crashes"] == [True]
    assert not result.coverage().rows.get(("assistant", "text"))


async def test_what_was_asked_is_a_row_though_it_was_blocked_at_input() -> None:
    result = await ended(Agent(model="embedded/echo", input_processors=[StopsInput()]))
    assert result.coverage().rows == {("user", "text"): ()}
    assert "came in: text of user" in result.explain()


@pytest.mark.parametrize("retries", [0, 1])
async def test_an_answer_that_was_not_accepted_is_a_row(retries: int) -> None:
    model = ScriptedModel([["so ", ScriptedModel.tool_call("look", {"at": "x"})]] * (retries + 1))
    agent = Agent(model=model, tools=[look], output_processors=[StopsStep()], max_processor_retries=retries)
    rows = (await ended(agent)).coverage().rows
    assert {("assistant", "text"), ("assistant", "tool-arguments")} <= set(rows)


async def test_a_text_whose_first_chunk_was_blocked_is_a_row() -> None:
    class Stops(Processor):
        id = "stops"

        def process_output_stream(self, ctx: OutputStreamContext) -> Any:
            if ctx.chunk.type == "text-delta":
                ctx.abort("no")
            return ctx.chunk

    result = await ended(Agent(model="embedded/echo", output_processors=[Stops()]))
    assert ("assistant", "text") in result.coverage().unchecked


async def test_a_tool_result_that_was_blocked_is_a_row() -> None:
    class Stops(Processor):
        id = "stops"

        def process_tool_result(self, ctx: ToolResultContext) -> None:
            ctx.abort("no")

    model = ScriptedModel([ScriptedModel.tool_call("look", {"at": "x"})])
    result = await ended(Agent(model=model, tools=[look], input_processors=[Stops()]))
    assert {("assistant", "tool-arguments"), ("tool", "tool-result")} <= set(result.coverage().unchecked)


async def test_what_was_remembered_and_all_system_messages_are_rows() -> None:
    earlier = MessageList([Message.user("before")])
    earlier.add(Message.assistant("answered"), source="response")
    earlier.add(Message.user("now"))
    earlier.add_system("tagged", tag="note")
    result = await ended(Agent(model="embedded/echo", input_processors=[StopsInput()]), earlier)
    assert set(result.coverage().rows) == {("system", "text"), ("user", "text"), ("assistant", "text")}
    assert "remembered: text of user, text of assistant" in result.explain()


async def test_what_occurred_before_a_run_waited_in_a_store_is_still_told() -> None:
    @tool(needs_approval=True)
    def pay() -> str:
        """Pay."""
        return "paid"

    class Once(Processor):
        id = "once"

        def process_output_step(self, ctx: OutputStepContext) -> None:
            if not ctx.retry_count:
                ctx.abort("no", retry=True)

    def agent(model: ScriptedModel) -> Agent:
        guards = [Once()]
        return Agent(
            id="a", model=model, tools=[pay], output_processors=guards, run_store=store, max_processor_retries=1
        )

    store = MemoryRunStore()
    waits = await agent(ScriptedModel(["rejected", ScriptedModel.tool_call("pay", {})])).generate("hi")
    assert waits.status == "suspended"
    other = agent(ScriptedModel(["done"]))
    result = await other.resume(waits.run_id, approve=True)
    assert {("user", "text"), ("assistant", "text"), ("tool", "tool-result")} <= set(result.coverage().rows)
    assert "rejected attempt 1 of step 0: no" in result.explain()
    assert "output_step (attempt 2): once let it pass" in result.explain()


def test_many_guards_do_not_make_the_table_wider_than_a_page() -> None:
    few, many = ([f"guard-with-a-name-{n}" for n in range(count)] for count in (3, 30))
    row = {("user", "text"): few, ("user", "file"): ()}
    told = str(Coverage(row, few, (), {("user", "file"): few[:1]}))
    assert told.splitlines()[1].count("●") == 3
    assert told.splitlines()[2].count("○") == 1
    wide = str(Coverage(row, many, ()))
    assert wide.splitlines()[0] == "role  part  read by"
    assert wide.splitlines()[2] == "user  file  not checked"
    assert all(len(line) <= 120 for line in (*told.splitlines(), *wide.splitlines()))


# The words


async def test_values_that_a_guard_adds_are_not_told_but_their_names_are() -> None:
    told = (await ended(Agent(model="embedded/echo", input_processors=[StopsInput()]))).explain()
    assert "it adds values under: api_key" in told
    assert SECRET not in told


async def test_another_try_that_cannot_be_had_is_not_said_to_be_a_used_up_budget() -> None:
    told = (await ended(Agent(model="embedded/echo", input_processors=[StopsInput()]))).explain()
    assert "not honoured at input" in told
    assert "budget" not in told
    told = (await ended(Agent(model="embedded/echo", output_processors=[StopsStep()]))).explain()
    assert "budget" in told


async def test_an_error_is_told_by_its_class_and_place_and_not_by_its_message() -> None:
    class Crashes(Processor):
        id = "crashes"

        def process_input(self, ctx: InputContext) -> None:
            raise ValueError(SECRET)

    agent = Agent(id="a", model="embedded/echo", input_processors=[Crashes()])
    result = await ended(agent)
    for told in (result.explain(), agent.to_text(run=result), agent.to_svg(run=result), str(agent.to_json(run=result))):
        assert SECRET not in told
    assert "StepFailed (ValueError) in 'processor:crashes' at input" in result.explain()


async def test_attempts_are_told_apart_and_only_the_last_has_stopped_the_run() -> None:
    agent = Agent(model=ScriptedModel(["a", "b"]), output_processors=[StopsStep()], max_processor_retries=1)
    told = (await ended(agent)).explain()
    assert "output_step (attempt 1): stops-step rejected attempt 1 of step 0: too short" in told
    assert "output_step (attempt 2): stops-step stopped the run: too short" in told
    assert told.count("stopped the run") == 1


async def test_checks_of_chunks_stand_before_those_of_the_whole_answer() -> None:
    agent = Agent(model="embedded/echo", output_processors=[PIIDetector()])
    points = [line.split(":")[0].strip() for line in (await ended(agent)).explain().splitlines()]
    assert points.index("output_stream") < points.index("output_step") < points.index("output_result")


async def test_what_was_read_by_whom_is_told() -> None:
    told = (await ended(Agent(model="embedded/echo", input_processors=[PIIDetector()]))).explain()
    assert "input: pii-detector let it pass [read text of user]" in told


# The picture


async def test_sections_and_ways_behind_the_point_where_a_run_stopped_are_faint() -> None:
    def faint(svg: str) -> int:
        return svg.count('opacity="0.55"')

    stopped, went = (
        Agent(id="a", model="embedded/echo", input_processors=[guard]) for guard in (StopsInput(), PIIDetector())
    )
    early, whole = stopped.to_svg(run=await ended(stopped)), went.to_svg(run=await ended(went))
    assert faint(early) > faint(whole)
    assert 'class="unused-tip"' in early
    model = early[early.index("<title>model</title>") - 20 :][:20]
    assert "opacity" in model
    assert "opacity" not in whole[whole.index("<title>model</title>") - 20 :][:20]


async def test_a_picture_of_a_run_says_what_its_colours_mean_and_one_of_no_run_does_not() -> None:
    agent = Agent(id="a", model="embedded/echo", input_processors=[PIIDetector()])
    meaning = "passed, changed, warned"
    assert meaning in agent.to_svg(run=await ended(agent))
    assert meaning not in agent.to_svg()


async def test_marks_name_the_steps_of_the_checks() -> None:
    model = ScriptedModel([ScriptedModel.tool_call("look", {"at": "x"}), "done"])
    agent = Agent(model=model, tools=[look], output_processors=[PIIDetector()])
    told = agent.to_text(run=await ended(agent))
    assert "steps 0, 1" in told


async def test_a_text_that_is_cut_ends_in_an_ellipsis() -> None:
    class Wordy(Processor):
        id = "wordy"

        def process_input(self, ctx: InputContext) -> None:
            ctx.abort("so many words " * 40)

    agent = Agent(model="embedded/echo", input_processors=[Wordy()])
    result = await ended(agent)
    assert result.explain().splitlines()[0].endswith("…")
    [note] = [node["run"]["note"] for node in agent.to_json(run=result)["sections"][0]["plan"]["nodes"]]
    assert note.endswith("…")


@pytest.mark.parametrize(("failed", "status"), [(True, "failed"), (False, "not-run")])
async def test_a_check_that_failed_is_marked_by_what_happened_and_not_by_its_words(failed: bool, status: str) -> None:
    agent = Agent(model="embedded/echo", input_processors=[PIIDetector()])
    result = await ended(agent)
    [check] = [check for check in result.checks if check.phase is Phase.INPUT]
    check.verdict, check.failed, check.reason = "not-checked", failed, "failed: so it says"
    [node] = agent.to_json(run=result)["sections"][0]["plan"]["nodes"]
    assert node["run"]["status"] == status


async def test_a_long_list_stands_in_the_middle_and_so_do_the_other_points() -> None:
    class Passes(Processor):
        def process_input(self, ctx: InputContext) -> None:
            """Lets it pass."""

    guards = [Passes(id=f"a-guard-with-a-long-name-{n}") for n in range(30)]
    svg = Agent(model="embedded/echo", input_processors=guards).to_svg()
    [width] = {line.split('width="')[1].split('"')[0] for line in svg.splitlines() if 'class="frame"' in line}
    words = [line for line in svg.splitlines() if line.endswith(">nothing acts here</text>")]
    [middle] = {line.split(' x="')[1].split('"')[0] for line in words}
    assert abs(float(middle) - 20 - float(width) / 2) < 1


async def test_guards_of_one_id_in_two_lists_are_told_apart() -> None:
    model = ScriptedModel([ScriptedModel.tool_call("look", {}), "Done."])

    @tool
    def look() -> str:
        return "nice"

    agent = Agent(model=model, tools=[look], input_processors=[PIIDetector()], output_processors=[PIIDetector()])
    told = (await agent.generate("hello")).explain()
    assert "tool_result: pii-detector of the input list let it pass" in told
    assert "tool_result: pii-detector of the output list let it pass" in told
    assert "input: pii-detector let it pass" in told


async def test_an_agent_draws_runs_of_its_own_only() -> None:
    one, other = Agent(id="one", model="embedded/echo"), Agent(id="other", model="embedded/echo")
    result = await other.generate("hello")
    with pytest.raises(DefinitionError, match=f"run {result.run_id!r} is one of agent 'other'"):
        one.to_text(run=result)
    with pytest.raises(DefinitionError, match="run is what generate or a stream gave, not 'x'"):
        one.to_svg(run="x")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert "completed" in other.to_text(run=result)


async def test_a_result_is_shown_without_its_conversation() -> None:
    assert "hello there" not in repr(await Agent(model=ScriptedModel(["Hi."])).generate("hello there"))


async def test_a_tool_whose_result_was_blocked_is_not_said_not_to_have_run() -> None:
    class No(Processor):
        id = "no"

        def process_tool_result(self, ctx: ToolResultContext) -> None:
            ctx.abort("no")

    @tool
    def look() -> str:
        return "nice"

    agent = Agent(model=ScriptedModel([ScriptedModel.tool_call("look", {})]), tools=[look], output_processors=[No()])
    result = await agent.generate("hello")
    assert "called look (nothing of it went on)" in result.explain()
    assert "look (1 call in this run)" in agent.to_text(run=result)
