"""``StreamErrorRetryProcessor``: what passes is tried again, what does not is left alone."""

from __future__ import annotations

from typing import Any

import pytest

from interlock import Agent
from interlock.errors import DefinitionError, ModelError
from interlock.processors import APIErrorContext, Retry, StreamErrorRetryProcessor
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import flow


def asked(guard: StreamErrorRetryProcessor, error: Exception, times: int = 1, step_number: int = 0) -> list[Any]:
    """What it says when one step fails so many times."""
    ctx = APIErrorContext("hello", error=error, step_number=step_number)
    return [guard.process_api_error(ctx) for _ in range(times)]


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 529])
def test_a_status_that_passes_is_tried_again(status: int) -> None:
    assert asked(StreamErrorRetryProcessor(), ModelError("later", status=status)) == [Retry(0.5)]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
@pytest.mark.parametrize("retryable", [None, True])
def test_a_refusal_that_stays_one_is_left_alone(status: int, retryable: bool | None) -> None:
    assert asked(StreamErrorRetryProcessor(), ModelError("no", status=status, retryable=retryable)) == [None]


def test_a_connection_that_broke_off_is_tried_again_and_a_fault_of_the_program_is_not() -> None:
    assert asked(StreamErrorRetryProcessor(), ModelError("the connection failed", retryable=True)) == [Retry(0.5)]
    assert asked(StreamErrorRetryProcessor(), ValueError("a bug")) == [None]
    assert asked(StreamErrorRetryProcessor(), ModelError("who knows")) == [None]


def test_the_waits_grow_up_to_a_limit_and_end() -> None:
    guard = StreamErrorRetryProcessor(max_retries=4, delay=1.0, max_delay=3.0)
    waits = asked(guard, ModelError("later", status=503), times=5)
    assert waits == [Retry(1.0), Retry(2.0), Retry(3.0), Retry(3.0), None]


def test_each_step_has_its_own_tries() -> None:
    guard = StreamErrorRetryProcessor()
    ctx = APIErrorContext("hello", error=ModelError("later", status=503), step_number=0)
    later = APIErrorContext("hello", error=ModelError("later", status=503), step_number=1)
    later._seat.state = ctx.state
    assert [guard.process_api_error(c) is not None for c in (ctx, ctx, later, later)] == [True, False, True, False]


def test_the_provider_says_how_long_to_wait_unless_that_is_too_long() -> None:
    assert asked(StreamErrorRetryProcessor(), ModelError("later", status=429, retry_after=7.0)) == [Retry(7.0)]
    assert asked(StreamErrorRetryProcessor(max_delay=5.0), ModelError("later", status=429, retry_after=7.0)) == [None]


@pytest.mark.parametrize("asked_for", [-1.0, float("nan"), "soon"])
def test_a_wait_that_is_none_is_not_waited_for(asked_for: Any) -> None:
    assert asked(StreamErrorRetryProcessor(), ModelError("later", status=429, retry_after=asked_for)) == [Retry(0.5)]


@pytest.mark.anyio
@pytest.mark.parametrize("in_workflow", [False, True])
async def test_in_an_agent_the_answer_comes_after_all(in_workflow: bool) -> None:
    guard = StreamErrorRetryProcessor(max_retries=2, delay=0.0)
    handlers: list[Any] = [flow().then(guard).commit()] if in_workflow else [guard]
    overloaded = ModelError("overloaded", status=529)
    model = ScriptedModel([overloaded, ["half ", overloaded], "well"])
    result = await Agent(model=model, error_processors=handlers).generate("hello")
    assert result.text == "well"
    assert model.calls == 3


@pytest.mark.parametrize(
    "options",
    [
        {"max_retries": -1},
        {"max_retries": 1.5},
        {"delay": -1.0},
        {"max_delay": float("nan")},
        {"delay": "1"},
        {"max_delay": None},
    ],
)
def test_figures_out_of_range_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError, match=next(iter(options))):
        StreamErrorRetryProcessor(**options)


def test_however_often_it_is_tried_the_wait_is_a_number_up_to_the_longest() -> None:
    guard = StreamErrorRetryProcessor(max_retries=1100, delay=0.5, max_delay=20.0)
    waits = asked(guard, ModelError("overloaded", status=529), times=1100)
    assert waits[:3] == [Retry(0.5), Retry(1.0), Retry(2.0)]
    assert waits[-1] == Retry(20.0)
