"""What a step is."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from interlock.schema import UNSET
from interlock.steps import FunctionStep, Step, StepContext, SupportsStep, create_step
from interlock.steps.step import supports_step
from interlock.testing import step_context
from interlock.verdict import Phase


def shout(ctx: StepContext[str]) -> str:
    return ctx.input.upper()


class Guard(SupportsStep[str, str]):
    """Something that is no step but can stand for one."""

    def __init__(self) -> None:
        self.step = create_step(shout, id="guard")

    def as_step(self) -> Step[str, str]:
        return self.step


def test_steps_compare_by_identity_and_can_be_keys() -> None:
    one, other = create_step(shout), create_step(shout)
    assert one != other
    assert len({one: 1, other: 2}) == 2


def test_a_step_stands_for_itself() -> None:
    made = create_step(shout)
    assert made.as_step() is made


def test_an_altered_step_leaves_the_first_as_it_was() -> None:
    first = create_step(shout, metadata={"team": "a"})
    second = first.altered(id="second", description="Louder.")
    assert (second.id, second.description, second.metadata) == ("second", "Louder.", {"team": "a"})
    assert (first.id, first.description) == ("shout", None)
    assert isinstance(second, FunctionStep)
    assert second.function is first.function


def test_a_function_step_can_be_called_in_a_test_of_its_own() -> None:
    assert create_step(shout)(step_context("hi")) == "HI"


def test_a_step_acts_at_every_point_unless_it_says_otherwise() -> None:
    assert all(create_step(shout).acts_in(phase) for phase in Phase)


def test_a_step_shows_id_kind_and_schemas() -> None:
    assert repr(create_step(shout)) == "<Step 'shout' (function): str -> str>"

    class Own(Step[Any, Any]):
        kind: ClassVar[str] = "own"

    assert repr(Own("x", subject=None)) == "<Step 'x' (own): anything -> anything>"
    assert Own("x", subject=None).input_schema is UNSET


def test_what_can_stand_in_a_workflow_is_told_from_what_cannot() -> None:
    assert supports_step(Guard())
    assert supports_step(create_step(shout))
    assert not supports_step(shout)
    with pytest.raises(TypeError):
        SupportsStep()  # type: ignore[abstract]
