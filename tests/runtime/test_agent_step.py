"""An agent as a step: what its guards decided, its tripwire and its failure are the run's."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from interlock import Agent, Blocked, Failed, Phase, StepContext, create_step, create_workflow, tool
from interlock.errors import ModelError, StepFailed
from interlock.runtime import MemoryRunStore, RunStore
from interlock.testing import ScriptedModel
from interlock.verdict import CheckRecord
from tests.lifecycle.acting import Everywhere, Patient, aborting
from tests.runtime.operations.acting import completed, flow

pytestmark = pytest.mark.anyio
stored = pytest.mark.parametrize("stored", [False, True])


def edit(ctx: Any) -> None:
    """Changes the first message."""
    ctx.messages[0].parts[0].text = "changed"


def agent(id: str, *guards: Any, model: Any = "embedded/echo") -> Agent:  # noqa: A002
    return Agent(id=id, model=model, input_processors=guards)


def at_input(outcome: Any) -> list[tuple[str, str]]:
    """Which guard of which agent decided what."""
    checks: list[CheckRecord] = outcome.checks
    return [(one.path, one.verdict) for one in checks if one.phase is Phase.INPUT]


def store_or_none(stored: bool) -> RunStore | None:
    return MemoryRunStore() if stored else None


@stored
async def test_what_its_guards_decided_stands_in_the_outcome_behind_the_path_of_its_step(stored: bool) -> None:
    one = agent("one", Everywhere("editor", {Phase.INPUT: edit}), Everywhere("quiet"))
    two = agent("two", Everywhere("warner", {Phase.INPUT: lambda ctx: ctx.warn("mind")}))
    inner = flow("inner").then(two).commit()
    outcome = await flow().then(one).then(inner).commit().create_run(store=store_or_none(stored)).start("hello")
    assert completed(outcome) == "changed"
    assert at_input(outcome) == [
        ("one/processor:editor", "changed"),
        ("one/processor:quiet", "passed"),
        ("inner/two/processor:warner", "warned"),
    ]


@stored
async def test_they_stand_there_too_once_the_run_has_been_resumed_or_read_from_its_store(stored: bool) -> None:
    def ask(ctx: StepContext[Any]) -> Any:
        return ctx.resume_data or ctx.suspend()

    two = agent("two", Everywhere("after"))
    workflow = flow().then(agent("one", Everywhere("before"))).then(create_step(ask)).then(two).commit()
    store = store_or_none(stored)
    run = workflow.create_run("r", store=store)
    assert at_input(await run.start("hello")) == [("one/processor:before", "passed")]
    outcome = await run.resume("go on")
    assert at_input(outcome) == [("one/processor:before", "passed"), ("two/processor:after", "passed")]
    if store is not None:
        assert (await workflow.recover("r", store=store)).checks == outcome.checks


@stored
async def test_of_agents_at_once_the_checks_of_all_are_there(stored: bool) -> None:
    block = [agent("one", Patient("a", turns=4)), agent("two", Patient("b", turns=1))]
    workflow = flow().parallel(block).map(lambda ctx: dict(ctx.input)).commit()
    outcome = await workflow.create_run(store=store_or_none(stored)).start("hello")
    assert completed(outcome) == {"one": "hello", "two": "hello"}
    assert sorted(at_input(outcome)) == [("one/processor:a", "passed"), ("two/processor:b", "passed")]


@stored
async def test_its_tripwire_is_the_runs_and_the_checks_say_who_was_not_asked(stored: bool) -> None:
    guards = (Everywhere("first"), Everywhere("stops", {Phase.INPUT: aborting("not here")}), Everywhere("behind"))
    after: list[str] = []
    workflow = (
        flow().then(agent("one", *guards)).then(create_step(lambda ctx: after.append("ran"), id="after")).commit()
    )
    outcome = await workflow.create_run(store=store_or_none(stored)).start("hello")
    assert isinstance(outcome, Blocked)
    assert (outcome.tripwire.processor_id, outcome.tripwire.reason) == ("stops", "not here")
    assert at_input(outcome) == [
        ("one/processor:first", "passed"),
        ("one/processor:stops", "blocked"),
        ("one/processor:behind", "not-checked"),
    ]
    assert after == []


@stored
async def test_its_tools_that_need_an_approval_do_not_run_and_its_model_is_told(stored: bool) -> None:
    ran: list[str] = []

    @tool(needs_approval=True)
    def pay() -> None:
        """Pay."""
        ran.append("pay")

    model = ScriptedModel([ScriptedModel.tool_call("pay", {}), ScriptedModel.tool_call("pay", {}), "I may not pay"])
    one = Agent(id="one", model=model, tools=[pay])
    outcome = await flow().then(one).commit().create_run(store=store_or_none(stored)).start("hello")
    assert completed(outcome) == "I may not pay"
    assert ran == []
    assert "nobody can approve of it here: this agent is a step of a workflow" in model.received(1)


@stored
async def test_where_it_fails_its_step_does(stored: bool) -> None:
    broken = agent("one", Everywhere("first"), model=ScriptedModel([ModelError("gone")]))
    outcome = await flow().then(broken).commit().create_run(store=store_or_none(stored)).start("hello")
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, StepFailed)
    assert outcome.error.step_id == "one"
    assert isinstance(outcome.error.cause, ModelError)


@stored
async def test_it_is_given_the_runs_request_context_and_is_cancelled_with_the_run(stored: bool) -> None:
    seen: list[Any] = []
    begun = anyio.Event()

    def look(ctx: Any) -> None:
        seen.append(ctx.request_context.get("who"))

    async def stay() -> None:
        begun.set()
        await anyio.sleep_forever()

    one = agent("one", Everywhere("looks", {Phase.INPUT: look}), model=ScriptedModel([["text", stay]]))
    run = create_workflow(id="w").then(one).commit().create_run(store=store_or_none(stored))
    outcomes: list[Any] = []

    async def start() -> None:
        outcomes.append(await run.start("hello", request_context={"who": "ann"}))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(start)
            await begun.wait()
            run.cancel()
    assert outcomes[0].status == "canceled"
    assert seen == ["ann"]
