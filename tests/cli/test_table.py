"""Tables for a terminal."""

from __future__ import annotations

import io

import pytest

from interlock.cli.table import Row, rendered, table, took


def _lines(*rows: Row, right: tuple[int, ...] = ()) -> list[str]:
    return rendered(table(("name", "n"), rows, right=right), io.StringIO()).splitlines()


def test_a_column_is_as_wide_as_its_widest_cell() -> None:
    assert _lines(Row(("a", "1")), Row(("a longer one", "22"))) == [
        "name          n",
        "a             1",
        "a longer one  22",
    ]


def test_what_stands_to_the_right_ends_in_one_column() -> None:
    assert _lines(Row(("a", "1")), Row(("b", "222")), right=(1,)) == ["name    n", "a       1", "b     222"]


def test_remarks_stand_below_their_row_and_are_wrapped_behind_an_indent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    assert _lines(Row(("a", "1"), remarks=["one two three four five"], indent=4)) == [
        "name  n",
        "a     1",
        "    one two three",
        "    four five",
    ]


def test_a_row_that_is_wider_than_the_terminal_is_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    assert _lines(Row(("a" * 60, "1")))[1] == f"{'a' * 60}  1"


def test_control_characters_and_markup_in_cells_are_shown_not_obeyed() -> None:
    assert _lines(Row(("\x1b[2J", "[red]"), remarks=["\x07"]))[1:] == ["\\x1b[2J  [red]", "         \\x07"]


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "0 µs"),
        (0.0009994, "999 µs"),
        (0.001, "1.0 ms"),
        (0.25, "250.0 ms"),
        (12.5, "12.50 s"),
        (61.9, "1 min 1 s"),
        (3600 * 5 + 120, "5 h 2 min"),
        (86400 * 2 + 3600, "2 d 1 h"),
    ],
)
def test_a_duration_has_a_fitting_unit(seconds: float, told: str) -> None:
    assert took(seconds) == told
