"""What a run's state holds."""

from __future__ import annotations

import functools
import operator
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, NotRequired, TypedDict

import pydantic
import pytest
import typing_extensions
from hypothesis import given
from hypothesis import strategies as st

from interlock.errors import DefinitionError
from interlock.schema import UNSET
from interlock.workflows import append
from interlock.workflows.state_schema import StateFields, copied


class Model(pydantic.BaseModel):
    count: Annotated[int, operator.add, pydantic.Field(ge=0)] = 1
    names: Annotated[list[str], append] = []
    limit: int = pydantic.Field(9, alias="the-limit")
    needed: str
    made: dict[str, list[int]] = pydantic.Field(default_factory=dict[str, list[int]])
    double: int = pydantic.Field(default_factory=lambda before: before["count"] * 2)


@dataclass(frozen=True, slots=True)
class Data:
    needed: str
    count: Annotated[int, operator.add] = 1
    names: Annotated[list[str], append] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        raise AssertionError("a view runs no code of the class")


class Typed(TypedDict):
    needed: str
    count: Annotated[int, operator.add]
    names: NotRequired[Annotated[list[str], append]]


class Backported(typing_extensions.TypedDict):
    names: typing_extensions.ReadOnly[Annotated[list[str], append]]


@dataclass
class Box:
    inside: list[int] = field(default_factory=list[int])


SCHEMAS: list[Any] = [Model, Data, Typed]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_keys_types_and_reducers_are_read_from_every_kind_of_schema(schema: object) -> None:
    fields = StateFields.of(schema).fields
    assert {"needed", "count", "names"} <= set(fields)
    assert fields["needed"].type is str
    assert fields["names"].type == list[str]
    assert [fields[name].reducer for name in ("needed", "count", "names")] == [None, operator.add, append]
    state = StateFields.of(schema)
    assert [state.has_reducer(name) for name in ("needed", "count", "names", "other")] == [False, True, True, False]
    assert StateFields.of(Backported).fields["names"].type == list[str]


def test_a_state_begins_with_what_was_given_and_defaults() -> None:
    assert StateFields.of(Model).initial({"count": "5"}) == {
        "count": 5,
        "names": [],
        "limit": 9,
        "made": {},
        "double": 10,
    }
    assert StateFields.of(Data).initial({"needed": "x"}) == {"needed": "x", "count": 1, "names": []}
    assert StateFields.of(Typed).initial() == {}
    assert StateFields.of(Model).initial({"limit": 3})["limit"] == 3


def test_a_state_may_begin_with_an_instance_of_its_schema() -> None:
    given = Model.model_construct(count=3, names=["a"])
    state = StateFields.of(Model).initial(given)
    assert state == {"count": 3, "names": ["a"], "limit": 9, "made": {}, "double": 6}
    given.names.append("b")
    assert state["names"] == ["a"]


@pytest.mark.parametrize("given", [3, "count", [("count", 1)], Model])
def test_a_state_begins_with_nothing_else(given: object) -> None:
    with pytest.raises(TypeError, match="a state is a mapping or an instance of its schema, not "):
        StateFields.of(Typed).initial(given)


def test_no_two_runs_share_a_default() -> None:
    for schema in (Model, Data):
        state = StateFields.of(schema)
        first: Any = state.initial()
        first["names"].append("x")
        assert state.initial()["names"] == []


def test_a_value_that_does_not_fit_is_told_with_its_key() -> None:
    state = StateFields.of(Model)
    with pytest.raises(pydantic.ValidationError) as caught:
        state.initial({"count": "many"})
    assert (caught.value.title, caught.value.errors()[0]["loc"]) == ("state", ("count",))
    with pytest.raises(pydantic.ValidationError) as caught:
        state.reduced({}, "needed", 3)
    assert (caught.value.title, caught.value.errors()[0]["loc"]) == ("state", ("needed",))


def test_a_key_that_no_schema_names_is_refused() -> None:
    state = StateFields.of(Typed)
    told = r"the run's state has no key 'cuont'; its schemas name 'needed', 'count', 'names'"
    with pytest.raises(LookupError, match=told):
        state.initial({"cuont": 1})
    with pytest.raises(LookupError, match=told):
        state.reduced({}, "cuont", 1)


def test_without_a_schema_any_key_is_taken_as_it_is() -> None:
    state = StateFields.of(UNSET)
    assert state.initial({"x": "1"}) == {"x": "1"}
    assert state.reduced({"x": [1]}, "x", [2]) == [2]
    assert not state.has_reducer("x")
    assert state.view({"x": [1]}, UNSET) == {"x": [1]}


def test_a_change_without_a_reducer_is_the_new_value_as_its_type_has_it() -> None:
    state = StateFields.of(Model)
    assert state.reduced({"limit": 1}, "limit", "7") == 7
    assert state.reduced({"made": {"a": [1]}}, "made", {"b": (1, "2")}) == {"b": [1, 2]}


def test_a_change_with_a_reducer_is_added_and_the_result_is_checked() -> None:
    state = StateFields.of(Model)
    assert state.reduced({"count": 2}, "count", 3) == 5
    assert state.reduced({"names": ["a"]}, "names", "b") == ["a", "b"]
    with pytest.raises(pydantic.ValidationError, match="greater than or equal to 0"):
        state.reduced({"count": 2}, "count", -3)
    with pytest.raises(pydantic.ValidationError, match="valid string"):
        state.reduced({"names": ["a"]}, "names", 3)


def either(old: Any, delta: Any) -> Any:
    return old | delta


class Absent(TypedDict):
    items: Annotated[list[int], append]
    largest: Annotated[int, max]
    text: Annotated[str, operator.add]
    union: Annotated[set[int], either]
    table: Annotated[dict[str, int], either]


@pytest.mark.parametrize(
    ("name", "delta", "value"),
    [("items", 1, [1]), ("largest", -5, -5), ("text", "a", "a"), ("union", {1}, {1}), ("table", {"a": 1}, {"a": 1})],
)
def test_an_absent_key_begins_with_the_first_change(name: str, delta: object, value: object) -> None:
    assert StateFields.of(Absent).reduced({}, name, delta) == value


def extended(old: list[int], delta: list[int]) -> list[int]:
    old.extend(delta)
    return old


class Extended(TypedDict):
    items: Annotated[list[int], extended]


def test_a_reducer_that_changes_what_it_is_given_changes_no_state_and_no_change() -> None:
    state, delta = {"items": [1]}, [2]
    new: Any = StateFields.of(Extended).reduced(state, "items", delta)
    assert new == [1, 2]
    new.append(3)
    assert (state, delta) == ({"items": [1]}, [2])
    free: Any = StateFields.of().reduced({}, "x", delta)
    free.append(3)
    assert delta == [2]


@dataclass
class Held:
    anything: Any = ([],)
    box: Box = field(default_factory=lambda: Box([1]))


def test_a_state_holds_nothing_that_others_hold() -> None:
    state = StateFields.of(Held)
    first: Any = state.initial()
    first["anything"][0].append(1)
    assert state.initial()["anything"] == ([],)
    box = Box([1])
    begun: Any = state.initial({"box": box})
    changed: Any = state.reduced({}, "box", box)
    box.inside.append(2)
    assert begun["box"].inside == changed.inside == [1]


@given(st.lists(st.integers(0, 100)), st.lists(st.text()))
def test_changes_add_up_in_their_order(counts: list[int], names: list[str]) -> None:
    state = StateFields.of(Model)
    values = state.initial()
    for count in counts:
        values["count"] = state.reduced(values, "count", count)
    for name in names:
        values["names"] = state.reduced(values, "names", name)
    assert values["count"] == 1 + sum(counts)
    assert values["names"] == names


# Views.


def test_a_step_sees_the_state_as_its_schema_has_it() -> None:
    values: dict[str, object] = {"count": 2, "names": ["a"], "needed": "x", "limit": 3, "other": 1}
    state = StateFields.of(Model, Data, Typed)
    model: Any = state.view(values, Model)
    assert type(model) is Model
    assert (model.count, model.names, model.needed, model.limit) == (2, ["a"], "x", 3)
    data: Any = state.view(values, Data)
    assert type(data) is Data
    assert (data.count, data.names, data.needed) == (2, ["a"], "x")
    assert state.view(values, Typed) == {"count": 2, "names": ["a"], "needed": "x"}
    assert state.view(values, UNSET) == values


@pytest.mark.parametrize("schema", [*SCHEMAS, UNSET])
def test_editing_a_view_changes_nothing(schema: object) -> None:
    values: dict[str, object] = {"needed": "x", "names": ["a"], "made": {"a": [1]}}
    view: Any = StateFields.of(Model).view(values, schema)
    held: Any = view.__dict__ if schema is Model else {"names": view.names} if schema is Data else view
    held["names"].append("b")
    if "made" in held:
        held["made"]["a"].append(2)
    assert values == {"needed": "x", "names": ["a"], "made": {"a": [1]}}


class Fussy(pydantic.BaseModel):
    count: int = 0

    @pydantic.model_validator(mode="after")
    def whole(self) -> Fussy:
        raise AssertionError("a view runs no validator")


def test_a_view_runs_no_validator_and_lacks_what_is_absent() -> None:
    view: Any = StateFields.of(Fussy).view({"count": 3}, Fussy)
    assert view.count == 3
    bare: Any = StateFields.of(Data).view({"count": 3}, Data)
    assert bare.count == 3
    assert not hasattr(bare, "needed")
    assert not hasattr(StateFields.of(Model).view({}, Model), "needed")


class Plain:
    def __init__(self) -> None:
        self.inside = [1]


def test_what_holds_others_is_copied_and_other_objects_are_shared() -> None:
    plain = Plain()
    value: list[Any] = [
        {"a": ([1], {2}, deque([3]))},
        Box([4]),
        Model.model_construct(names=["x"]),
        plain,
        bytearray(b"5"),
    ]
    made: Any = copied(value)
    assert made == value
    made[0]["a"][0].append(0)
    made[0]["a"][1].add(0)
    made[0]["a"][2].append(0)
    made[1].inside.append(0)
    made[2].names.append("y")
    made[4].append(0)
    assert value[:3] == [{"a": ([1], {2}, deque([3]))}, Box([4]), Model.model_construct(names=["x"])]
    assert value[4] == b"5"
    assert made[3] is plain


def test_a_value_that_holds_itself_can_be_copied() -> None:
    value: list[Any] = [1]
    value.append({"self": value})
    made: Any = copied(value)
    assert made is not value
    assert made[1]["self"] is made
    table: dict[str, Any] = {}
    table["self"] = table
    made = copied(table)
    assert made is not table
    assert made["self"] is made


# Several schemas.


class More(pydantic.BaseModel):
    count: Annotated[int, operator.add, pydantic.Field(ge=0)] = 5
    needed: str = "default"
    more: bool = True


def test_schemas_name_keys_of_one_state_together() -> None:
    state = StateFields.of(Model, UNSET, More)
    assert list(state.fields) == ["count", "names", "limit", "needed", "made", "double", "more"]
    begun = state.initial()
    assert (begun["count"], begun["needed"], begun["more"]) == (1, "default", True)


class Other(TypedDict):
    count: int
    names: Annotated[list[int], append]


def test_schemas_that_disagree_are_told_key_by_key() -> None:
    with pytest.raises(DefinitionError) as caught:
        StateFields.of(Typed, Other)
    assert caught.value.subject == "state"
    assert caught.value.faults == (
        "one run has one state, but its key 'count' is reduced by add in that of Typed and by nothing in that of Other",
        "one run has one state, but its key 'names' is list[str] in that of Typed and list[int] in that of Other",
    )
    StateFields.of(Typed, Data)


class Limited(TypedDict):
    count: Annotated[int, operator.add, pydantic.Field(lt=3)]


def test_what_one_schema_says_of_a_type_holds_for_all() -> None:
    for schemas in ((Typed, Limited), (Limited, Typed)):
        state = StateFields.of(*schemas)
        assert state.reduced({"count": 1}, "count", 1) == 2
        with pytest.raises(pydantic.ValidationError, match="less than 3"):
            state.reduced({"count": 1}, "count", 2)
    with pytest.raises(DefinitionError, match="'count' is constrained in one way in that of Model and in another"):
        StateFields.of(Model, Limited)


@pytest.mark.parametrize("schema", [int, dict, dict[str, int], list[int], str | None, Plain, Any])
def test_a_schema_without_named_keys_is_none(schema: object) -> None:
    if schema is Any:
        assert StateFields.of(schema).free
        return
    with pytest.raises(DefinitionError, match="must be a pydantic model, a dataclass or a TypedDict, not "):
        StateFields.of(schema)


def negate(value: int) -> int:
    return -value


class OneValue(TypedDict):
    x: Annotated[int, negate]


class Twice(TypedDict):
    x: Annotated[int, operator.add, max]


class Unread(TypedDict):
    x: Missing  # type: ignore[name-defined] # noqa: F821 # pyright: ignore[reportUndefinedVariable]


def test_reducers_take_two_values_and_there_is_one_a_key() -> None:
    for schema, fault in (
        (OneValue, "the reducer of 'x', negate, must take two values, the old one and the change"),
        (Twice, "'x' has several reducers: add, max"),
        (Unread, "the types of Unread cannot be read: name 'Missing' is not defined"),
    ):
        with pytest.raises(DefinitionError) as caught:
            StateFields.of(schema)
        assert caught.value.faults == (f"the state_schema of {schema.__name__}: {fault}",)


class Doubled:
    """Says something to pydantic, and can be called besides."""

    def __get_pydantic_core_schema__(self, source: Any, handler: pydantic.GetCoreSchemaHandler) -> Any:
        return handler(source)

    def __call__(self, value: int, other: int) -> int:
        raise AssertionError


class Marked(pydantic.BaseModel):
    x: Annotated[int, pydantic.AfterValidator(negate), "said of it", Plain, Doubled()] = 0


def test_what_else_is_said_of_a_type_is_no_reducer() -> None:
    state = StateFields.of(Marked)
    assert not state.has_reducer("x")
    assert state.reduced({}, "x", 3) == -3


class Summed:
    def __call__(self, old: int, delta: int) -> int:
        return old + delta


@pytest.mark.parametrize("reducer", [operator.add, max, Summed(), functools.partial(pow, mod=7)])
def test_any_callable_of_two_values_is_a_reducer(reducer: Callable[[int, int], int]) -> None:
    schema = TypedDict("schema", {"x": Annotated[int, reducer]})  # noqa: UP013
    assert StateFields.of(schema).reduced({"x": 2}, "x", 3) == reducer(2, 3)


def test_a_dataclass_of_plain_values_needs_no_pydantic() -> None:
    code = """
import dataclasses, sys
from interlock.workflows.state_schema import StateFields
@dataclasses.dataclass
class Counts:
    count: int = 1
state = StateFields.of(Counts)
assert state.reduced(state.initial({"count": 2}), "count", 3) == 3
print("pydantic" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
