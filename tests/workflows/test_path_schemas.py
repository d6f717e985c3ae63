"""Paths of a mapping's sources that lead nowhere are found by commit(), where a schema says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from interlock import StepContext, create_step, create_workflow
from interlock.errors import DefinitionError
from interlock.workflows import Source, from_input, from_run_input, from_step, template
from interlock.workflows.path_schemas import fault_in_path
from interlock.workflows.paths import Path


class Line(BaseModel):
    """A model with a property."""

    total: int
    tags: list[str] = Field(default_factory=list)

    @property
    def doubled(self) -> int:
        """Twice the total."""
        return 2 * self.total


class Order(BaseModel):
    """A model in which others stand."""

    lines: list[Line]
    by_name: dict[str, Line]
    first: Annotated[Line, "the first"]
    maybe: Line | None = None


class Open(BaseModel):
    """A model that takes anything else."""

    model_config = ConfigDict(extra="allow")
    name: str


class Row(TypedDict):
    """A mapping."""

    order: Order


@dataclass
class Pair:
    """A dataclass."""

    left: int
    right: str


class Loose:
    """A class of which nothing is known."""


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        ("lines[0].total", Order),
        ("lines[-1].tags[2]", Order),
        ("by_name.anything.total", Order),
        ("first.doubled", Order),
        ("first.doubled.whatever", Order),
        ("maybe.nowhere", Order),
        ("other.thing", Open),
        ("order.lines", Row),
        ("left", Pair),
        ("x.y[0]", Loose),
        ("x", Any),
        ("[3]", list[int]),
        ("", int),
        (".", Order),
    ],
)
def test_a_path_that_may_lead_somewhere_is_no_fault(path: str, schema: Any) -> None:
    assert fault_in_path(Path(path), schema, "input") is None


@pytest.mark.parametrize(
    ("path", "schema", "fault"),
    [
        ("line", Order, "input.line: Order has no 'line', but lines, by_name, first, maybe"),
        ("lines.total", Order, "input.lines.total: list[Line] has no 'total', but items: [0]"),
        ("lines[0].totl", Order, "input.lines[0].totl: Line has no 'totl', but total, tags"),
        ("first[0]", Order, "input.first[0]: Line has no items"),
        ("by_name.ann.totl", Order, "input.by_name.ann.totl: Line has no 'totl', but total, tags"),
        ("ordr", Row, "input.ordr: Row has no 'ordr', but order"),
        ("order.line", Row, "input.order.line: Order has no 'line', but lines, by_name, first, maybe"),
        ("middle", Pair, "input.middle: Pair has no 'middle', but left, right"),
        ("left", int, "input.left: int has no 'left'"),
        ("[0]", int, "input[0]: int has no items"),
    ],
)
def test_one_that_leads_nowhere_is_told_with_what_there_is(path: str, schema: Any, fault: str) -> None:
    assert fault_in_path(Path(path), schema, "input") == fault


def order(ctx: StepContext[Order]) -> Line:
    return ctx.input.lines[0]


step = create_step(order)


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        (lambda: from_step(step, "totl"), "'map': order.totl: Line has no 'totl'"),
        (lambda: from_step([step], "totl"), "'map': order.totl: Line has no 'totl'"),
        (lambda: from_input("totl"), "'map': input.totl: Line has no 'totl'"),
        (lambda: from_run_input("line"), "'map': run_input.line: Order has no 'line'"),
        (lambda: template("it is ${order.totl}"), "'map': order.totl: Line has no 'totl'"),
        (lambda: template("${input.totl}"), "'map': input.totl: Line has no 'totl'"),
        (lambda: template("${run_input.lines[0].totl}"), "'map': run_input.lines[0].totl: Line has no 'totl'"),
    ],
)
def test_commit_finds_it_in_every_kind_of_source(source: Callable[[], Source], fault: str) -> None:
    flow = create_workflow(id="w", input_schema=Order).then(step)
    with pytest.raises(DefinitionError) as caught:
        flow.map({"key": source()}).commit()
    assert len(caught.value.faults) == 1
    assert fault in str(caught.value)


def test_it_looks_into_what_blocks_give_and_into_arms_but_not_twice_into_nested_workflows() -> None:
    def other(ctx: StepContext[Order]) -> Order:
        return ctx.input

    start = create_workflow(id="w", input_schema=Order)
    block = start.parallel([step, create_step(other)])
    block.map({"a": from_input("order.total"), "b": from_input("other.lines[0].total")}).commit()
    with pytest.raises(DefinitionError, match="'ordr' is none of order, other"):
        block.map({"a": from_input("ordr.total")}).commit()
    with pytest.raises(DefinitionError, match=r"input\.other\.line: Order has no 'line'"):
        block.map({"a": from_input("other.line")}).commit()
    collected = start.parallel([step, create_step(other)], on_error="collect")
    collected.map({"a": from_input("order.error")}).commit()
    inner: Any = create_workflow(id="inner", input_schema=Line).map({"a": from_run_input("total")}).commit()
    start.then(step).then(inner).commit()
    arm: Any = create_workflow(id="arm").map({"a": from_run_input("nowhere")}).commit()
    start.branch([(lambda ctx: True, arm)]).commit()
