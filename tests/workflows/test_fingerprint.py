"""A workflow's shape as a short text."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, make_dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Generic, List, Literal, NamedTuple, Optional, TypedDict, TypeVar, Union  # noqa: UP035

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.errors import DefinitionError
from interlock.schema import UNSET
from interlock.steps import RetryPolicy, Step, StepContext, create_step
from interlock.workflows import Workflow, WorkflowBuilder, create_workflow, from_input, template, value
from interlock.workflows.fingerprint import fingerprint

T = TypeVar("T")


def keep(ctx: StepContext[Any]) -> Any:
    return ctx.input


def other(ctx: StepContext[Any]) -> Any:
    return None


def yes(ctx: StepContext[Any]) -> bool:
    return True


def no(ctx: StepContext[Any]) -> bool:
    return False


def named(id: str, function: Callable[[StepContext[Any]], Any] = keep, **options: Any) -> Step[Any, Any]:  # noqa: A002
    return create_step(function, id=id, **options)


def start(**options: Any) -> WorkflowBuilder[Any, Any, Any]:
    return create_workflow(id="w", **options)


def shape(builder: WorkflowBuilder[Any, Any, Any]) -> str:
    return fingerprint(builder.commit())


def inner(*ids: str, **options: Any) -> Workflow[Any, Any]:
    """A workflow of steps in a chain."""
    builder: Any = create_workflow(id="inner", **options)
    for id_ in ids:
        builder = builder.then(named(id_))
    made: Workflow[Any, Any] = builder.commit()
    return made


A, B, C = named("a"), named("b"), named("c")

DIFFERENT: list[WorkflowBuilder[Any, Any, Any]] = [
    create_workflow(id="v").then(A),
    start().then(A),
    start().then(B),
    start().then(A).then(B),
    start().then(B).then(A),
    start(input_schema=int).then(A),
    start(output_schema=int).then(A),
    start(input_schema=None).then(A),
    start().then(named("a", input_schema=int)),
    start().then(named("a", resume_schema=int)),
    start().then(named("a", suspend_schema=int)),
    start().parallel([A, B]),
    start().parallel([B, A]),
    start().parallel([A, B], join="any"),
    start().parallel([A, B], on_error="wait_all"),
    start().parallel([A, B], on_error="collect"),
    start().branch([(yes, A), (yes, B)]),
    start().branch([(yes, B), (yes, A)]),
    start().branch([(yes, A), (yes, B)], mode="all"),
    start().branch([(yes, A)], otherwise=B),
    start().branch([(yes, [A, B])]),
    start().map(keep),
    start().map({"x": value(1)}),
    start().map({"x": value(10**5000)}),
    start().map({"x": value(10**5000 + 1)}),
    start().map({"x": from_input("a")}),
    start().map({"x": from_input("b")}),
    start().map({"y": from_input("a")}),
    start().map({"x": template("${input.a}")}),
    start().parallel([A, B]).merge(),
    start().parallel([A, B]).merge(prefer="a"),
    start().parallel([A, B]).merge(with_=len),
    start().foreach(A),
    start().foreach(A, on_error="collect"),
    start().do_while(A, yes),
    start().do_until(A, yes),
    start().dag({A: [], B: [A], C: [A]}),
    start().dag({A: [], B: [A], C: [B]}),
    start().dag({A: [], B: [A], C: [A, B]}),
    start().sleep(1),
    start().sleep_until(1),
    start().then(inner("a")),
    start().then(inner("b")),
    start().then(inner("a", "b")),
    start().then(inner("a", input_schema=int)),
]

ALIKE: list[tuple[WorkflowBuilder[Any, Any, Any], WorkflowBuilder[Any, Any, Any]]] = [
    (start().then(A), start().then(named("a", other))),
    (start().then(A), start().then(named("a", description="d", metadata={"x": 1}))),
    (start().then(A), start().then(named("a", retry=RetryPolicy(attempts=3), timeout=3.0))),
    (start().then(A), start(description="d", metadata={"x": 1}, retry=RetryPolicy(attempts=2), on_start=keep).then(A)),
    (start().parallel([A, B]), start().parallel([A, B], concurrency=1, share=True)),
    (start().branch([(yes, A)]), start().branch([(no, A)])),
    (start().map(keep), start().map(other)),
    (start().map({"x": value(1), "y": value(2)}), start().map({"y": value(2), "x": value(1)})),
    (start().parallel([A, B]).merge(with_=len), start().parallel([A, B]).merge(with_=max)),
    (start().foreach(A), start().foreach(A, concurrency=8)),
    (start().do_while(A, yes), start().do_while(A, no, max_iterations=3)),
    (start().dag({A: [], B: [A], C: [A, B]}), start().dag({A: [], B: ["a"], C: [A, "b"]})),
    (start().sleep(1), start().sleep(2)),
    (start().then(inner("a")), start().then(inner("a", description="d"))),
]


def test_workflows_of_different_shapes_have_different_fingerprints() -> None:
    shapes = [shape(builder) for builder in DIFFERENT]
    assert all(re.fullmatch("[0-9a-f]{32}", one) for one in shapes)
    twice = [number for number, one in enumerate(shapes) if shapes.index(one) != number]
    assert twice == []


@pytest.mark.parametrize(("one", "second"), ALIKE)
def test_code_and_what_does_not_shape_the_graph_are_not_in_it(
    one: WorkflowBuilder[Any, Any, Any], second: WorkflowBuilder[Any, Any, Any]
) -> None:
    assert shape(one) == shape(second)


letters = st.sampled_from("ab")
modes = st.sampled_from(("fail_fast", "wait_all"))
specs = st.recursive(
    st.lists(
        st.one_of(
            st.tuples(st.just("step"), letters),
            st.tuples(st.just("parallel"), st.lists(letters, min_size=2, max_size=3), st.sampled_from((1, 2)), modes),
            st.tuples(st.just("branch"), st.lists(letters, min_size=1, max_size=2), st.booleans()),
            st.tuples(st.just("loop"), letters, st.booleans()),
            st.tuples(st.just("dag"), st.lists(letters, min_size=2, max_size=2), st.booleans()),
            st.tuples(st.just("map"), letters),
        ),
        min_size=1,
        max_size=2,
    ),
    lambda inner: st.lists(st.tuples(st.just("nested"), letters, inner), min_size=1, max_size=2),
    max_leaves=3,
)


def built(spec: list[tuple[Any, ...]]) -> Workflow[Any, Any]:
    """The workflow of a description; steps are numbered, so that no two have one id."""
    numbers = itertools.count()
    builder: Any = start()

    def one(letter: str) -> Step[Any, Any]:
        return named(f"{letter}{next(numbers)}")

    for kind, what, *options in spec:
        match kind:
            case "step":
                builder = builder.then(one(what))
            case "parallel":
                builder = builder.parallel([one(x) for x in what], join=options[0], on_error=options[1])
            case "branch":
                last = one("z") if options[0] else None
                builder = builder.branch([(yes, one(x)) for x in what], otherwise=last)
            case "loop":
                builder = builder.do_until(one(what), no) if options[0] else builder.do_while(one(what), yes)
            case "dag":
                first, second = map(one, what)
                builder = builder.dag({first: [], second: [first] if options[0] else []})
            case "map":
                builder = builder.map({what: value(1)})
            case _:
                builder = builder.then(create_step(built(options[0]), id=f"{what}{next(numbers)}"))
    made: Workflow[Any, Any] = builder.commit()
    return made


@given(specs, specs)
def test_workflows_have_one_fingerprint_exactly_if_they_are_built_alike(one: Any, second: Any) -> None:
    assert fingerprint(built(one)) == fingerprint(built(one))
    assert (fingerprint(built(one)) == fingerprint(built(second))) == (one == second)


def test_what_is_nested_beyond_pythons_limit_has_none_and_says_why() -> None:
    limit = sys.getrecursionlimit()
    workflow = inner("step")
    sys.setrecursionlimit(20 * limit)
    try:
        for number in range(limit // 2):
            workflow = create_workflow(id=f"w{number}").then(workflow).commit()
    finally:
        sys.setrecursionlimit(limit)
    with pytest.raises(DefinitionError, match=r"workflow 'w\d+' is nested deeper than Python's recursion limit allows"):
        _ = workflow.fingerprint


def test_a_workflow_has_it_as_an_attribute() -> None:
    workflow = start().then(A).commit()
    assert workflow.fingerprint == fingerprint(workflow)


# Schemas.


def of_schema(schema: object) -> str:
    return shape(start(input_schema=schema).then(A))


class Item(pydantic.BaseModel):
    name: str
    inside: list[Item] = []


class Changed:
    """Types of the same names with other fields."""

    class Item(pydantic.BaseModel):
        name: int
        inside: list[Item] = []

    Data = make_dataclass("Data", [("x", str)])

    class Color(Enum):
        RED = 1

    class Typed(TypedDict):
        x: str

    class Point(NamedTuple):
        x: float = 0


@dataclass
class Data:
    x: int = 0


class Color(Enum):
    RED = 1
    BLUE = 2


class Typed(TypedDict):
    x: int


class Point(NamedTuple):
    x: int = 0


@dataclass
class Box(Generic[T]):
    x: T


@dataclass
class One:
    other: Two


@dataclass
class Two:
    other: list[One]


@dataclass
class Unread:
    x: Missing  # type: ignore[name-defined] # noqa: F821 # pyright: ignore[reportUndefinedVariable]


SCHEMAS: list[Any] = [
    *(int, str, list[int], list[str], dict[str, int], tuple[int, ...], tuple[int, str], set[int], list[list[int]]),
    *(int | str, int | None, None, Literal["a"], Literal["b"], Literal[1], Callable[[int], str], Callable[[str], str]),
    *(Item, Changed.Item, Data, Changed.Data, Color, Changed.Color, Typed, Changed.Typed, Point, Changed.Point),
    *(list[Item], list[Changed.Item], Box, Box[int], Box[str], One, Two, Unread, type[int]),
]


def test_schemas_of_different_structure_have_different_fingerprints() -> None:
    shapes = [of_schema(schema) for schema in SCHEMAS]
    twice = [SCHEMAS[number] for number, one in enumerate(shapes) if shapes.index(one) != number]
    assert twice == []


@pytest.mark.parametrize(
    ("one", "second"),
    [
        (int | str, Union[str, int]),  # noqa: UP007
        (Optional[int], None | int),  # noqa: UP045
        (List[int], list[int]),  # noqa: UP006
        (Annotated[int, 3], int),
        (Annotated[list[Annotated[int, keep]], 3], list[int]),
        (list[Any], list[object]),
        (UNSET, Any),
        (Literal["a", "b"], Literal["a", "b"]),
    ],
)
def test_types_that_say_the_same_have_one_fingerprint(one: object, second: object) -> None:
    assert of_schema(one) == of_schema(second)


def test_a_field_that_is_renamed_or_added_changes_it_and_its_default_does_not() -> None:
    def model(**fields: Any) -> str:
        return of_schema(pydantic.create_model("Model", **fields))

    assert model(x=(int, 1)) == model(x=(int, 2)) == model(x=(int, ...))
    assert len({model(x=(int, 1)), model(y=(int, 1)), model(x=(str, "")), model(x=(int, 1), y=(int, 1))}) == 4
    assert model(x=(int, 1), y=(str, "")) == model(y=(str, ""), x=(int, 1))


PROGRAM = """
import sys
from dataclasses import dataclass
from enum import Enum
from typing import Any, Optional
import pydantic
from interlock.steps import create_step
from interlock.workflows import create_workflow, from_input, value

class Kind(Enum):
    A = "a"

class Node(pydantic.BaseModel):
    kind: Kind
    children: "list[Node]" = []
    more: Optional[int] = None

@dataclass
class State:
    seen: "set[str] | None" = None

a, b, c = (create_step(lambda ctx: ctx.input, id=id_) for id_ in "abc")
builder = create_workflow(id="w", input_schema=Node, output_schema=Any, state_schema=State)
builder = builder.parallel([a, b], on_error="collect").map({"x": from_input("a"), "y": value(frozenset())})
print(builder.then(c).commit().fingerprint)
"""


def test_it_is_the_same_in_another_process_whatever_the_module_is_called(tmp_path: Path, root: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, "utf-8")
    found: set[str] = set()
    for seed, command in (("1", [str(program)]), ("2", ["-c", "import program"])):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{tmp_path}{os.pathsep}{root}"}
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=True, env=environment)
        found.add(done.stdout.strip())
    assert found == {"f86f9ec758bd5fa7c4590f5e1f9b4020"}
