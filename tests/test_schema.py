"""Types as schemas."""

from __future__ import annotations

import sys
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, NewType, Optional, Protocol, TypedDict, TypeVar, Union

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.schema import UNSET, fault_in_schema, fits, is_set, is_union, schema_name, validate


class Ticket(pydantic.BaseModel):
    title: str
    tags: list[str] = ["new"]


class Urgent(Ticket):
    deadline: int = 1


@dataclass
class Score:
    value: float = 0.5


class Row(TypedDict):
    title: str


class Pair(NamedTuple):
    left: int
    right: int


class Plain:
    pass


class Readable(Protocol):
    name: str


class Called:
    __interlock_name__ = "a called thing"


class One:
    __interlock_union__ = "Many"


class Two:
    __interlock_union__ = "Many"


UserId = NewType("UserId", int)
T = TypeVar("T")


@pytest.mark.parametrize("schema", [UNSET, Any, object])
def test_no_schema_any_and_object_take_every_value_as_it_is(schema: object) -> None:
    value = Plain()
    assert not is_set(schema)
    assert validate(schema, value) is value


def test_none_is_a_schema_that_takes_only_none() -> None:
    assert is_set(None)
    assert validate(None, None) is None
    with pytest.raises(pydantic.ValidationError):
        validate(None, 1)


def test_defaults_are_applied() -> None:
    assert validate(Ticket, {"title": "x"}) == Ticket(title="x", tags=["new"])
    assert validate(Score, {}) == Score(0.5)


@pytest.mark.parametrize(
    ("schema", "value"),
    [(int, "seven"), (list[int], ["a"]), (Ticket, {}), (Literal["a"], "b"), (Plain, 1), (Optional[int], "x")],  # noqa: UP045
)
def test_what_does_not_fit_is_refused(schema: Any, value: object) -> None:
    with pytest.raises(pydantic.ValidationError):
        validate(schema, value)


def test_a_plain_class_is_checked_by_isinstance() -> None:
    value = Plain()
    assert validate(Plain, value) is value
    assert validate(list[Plain], [value])[0] is value


def test_a_schema_that_cannot_be_hashed_works_too() -> None:
    assert validate(Annotated[int, pydantic.Field(gt=0), ["note"]], 3) == 3


def test_pydantic_is_imported_only_when_a_value_is_checked() -> None:
    import subprocess

    program = """
import sys
from interlock.schema import fits, schema_name, validate, UNSET
fits(int, str), schema_name(list[int]), validate(UNSET, 1)
assert "pydantic" not in sys.modules, "imported too early"
validate(int, 1)
assert "pydantic" in sys.modules
"""
    bare = "import sys, types; sys.modules['interlock'] = types.ModuleType('interlock'); "
    bare += f"sys.modules['interlock'].__path__ = [{str(_package())!r}]\n"
    subprocess.run([sys.executable, "-c", bare + program], check=True, timeout=60)


def _package() -> str:
    import interlock

    return next(iter(interlock.__path__))


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        (UNSET, "anything"),
        (Any, "anything"),
        (None, "None"),
        (type(None), "None"),
        (int, "int"),
        (Ticket, "Ticket"),
        (list[Ticket], "list[Ticket]"),
        (typing.List[int], "list[int]"),  # noqa: UP006
        (dict[str, list[Score]], "dict[str, list[Score]]"),
        (tuple[int, ...], "tuple[int, ...]"),
        (int | None, "int | None"),
        (Union[Ticket, str], "Ticket | str"),  # noqa: UP007
        (Annotated[int, pydantic.Field(gt=0)], "int"),
        (Literal["a", 1], "Literal['a', 1]"),
        (Callable[[int], str], "Callable[[int], str]"),
        (UserId, "UserId"),
        (Called, "a called thing"),
        (One | Two, "Many"),
        (One | int, "One | int"),
    ],
)
def test_a_schema_is_called_as_it_is_written(schema: object, name: str) -> None:
    assert schema_name(schema).replace("collections.abc.", "") == name


@pytest.mark.parametrize(
    ("given_schema", "wanted"),
    [
        (UNSET, int),
        (int, UNSET),
        (int, Any),
        (int, int),
        (bool, int),
        (int, float),
        (Urgent, Ticket),
        (int, int | None),
        (None, int | None),
        (Literal["a"], str),
        (int | str, int | str | None),
        (list[bool], list[int]),
        (list, list[int]),
        (list[int], Sequence[int]),
        (dict[str, Any], dict[str, int]),
        (dict, Ticket),
        (dict[str, Any], Score),
        (dict, Row),
        (dict, Pair),
        (Row, Ticket),
        (Row, dict),
        (Row, Mapping[str, object]),
        (Annotated[int, "note"], int),
        (int, Annotated[int, "note"]),
        (UserId, int),
        (T, int),
        (Plain, Readable),
    ],
)
def test_what_can_be_of_a_schema_fits_it(given_schema: Any, wanted: Any) -> None:
    assert fits(given_schema, wanted)


@pytest.mark.parametrize(
    ("given_schema", "wanted"),
    [
        (int, str),
        (str, int),
        (float, int),
        (None, int),
        (int, None),
        (Ticket, Urgent),
        (Ticket, Score),
        (int | None, int),
        (int | str, int),
        (list[str], list[int]),
        (dict[str, str], dict[str, int]),
        (list[int], dict[str, int]),
        (dict, Plain),
        (dict, int),
        (Ticket, dict),
        (int, Row),
        (Row, Plain),
        (Annotated[str, "note"], int),
        (list[int | None], list[int]),
    ],
)
def test_what_can_never_be_of_a_schema_does_not_fit(given_schema: Any, wanted: Any) -> None:
    assert not fits(given_schema, wanted)


schemas: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([int, str, bool, float, None, Ticket, Urgent, Score, Row, Plain, UNSET, Any]),
    lambda inner: st.one_of(
        inner.map(lambda schema: list[schema]),  # type: ignore[valid-type]
        inner.map(lambda schema: dict[str, schema]),  # type: ignore[valid-type]
        st.tuples(inner, inner).map(lambda two: Union[two[0], two[1]] if UNSET not in two else two[0]),  # noqa: UP007
    ),
    max_leaves=5,
)


@given(schemas)
def test_every_schema_fits_itself_and_whatever_takes_anything(schema: Any) -> None:
    assert fits(schema, schema)
    assert fits(schema, Any)
    assert fits(Any, schema)


@given(schemas, schemas)
def test_both_members_fit_a_union_and_a_union_fits_where_both_do(one: Any, other: Any) -> None:
    if UNSET in (one, other):
        return
    both = Union[one, other]  # noqa: UP007
    assert fits(one, both)
    assert fits(other, both)
    if is_union(both):
        for wanted in (int, list[int], Ticket):
            assert fits(both, wanted) == (fits(one, wanted) and fits(other, wanted))


@given(schemas)
def test_every_schema_has_a_name(schema: Any) -> None:
    assert schema_name(schema)
    assert fault_in_schema(schema) is None


@pytest.mark.parametrize("value", ["Ticket", 5, {"type": "object"}, [int], (int, str), b"x"])
def test_a_value_is_no_schema(value: object) -> None:
    fault = fault_in_schema(value)
    assert fault is not None
    assert fault.startswith("a schema is a type, such as str or a pydantic model, not the ")
    assert type(value).__name__ in fault
