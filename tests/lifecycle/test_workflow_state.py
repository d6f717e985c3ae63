"""The state of a workflow in an agent's list: as its schema has it, for the whole run, and its own."""

from __future__ import annotations

import operator
from datetime import date
from pathlib import Path
from threading import Lock
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from interlock import Agent, Phase, ProcessorStepSchema, StepContext, Workflow, create_step, create_workflow, tool
from interlock.errors import StateConflict, StepFailed, UnrecordableValue
from interlock.processors import InputContext
from interlock.processors.compose import ProcessorLike
from interlock.runtime import SQLiteRunStore
from interlock.testing import ScriptedModel

pytestmark = pytest.mark.anyio


class Strikes(BaseModel):
    n: Annotated[int, operator.add] = 0
    where: Annotated[list[str], operator.add] = []
    last: str = "nowhere"


def bump(ctx: StepContext[Any]) -> Any:
    ctx.set_state(n=1, where=[str(ctx.input.phase)])
    return ctx.input


def flow(*steps: Any, id: str = "strikes", schema: Any = Strikes) -> Workflow[Any, Any]:  # noqa: A002
    builder: Any = create_workflow(
        id=id, input_schema=ProcessorStepSchema, output_schema=ProcessorStepSchema, state_schema=schema
    )
    for one in steps:
        builder = builder.then(one)
    made: Workflow[Any, Any] = builder.commit()
    return made


def noting(into: list[Any], **options: Any) -> Any:
    def note(ctx: StepContext[Any]) -> Any:
        into.append(ctx.state)
        return ctx.input

    return create_step(note, id="note", **options)


def outer(*inside: Workflow[Any, Any]) -> Workflow[Any, Any]:
    builder: Any = create_workflow(id="outer", input_schema=ProcessorStepSchema, output_schema=ProcessorStepSchema)
    for one in inside:
        builder = builder.then(one)
    made: Workflow[Any, Any] = builder.commit()
    return made


@pytest.mark.parametrize("nested", [False, True])
async def test_steps_see_it_as_their_workflow_has_it_alone_in_a_list_and_nested(nested: bool) -> None:
    seen: list[Any] = []
    made = flow(create_step(bump, id="one"), create_step(bump, id="two"), noting(seen))
    entry = outer(made) if nested else made
    await entry.run(InputContext("hello"))
    await Agent(model="embedded/echo", input_processors=[entry]).generate("hello")
    expected = [Strikes(n=2, where=["input", "input"])]
    assert seen[:1] == expected
    assert seen[1:2] == expected
    assert {type(one) for one in seen} == {Strikes}


async def test_it_lasts_the_whole_run_over_all_points_and_each_run_has_its_own() -> None:
    seen: list[Strikes] = []
    agent = Agent(
        model=ScriptedModel([["a", "b"], ["a", "b"]]),
        input_processors=[made := flow(create_step(bump, id="one"), noting(seen))],
        output_processors=[made],
    )
    for _ in range(2):
        seen.clear()
        result = await agent.generate("hello")
        assert result.status == "success"
        assert [one.n for one in seen] == list(range(1, len(seen) + 1))
        phases = {Phase(one) for one in seen[-1].where}
        assert phases == {
            Phase.INPUT,
            Phase.INPUT_STEP,
            Phase.LLM_REQUEST,
            Phase.OUTPUT_STREAM,
            Phase.LLM_RESPONSE,
            Phase.OUTPUT_STEP,
            Phase.OUTPUT_RESULT,
        }


async def test_two_workflows_of_one_list_do_not_share_theirs() -> None:
    first: list[Strikes] = []
    second: list[Any] = []

    class Other(BaseModel):
        n: str = "text"

    entries: list[ProcessorLike] = [
        flow(create_step(bump, id="one", phases={"input"}), noting(first, phases={"input"})),
        flow(noting(second, phases={"input"}), id="other", schema=Other),
    ]
    await Agent(model="embedded/echo", input_processors=entries).generate("hello")
    assert [one.n for one in first] == [1]
    assert second == [Other()]


async def test_steps_that_stand_in_the_list_share_one() -> None:
    seen: list[Any] = []
    entries = [create_step(bump, id="one", phases={"input"}), noting(seen, phases={"input", "input_step"})]
    await Agent(model="embedded/echo", input_processors=entries).generate("hello")
    assert seen == [{"n": 1, "where": ["input"]}] * 2
    typed: list[Any] = []
    entries = [create_step(bump, id="one", phases={"input"}), noting(typed, phases={"input"}, state_schema=Strikes)]
    await Agent(model="embedded/echo", input_processors=entries).generate("hello")
    assert typed == [Strikes(n=1, where=["input"])]


async def test_a_key_that_no_schema_names_fails_the_step() -> None:
    def wrong(ctx: StepContext[Any]) -> Any:
        ctx.set_state(typo=1)
        return ctx.input

    agent = Agent(model="embedded/echo", input_processors=[flow(create_step(wrong, id="wrong"))])
    with pytest.raises(StepFailed, match="typo"):
        await agent.generate("hello")


def first(ctx: Any) -> Any:
    return ctx.input["a"]


def last_is(name: str) -> Any:
    def write(ctx: StepContext[Any]) -> Any:
        ctx.set_state(last=name)
        return ctx.input

    return create_step(write, id=name, phases={"input_step"})


@tool
def look() -> str:
    """Look."""
    return "seen"


async def test_what_is_written_at_two_points_is_not_at_odds_and_at_one_it_is() -> None:
    """Two arms of a block, of which each writes in a step of its own."""

    def turns(name: str, number: int) -> Any:
        def write(ctx: StepContext[Any]) -> Any:
            if ctx.input.step_number == number:
                ctx.set_state(last=name)
            return ctx.input

        return create_step(write, id=name, phases={"input_step"})

    def agent(*arms: Any) -> Agent:
        block: Any = create_workflow(
            id="block", input_schema=ProcessorStepSchema, output_schema=ProcessorStepSchema, state_schema=Strikes
        )
        made = block.parallel(list(arms)).map(first).commit()
        return Agent(
            model=ScriptedModel([[ScriptedModel.tool_call("look")], "done"]), tools=[look], input_processors=[made]
        )

    assert (await agent(turns("a", 0), turns("b", 1)).generate("hello")).status == "success"
    with pytest.raises(StateConflict):
        await agent(last_is("a"), last_is("b")).generate("hello")


class Typed(BaseModel):
    days: set[int] = set()
    place: Strikes = Strikes()
    anything: Any = None
    when: str | date = ""
    hidden: int = Field(default=0, exclude=True)
    raw: bytes = b""


WRITTEN: dict[str, Any] = {
    "days": {3, 4},
    "place": Strikes(n=7),
    "anything": {"pair": (1, {2})},
    "when": date(2026, 12, 1),
    "hidden": 5,
    "raw": b"\xff\x00",
}


@pytest.mark.parametrize("stored", [False, True])
async def test_it_is_kept_while_the_run_waits(stored: bool, tmp_path: Path) -> None:
    seen: list[Any] = []

    @tool(needs_approval=True)
    def pay() -> str:
        """Pay."""
        return "paid"

    def begin(ctx: StepContext[Any]) -> Any:
        ctx.set_state(**WRITTEN)
        return ctx.input

    def free(ctx: StepContext[Any]) -> Any:
        ctx.set_state(free=[1])
        return ctx.input

    store = SQLiteRunStore(tmp_path / "runs.db") if stored else None

    def agent(model: ScriptedModel) -> Agent:
        entries = [
            outer(flow(create_step(begin, id="begin", phases={"input"}), noting(seen), schema=Typed)),
            create_step(free, id="free", phases={"input"}),
            create_step(noting(seen), id="listed", phases={"input_step"}),
        ]
        return Agent(id="a", model=model, tools=[pay], input_processors=entries, run_store=store)

    first = agent(ScriptedModel([[ScriptedModel.tool_call("pay")], "done"]))
    waits = await first.generate("hello")
    assert waits.status == "suspended"
    seen.clear()
    second = agent(ScriptedModel(["done"])) if stored else first
    assert (await second.resume(waits.run_id, approve=True)).status == "success"
    expected = Typed(**WRITTEN)
    typed = [one for one in seen if isinstance(one, Typed)]
    assert typed
    assert all(one == expected for one in typed)
    assert [one for one in seen if not isinstance(one, Typed)] == [{"free": [1]}]


async def test_what_cannot_be_written_is_named_with_its_key(tmp_path: Path) -> None:
    @tool(needs_approval=True)
    def pay() -> str:
        """Pay."""
        return "paid"

    def begin(ctx: StepContext[Any]) -> Any:
        ctx.set_state(lock=Lock())
        return ctx.input

    made: Any = create_workflow(id="locked", input_schema=ProcessorStepSchema, output_schema=ProcessorStepSchema)
    agent = Agent(
        model=ScriptedModel([[ScriptedModel.tool_call("pay")], "done"]),
        tools=[pay],
        input_processors=[made.then(create_step(begin, id="begin", phases={"input"})).commit()],
        run_store=SQLiteRunStore(tmp_path / "runs.db"),
    )
    with pytest.raises(UnrecordableValue, match="'lock' in the state of 'locked'"):
        await agent.generate("hello")
