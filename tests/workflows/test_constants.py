"""Constants in labels and fingerprints."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.workflows.constants import constant_text

CONSTANTS = st.none() | st.booleans() | st.text() | st.binary() | st.floats(allow_nan=False) | st.integers()
LARGE = st.integers(500, 6000).flatmap(lambda digits: st.sampled_from([10**digits, -(10**digits), 10**digits + 1]))


@pytest.fixture(scope="module", autouse=True)
def least_digits() -> Iterator[None]:
    """Python writes as few digits as it can be told to."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    yield
    sys.set_int_max_str_digits(before)


@given(CONSTANTS | LARGE, CONSTANTS | LARGE)
def test_two_constants_have_one_text_exactly_if_they_are_the_same(one: object, other: object) -> None:
    same = type(one) is type(other) and one == other
    if isinstance(one, float) and isinstance(other, float):
        same = one.hex() == other.hex()
    assert (constant_text(one) == constant_text(other)) is same


@given(st.integers(-(2**1000), 2**1000))
def test_a_small_number_is_written_as_it_is(number: int) -> None:
    assert constant_text(number) == str(number)
