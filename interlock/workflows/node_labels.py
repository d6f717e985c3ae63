"""What a drawing writes on the nodes of a plan, and beside the ways out of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from interlock.workflows.nodes import (
    BranchNode,
    ErrorMode,
    ForeachNode,
    LoopNode,
    MapNode,
    MergeNode,
    Node,
    ParallelNode,
    SleepNode,
)

__all__ = ["NONE_HOLDS", "OTHERWISE", "again_label", "condition_label", "duration_label", "node_label"]

OTHERWISE: Final = "otherwise"
"""Beside the way to the arm that a branch takes where no condition holds."""
NONE_HOLDS: Final = "none"
"""Beside the way past a branch, which is taken where no condition holds and nothing stands for that."""

_USUAL_ITERATIONS: Final = 1000
_KEYS = 4
_UNITS: Final = (("d", 86400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))


def node_label(node: Node) -> str:
    """The label of a node: its id, and what there is to know of it where that is not the usual.

    Example:
        >>> from interlock.workflows.nodes import Plan
        >>> node_label(ForeachNode("foreach", Plan("x", ()), concurrency=4))
        'foreach: each item, 4 at once'
    """
    match node:
        case MapNode(id=id_, function=function, sources=sources):
            named = _name(function) if sources is None else _listed(list(sources))
            return _with(id_, named)
        case MergeNode(id=id_, prefer=prefer, with_=with_):
            named = _with(id_, None if with_ is None else _name(with_))
            return named if prefer is None else f"{named}, prefers {prefer}"
        case SleepNode(id=id_, time=time, until=until):
            return _with(id_, _time(time, until=until))
        case ParallelNode(id=id_):
            return _with(id_, ", ".join(_parallel(node)))
        case BranchNode(id=id_, mode=mode):
            return _with(id_, "all that hold" if mode == "all" else None)
        case ForeachNode(id=id_, concurrency=concurrency, on_error=on_error):
            return _with(
                id_,
                ", ".join(("each item", *(() if concurrency == 1 else _at_once(concurrency)), *_on_error(on_error))),
            )
        case LoopNode(id=id_, max_iterations=most):
            return _with(id_, None if most == _USUAL_ITERATIONS else f"at most {most} times")
        case _:
            return node.id


def condition_label(condition: Callable[..., Any], number: int) -> str:
    """What stands beside the way to an arm of a branch: the condition's name, or the arm's number, from 1."""
    return _name(condition) or str(number)


def again_label(loop: LoopNode) -> str:
    """What stands beside the way back of a loop."""
    return f"{'until' if loop.until else 'while'} {_name(loop.condition) or 'it holds'}"


def duration_label(seconds: float) -> str:
    """A duration in the unit that reads best.

    Example:
        >>> [duration_label(seconds) for seconds in (0.0000004, 0.0042, 0.25, 1.5, 90, 7200, 200000)]
        ['0.4 µs', '4.2 ms', '250 ms', '1.5 s', '1.5 min', '2 h', '2.31 d']
    """
    for unit, size in _UNITS:
        if size <= seconds < float("inf"):
            return f"{_short(seconds / size)} {unit}"
    return f"{_short(seconds * 1e6)} µs" if 0 < seconds < 1 else f"{_short(seconds)} s"


def _short(number: float) -> str:
    """Three digits at most, and none for show."""
    if number >= 100 or number != number:
        return f"{number:.0f}"
    return f"{number:.2f}".rstrip("0").rstrip(".") if number < 10 else f"{number:.1f}".rstrip("0").rstrip(".")


def _with(id_: str, words: str | None) -> str:
    return f"{id_}: {words}" if words else id_


def _name(function: object) -> str | None:
    """A function's name, where that says anything."""
    name = getattr(function, "__name__", None)
    return name if isinstance(name, str) and name and name != "<lambda>" else None


def _listed(keys: Sequence[str]) -> str:
    more = len(keys) - _KEYS
    return ", ".join(keys if more <= 1 else (*keys[:_KEYS], f"{more} more"))


def _parallel(node: ParallelNode) -> Sequence[str]:
    words: list[str] = []
    if node.join is not None:
        words.append("join any" if node.join == 1 else f"join {node.join} of {len(node.arms)}")
    words += _at_once(node.concurrency)
    words += _on_error(node.on_error)
    if node.share:
        words.append("share")
    return words


def _at_once(concurrency: object) -> Sequence[str]:
    if callable(concurrency):
        return (f"{_name(concurrency) or 'some'} at once",)
    return () if concurrency is None else (f"{concurrency} at once",)


def _on_error(mode: ErrorMode) -> Sequence[str]:
    return () if mode == "fail_fast" else (mode,)


def _time(time: object, *, until: bool) -> str | None:
    if callable(time):
        return _name(time)
    if isinstance(time, datetime):
        return _moment(time)
    if isinstance(time, int | float):
        return _moment_of(time) if until else duration_label(time)
    return str(time)


def _moment_of(seconds: float) -> str:
    try:
        return _moment(datetime.fromtimestamp(seconds, UTC))
    except (ValueError, OverflowError, OSError):  # no date that a calendar has
        return str(seconds)


def _moment(time: datetime) -> str:
    zone = f" {time.tzname()}" if time.tzname() else ""
    return f"{time.replace(tzinfo=None).isoformat(' ', 'minutes' if not time.second else 'seconds')}{zone}"
