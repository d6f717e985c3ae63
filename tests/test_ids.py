"""Identifiers: made and checked."""

from __future__ import annotations

import re
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock import ids
from interlock.ids import fault_in_id, kebab, new_id


def test_a_fresh_id_says_what_it_is_of_and_is_never_made_twice() -> None:
    made = [new_id("msg") for _ in range(1000)]
    assert len(set(made)) == 1000
    assert all(re.fullmatch(r"msg_[0-9a-f]{28}", id_) for id_ in made)
    assert all(fault_in_id(id_) is None for id_ in made)


def test_ids_made_later_sort_later(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([10**9, 10**9 + 1_500_000, 9_500_000_000, 1_700_000_000 * 10**9, 9_999_999_999_900_000_000])
    monkeypatch.setattr(ids, "time", SimpleNamespace(time_ns=lambda: next(clock)))
    assert all(earlier < later for earlier, later in pairwise([new_id("run") for _ in range(5)]))


@pytest.mark.parametrize("id_", ["score-risk", "processor:pii-detector", "é", "日本", "#", "a_b", "0"])
def test_any_string_without_white_space_point_or_slash_is_an_id(id_: str) -> None:
    assert fault_in_id(id_) is None


@pytest.mark.parametrize("id_", ["a b", "a.b", "a/b", "a\n", "\t", "a\u00a0b", "a\u2003b"])
def test_white_space_points_and_slashes_are_refused(id_: str) -> None:
    assert fault_in_id(id_) == f"the id {id_!r} must not contain white space, '.' or '/'"


def test_an_empty_id_and_one_that_is_no_string_are_refused() -> None:
    assert fault_in_id("") == "an id must not be empty"
    assert fault_in_id(7) == "an id must be a string, not int"
    assert fault_in_id(None) == "an id must be a string, not NoneType"


@pytest.mark.parametrize(
    ("name", "id_"),
    [
        ("score_risk", "score-risk"),
        ("ScoreRisk", "score-risk"),
        ("HTTPServer", "http-server"),
        ("parseHTTP2Frame", "parse-http2-frame"),
        ("_private_", "private"),
        ("step2", "step2"),
        ("naïve_étape", "naïve-étape"),
        ("<lambda>", "lambda"),
        ("_", ""),
    ],
)
def test_a_python_name_becomes_kebab_case(name: str, id_: str) -> None:
    assert kebab(name) == id_


@given(st.text())
def test_what_is_kebab_case_stays_so_and_holds_nothing_an_id_may_not(name: str) -> None:
    made = kebab(name)
    assert kebab(made) == made
    assert made == "" or fault_in_id(made) is None
