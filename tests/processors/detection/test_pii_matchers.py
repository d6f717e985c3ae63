"""What every recogniser must hold to, so that a text can be looked at while it comes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.processors.detection.pii.recogniser import KINDS, PIIKind, Recogniser
from interlock.processors.detection.pii.rules import recognisers
from interlock.processors.lanes.matcher import Match, checked

_FRAGMENTS: dict[PIIKind, list[str]] = {
    "email": [
        *("ann", "a.b", "o'hara", "x@y", "ann@example.com", "git@", "git", "@", "@@", ".", "..", "-", "'", "=", "com"),
        *("example", ".org", "。", "é", "пример.рф", "_", "<", ">", " ", ":", "/", "a" * 70, "b" * 130, "2x.png"),
    ],
    "phone": [
        *(
            "+49 170 1234567",
            "+1",
            "00",
            "(415) ",
            "555-2671",
            "415-555-2671",
            "1-",
            "0791 264 33 18",
            "06 12 34 56 78",
        ),
        *(
            "phone: ",
            "call me at ",
            "my ",
            "no ",
            "030 901820",
            " x12",
            " ext. 5",
            " extension 7",
            "12",
            "7",
            "-",
            ".",
            "/",
        ),
        *(" ", ",", "2024-05-01", "+1100", "a", "$", "734 902 155"),
    ],
    "credit-card": [
        *(
            "4111 1111 1111 1111",
            "4111111111111111",
            "378282246310005",
            "5555-5555-5555-4444",
            "4 1 1 1 1 1 1 1 1 1 1 1 ",
        ),
        *(
            "1 1 1 1",
            "4111",
            "1111",
            " ",
            "-",
            ".",
            " - ",
            "  ",
            "card ",
            "4222222222222",
            "7",
            "12/27",
            "a",
            "30569309025904",
        ),
        *("3056 930902 5904", "1", " 1"),
    ],
    "ssn": [
        *(
            "536-22-7814",
            "536 22 7814",
            "536.22.7814",
            "536227814",
            "ssn ",
            "SSN: ",
            "social security ",
            "536",
            "22",
            "7814",
        ),
        *("-", ".", " ", ":", "/", "1", "a", "078-05-1120", "no "),
    ],
    "ip-address": [
        *(
            "81.2.69.142",
            "192.168.170.15",
            "1.2.3.4",
            "255",
            "127.0.0.1",
            "version ",
            "v",
            ".",
            "-",
            ":",
            "::",
            "/",
            " ",
            "1",
        ),
        *("2001:db8::8a2e:370:7334", "fe80::1ff:fe23:4567:890a", "beef", "0db8", "12:30", "a", "g", "192.168."),
    ],
    "iban": [
        *(
            "gb82west12345698765432",
            "gb82 west 1234 5698 7654 32",
            "de89 3704 0044 0532 0130 00",
            "de89",
            "3704",
            "00",
            "no93",
        ),
        *("no9386011117947", " ", "-", "  ", ".", ":", "a", "1", "de", "_", "x"),
    ],
}
"""What they are made of, and what nearly is."""


def _recogniser(kind: PIIKind) -> Recogniser:
    (one,) = recognisers([kind], region="DE", threshold=0.5)
    return one


def _found(recogniser: Recogniser, text: str, start: int = 0) -> Sequence[Match]:
    return list(checked(recogniser, text, start))  # ordered and bounded, or it raises


def _texts(kind: PIIKind) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(_FRAGMENTS[kind]), min_size=1, max_size=9).map("".join)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=40)
def test_the_same_is_found_from_any_place_outside_of_a_match(kind: PIIKind, data: st.DataObject) -> None:
    recogniser, text = _recogniser(kind), data.draw(_texts(kind))
    found = _found(recogniser, text)
    for place in range(len(text) + 1):
        if not any(m.start < place < m.end for m in found):
            assert _found(recogniser, text, place) == [m for m in found if m.start >= place], place


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=40)
def test_what_begins_at_a_place_depends_on_the_declared_context_alone(kind: PIIKind, data: st.DataObject) -> None:
    _assert_local(_recogniser(kind), data.draw(_texts(kind)))


def _assert_local(recogniser: Recogniser, text: str, places: Sequence[int] | None = None) -> None:
    found = {m.start: m for m in _found(recogniser, text)}
    for place in range(len(text)) if places is None else places:
        if any(m.start < place < m.end for m in found.values()):
            continue
        low = max(0, place - recogniser.look_behind)
        window = text[low : place + recogniser.longest_match + recogniser.look_ahead]
        there = next((m for m in _found(recogniser, window, place - low) if m.start == place - low), None)
        here = found.get(place)
        assert (None if there is None else there._replace(start=place, end=there.end + low)) == here


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=80)
def test_nothing_that_comes_later_changes_what_begins_before_the_open_place(kind: PIIKind, data: st.DataObject) -> None:
    _assert_decided(_recogniser(kind), data.draw(_texts(kind)))


def _assert_decided(recogniser: Recogniser, text: str, cuts: Sequence[int] | None = None) -> None:
    most = recogniser.longest_match + recogniser.look_ahead - 1
    whole = _found(recogniser, text)
    starts = [0, *(m.end for m in whole)]
    for cut in range(len(text) + 1) if cuts is None else cuts:
        for start in (s for s in starts if s <= cut):
            place = recogniser.open_at(text[:cut], start)
            assert max(start, cut - most) <= place <= cut
            decided = [m for m in _found(recogniser, text[:cut], start) if m.start < place]
            assert decided == [m for m in _found(recogniser, text, start) if m.start < place], (cut, start)


_DOMAIN = ".".join(["b" * 60] * 3) + ".com"
_LONG = "a" * 64 + "@cc." + _DOMAIN


@pytest.mark.parametrize(
    ("kind", "number", "length"),
    [
        ("email", _LONG, 254),
        ("ip-address", "1000:0000:0000:0000:0000:ffff:192.168.100.228", 45),
        ("credit-card", " - ".join("4111111111111111"), 61),
        ("iban", "mt84 " + " ".join("malt011000012345mtlcast001s"), 58),
    ],
)
def test_the_laws_hold_at_the_bound(kind: PIIKind, number: str, length: int) -> None:
    recogniser = _recogniser(kind)
    assert len(number) == length <= recogniser.longest_match
    for after in ("", "d", ".", "。d", ".1", "-1", "@x.org", "------d"):
        text = f"- {number}{after}"
        _assert_local(recogniser, text, range(6))
        _assert_decided(recogniser, text, range(length - 1, len(text) + 1))
    assert [m[:2] for m in _found(recogniser, f"- {number}, ")] == [(2, 2 + length)]
    assert (2, 2 + length) not in [m[:2] for m in _found(recogniser, f"- {number}d")]


def test_an_address_that_is_too_long_is_found_as_far_as_mail_systems_take_one() -> None:
    (match,) = _found(_recogniser("email"), f"- {_LONG}d ")
    assert match.end - match.start == 254


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=40)
def test_behind_a_word_that_begins_nothing_nothing_is_open(kind: PIIKind, data: st.DataObject) -> None:
    recogniser, text = _recogniser(kind), data.draw(_texts(kind)) + " (quite so) "
    assert recogniser.open_at(text, 0) == len(text)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("email", "Dear all, (see below) "),
        ("email", "she said: “"),
        ("email", "@"),
        ("phone", "In the year 2024, on p. 7: a"),
        ("phone", "12345678901234567890"),
        ("credit-card", "12345 "),
        ("credit-card", "41111111111111112222"),
        ("credit-card", "order a4111"),
        ("ssn", "2024-05"),
        ("ssn", "53-6"),
        ("ip-address", "2024.1"),
        ("ip-address", "1.2.x"),
        ("ip-address", "decade"),
        ("iban", "xx89 3704"),
        ("iban", "the"),
        ("iban", "d8"),
    ],
)
def test_what_can_become_no_match_is_not_open(kind: PIIKind, text: str) -> None:
    assert _recogniser(kind).open_at(text, 0) == len(text)


@pytest.mark.parametrize(
    ("kind", "text", "place"),
    [
        ("email", "to ann@exa", 3),
        ("email", "to ann", 3),
        ("phone", "at +49 170 ", 3),
        ("phone", "at 415-555-2671 ext", 3),
        ("credit-card", "no 4111 11", 3),
        ("ssn", "is 536-2", 3),
        ("ip-address", "at 81.2.", 3),
        ("ip-address", "at 2001:db8:", 3),
        ("iban", "to DE89 37".lower(), 3),
    ],
)
def test_what_may_become_a_match_is_open_from_its_beginning(kind: PIIKind, text: str, place: int) -> None:
    assert _recogniser(kind).open_at(text, 0) == place
