"""The classes of values in a journal."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, make_dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NewType, Optional, TypedDict, TypeVar, Union, cast

import pytest
from pydantic import BaseModel

from interlock.processors import ProcessorStepSchema
from interlock.runtime.journal.record_classes import RecordClasses, classes_in
from interlock.runtime.journal.values import ValueCodec
from interlock.schema import UNSET
from tests.runtime.journal import shop
from tests.runtime.journal.shop import Box, Colour, Customer, Line, Order, Page, Point, Temperature

Named = NewType("Named", Order)
Bound = TypeVar("Bound", bound=Line)


class Typed(TypedDict):
    order: Order
    many: list[Typed]


class Pair(NamedTuple):
    one: Line
    rest: Pair | None = None


class Tree(BaseModel):
    leaf: Colour | None = None
    branches: list[Tree] = []


@dataclass
class Unclear:
    known: Order
    unknown: NobodyKnows  # type: ignore[name-defined]  # noqa: F821
    also_known: dict[str, Point]


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        (Order, {Order, Colour}),
        (list[Order], {Order, Colour}),
        (Optional[Line], {Line}),  # noqa: UP045
        (Union[Line, int, Point], {Line, Point}),  # noqa: UP007
        (Line | None, {Line}),
        (dict[str, tuple[Line, ...] | Sequence[Mapping[int, Point]]], {Line, Point}),
        (Annotated[Line, [1, 2]], {Line}),
        (Callable[[Line], Point], {Line, Point}),
        (Literal[Colour.RED, "x"], {Colour}),
        (Named, {Order, Colour}),
        (list[Bound], {Line}),  # type: ignore[valid-type]
        (Box[Line], {Box, Line}),
        (Page[Line], {cast("type", Page[Line]), Line}),
        (Customer, {Customer, Order, Colour}),
        (Typed, {Order, Colour}),
        (Pair, {Pair, Line}),
        (Tree, {Tree, Colour}),
        (Unclear, {Unclear, Order, Colour, Point}),
        (Temperature, {Temperature}),
        (ProcessorStepSchema, set()),
        (UNSET, set()),
        (Any, set()),
        (None, set()),
        ("Line", set()),
        (int, set()),
    ],
    ids=lambda given: "" if isinstance(given, set) else None,
)
def test_every_class_that_a_schema_speaks_of_is_found(schema: object, wanted: set[type]) -> None:
    assert classes_in([schema]) == wanted


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type aliases are new in Python 3.12")
def test_the_classes_of_a_type_alias_are_found() -> None:
    scope: dict[str, Any] = {"Line": Line}
    exec("type Lines = list[Line]", scope)
    assert classes_in([scope["Lines"]]) == {Line}


def test_several_schemas_are_looked_through_together() -> None:
    assert classes_in([Line, Point, Line]) == {Line, Point}


def _module(monkeypatch: pytest.MonkeyPatch, name: str, *classes: str) -> types.ModuleType:
    module = types.ModuleType(name)
    for kind in classes:
        made = make_dataclass(kind, [("x", int)])
        made.__module__ = name
        setattr(module, kind, made)
    monkeypatch.setitem(sys.modules, name, module)
    return module


def test_a_class_of_the_module_named_comes_before_one_of_the_same_name_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, other = _module(monkeypatch, "one", "Ticket"), _module(monkeypatch, "other", "Ticket")
    classes = RecordClasses([one.Ticket])
    assert classes.find("other:Ticket") is other.Ticket
    assert classes.find("one:Ticket") is one.Ticket


def test_a_class_is_found_under_another_name_of_its_module(monkeypatch: pytest.MonkeyPatch) -> None:
    flow = _module(monkeypatch, "flow", "Ticket", "Detail")
    classes = RecordClasses([flow.Ticket])
    assert classes.find("__main__:Ticket") is flow.Ticket
    assert classes.find("__main__:Detail") is flow.Detail
    assert RecordClasses().find("__main__:Ticket") is None


def test_a_name_that_two_classes_have_is_not_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = _module(monkeypatch, "one", "Ticket"), _module(monkeypatch, "other", "Ticket")
    assert RecordClasses([one.Ticket, other.Ticket]).find("__main__:Ticket") is None


def test_a_class_is_not_found_by_a_name_that_is_not_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    alias = types.ModuleType("alias")
    alias.Order = Order  # type: ignore[attr-defined]
    alias.inner = shop  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "alias", alias)
    assert RecordClasses().find("alias:Order") is None
    assert RecordClasses().find("alias:inner.Order") is None
    assert RecordClasses().find(f"{shop.__name__}:Order") is Order


def test_a_generic_model_is_found_with_its_arguments() -> None:
    assert RecordClasses().find(f"{shop.__name__}:Page[int]") is shop.IntPage
    assert RecordClasses().find(f"{shop.__name__}:Page[bytes]") is None


def test_a_class_that_another_took_the_place_of_has_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    old = _module(monkeypatch, "flow", "Ticket").Ticket
    _module(monkeypatch, "flow", "Ticket")
    assert RecordClasses().name_of(old) is None
    assert RecordClasses([old]).name_of(old) == "flow:Ticket"


SCRIPT = """
import json, sys
from dataclasses import dataclass
from interlock.runtime.journal.values import ValueCodec, classes_in

@dataclass
class Ticket:
    text: str

if __name__ == "__main__":
    print(json.dumps(ValueCodec().encode([Ticket("hello")])))
"""


def test_what_a_script_wrote_is_read_where_the_script_is_a_module(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "ticket_flow.py"
    script.write_text(SCRIPT)
    monkeypatch.setenv("PYTHONPATH", str(root))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, timeout=60)
    written = json.loads(done.stdout)
    assert written[0]["class"] == "__main__:Ticket"
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    flow = importlib.import_module("ticket_flow")
    monkeypatch.delitem(sys.modules, "ticket_flow")
    assert ValueCodec(classes_in([flow.Ticket])).decode(written) == [flow.Ticket("hello")]


def test_an_enumeration_in_a_class_is_found_by_its_path() -> None:
    assert ValueCodec().decode(ValueCodec().encode(Outer.Inner.A)) is Outer.Inner.A


class Outer:
    class Inner(Enum):
        A = 1
