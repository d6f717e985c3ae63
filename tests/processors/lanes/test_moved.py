"""What a branch puts in again that it has removed before, and what others have removed of it."""

from __future__ import annotations

from interlock.processors.lanes.moved import Removed


def removed() -> Removed:
    """One branch has removed a sentence, another the number in it."""
    made = Removed(2)
    made.take(0, 0, "my card is 4711. ")
    made.take(1, 11, "4711")
    return made


def test_what_another_branch_has_removed_is_not_put_in_again() -> None:
    assert removed().without(0, "my card is 4711. ") == "my card is . "
    assert removed().without(0, "is 4711. And more") == "is . And more"
    assert removed().without(1, "4711") == ""


def test_what_is_new_is_put_in_as_it_is() -> None:
    assert removed().without(0, "Note: the number is none of 4, 7, 1.") == "Note: the number is none of 4, 7, 1."
    assert Removed(2).without(0, "4711") == "4711"


def test_what_was_put_in_once_was_another_when_it_is_put_in_again() -> None:
    made = removed()
    made.take(0, 40, "4711")
    assert made.without(0, "4711") == ""
    assert made.without(0, "4711") == "4711"


def test_of_what_is_new_for_the_most_part_nothing_is_missing_because_it_is_like_something_else() -> None:
    made = Removed(2)
    made.take(0, 0, "the card")
    made.take(1, 0, "the card")
    assert made.without(0, "Whatever the weather is like, it goes on.") == "Whatever the weather is like, it goes on."


def test_no_more_than_the_last_of_it_is_remembered() -> None:
    assert not Removed(2).any
    made = Removed(2)
    for number in range(2000):
        made.take(0, 20 * number, "x" * 10)
        made.take(1, 20 * number, "x" * 10)
    assert made.any
    assert all(sum(len(text) for _, text in gone) <= 4096 for gone in made._gone)
    assert all(len(ranges) <= 820 for ranges in made._taken)
    made.take(0, 40_000, "card " * 1000)
    assert sum(len(text) for _, text in made._gone[0]) == 2048
    made.take(1, 44_995, "card ")
    assert made.without(0, "card card " * 100) == "card card " * 100
    assert made.without(0, "card " * 309) == "card " * 308
