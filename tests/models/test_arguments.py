"""Arguments as a model writes them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.models.arguments import decode_arguments

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_json_is_decoded(value: object) -> None:
    assert decode_arguments(json.dumps(value)) == value


@pytest.mark.parametrize(
    "text",
    [
        '{"city": "Os',
        "city=Oslo",
        "{'a': 1}",
        '{"a": NaN}',
        "[Infinity]",
        "[" * 100_000,
        "9" * 5_000,
        '{"a": [1e999]}',
        "-1e999",
    ],
)
def test_text_that_is_no_json_stays_as_it_is(text: str) -> None:
    assert decode_arguments(text) == text


@pytest.mark.parametrize("text", ["", "  \n"])
def test_nothing_written_means_no_arguments(text: str) -> None:
    assert decode_arguments(text) == {}
