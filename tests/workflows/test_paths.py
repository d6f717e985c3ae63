"""Paths into values."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, cast

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.context import RequestContext
from interlock.errors import DefinitionError
from interlock.workflows.paths import Path


class Customer(pydantic.BaseModel):
    name: str = "ann"
    tags: list[str] = ["gold", "old"]

    @property
    def initial(self) -> str:
        return self.name[0]

    @cached_property
    def length(self) -> int:
        return len(self.name)

    def greeting(self) -> str:
        return "hello"

    @staticmethod
    def fixed() -> int:
        return 1


@dataclass
class Order:
    customer: Customer = field(default_factory=Customer)
    lines: tuple[int, ...] = (3, 0)
    note: str | None = None
    _secret: str = "x"


class Point(NamedTuple):
    x: int = 0
    y: int = 2


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("order.customer.name", "ann"),
        ("order.customer.tags[1]", "old"),
        ("order.customer.tags[-2]", "gold"),
        ("order.customer.initial", "a"),
        ("order.customer.length", 3),
        ("order.lines[1]", 0),
        ("order.note", None),
        ("list[0][1].deep", False),
        ("point.y", 2),
        ("point[0]", 0),
        ("two words.x", ""),
        ("_private", 1),
        ("by number[7]", "seven"),
        ("request.user", "eva"),
        ("empty", {}),
    ],
)
def test_a_path_leads_through_mappings_attributes_and_sequences(path: str, found: object) -> None:
    value = {
        "order": Order(),
        "list": [[1, {"deep": False}]],
        "point": Point(),
        "two words": {"x": ""},
        "_private": 1,
        "by number": {7: "seven"},
        "request": RequestContext(user="eva"),
        "empty": {},
    }
    assert Path(path).read(value, "input") == found


@pytest.mark.parametrize("path", ["", "."])
def test_no_path_is_the_value_itself(path: str) -> None:
    value: list[Any] = []
    assert Path(path).read(value, "input") is value
    assert Path(path).after("input") == "input"


@pytest.mark.parametrize(
    "text", ["a..b", ".a", "a.", "a[", "a]", "a[x]", "a[0]b", "a.[0]", "[]", "[1.5]", "..", 3, None]
)
def test_what_is_no_path_is_told(text: Any) -> None:
    with pytest.raises(DefinitionError, match=r"path.*customer\.orders\[0\]"):
        Path(text)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        (
            "order.price",
            "input.order.price: input.order has no 'price': there is Order with customer, lines, note",
        ),
        ("order.customer.age", "input.order.customer has no 'age': there is Customer with name, tags"),
        ("order.lines[2]", "input.order.lines has no item [2]: there is tuple of 2"),
        ("order.lines[-3].x", "input.order.lines[-3].x: input.order.lines has no item [-3]: there is tuple of 2"),
        ("order.note.x", "input.order.note has no 'x': there is None"),
        ("b", "input.b: input has no key 'b': there is dict with 'order', 'text', 7, 'none'"),
        ("none.x", "input.none has no key 'x': there is an empty dict"),
        ("text[0]", "input.text has no items: there is str"),
        ("text.upper", "input.text has 'upper' only as a method: there is str"),
        ("order.customer.greeting", "input.order.customer has 'greeting' only as a method"),
        ("order.customer.fixed", "input.order.customer has 'fixed' only as a method"),
        ("order.customer.model_construct", "input.order.customer has 'model_construct' only as a method"),
        ("order.customer[0]", "input.order.customer has no items: there is Customer with name, tags"),
        ("order.lines.first", "input.order.lines has no 'first': there is tuple of 2"),
    ],
)
def test_where_a_path_stops_and_what_is_there_is_told(path: str, told: str) -> None:
    value: dict[object, object] = {"order": Order(), "text": "abc", 7: 1, "none": {}}
    with pytest.raises(LookupError) as caught:
        Path(path).read(value, "input")
    assert told in str(caught.value)
    assert str(caught.value).startswith(f"input.{path}: ")


@pytest.mark.parametrize("name", ["_secret", "__class__", "__dict__", "__init__", "_", "__pydantic_fields_set__"])
@pytest.mark.parametrize("value", [Order(), Customer(), Point(), 3, "x", None, [1]])
def test_what_is_private_is_not_read(name: str, value: object) -> None:
    with pytest.raises(LookupError, match=rf"input is not asked for '{name}', which is private"):
        Path(name).read(value, "input")


def test_a_key_that_is_not_there_is_not_made() -> None:
    counts: defaultdict[str, int] = defaultdict(int)
    with pytest.raises(LookupError, match="input has no key 'a'"):
        Path("a").read(counts, "input")
    assert dict(counts) == {}


def test_what_a_value_holds_is_not_told() -> None:
    values: list[object] = [{"a": "secret"}, ["secret"], "secret", Customer(name="secret"), deque(["secret"])]
    for value in values:
        with pytest.raises(LookupError) as caught:
            Path("x.y").read(value, "input")
        assert "secret" not in str(caught.value)


def test_only_the_first_names_are_told() -> None:
    with pytest.raises(LookupError, match=r"there is dict with 'k0', 'k1', 'k2', 'k3', 'k4', 'k5', 'k6', 'k7', …$"):
        Path("x").read({f"k{n}": n for n in range(9)}, "input")


names = st.text(st.characters(exclude_characters=".[]"), min_size=1)


@given(st.recursive(st.integers(), lambda inner: st.lists(inner) | st.dictionaries(names, inner)))
def test_every_part_of_a_value_has_a_path(value: Any) -> None:
    def walk(inner: Any, way: str) -> None:
        path = way.removeprefix("input").removeprefix(".")
        assert Path(path).read(value, "input") is inner
        assert Path(path).after("input") == way
        if isinstance(inner, dict):
            for key, one in cast("dict[str, Any]", inner).items():
                walk(one, f"{way}.{key}")
        elif isinstance(inner, list):
            for number, one in enumerate(cast("list[Any]", inner)):
                walk(one, f"{way}[{number}]")

    walk(value, "input")
