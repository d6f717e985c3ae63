"""How a function is called says whether it can be a step."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from interlock import create_step
from interlock.errors import DefinitionError


class Two:
    """What can be called with a context and more."""

    def __call__(self, ctx: Any, other: Any) -> None: ...

    def one(self, ctx: Any) -> None: ...

    def none(self) -> None: ...


def _two(ctx: Any, other: Any) -> None: ...
def _keyword(ctx: Any, *, other: Any) -> None: ...
def _none() -> None: ...
def _more(ctx: Any, other: Any = 1, *, third: Any = 2) -> None: ...
def _any(*everything: Any) -> None: ...


@pytest.mark.parametrize("function", [_two, _keyword, _none, Two(), Two().none])
def test_a_function_that_cannot_be_called_with_one_context_is_refused(function: Any) -> None:
    with pytest.raises(DefinitionError, match=r"takes .*, but a step's function is given one StepContext"):
        create_step(function, id="x")


@pytest.mark.parametrize("function", [_more, _any, Two().one, partial(_two, other=1), print])
def test_one_that_can_be_is_a_step(function: Any) -> None:
    assert create_step(function, id="x").id == "x"
