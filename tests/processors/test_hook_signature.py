"""A hook that cannot be called with a context is refused when its class is defined; others are not."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial, partialmethod, wraps
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest

from interlock import Processor
from interlock.errors import DefinitionError


def nothing(self: object) -> None: ...


def one_too_many(self: object, ctx: object, more: object) -> None: ...


def named(self: object, *, ctx: object) -> None: ...


async def later(self: object) -> None: ...


WRONG: list[Any] = [
    nothing,
    one_too_many,
    named,
    later,
    staticmethod(lambda: None),
    classmethod(nothing),
    partial(nothing, None),
    partialmethod(one_too_many),
]


@pytest.mark.parametrize("hook", WRONG)
def test_a_hook_that_takes_no_context_or_more_is_refused(hook: Any) -> None:
    with pytest.raises(
        DefinitionError, match=r"processor class Guard: process_input\(.* write process_input\(self, ctx\)"
    ):
        type("Guard", (Processor,), {"id": "guard", "process_input": hook})


def test_all_wrong_hooks_are_told_at_once() -> None:
    with pytest.raises(DefinitionError) as raised:
        type(
            "Guard",
            (Processor,),
            {"process_input": nothing, "process_tool_call": one_too_many, "process_inptu": nothing},
        )
    assert len(raised.value.faults) == 3


def usual(self: object, ctx: object) -> None: ...


def with_default(self: object, ctx: object, limit: int = 3) -> None: ...


def anything(*args: object, **more: object) -> None: ...


def given_a_limit(hook: Callable[..., None]) -> Callable[..., None]:
    """Calls a hook with one argument more."""

    @wraps(hook)
    def wrapper(self: object, ctx: object) -> None:
        hook(self, ctx, 3)

    return wrapper


class Unreadable:
    """A callable whose signature cannot be read."""

    __signature__ = "none"

    def __call__(self, ctx: object) -> None: ...


class Bound:
    """A descriptor of its own kind."""

    def __get__(self, instance: object, owner: type) -> Callable[..., None]:
        return nothing if instance is not None else later_bound


def later_bound() -> None: ...


RIGHT: list[Any] = [
    usual,
    with_default,
    anything,
    given_a_limit(one_too_many),
    staticmethod(nothing),
    classmethod(usual),
    partial(usual, None),
    partialmethod(one_too_many, more=3),
    Mock(),
    AsyncMock(),
    print,
    Unreadable(),
    Bound(),
]


@pytest.mark.parametrize("hook", RIGHT)
def test_a_hook_that_can_be_called_or_of_which_nobody_knows_is_accepted(hook: Any) -> None:
    made: Any = type("Guard", (Processor,), {"id": "guard", "process_input": hook})
    given = made().process_input(Mock())
    if inspect.iscoroutine(given):
        given.close()
