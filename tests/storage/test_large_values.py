"""Large values apart from the rows they occur in."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from interlock.storage.large_values import LARGE, pack, unpack
from interlock.storage.row_text import to_text

keys = st.text(max_size=4) | st.sampled_from(["$sha256", "$$sha256", "$$$sha256", "$", "sha256"])
texts = st.text(st.characters(exclude_categories=()), max_size=20)


def _repeated(text: str, times: int) -> str:
    return text * times


long_texts = st.builds(_repeated, st.text(min_size=1, max_size=5), st.integers(800, 3_000))
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(
    scalars | long_texts, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4)
)


def _back(text: str, large: dict[str, str]) -> Any:
    return unpack(text, large.__getitem__)


@given(st.dictionaries(keys, values, max_size=4))
def test_what_is_packed_comes_back(value: dict[str, Any]) -> None:
    text, large = pack(value)
    assert json.dumps(_back(text, large)) == json.dumps(value)


@given(st.dictionaries(keys, values, max_size=4))
def test_what_is_large_is_kept_under_the_hash_of_its_text(value: dict[str, Any]) -> None:
    _, large = pack(value)
    for sha256, text in large.items():
        assert hashlib.sha256(text.encode()).hexdigest() == sha256
        assert len(text) > LARGE


def test_a_row_with_large_values_is_small() -> None:
    text, large = pack({"output": "x" * 1_000_000, "list": list(range(10_000)), "small": 1})
    assert len(text) < LARGE
    assert len(large) == 2


def test_a_value_is_kept_once_wherever_it_occurs() -> None:
    document = "Once upon a time. " * 1_000
    _, alone = pack({"output": document})
    _, inside = pack({"input": {"doc": document, "pages": [document, document]}, "state": {"doc": [document]}})
    assert alone == inside


def test_a_large_value_keeps_its_own_large_parts_apart() -> None:
    parts = [str(number) * LARGE for number in range(100)]
    text, large = pack({"parts": parts, "more": [*parts, "end"]})
    assert sum(map(len, large.values())) < 1.2 * sum(map(len, parts))
    assert _back(text, large) == {"parts": parts, "more": [*parts, "end"]}


def test_objects_that_look_like_references_are_none() -> None:
    for value in ({"$sha256": "x"}, {"$$sha256": {"$sha256": 1}}, {"a": [{"$sha256": None, "$$sha256": "y" * 5_000}]}):
        text, large = pack(value)
        assert _back(text, large) == value


def test_letters_stay_as_they_are_and_half_a_surrogate_pair_is_escaped() -> None:
    assert to_text({"ä": "你好"}) == '{"ä":"你好"}'
    assert to_text(["ä\ud800"]) == '["\\u00e4\\ud800"]'
