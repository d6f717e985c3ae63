"""A value as it is shown in a sentence about it."""

from __future__ import annotations

__all__ = ["shown", "shown_error"]


def shown(value: object, limit: int = 80) -> str:
    """The ``repr()`` of any value, cut off; of one that has none, what it is.

    What is wrong is told of values of every kind: Python writes no whole number of thousands of digits, and a class may
    have a ``__repr__`` that raises. The sentence must come all the same.

    Args:
        value: The value.
        limit: Characters at most.

    Example:
        >>> shown("a" * 100, 10), shown(10**5000)
        ("'aaaaaaaaa", '<an int of 16610 bits>')
    """
    try:
        return repr(value)[:limit]
    except Exception:
        size = f" of {value.bit_length()} bits" if isinstance(value, int) else ", which repr() cannot write"
        name = type(value).__name__
        return f"<{'an' if name[0] in 'aeiou' else 'a'} {name}{size}>"


def shown_error(error: BaseException) -> str:
    """What was raised, in a sentence about it: its class, and what it says; of one that cannot say it, the class.

    Example:
        >>> shown_error(ValueError("no such parcel"))
        'ValueError: no such parcel'
    """
    name = type(error).__name__
    try:
        return f"{name}: {error}"
    except Exception:
        return name
