"""Identifiers: made here, checked here."""

from __future__ import annotations

import os
import re
import time
from typing import Any

__all__ = ["fault_in_id", "kebab", "new_id"]

_BAD = re.compile(r"[\s./]")
_DRAWN = 128
_unused: list[str] = []
"""Random parts of ids to come: asking the system for many at once is cheaper."""

_latest: list[Any] = [0, ""]
"""The millisecond of the last id, and its text: many are made in one."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unused.clear)  # else parent and child would make the same ids


def new_id(prefix: str) -> str:
    """A fresh id such as ``msg_0197f2c1a3b4…``: the prefix, the time in milliseconds, and 64 random bits.

    Ids made later sort later (to the millisecond).
    """
    try:
        drawn = _unused.pop()
    except IndexError:
        drawn = _draw()
    now = time.time_ns() // 1_000_000
    if now != _latest[0]:
        _latest[:] = now, f"{now:012x}"
    return f"{prefix}_{_latest[1]}{drawn}"


def _draw() -> str:
    drawn = os.urandom(8 * _DRAWN).hex()
    _unused.extend(drawn[start : start + 16] for start in range(16, len(drawn), 16))
    return drawn[:16]


def fault_in_id(value: object) -> str | None:
    """What is wrong with a step's, workflow's or processor's id, or None.

    Any non-empty string without white space, ``.`` or ``/`` will do (both separate the parts of a path).
    """
    if not isinstance(value, str):
        return f"an id must be a string, not {type(value).__name__}"
    if not value:
        return "an id must not be empty"
    if _BAD.search(value):
        return f"the id {value!r} must not contain white space, '.' or '/'"
    return None


def kebab(name: str) -> str:
    """A Python name in the custom of ids: ``score_risk`` and ``ScoreRisk`` both become ``score-risk``."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name)
    return re.sub(r"[_\W]+", "-", spaced).strip("-").lower()
