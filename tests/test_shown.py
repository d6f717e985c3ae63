"""Values in sentences about them."""

from __future__ import annotations

import pytest

from interlock.shown import shown


class Mute:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


class Own(int):
    def __repr__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("it's", '"it\'s"'),
        ([1, 2], "[1, 2]"),
        ("a" * 100, "'" + "a" * 79),
        (10**5000, "<an int of 16610 bits>"),
        ([10**5000], "<a list, which repr() cannot write>"),
        (Mute(), "<a Mute, which repr() cannot write>"),
        (Own(4), "<a Own of 3 bits>"),
    ],
    ids=["a text", "a list", "a long text", "a large int", "a list of one", "a class", "a class of ints"],
)
def test_every_value_can_be_shown(value: object, text: str) -> None:
    assert shown(value) == text
    assert shown(value, 200).startswith(text)


def test_no_more_is_shown_than_wanted() -> None:
    assert shown("a" * 100, 4) == "'aaa"
