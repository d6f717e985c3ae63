"""A tool: a typed function that a model may call; its result is JSON, and what is wrong is told to the model."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable
from datetime import date
from enum import Enum
from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from interlock import RequestContext, Tool, tool
from interlock.errors import DefinitionError, ToolError
from interlock.messages import Usage
from interlock.tools import ToolContext

pytestmark = pytest.mark.anyio


def context(**more: Any) -> ToolContext:
    """What a tool is told of its run."""
    return ToolContext("run", "call_1", 0, (), RequestContext(more))


def track(parcel_id: str, days: int = 3) -> str:
    """Where a parcel is.

    It looks at the last scan.

    Args:
        parcel_id: The number on the receipt.
        days: How far back to look.

    Returns:
        A place.
    """
    return f"{parcel_id} {days}"


def test_name_and_description_come_from_the_function() -> None:
    made = tool(track)
    assert isinstance(made, Tool)
    assert made.name == "track"
    assert made.description == "Where a parcel is.\n\nIt looks at the last scan."
    assert made.function is track
    assert repr(made) == "<Tool 'track'>"


def test_name_and_description_may_be_given_as_a_decorator_or_a_call() -> None:
    @tool(name="find-parcel", description="Find it.")
    def other() -> None: ...

    made = tool(track, name="find-parcel", description="Find it.")
    for one in (other, made):
        assert (one.name, one.description) == ("find-parcel", "Find it.")


@pytest.mark.parametrize("bad", ["", "two words", "dot.ted", "ümlaut", "x" * 65])
def test_a_name_that_providers_refuse_is_refused(bad: str) -> None:
    with pytest.raises(DefinitionError, match="no tool name"):
        tool(track, name=bad)


def test_a_lambda_needs_a_name() -> None:
    with pytest.raises(DefinitionError, match="pass name="):
        tool(lambda: 1)


@pytest.mark.parametrize("bad", [7, "text", None])
def test_what_is_no_function_is_refused(bad: Any) -> None:
    with pytest.raises(DefinitionError, match="made of a function"):
        Tool(bad)


async def test_a_def_an_async_def_a_method_a_partial_and_a_callable_object_will_do() -> None:
    async def waits(parcel_id: str) -> str:
        return parcel_id

    class Office:
        def track(self, parcel_id: str) -> str:
            return parcel_id

        def __call__(self, parcel_id: str) -> str:
            return parcel_id

    office = Office()
    made = [
        tool(track),
        tool(waits),
        tool(office.track),
        tool(office, name="office"),
        tool(functools.partial(track, days=1), name="partial"),
    ]
    for one in made:
        assert str(await one.run({"parcel_id": "7"}, context())).startswith("7")
        assert "parcel_id" in one.parameters["properties"]
        assert "self" not in one.parameters["properties"]


def test_a_partial_is_described_by_the_function_in_it() -> None:
    made = tool(functools.partial(track, days=1), name="partial")
    assert made.description == tool(track).description
    assert made.parameters["properties"]["parcel_id"] == tool(track).parameters["properties"]["parcel_id"]
    assert made.parameters["properties"]["days"]["default"] == 1


async def test_arguments_are_validated_and_defaults_applied() -> None:
    made = tool(track)
    assert await made.run({"parcel_id": "7"}, context()) == "7 3"
    assert await made.run({"parcel_id": "7", "days": "5"}, context()) == "7 5"


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ({}, "parcel_id: Field required"),
        ({"parcel_id": "7", "days": "many"}, "days: Input should be a valid integer"),
        ({"parcel_id": "7", "extra": 1}, "extra: Extra inputs are not permitted"),
        ("no json", "invalid arguments"),
        (["7"], "invalid arguments"),
        (None, "parcel_id: Field required"),
    ],
)
async def test_arguments_that_do_not_fit_are_an_error_for_the_model_that_names_the_argument(
    args: object, told: str
) -> None:
    with pytest.raises(ToolError) as raised:
        await tool(track).run(args, context())
    assert raised.value.tool_name == "track"
    assert told in str(raised.value)


async def test_all_that_is_wrong_with_the_arguments_is_told_at_once() -> None:
    with pytest.raises(ToolError, match=r"parcel_id.*; .*days"):
        await tool(track).run({"days": "many"}, context())


async def test_no_arguments_are_none_at_all() -> None:
    def ping() -> str:
        return "pong"

    nothing: list[object] = [None, {}]
    for args in nothing:
        assert await tool(ping).run(args, context()) == "pong"


async def test_what_the_function_raises_comes_out_as_it_is() -> None:
    def broken() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        await tool(broken).run({}, context())


class Colour(Enum):
    RED = "red"


@dataclasses.dataclass
class Place:
    name: str
    since: date


class Parcel(BaseModel):
    place: Place
    colours: set[Colour] = {Colour.RED}


async def test_results_become_json_values() -> None:
    def find() -> Any:
        return [Parcel(place=Place("Leipzig", date(2024, 5, 1))), (1, 2.5), {"x": None}]

    assert await tool(find).run({}, context()) == [
        {"place": {"name": "Leipzig", "since": "2024-05-01"}, "colours": ["red"]},
        [1, 2.5],
        {"x": None},
    ]


def loop() -> object:
    """A list that holds itself."""
    made: list[object] = []
    made.append(made)
    return made


@pytest.mark.parametrize("result", [object(), loop(), {"deep": [object()]}])
async def test_a_result_that_is_no_json_is_an_error_for_the_model(result: object) -> None:
    def find() -> object:
        return result

    with pytest.raises(ToolError, match="JSON"):
        await tool(find).run({}, context())


@dataclasses.dataclass
class Weight:
    kilos: float


class Weighed(BaseModel):
    kilos: float


def weighed(number: float) -> object:
    return Weighed(kilos=number)


def bare(number: float) -> object:
    return number


def deep(number: float) -> object:
    return {"deep": [(1.5, {number})]}


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("inside", [bare, deep, Weight, weighed])
async def test_a_result_with_a_number_that_is_not_finite_is_an_error_for_the_model(
    inside: Callable[[float], object], number: float
) -> None:
    def weigh() -> object:
        return inside(number)

    with pytest.raises(ToolError, match="returned what cannot be turned into JSON"):
        await tool(weigh).run({}, context())
    with pytest.raises(ToolError, match="returned what cannot be turned into JSON"):
        tool(track, to_model_output=inside).model_output(number)


async def test_arguments_reach_the_function_as_the_types_it_names() -> None:
    seen: list[object] = []

    def look(place: Place, colour: Colour, parcel: Parcel) -> None:
        seen.extend([place, colour, parcel.place])

    made = tool(look)
    one = {"name": "Leipzig", "since": "2024-05-01"}
    await made.run({"place": one, "colour": "red", "parcel": {"place": one}}, context())
    place = Place("Leipzig", date(2024, 5, 1))
    assert seen == [place, Colour.RED, place]


async def test_what_the_model_is_shown_is_the_result_unless_the_tool_makes_a_form_of_its_own() -> None:
    assert tool(track).model_output("7") is None
    assert tool(track, to_model_output=lambda result: {"shown": result}).model_output("7") == {"shown": "7"}
    with pytest.raises(ToolError, match="JSON"):
        tool(track, to_model_output=lambda result: object()).model_output("7")


async def test_a_tool_that_asks_for_it_is_told_of_the_run() -> None:
    def look(n: int, ctx: ToolContext) -> list[object]:
        return [n, ctx.run_id, ctx.tool_call_id, ctx.step_number, ctx.request_context["user"]]

    made = tool(look)
    assert list(made.parameters["properties"]) == ["n"]
    assert await made.run({"n": 1}, context(user="ann")) == [1, "run", "call_1", 0, "ann"]
    with pytest.raises(ToolError, match="ctx"):
        await made.run({"n": 1, "ctx": {}}, context())


async def test_a_tool_that_takes_too_long_is_cancelled_and_its_error_says_so() -> None:
    state: list[str] = []

    @tool(timeout=0.01)
    async def slow() -> None:
        """Wait."""
        try:
            await anyio.sleep_forever()
        finally:
            state.append("cancelled")

    with pytest.raises(ToolError, match=r"tool 'slow': took longer than 0\.01 s"):
        await slow.run({}, context())
    assert state == ["cancelled"]


async def test_a_tool_that_does_not_let_itself_be_cancelled_has_no_result_either() -> None:
    @tool(timeout=0.01)
    async def stubborn() -> str:
        """Go on."""
        with contextlib.suppress(anyio.get_cancelled_exc_class()):
            await anyio.sleep_forever()
        return "late"

    with pytest.raises(ToolError, match="took longer"):
        await stubborn.run({}, context())


async def test_a_plain_function_that_took_too_long_has_no_result() -> None:
    @tool(timeout=1e-9)
    def slow() -> str:
        """Sum."""
        return str(sum(range(10_000)))

    with pytest.raises(ToolError, match="took longer than 1e-09 s"):
        await slow.run({}, context())


async def test_a_tool_that_is_in_time_has_its_result_and_its_own_time_out_is_its_own() -> None:
    @tool(timeout=60)
    async def quick() -> str:
        """Be quick."""
        return "ok"

    @tool(timeout=60)
    async def gives_up() -> None:
        """Give up."""
        raise TimeoutError("of its own")

    assert await quick.run({}, context()) == "ok"
    with pytest.raises(TimeoutError, match="of its own"):
        await gives_up.run({}, context())


@pytest.mark.parametrize("wrong", [0, -1, True, "1", float("inf"), float("nan")])
def test_a_time_out_that_is_none_is_refused(wrong: float) -> None:
    with pytest.raises(DefinitionError, match="timeout is a number of seconds above 0"):
        tool(track, timeout=wrong)


def test_what_a_tool_writes_outside_an_agent_is_checked_all_the_same() -> None:
    ctx = context()
    ctx.write("at", 1)
    ctx.stream({"a": 1})
    ctx.add_usage(Usage(1, 1))
    with pytest.raises(ValueError, match="the data written as 'at'"):
        ctx.write("at", object())
    with pytest.raises(ValueError, match="what tool '' streams"):
        ctx.stream(object())


@pytest.mark.parametrize("wrong", ["no", None, 1, [True]])
def test_what_does_not_say_whether_an_approval_is_needed_is_refused(wrong: Any) -> None:
    with pytest.raises(DefinitionError, match="needs_approval is True, False or a function"):
        tool(lambda: None, name="f", needs_approval=wrong)
