"""Schemas whose own code raises: what came of them is told in the outcome, never by an exception."""

from __future__ import annotations

from typing import Annotated, Any

import pydantic
import pytest

from interlock import StepContext, create_step, create_workflow
from interlock.errors import StepFailed
from interlock.runtime import Completed, Failed, RunStore

pytestmark = pytest.mark.anyio


class Odd(Exception):
    """No error of validation."""


def refuse(value: Any) -> Any:
    """A validator with a fault."""
    raise Odd("the schema is broken")


Broken = Annotated[int, pydantic.PlainValidator(refuse)]


def give(ctx: StepContext[Any]) -> Any:
    return ctx.input


def failure(outcome: Any) -> StepFailed:
    """What it failed with."""
    assert isinstance(outcome, Failed), outcome
    assert isinstance(outcome.error, StepFailed)
    return outcome.error


@pytest.mark.parametrize("broken", [True, False])
async def test_an_output_schema_that_raises_is_the_workflows_failure(maybe: RunStore | None, broken: bool) -> None:
    told: list[str] = []
    schema: Any = Broken if broken else str
    workflow = (
        create_workflow(id="w", output_schema=schema, on_error=lambda outcome: told.append(str(outcome.error)))
        .then(create_step(give, id="give"))
        .commit()
    )
    outcome = await workflow.create_run("r", store=maybe).start(1)
    error = failure(outcome)
    assert error.step_id == "w"
    assert isinstance(error.cause, Odd if broken else pydantic.ValidationError)
    assert told == [str(error)]
    assert [one.status for one in outcome.steps] == ["success"]
    if maybe is not None:
        assert str(failure(await workflow.recover("r", store=maybe))) == str(error)


async def test_a_nested_workflows_output_schema_that_raises_is_the_failure_of_its_step(maybe: RunStore | None) -> None:
    inner = create_workflow(id="inner", output_schema=Broken).then(create_step(give, id="give")).commit()
    workflow = create_workflow(id="w").then(inner).then(create_step(give, id="after")).commit()
    outcome = await workflow.create_run(store=maybe).start(1)
    error = failure(outcome)
    assert error.step_id == "inner"
    assert isinstance(error.cause, Odd)
    assert "after" not in [one.step_id for one in outcome.steps]


@pytest.mark.parametrize("side", ["input_schema", "output_schema"])
async def test_a_steps_schema_that_raises_is_its_failure(maybe: RunStore | None, side: str) -> None:
    options: Any = {side: Broken}
    workflow = create_workflow(id="w").then(create_step(give, id="give", **options)).commit()
    error = failure(await workflow.create_run(store=maybe).start(1))
    assert error.step_id == "give"
    assert isinstance(error.cause, Odd)


class Grumpy(pydantic.BaseModel):
    """A state that cannot be shown once it has a number."""

    n: int = 0

    def model_post_init(self, context: Any, /) -> None:
        """Refuses a second look."""
        if self.n:
            raise Odd("no second look")


def count(ctx: StepContext[Any]) -> Any:
    ctx.set_state(n=7)
    return ctx.input


async def test_a_state_that_cannot_be_shown_at_the_end_fails_the_run_and_its_values_are_told(
    maybe: RunStore | None,
) -> None:
    workflow = create_workflow(id="w", state_schema=Grumpy).then(create_step(count, id="count")).commit()
    outcome = await workflow.create_run("r", store=maybe).start(1)
    error = failure(outcome)
    assert error.step_id == "w.state"
    assert isinstance(error.cause, Odd)
    assert outcome.state == {"n": 7}
    if maybe is not None:
        assert str(failure(await workflow.recover("r", store=maybe))) == str(error)


async def test_a_step_that_is_shown_such_a_state_fails(maybe: RunStore | None) -> None:
    def look(ctx: StepContext[Any]) -> Any:
        return ctx.state.n

    workflow = (
        create_workflow(id="w", state_schema=Grumpy)
        .then(create_step(count, id="count"))
        .then(create_step(look, id="look"))
        .commit()
    )
    error = failure(await workflow.create_run(store=maybe).start(1))
    assert error.step_id == "look"
    assert isinstance(error.cause, Odd)


async def test_what_a_run_failed_of_before_is_not_hidden_by_its_state(maybe: RunStore | None) -> None:
    def fails(ctx: StepContext[Any]) -> Any:
        raise LookupError("gone")

    workflow = (
        create_workflow(id="w", state_schema=Grumpy)
        .then(create_step(count, id="count"))
        .then(create_step(fails, id="fails"))
        .commit()
    )
    error = failure(await workflow.create_run(store=maybe).start(1))
    assert error.step_id == "fails"
    assert isinstance(error.cause, LookupError)


async def test_schemas_without_a_fault_are_none(maybe: RunStore | None) -> None:
    workflow = create_workflow(id="w", output_schema=int).then(create_step(give, id="give")).commit()
    assert isinstance(await workflow.create_run(store=maybe).start(1), Completed)
