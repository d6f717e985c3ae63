"""What joining edits costs: time grows with the length of text and edits, not with its square."""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import process_time

import pytest

from interlock.messages import Message, MessageList, TextEdit, TextPart, merge
from interlock.messages.composing import changes_since
from interlock.messages.merge_text import merge_text
from interlock.messages.rewriting import Change

RATIO = 9
"""Four times as much may take so many times as long: linear is 4, quadratic 16."""


def listed(text: str) -> MessageList:
    return MessageList([Message("user", [TextPart(text)], id="m")])


def edited(base: MessageList, *edits: TextEdit) -> MessageList:
    fork = base.fork()
    fork.edit_text("m", 0, edits)
    return fork


def seconds(job: Callable[[], object]) -> float:
    """The least time of three runs: what else the machine does only ever adds."""
    times: list[float] = []
    for _ in range(3):
        gc.collect()
        start = process_time()
        job()
        times.append(process_time() - start)
    return min(times)


def twice_edited(n: int) -> Callable[[], object]:
    base = listed("ab  " * n)
    once = edited(base, *(TextEdit(4 * at, 4 * at + 1, "X") for at in range(n)))
    fork = edited(once, *(TextEdit(4 * at + 2, 4 * at + 4, " ") for at in range(n)))
    before, after = base[0].parts[0], fork[0].parts[0]
    assert isinstance(before, TextPart)
    assert isinstance(after, TextPart)
    return lambda: changes_since(before, after)


def test_putting_many_edits_together_takes_time_that_grows_with_their_number() -> None:
    assert seconds(twice_edited(8000)) < RATIO * seconds(twice_edited(2000))


def overlapping(n: int) -> Callable[[], object]:
    base = listed("a" * 4 * n)
    left = edited(base, *(TextEdit(4 * at, 4 * at + 3, "X") for at in range(n)))
    right = edited(base, *(TextEdit(4 * at + 2, 4 * at + 5, "Y") for at in range(n - 1)))
    return lambda: merge(base, {"left": left, "right": right})


def one_over_many(n: int) -> Callable[[], object]:
    base = listed("12345 " * n)
    many = edited(base, *(TextEdit(6 * at, 6 * at + 5, "#") for at in range(n)))
    one = edited(base, TextEdit(0, 6 * n, "x" * n))
    return lambda: merge(base, {"many": many, "one": one})


def beside_a_change_in_place(n: int) -> Callable[[], object]:
    base = listed("12345 " * n + "Ann " * 100)
    many = edited(base, *(TextEdit(6 * at, 6 * at + 5, "#") for at in range(n)))
    fork = base.fork()
    part = fork[0].parts[0]
    assert isinstance(part, TextPart)
    part.text = part.text.lower()
    return lambda: merge(base, {"many": many, "place": fork})


def seams_in_one_word(n: int) -> Callable[[], object]:
    base = "4111 " + "ab1X" * n
    places = [(at, at + 1) for at in range(8, 4 * n, 8)]
    derived = [Change(*place, "4111", "redaction", place, derived=True) for place in places]
    exact = [Change(0, 4, "#", "redaction", (0, 4))]
    return lambda: merge_text(base, {"guard": exact, "place": derived}, None, "the text")


def words_at_seams(n: int) -> Callable[[], object]:
    base = "4111 " + "4 b " * n
    places = [(at, at) for at in range(6, 4 * n, 4)]
    derived = [Change(*place, "111", "redaction", place, derived=True) for place in places]
    exact = [Change(0, 4, "#", "redaction", (0, 4))]
    return lambda: merge_text(base, {"guard": exact, "place": derived}, None, "the text")


@pytest.mark.parametrize(
    "made", [overlapping, one_over_many, beside_a_change_in_place, seams_in_one_word, words_at_seams]
)
def test_merging_many_edits_takes_time_that_grows_with_their_number(
    made: Callable[[int], Callable[[], object]],
) -> None:
    assert seconds(made(4000)) < RATIO * seconds(made(1000))
