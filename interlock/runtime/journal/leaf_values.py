"""Values of Python's own types that JSON does not have, one form each."""

from __future__ import annotations

import base64
import importlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path, PosixPath, PurePath, PurePosixPath, PureWindowsPath, WindowsPath
from typing import Any, Final, cast
from uuid import UUID

__all__ = ["LARGEST", "LEAVES", "LEAVES_BY_MODULE", "LEAVES_BY_TAG", "Leaf"]

LARGEST: Final = 1 << 2048
"""Integers below this are written as numbers: Python reads and writes so many digits under any setting."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """How values of one type are written.

    Args:
        tag: Names the form in the journal.
        write: Makes JSON of a value.
        read: Makes the value of that.
    """

    tag: str
    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def _escaped(value: str) -> str:
    return value.encode("unicode_escape").decode("ascii")


def _unescaped(text: str) -> str:
    return text.encode("ascii").decode("unicode_escape")


def _base64(value: bytes | bytearray) -> str:
    return base64.b64encode(value).decode("ascii")


def _zone(zone: tzinfo | None, offset: timedelta | None, name: str | None) -> Any:
    """A time zone: its name where it has rules, or the seconds east of UTC, and the name given to that."""
    if zone is None or zone is UTC:
        return None if zone is None else "UTC"
    key = getattr(zone, "key", None)
    if isinstance(key, str):
        return {"zone": key}
    seconds = None if offset is None else offset.total_seconds()
    own_name = isinstance(zone, timezone) and offset is not None and name != timezone(offset).tzname(None)
    return {"seconds": seconds, "name": name} if own_name else {"seconds": seconds}


def _read_zone(told: Any) -> tzinfo | None:
    if told is None or told == "UTC":
        return None if told is None else UTC
    if "zone" in told:
        from zoneinfo import ZoneInfo

        return ZoneInfo(told["zone"])
    if told["seconds"] is None:
        return None
    offset = timedelta(seconds=told["seconds"])
    return timezone(offset, told["name"]) if "name" in told else timezone(offset)


def _moment(value: datetime | time) -> list[Any]:
    zone = _zone(value.tzinfo, value.utcoffset(), value.tzname())
    return [value.replace(tzinfo=None).isoformat(), zone, value.fold]


def _read_datetime(told: Any) -> datetime:
    text, zone, fold = told
    return datetime.fromisoformat(text).replace(tzinfo=_read_zone(zone), fold=fold)


def _read_time(told: Any) -> time:
    text, zone, fold = told
    return time.fromisoformat(text).replace(tzinfo=_read_zone(zone), fold=fold)


def _path(value: PurePath) -> list[str]:
    return [type(value).__name__, _escaped(str(value))]


_PATHS: Final[Mapping[str, type[PurePath]]] = {
    kind.__name__: kind for kind in (PosixPath, WindowsPath, PurePosixPath, PureWindowsPath)
}


def _read_path(told: Any) -> PurePath:
    name, text = told
    kind = _PATHS[name]
    if issubclass(kind, Path) and kind is not type(Path()):  # another system's
        kind = PureWindowsPath if kind is WindowsPath else PurePosixPath
    return kind(_unescaped(text))


def _read_float(told: str) -> float:
    value = float(told)
    if math.isfinite(value):
        raise ValueError(f"{told} is a plain number")
    return value


LEAVES: Final[Mapping[type, Leaf]] = {
    int: Leaf("int", hex, lambda told: int(told, 16)),
    float: Leaf("float", repr, _read_float),
    str: Leaf("str", _escaped, _unescaped),
    bytes: Leaf("bytes", _base64, base64.b64decode),
    bytearray: Leaf("bytearray", _base64, lambda told: bytearray(base64.b64decode(told))),
    complex: Leaf("complex", lambda v: [repr(v.real), repr(v.imag)], lambda told: complex(*map(float, told))),
    range: Leaf("range", lambda v: [v.start, v.stop, v.step], lambda told: range(*told)),
    date: Leaf("date", date.isoformat, date.fromisoformat),
    datetime: Leaf("datetime", _moment, _read_datetime),
    time: Leaf("time", _moment, _read_time),
    timedelta: Leaf("timedelta", lambda v: [v.days, v.seconds, v.microseconds], lambda told: timedelta(*told)),
    Decimal: Leaf("decimal", str, Decimal),
    Fraction: Leaf("fraction", str, Fraction),
    UUID: Leaf("uuid", str, UUID),
    **dict.fromkeys(_PATHS.values(), Leaf("path", _path, _read_path)),
}
"""By type. Integers, floats and strings are written so where they have no form of their own in JSON."""


def _address(name: str) -> Leaf:
    return Leaf(f"ipaddress.{name}", str, lambda told: getattr(importlib.import_module("ipaddress"), name)(told))


def _read_url(told: Any) -> Any:
    name, text = told
    return _url_adapter(name).validate_python(text)


@cache
def _url_adapter(name: str) -> Any:
    networks = importlib.import_module("pydantic.networks")
    if not name.endswith(("Url", "Dsn")) or name not in cast("list[str]", networks.__all__):
        raise ValueError(f"pydantic has no URL type {name!r}")
    from pydantic import TypeAdapter

    return TypeAdapter[Any](getattr(networks, name))


_URL: Final = Leaf("url", lambda v: [type(v).__name__, str(v)], _read_url)

LEAVES_BY_MODULE: Final[Mapping[str, Callable[[type], Leaf | None]]] = {
    "ipaddress": lambda kind: _address(kind.__name__),
    "pydantic.networks": lambda kind: _URL if kind.__name__.endswith(("Url", "Dsn")) else None,
}
"""Types of modules that are not imported before somebody uses them."""

LEAVES_BY_TAG: Final[Mapping[str, Leaf]] = {
    leaf.tag: leaf
    for leaf in (
        *LEAVES.values(),
        _URL,
        *map(
            _address,
            ("IPv4Address", "IPv4Interface", "IPv4Network", "IPv6Address", "IPv6Interface", "IPv6Network"),
        ),
    )
}
"""By the tag in the journal."""
