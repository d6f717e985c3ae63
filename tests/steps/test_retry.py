"""How often a step is tried again, and when."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.errors import DefinitionError
from interlock.steps import RetryPolicy

seconds = st.floats(0, 1e6)


@given(st.integers(1, 50), st.integers(1, 60))
def test_there_are_so_many_attempts_in_all(attempts: int, attempt: int) -> None:
    assert RetryPolicy(attempts=attempts).allows(attempt, ValueError()) == (attempt < attempts)


def test_only_the_named_kinds_of_error_are_tried_again() -> None:
    policy = RetryPolicy(attempts=3, retry_on=(OSError, KeyError))
    assert [policy.allows(1, error) for error in (OSError(), KeyError(), TimeoutError(), ValueError())] == [
        True,
        True,
        True,  # an OSError
        False,
    ]
    assert not RetryPolicy(attempts=3, retry_on=OSError).allows(1, ValueError())


def test_a_function_is_asked_as_long_as_there_are_attempts() -> None:
    asked: list[Exception] = []

    def busy(error: Exception) -> bool:
        asked.append(error)
        return "busy" in str(error)

    policy = RetryPolicy(attempts=2, retry_on=busy)
    assert policy.allows(1, ValueError("busy"))
    assert not policy.allows(1, ValueError("broken"))
    assert not policy.allows(2, ValueError("busy"))
    assert len(asked) == 2


@given(seconds, st.floats(0, 10), seconds, st.integers(1, 2000))
def test_a_wait_is_never_longer_than_the_longest(delay: float, backoff: float, most: float, attempt: int) -> None:
    wait = RetryPolicy(delay=delay, backoff=backoff, max_delay=most).wait_after(attempt)
    assert 0 <= wait <= most


@given(st.floats(0, 1), st.integers(1, 5))
def test_jitter_makes_a_wait_so_much_longer_or_shorter(jitter: float, attempt: int) -> None:
    wait = RetryPolicy(delay=1.0, backoff=2.0, jitter=jitter).wait_after(attempt)
    plain = 2.0 ** (attempt - 1)
    assert plain * (1 - jitter) <= wait <= plain * (1 + jitter)


def test_a_wait_that_would_be_too_large_for_a_float_is_the_longest() -> None:
    assert RetryPolicy(delay=1e300, backoff=1e300, max_delay=60).wait_after(5) == 60
    assert RetryPolicy(delay=2.0, backoff=1e300).wait_after(5) == math.inf


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"attempts": 0}, "attempts must be a whole number, at least 1, not 0"),
        ({"attempts": True}, "attempts"),
        ({"attempts": 1.5}, "attempts"),
        ({"delay": -1}, "delay must be a number from 0 to inf, not -1"),
        ({"delay": math.nan}, "delay"),
        ({"jitter": 1.1}, "jitter must be a number from 0 to 1"),
        ({"max_delay": "long"}, "max_delay"),
        ({"retry_on": BaseException}, "retry_on must be a kind of Exception"),
        ({"retry_on": (OSError, KeyboardInterrupt)}, "retry_on"),
        ({"retry_on": 3}, "retry_on"),
    ],
)
def test_a_figure_out_of_its_range_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        RetryPolicy(**options)


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(DefinitionError) as found:
        RetryPolicy(attempts=0, delay=-1, jitter=2)
    assert len(found.value.faults) == 3
