"""A run of an agent drawn over its points, told in words, and what was read in it by whom."""

from __future__ import annotations

from typing import Any

import pytest

from interlock import Agent, AgentResult, Phase, Processor, create_step, tool
from interlock.errors import ModelError
from interlock.messages import FilePart, Message, TextPart
from interlock.processors import InputContext, OutputStepContext, PIIDetector, TextGuard
from interlock.runtime.coverage import Coverage
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Everywhere, flow, picking

pytestmark = pytest.mark.anyio

SECRET = "ann@example.com"


@tool
def look(at: str) -> str:
    """Look at something."""
    return f"seen {at}"


class Late(Processor):
    """Stops the second step."""

    id = "late"

    def process_output_step(self, ctx: OutputStepContext) -> None:
        if ctx.step_number == 1:
            ctx.abort("too rude", metadata={"score": 0.9})


async def blocked() -> tuple[Agent, AgentResult]:
    guards = flow("guards").parallel([PIIDetector(), Everywhere("idle")]).merge().commit()
    model = ScriptedModel([[f"see {SECRET} ", ScriptedModel.tool_call("look", {"at": "x"})], "rude"])
    agent = Agent(
        id="support", model=model, tools=[look], input_processors=[guards], output_processors=[guards, Late()]
    )
    return agent, await agent.generate(f"I am {SECRET}")


def drawings(agent: Agent, run: AgentResult) -> list[str]:
    return [agent.to_text(run=run), agent.to_mermaid(run=run), agent.to_svg(run=run), str(agent.to_json(run=run))]


async def test_every_drawing_says_who_stopped_the_run_where_and_why() -> None:
    agent, result = await blocked()
    for drawing in drawings(agent, result):
        assert (
            "blocked by 'late' at output_step: too rude"
            in drawing.replace("&#39;", "'").replace("&apos;", "'").replace("#39;", "'")
            or "too rude" in drawing
        )
        assert "changed" in drawing
        assert SECRET not in drawing


async def test_each_processor_is_marked_with_what_it_decided_at_each_point() -> None:
    agent, result = await blocked()
    told = {section["id"]: section["plan"] for section in agent.to_json(run=result)["sections"]}

    def marks(phase: str) -> dict[str, Any]:
        found: dict[str, Any] = {}

        def walk(nodes: list[Any]) -> None:
            for node in nodes:
                found[node["id"]] = node.get("run")
                walk(node.get("nodes", []))
                for arm in node.get("arms", []):
                    walk(arm["nodes"])

        walk(told[phase]["nodes"])
        return found

    assert marks("input")["processor:pii-detector"]["verdict"] == "changed"
    assert marks("output_step")["processor:late"]["status"] == "tripwire"
    assert marks("output_step")["processor:late"]["note"] == "too rude"
    assert marks("output_result")["processor:pii-detector"]["status"] == "not-run"
    assert marks("output_stream")["processor:pii-detector"]["times"] > 1


async def test_a_run_with_lists_of_its_own_is_drawn_with_these() -> None:
    agent = Agent(id="support", model="embedded/echo")
    result = await agent.generate("hi", input_processors=[Everywhere("own")])
    assert "processor:own" in agent.to_text(run=result)
    assert "processor:own" not in agent.to_text()


async def test_what_a_map_left_behind_is_said() -> None:
    graph = flow().parallel([PIIDetector(), Everywhere("other")]).map(picking("other")).commit()
    agent = Agent(id="support", model="embedded/echo", input_processors=[graph])
    result = await agent.generate(SECRET)
    assert "left behind" in agent.to_text(run=result)
    assert "left behind" in result.explain()


async def test_the_words_tell_the_run_in_its_order_and_never_what_was_said() -> None:
    _, result = await blocked()
    lines = result.explain().splitlines()
    assert lines[0].endswith("✗ blocked by 'late' at output_step: too rude")
    assert "  it adds values under: score" in lines
    order = [
        "  input: pii-detector changed it [read text of user]",
        "step 0: the model ended with tool-calls and called look (ran)",
        "step 1: the model ended with stop",
        "  output_step: late stopped the run: too rude",
    ]
    assert sorted(order, key=lines.index) == order
    assert SECRET not in result.explain()


async def test_the_words_tell_of_retries_failures_shadows_and_waits() -> None:
    class Again(Processor):
        id = "again"

        def process_output_step(self, ctx: OutputStepContext) -> None:
            if not ctx.retry_count:
                ctx.abort("too short", retry=True)

    class Broken(Processor):
        id = "broken"

        def process_input(self, ctx: InputContext) -> None:
            raise ValueError(SECRET)

    @tool(needs_approval=True)
    def pay() -> str:
        """Pay."""
        return "paid"

    model = ScriptedModel(["a", ScriptedModel.tool_call("pay", {})])
    agent = Agent(
        model=model,
        tools=[pay],
        input_processors=[create_step(Broken(), on_failure="skip"), create_step(PIIDetector(), shadow=True)],
        output_processors=[Again()],
        max_processor_retries=1,
    )
    told = (await agent.generate(SECRET)).explain()
    assert "step 0: the answer was not accepted (too short); then again: the model ended with tool-calls" in told
    assert "input: broken did not check: failed: " in told
    assert "input: pii-detector would have changed it, and only shadows" in told
    assert "waits for an approval of pay" in told
    assert SECRET not in told


async def test_a_failed_run_says_what_failed() -> None:
    agent = Agent(id="support", model=ScriptedModel([ModelError("overloaded", status=529)]))
    with pytest.raises(ModelError) as raised:
        await agent.generate("hi")
    result: AgentResult = raised.value.result
    assert "✗ failed: ModelError" in result.explain()
    assert "✗ failed: ModelError" in agent.to_text(run=result)


# Coverage


async def test_what_no_guard_has_read_is_said_to_be_not_checked() -> None:
    agent = Agent(model=ScriptedModel(["nice"]), input_processors=[PIIDetector()])
    result = await agent.generate(Message("user", [TextPart("what is it?"), FilePart("image/png", "aGk=")]))
    coverage = result.coverage()
    assert coverage.rows == {
        ("user", "text"): ("pii-detector",),
        ("user", "file"): (),
        ("assistant", "text"): (),
    }
    assert coverage.unchecked == [("user", "file"), ("assistant", "text")]
    assert "user       file  ○             not checked" in str(coverage)
    assert "looked at by no guard: file of user, text of assistant" in result.explain()


async def test_a_guard_counts_with_what_it_says_it_read_and_others_are_named() -> None:
    class Quiet(Processor):
        id = "quiet"

        def process_input(self, ctx: InputContext) -> None:
            """Says nothing of what it reads."""

    class Telling(Processor):
        id = "telling"

        def process_input(self, ctx: InputContext) -> None:
            ctx.looked_at("user", "file")

    agent = Agent(model="embedded/echo", input_processors=[Quiet(), Telling()])
    coverage = (await agent.generate("hi")).coverage()
    assert coverage.rows["user", "file"] == ("telling",)
    assert coverage.rows["user", "text"] == ()
    assert (coverage.guards, coverage.silent) == (("telling",), ("quiet",))
    assert "did not say what they read: quiet" in str(coverage)


async def test_tools_are_covered_by_what_reads_arguments_and_results() -> None:
    class Everything(TextGuard):
        id = "everything"
        patterns = ("zzz",)

    guard = Everything()
    model = ScriptedModel([ScriptedModel.tool_call("look", {"at": "x"}), "done"])
    agent = Agent(model=model, tools=[look], input_processors=[guard], output_processors=[guard])
    coverage = (await agent.generate("hi")).coverage()
    assert coverage.unchecked == []
    assert set(coverage.rows) == {
        ("user", "text"),
        ("assistant", "text"),
        ("assistant", "tool-arguments"),
        ("tool", "tool-result"),
    }


def test_a_coverage_of_nothing_prints_its_heading() -> None:
    assert str(Coverage({}, (), ())) == "role  part  read by"


async def test_checks_carry_what_was_read() -> None:
    result = await Agent(model="embedded/echo", input_processors=[PIIDetector()]).generate("hi")
    (check,) = [check for check in result.checks if check.phase is Phase.INPUT]
    assert check.looked_at == {("user", "text")}
