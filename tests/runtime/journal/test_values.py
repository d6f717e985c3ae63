"""Values as JSON and back."""

from __future__ import annotations

import json
import math
import socket
import subprocess
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from ipaddress import ip_address, ip_network
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, cast
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AnyUrl, BaseModel, HttpUrl

from interlock.errors import ModelError, RecordedError, StepFailed, StorageError, UnrecordableValue
from interlock.messages import Message, MessageList, TextPart, ToolInvocationPart, Usage
from interlock.runtime.journal.values import ValueCodec
from interlock.schema import UNSET
from interlock.verdict import Phase, Tripwire
from interlock.workflows.outcome import StepError, Suspension
from tests.runtime.journal import shop


def _back(value: object, codec: ValueCodec | None = None) -> Any:
    """A value written by one codec and read by another, over JSON text that has nothing JSON does not have."""
    written = (codec or ValueCodec()).encode(value)
    text = json.dumps(written, allow_nan=False, ensure_ascii=False)
    return (codec or ValueCodec()).decode(json.loads(text.encode().decode()))


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal and of the same types, all the way down."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple | deque):
        ours, theirs = list(cast("list[Any]", one)), list(cast("list[Any]", other))
        return len(ours) == len(theirs) and all(map(_same, ours, theirs))
    if isinstance(one, dict):
        mine, yours = cast("dict[Any, Any]", one), cast("dict[Any, Any]", other)
        return _same(list(mine), list(yours)) and _same(list(mine.values()), list(yours.values()))
    if isinstance(one, float | complex | Decimal):
        return repr(one) == repr(other)
    if isinstance(one, set | frozenset):
        return Counter(map(type, cast("set[Any]", one))) == Counter(map(type, cast("set[Any]", other))) and one == other
    if is_dataclass(one):
        return all(_same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    if isinstance(one, BaseModel):
        return _same(one.__dict__, other.__dict__)
    return bool(one == other)


any_text = st.text(st.characters(exclude_categories=()), max_size=8)
zones = st.none() | st.just(UTC) | st.builds(timezone, st.timedeltas(timedelta(hours=-23), timedelta(hours=23)))
plain_keys = st.text(max_size=5) | st.just("$")
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=2**2040, max_value=2**2060)
    | st.floats()
    | any_text
    | st.binary(max_size=8)
    | st.complex_numbers()
    | st.dates()
    | st.datetimes(timezones=zones)
    | st.times(timezones=zones)
    | st.timedeltas()
    | st.decimals()
    | st.fractions()
    | st.uuids()
    | st.ip_addresses()
    | st.sampled_from([*shop.Colour, *shop.Level, *shop.Tag, shop.Rights(0), *shop.Rights, shop.Rights(3), UNSET])
    | st.builds(PurePosixPath, st.text(st.characters(exclude_characters="\0"), max_size=5))
    | st.builds(PureWindowsPath, st.just("C:\\temp"))
)
hashable = st.recursive(
    scalars.filter(lambda value: "nan" not in repr(value).lower()),
    lambda inner: st.tuples(inner) | st.frozensets(inner, max_size=3) | st.builds(shop.Line, st.integers(0), inner),
    max_leaves=5,
)


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists = st.lists(inner, max_size=4)
    dicts = st.dictionaries(plain_keys, inner, max_size=4)
    return (
        lists
        | dicts
        | st.dictionaries(hashable, inner, max_size=3)
        | lists.map(tuple)
        | lists.map(deque)
        | dicts.map(OrderedDict)
        | st.sets(hashable, max_size=3)
        | st.frozensets(hashable, max_size=3)
        | st.builds(shop.Order, st.integers(), lists, st.sampled_from(shop.Colour))
        | st.builds(shop.Box, inner)
        | st.builds(shop.Point, st.integers(), any_text)
        | st.builds(shop.Frozen, value=inner)
    )


values = st.recursive(scalars, _containers, max_leaves=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text().filter(lambda key: key != "$"), inner),
    max_leaves=12,
)


@given(values)
def test_a_value_comes_back_exactly(value: object) -> None:
    assert _same(_back(value), value)


@given(json_values)
def test_plain_json_stands_for_itself(value: object) -> None:
    assert ValueCodec().encode(value) == value


@given(values)
def test_what_is_written_shares_nothing_with_the_value(value: object) -> None:
    def ids(found: Any) -> set[int]:
        if not isinstance(found, dict | list):
            return set()
        inside = list(cast("dict[str, Any]", found).values()) if isinstance(found, dict) else cast("list[Any]", found)
        return {id(cast("object", found))}.union(*map(ids, inside))

    codec = ValueCodec()
    once, twice = codec.encode(value), codec.encode(value)
    assert not ids(once) & ids(twice)
    assert not ids(once) & ids(value)


EXACT: list[Any] = [
    float("nan"),
    float("-inf"),
    -0.0,
    "half \ud800 a pair \\ud800 \\",
    {"\ud800": 1},
    {"$": "decimal", "v": "1"},
    {1: "a", "1": "b", (1,): "c"},
    bytearray(b"\0\xff"),
    range(3, 30, 2),
    Decimal("-0.00"),
    Decimal("sNaN"),
    Fraction(1, 3),
    datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Berlin")),
    datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=2), "here")),
    time(1, 2, 3, 4, tzinfo=ZoneInfo("Asia/Tokyo")),
    date(1, 1, 1),
    UUID(int=7),
    Path("/tmp/a file"),
    Path("half \udc80 a name"),
    ip_address("::1"),
    ip_network("10.0.0.0/8"),
    HttpUrl("https://example.org/a?b=c#d"),
    AnyUrl("ftp://example.org"),
    deque([1, 2], maxlen=3),
    Counter("abracadabra"),
    OrderedDict(b=1, a=2),
    defaultdict(list, {"a": [1]}),
    defaultdict(None, {1: 2}),
    shop.Colour.CRIMSON,
    shop.Rights.READ | shop.Rights.WRITE,
    Phase.TOOL_CALL,
    Tripwire("no", "guard", Phase.INPUT, metadata={"score": 0.5}),
    Suspension("s", "a/s", None, {"ask": shop.Line(1)}, "token", 3),
    Usage(3, 4),
    shop.Parcel(1.5),
    shop.Names(["a", "b"]),
    shop.IntPage(items=[1]),
    shop.Temperature(36.6),
    Message.user("hello"),
    Message("assistant", [TextPart("a"), ToolInvocationPart("1", "t", args={"a": [1]})], metadata={"k": 1}),
]


@pytest.mark.parametrize("value", EXACT, ids=[f"{place}-{type(one).__name__}" for place, one in enumerate(EXACT)])
def test_this_value_comes_back_exactly(value: Any) -> None:
    back = _back([value])[0]
    assert type(back) is type(value)
    assert repr(back) == repr(value)
    if "nan" not in repr(value).lower():
        assert back == value


def test_a_date_with_rules_of_its_own_comes_back_as_the_same_moment() -> None:
    class Zone(timezone.__base__):  # type: ignore[misc, name-defined]
        def utcoffset(self, moment: datetime | None) -> timedelta:
            return timedelta(hours=5)

        def dst(self, moment: datetime | None) -> None:
            return None

        def tzname(self, moment: datetime | None) -> str:
            return "mine"

    moment = datetime(2026, 1, 1, tzinfo=Zone())
    back = _back(moment)
    assert back == moment
    assert back.tzinfo == timezone(timedelta(hours=5))


def test_a_factory_of_a_defaultdict_comes_back() -> None:
    back = _back(defaultdict(list, a=[1]))
    back["b"].append(2)
    assert back == {"a": [1], "b": [2]}


# Objects


def test_no_code_of_a_class_runs_when_its_objects_are_read() -> None:
    line = shop.Line(1)
    object.__setattr__(line, "amount", -1)
    assert _back(line).amount == -1
    frozen = shop.Frozen(value=1)
    shop.validated.clear()
    assert _back(frozen) == frozen
    assert shop.validated == []


def test_a_model_keeps_its_extra_fields_its_private_attributes_and_what_was_set() -> None:
    customer = shop.Customer.model_validate({"name": "Ann", "shoe": shop.Line(42), "home": "http://a.b"})
    customer._seen = 7
    assert customer.greeting == "Hello Ann"
    back = _back(customer)
    assert back == customer
    assert (back._seen, back.shoe, back.model_fields_set) == (7, shop.Line(42), {"name", "shoe", "home"})
    assert "greeting" not in back.__dict__
    assert back.model_copy(update={"name": "Bob"}).greeting == "Hello Bob"


def test_a_model_that_was_made_without_validation_stays_as_it_was() -> None:
    back = _back(shop.Customer.model_construct(name=3, orders=None))
    assert (back.name, back.orders, back.home) == (3, None, None)


def test_a_dataclass_keeps_attributes_that_are_no_fields_and_forgets_what_it_can_compute_again() -> None:
    assert _back(shop.Noted("two words")).words == ["two", "words"]
    order = shop.Order(1, [1, 2])
    assert order.total == 2
    assert "total" not in _back(order).__dict__
    assert _back(order).total == 2


def test_a_generic_dataclass_comes_back_whatever_it_was_called_with() -> None:
    assert _back(shop.Box[int](1)) == shop.Box(1)


def test_a_field_that_was_never_set_is_not_set_afterwards() -> None:
    line = object.__new__(shop.Line)
    object.__setattr__(line, "amount", 1)
    back = _back(line)
    assert back.amount == 1
    assert not hasattr(back, "article")


def test_classes_made_in_functions_come_back_where_they_were_named() -> None:
    @dataclass
    class Local:
        x: int

    assert _back(Local(1), ValueCodec([Local])) == Local(1)
    with pytest.raises(UnrecordableValue, match=r"Local, a class that is not found again by its name.*schema"):
        ValueCodec().encode(Local(1))


def _as_before(value: object, change: Callable[[dict[str, Any]], object]) -> Any:
    """What is read where a class had other fields when the value was written."""
    written = ValueCodec().encode(value)
    change(written["fields"])
    return ValueCodec().decode(written)


@pytest.mark.parametrize(
    ("value", "field", "default"),
    [
        (shop.Order(1, [2]), "lines", []),
        (shop.Line(1, 2), "article", None),
        (shop.Point(1, "a"), "label", "origin"),
        (shop.Customer(name="a", orders=[shop.Order(1)]), "orders", []),
    ],
)
def test_a_field_that_was_added_since_gets_its_default(value: Any, field: str, default: object) -> None:
    assert getattr(_as_before(value, lambda fields: fields.pop(field)), field) == default


@pytest.mark.parametrize(
    ("value", "field"), [(shop.Order(1), "number"), (shop.Point(1), "x"), (shop.Customer(name="a"), "name")]
)
def test_a_field_without_a_default_that_was_added_since_is_named(value: Any, field: str) -> None:
    with pytest.raises(StorageError, match=f"before the class was changed: it now has '{field}', without a default"):
        _as_before(value, lambda fields: fields.pop(field))


@pytest.mark.parametrize("value", [shop.Order(1), shop.Point(1), shop.Customer(name="a"), shop.Line(1)])
def test_a_field_that_was_removed_since_is_named(value: Any) -> None:
    with pytest.raises(StorageError, match="before the class was changed: it no longer has 'gone'"):
        _as_before(value, lambda fields: fields.update(gone=1))


# Errors


def test_an_error_comes_back_as_what_it_said() -> None:
    error = _back(ValueError("no \ud800"))
    assert isinstance(error, RecordedError)
    assert str(error) == "ValueError: no \ud800"
    assert str(_back(KeyError())) == "KeyError"
    assert str(_back(_back(ValueError("no")))) == "ValueError: no"
    assert str(_back(ExceptionGroup("some", [ValueError("no")]))) == "ExceptionGroup: some (1 sub-exception)"


def test_an_error_whose_message_fails_is_recorded_all_the_same() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert str(_back(MuteError())) == "MuteError: (its message could not be told: RuntimeError)"


def test_a_failed_step_and_a_models_error_come_back_with_what_they_carry() -> None:
    model = ModelError("slow down", provider="openai", status=429, body="{}", retryable=True)
    failed = StepFailed("a/b", model, attempt=2, phase=Phase.INPUT)
    back = _back(StepError("b", failed))
    assert isinstance(back, StepError)
    assert isinstance(back.error, StepFailed)
    assert str(back.error) == str(failed)
    assert (back.error.step_id, back.error.attempt, back.error.phase) == ("a/b", 2, "input")
    cause = back.error.cause
    assert isinstance(cause, ModelError)
    assert vars(cause) == vars(model)


# What cannot be written


def test_what_cannot_be_written_is_named_by_its_place_with_what_to_do() -> None:
    with socket.socket() as handle, pytest.raises(UnrecordableValue) as caught:
        ValueCodec().encode({"ticket": shop.Box([1, handle])}, place="the output of 'triage'")
    assert str(caught.value) == (
        "the output of 'triage'['ticket'].content[1] is a socket.socket: a journal cannot hold it; give its class "
        "to_json() and from_json(), make it a dataclass or a pydantic model, or keep it out of the value"
    )
    assert caught.value.place == "the output of 'triage'['ticket'].content[1]"


NOT_TO_BE_WRITTEN: list[tuple[Any, str]] = [
    (shop.Plain(), "the value is a tests.runtime.journal.shop.Plain: a journal"),
    ({1: {(2,): len}}, r"the value\[1\]\[\(2,\)\] is a builtin_function_or_method"),
    ({len: 1}, "is a builtin_function_or_method"),
    ((1, {"a": int}), r"the value\[1\]\['a'\] is a type"),
    (shop.Frozen(value=print), r"the value\.value is a builtin_function_or_method"),
    (shop.Point(1, cast("Any", object())), r"the value\.label is an object"),
    (defaultdict(lambda: 1), "is a defaultdict whose factory is no built-in type"),
    (shop.Broken(1), r"is a .*Broken that has no JSON form \(out of order\)"),
    (shop.Nested(1), r"the value\.to_json\(\)\['inner'\]\[0\] is an object"),
    (MessageList([Message("user", "a", metadata={"x": object()})]), r"no JSON form \(message .*metadata\.x"),
    (type("Texts", (list,), {})(), "is a .*Texts"),
]


@pytest.mark.parametrize(
    ("value", "said"), NOT_TO_BE_WRITTEN, ids=[str(place) for place in range(len(NOT_TO_BE_WRITTEN))]
)
def test_this_cannot_be_written(value: object, said: str) -> None:
    with pytest.raises(UnrecordableValue, match=said):
        ValueCodec().encode(value)


def test_a_value_that_holds_itself_is_named() -> None:
    around: dict[str, Any] = {"a": [1]}
    around["a"].append(shop.Box(around))
    with pytest.raises(UnrecordableValue, match=r"^the value\['a'\]\[1\]\.content holds itself: "):
        ValueCodec().encode(around)


def test_a_value_nested_too_deep_is_refused_and_one_nearly_so_is_not() -> None:
    def nested(depth: int) -> list[Any]:
        made: list[Any] = []
        for _ in range(depth):
            made = [made]
        return made

    assert _back(nested(150)) == nested(150)
    for depth in (151, 1_000):
        with pytest.raises(UnrecordableValue, match=r"is nested more than 150 deep") as caught:
            ValueCodec().encode(nested(depth))
        assert len(caught.value.place) < 100
    box: object = None
    for _ in range(75):
        box = shop.Box({1: box})
    with pytest.raises(UnrecordableValue, match=r"is nested more than 150 deep"):
        ValueCodec().encode(box)
    box = None
    for _ in range(30):
        box = shop.Box({1: box})
    assert _back(box) == box


# What cannot be read


FORGED: list[Any] = [
    {"$": "unknown", "v": 1},
    {"$": ["list"]},
    {"$": "decimal"},
    {"$": "decimal", "v": "x"},
    {"$": "float", "v": "1.5"},
    {"$": "enum", "class": "tests.runtime.journal.shop:Colour", "v": "GREEN"},
    {"$": "object", "class": "tests.runtime.journal.shop:Order"},
    {"$": "object", "class": "tests.runtime.journal.shop:Colour", "fields": {}},
    {"$": "json", "class": "tests.runtime.journal.shop:Order", "v": {}},
    {"$": "messages", "v": {"messages": [], "system": []}},
    {"$": "url", "v": ["BaseModel", "http://a.b"]},
    {"$": "context", "v": {"phase": "lunch"}},
    {"$": "default-dict", "v": ["eval", []]},
]


@pytest.mark.parametrize("written", FORGED, ids=str)
def test_json_that_nobody_wrote_is_refused(written: Any) -> None:
    with pytest.raises(StorageError, match=r"a value in the journal cannot be read|no longer has|now has"):
        ValueCodec().decode([written])


@pytest.mark.parametrize(
    "name",
    [
        "antigravity:Thing",
        "os:system",
        "builtins:dict",
        "subprocess:Popen",
        "tests.runtime.journal.shop:Plain",
        "",
        ":",
    ],
)
def test_a_class_that_is_not_made_of_data_or_not_imported_is_refused_and_nothing_is_imported(name: str) -> None:
    for tag in ("object", "enum", "json"):
        with pytest.raises(StorageError, match=r"neither in a schema of the workflow nor in a module that is imported"):
            ValueCodec().decode({"$": tag, "class": name, "fields": {}, "v": {}})
    assert "antigravity" not in sys.modules


def test_plain_values_need_no_pydantic() -> None:
    code = (
        "import sys; from dataclasses import dataclass; from interlock.runtime.journal.values import ValueCodec;"
        "before = 'pydantic.main' in sys.modules; from interlock.workflows.outcome import StepError;"
        "codec = ValueCodec(); codec.decode(codec.encode([StepError('a', ValueError()), {1: b''}]));"
        "print(before or 'pydantic.main' not in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "True\n"


def test_infinite_numbers_are_told_from_large_ones() -> None:
    assert math.isinf(_back(1e309))
    assert ValueCodec().encode(1e308) == 1e308
