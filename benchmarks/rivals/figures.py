"""How a figure and what hindered it are said, in the table, in the plot and on the terminal alike."""

from __future__ import annotations

from typing import assert_never

from benchmarks.rivals.results import Case, Status

__all__ = ["cell", "ratio", "seconds", "short"]


def seconds(us: float) -> str:
    """A duration in the unit that suits it.

    >>> seconds(0.512), seconds(33.4), seconds(14_200.0), seconds(2_512_000.0)
    ('0.51 µs', '33 µs', '14 ms', '2.5 s')
    """
    for scale, unit in ((1.0, "µs"), (1e3, "ms"), (1e6, "s")):
        if us < 1_000 * scale or unit == "s":
            return f"{_digits(us / scale)} {unit}"
    raise AssertionError("unreachable")


def ratio(value: float) -> str:
    """A multiple.

    >>> ratio(1.234), ratio(155_417.9)
    ('1.2 ×', '155,000 ×')
    """
    return f"{_digits(value)} ×"


def short(status: Status) -> str:
    """What came of a case that has no figure, in a few words."""
    match status:
        case "measured":
            return "measured"
        case "wrong":
            return "wrong answer"
        case "failed":
            return "failed"
        case "timeout":
            return "too slow"
        case "unsupported":
            return "–"
        case "missing":
            return "not installed"
        case _:
            assert_never(status)


def cell(case: Case | None) -> str:
    """A case in one cell of a table."""
    if case is None:
        return "not measured"
    if case.us is None:
        return short(case.status)
    return seconds(case.us) + (f" ({ratio(case.ratio)})" if case.ratio is not None else "")


def _digits(value: float) -> str:
    """Two digits that count, written out.

    >>> _digits(0.5123), _digits(9.96), _digits(123.4), _digits(14_234.0)
    ('0.51', '10', '123', '14,200')
    """
    if value >= 100:
        return f"{float(f'{value:.3g}'):,.0f}"
    rounded = float(f"{value:.2g}")
    return f"{rounded:.0f}" if rounded >= 10 else f"{rounded:.1f}" if rounded >= 1 else f"{rounded:.2f}"
