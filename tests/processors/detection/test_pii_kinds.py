"""What the recognisers claim, kind by kind, and what they must leave alone."""

from __future__ import annotations

import hashlib
import random
import uuid
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import iban as stdnum_iban

from interlock.errors import DefinitionError
from interlock.processors.detection.finding import join_overlapping
from interlock.processors.detection.pii.credit_card import has_issuer, luhn
from interlock.processors.detection.pii.recogniser import KINDS, PIIKind
from interlock.processors.detection.pii.rules import PIIRules

THRESHOLD = 0.6
_ALL = PIIRules(KINDS)


def found(text: str, kind: PIIKind | None = None, *, region: str | None = None) -> list[str]:
    """The pieces of the raw text that count."""
    rules = _ALL if kind is None and region is None else PIIRules([kind] if kind else KINDS, region=region)
    counting = [f for f in rules.find(text) if f.score >= THRESHOLD]
    return [text[f.start : f.end] for f in join_overlapping(counting)]


CARDS = [
    "4111111111111111",
    "4111 1111 1111 1111",
    "4111-1111-1111-1111",
    "4111.1111.1111.1111",
    "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
    "5555555555554444",
    "2221000000000009",
    "2720 9999 9999 9996",
    "378282246310005",
    "3782 822463 10005",
    "30569309025904",
    "3056 930902 5904",
    "6011111111111117",
    "3530111333300000",
    "6200000000000005",
    "2200000000000004",
]


@pytest.mark.parametrize("number", CARDS)
def test_a_card_number_with_issuer_and_check_digit_is_found(number: str) -> None:
    assert found(f"pay with {number}, please", "credit-card") == [number]


@pytest.mark.parametrize("number", CARDS)
def test_one_wrong_digit_is_no_card(number: str) -> None:
    wrong = number[:-1] + str((int(number[-1]) + 1) % 10)
    assert found(f"pay with {wrong}, please", "credit-card") == []


@pytest.mark.parametrize(
    "text",
    [
        "1748503543012",  # a time in milliseconds whose check digit fits
        "created 1748503543012 ms after the epoch",
        "0000000000000000",
        "41111111111111112222333344445555",
        "a4111111111111111",
        "4111111111111111f",
        "0.4111111111111111",
        "4111111111111111.5",
        "9780306406157",
        "4006381333931",  # a product code that begins as old Visa numbers do
    ],
)
def test_other_numbers_are_no_cards(text: str) -> None:
    assert found(text, "credit-card") == []


def test_a_rare_card_number_counts_only_where_it_is_called_a_card() -> None:
    assert found("4222222222222", "credit-card") == []
    assert found("block card no 4222222222222", "credit-card") == ["4222222222222"]


def test_a_card_number_stands_out_from_its_date_and_code() -> None:
    assert found("4111 1111 1111 1111 12/27 123", "credit-card") == ["4111 1111 1111 1111"]


@given(st.text("0123456789", min_size=1, max_size=25))
def test_luhn_is_the_published_sum(digits: str) -> None:
    doubled = [int(d) * (2 if n % 2 else 1) for n, d in enumerate(reversed(digits))]
    assert luhn(digits) == (sum(sum(map(int, str(d))) for d in doubled) % 10 == 0)


@pytest.mark.parametrize(
    ("digits", "issued"),
    [("2220999999999999", False), ("2221000000000009", True), ("2720999999999996", True), ("2721000000000000", False)],
)
def test_the_ends_of_an_issuers_range_are_exact(digits: str, issued: bool) -> None:
    assert has_issuer(digits) is issued


@pytest.mark.parametrize(
    "address",
    [
        "ann@example.com",
        "ann.smith+news@mail.example.co.uk",
        "o'hara_99@sub-domain.example.org",
        "иван@пример.рф",
        "müller@bücher.example",
        "admin@corp.local",
        "ann@mail。example。com",
    ],
)
def test_an_email_address_is_found_whole(address: str) -> None:
    assert found(f"Write to <{address}>, thanks.", "email") == [address]
    assert found(f"mailto:{address}", "email") == [address]
    assert found(f"it is {address}.", "email") == [address]


@pytest.mark.parametrize(
    "text",
    ["@everyone", "a@b", "pip install x@1.2.3", "logo@2x.png", "git@github.com:owner/name.git", "a..b@", "x @ y.com"],
)
def test_other_uses_of_the_at_sign_are_no_addresses(text: str) -> None:
    assert found(text, "email") == []


@pytest.mark.parametrize(
    "number",
    [
        "+49 170 1234567",
        "+1-555-123-4567",
        "+1 (415) 555-2671",
        "+41 (0)44 668 18 00",
        "+442071838750",
        "0041 44 668 18 00",
        "(415) 555-2671",
        "415-555-2671",
        "415.555.2671",
        "555-123-4567",
        "1-800-555-0199",
        "312-555-0143x221",
        "0791 264 33 18",
        "06 12 34 56 78",
    ],
)
def test_a_phone_number_is_found_whole(number: str) -> None:
    assert found(f"Ring {number} tomorrow", "phone") == [number]


@pytest.mark.parametrize(
    "text",
    [
        "Phone: 785 2210",
        "my mobile number is 734 902 155",
        "Fax 72 455 301",
        "call me at 7155552671",
        "Tel.\n72-455-301",
    ],
)
def test_a_national_number_counts_where_it_is_called_a_phone_number(text: str) -> None:
    number = text[text.index("7") :]
    assert found(text, "phone") == [number]
    assert found(f"It is {number}", "phone") == []


def test_a_number_does_not_swallow_what_follows_it() -> None:
    assert found("+49 170 1234567 2024-05-01", "phone") == ["+49 170 1234567"]


def test_a_region_brings_its_national_forms() -> None:
    assert found("Ruf 030 901820 an", "phone") == []
    assert found("Ruf 030 901820 an", "phone", region="DE") == ["030 901820"]


def test_an_unknown_region_is_an_error() -> None:
    with pytest.raises(DefinitionError, match="XX"):
        PIIRules(["phone"], region="XX")


@pytest.mark.parametrize("number", ["536-22-7814", "012-34-5678"])
def test_a_social_security_number_in_its_printed_form_is_found(number: str) -> None:
    assert found(f"it is {number}.", "ssn") == [number]


@pytest.mark.parametrize("number", ["536 22 7814", "536227814", "536.22.7814"])
def test_other_forms_of_a_social_security_number_need_to_be_called_one(number: str) -> None:
    assert found(f"it is {number}", "ssn") == []
    assert found(f"My SSN is {number}", "ssn") == [number]
    assert found(f"social security number: {number}", "ssn") == [number]


@pytest.mark.parametrize(
    "number", ["000-12-3456", "666-12-3456", "900-12-3456", "123-00-4567", "123-45-0000", "078-05-1120", "1536-22-7814"]
)
def test_numbers_that_are_never_issued_are_no_social_security_numbers(number: str) -> None:
    assert found(f"SSN: {number}", "ssn") == []


@pytest.mark.parametrize(
    "number",
    ["GB82WEST12345698765432", "GB82 WEST 1234 5698 7654 32", "gb82west12345698765432", "DE89 3704 0044 0532 0130 00"],
)
def test_an_iban_is_found_whole(number: str) -> None:
    assert found(f"to {number} by Friday", "iban") == [number]


@given(st.text("0123456789", min_size=18, max_size=18), st.integers(2, 98))
def test_an_iban_with_wrong_check_digits_is_none(account: str, check: int) -> None:
    number = f"DE{check:02}{account}"
    assert (found(number, "iban") == [number]) is stdnum_iban.is_valid(number)


def test_right_check_digits_of_any_account_are_found() -> None:
    for n in range(0, 10**9, 10**9 // 50):
        number = "DE" + stdnum_iban.calc_check_digits(f"DE00{n:018}") + f"{n:018}"
        assert found(number, "iban") == [number]


@pytest.mark.parametrize(
    "address",
    ["81.2.69.142", "192.168.0.17", "2001:db8::8a2e:370:7334", "fe80::1ff:fe23:4567:890a", "2001:0db8:0:0:1:0:0:1"],
)
def test_an_ip_address_is_found_whole(address: str) -> None:
    assert found(f"from {address} at noon", "ip-address") == [address]


def test_an_address_with_port_or_path_is_found() -> None:
    assert found("http://81.2.69.142:8080/x and 81.2.69.142/24", "ip-address") == ["81.2.69.142"] * 2


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1",
        "0.0.0.0",
        "255.255.255.0",
        "::1",
        "::",
        "1.2.3",
        "version 1.2.3.4",
        "v1.2.3.4",
        "1.2.3.4.5",
        "999.1.1.1",
        "12:30:45",
        "00:1b:44:11:3a:b7",
        "std::cafe::bed",
        "face::bed",
    ],
)
def test_what_is_nobodys_address_is_left_alone(text: str) -> None:
    assert found(text, "ip-address") == []


_VALUES = {
    "phone": "(415) 555-2671",
    "dashed phone": "415-555-2671",
    "international phone": "+49 170 1234567",
    "card": "4111 1111 1111 1111",
    "bare card": "5555555555554444",
    "ssn": "123-45-6789",
    "ip": "192.168.17.5",
    "iban": "DE89 3704 0044 0532 0130 00",
    "mail": "ann@example.com",
}


@pytest.mark.parametrize("between", [" ", "  ", "\n", "\t", ", ", "/", " / ", ":", ";", "|", "-", " - ", "."])
@pytest.mark.parametrize("name", [name for name in _VALUES if name != "dashed phone"])
def test_of_two_in_a_row_both_are_found(name: str, between: str) -> None:
    value = _VALUES[name]
    assert found(f"x {value}{between}{value} y") == [value, value]


@pytest.mark.parametrize(
    "before", ["5 ", "Room 12 ", "Room 11 ", "1:", "No. 7/", "at 10:30 ", "2024-01-02 ", "1) ", "#3 "]
)
@pytest.mark.parametrize("name", _VALUES)
def test_a_digit_and_a_separator_before_hide_nothing(name: str, before: str) -> None:
    assert found(before + _VALUES[name]) == [_VALUES[name]]


def test_the_name_of_a_next_address_is_no_part_of_the_domain() -> None:
    assert found("bo@a.co.uk-ann.lee@x.com", "email") == ["bo@a.co.uk", "ann.lee@x.com"]
    assert found("ann@example.com@x.org", "email") == ["ann@example.com"]
    assert found("ann@example.com|bo@x.com", "email") == ["ann@example.com", "bo@x.com"]
    assert found("@@a@@ann@example.com@", "email") == ["ann@example.com"]
    assert found("ann@example.com-415-555-2671") == ["ann@example.com", "415-555-2671"]
    assert found("ann@example.com-see-below", "email") == ["ann@example.com"]
    assert found("ann@example.xn--p1ai", "email") == ["ann@example.xn--p1ai"]
    assert found("-".join(["ann@example.com"] * 50), "email") == ["ann@example.com"] * 50


@pytest.mark.parametrize(
    "text",
    [
        "1.3.6.1.2.1.1.5",
        "1.3.6.1.4.1.99.12",
        "112-415-555-2671",
        "7.415.555.2671",
        "1-123-45-6789",
        "2024-01-02 10:30:00 +1100 2024-05-01",
        "10:30:00+1100 2024-05-01",
        "0.5555555555554444",
        "192.168.17.5.1",
        "12 415 555 2671",
    ],
)
def test_a_part_of_a_longer_number_is_still_none(text: str) -> None:
    assert found(text) == []


def _innocent(seed: int) -> list[str]:
    rng = random.Random(seed)
    moment = rng.randrange(10**9, 2 * 10**9)
    when = datetime.fromtimestamp(moment, UTC)
    return [
        f"at {moment}",
        f"at {moment * 1000 + rng.randrange(1000)}",
        f"at {moment * 10**6 + rng.randrange(10**6)}",
        f"at {moment * 10**9}",
        when.isoformat(),
        when.strftime("%d.%m.%Y %H:%M:%S"),
        when.strftime("%Y%m%d%H%M%S"),
        when.strftime("%d/%b/%Y:%H:%M:%S +1100 %Y-%m-%d"),
        when.strftime("%Y-%m-%d %H:%M:%S.%f +0930 ") + str(moment),
        f"order {rng.randrange(10**7, 10**10)}",
        f"order no. 112-{rng.randrange(10**7):07}-{rng.randrange(10**7):07}",
        f"ORD-{rng.randrange(10**6):06}-{rng.randrange(10**4):04}",
        f"version {rng.randrange(30)}.{rng.randrange(100)}.{rng.randrange(1000)}",
        f"v{rng.randrange(30)}.{rng.randrange(100)}.{rng.randrange(100)}-rc{rng.randrange(9)}",
        str(uuid.UUID(int=rng.getrandbits(128), version=4)),
        hashlib.md5(str(moment).encode()).hexdigest(),
        hashlib.sha256(str(moment).encode()).hexdigest(),
        hashlib.sha1(str(moment).encode()).hexdigest()[:12],
        f"{rng.random()!r} of {rng.random() * 10**6:.10f}",
        f"{rng.randrange(10**9):,} dollars",
    ]


def test_times_order_numbers_versions_uuids_and_hashes_raise_no_alarm() -> None:
    alarms = [text for seed in range(250) for text in _innocent(seed) if found(text)]
    assert alarms == []


def test_each_kind_is_found_no_matter_which_others_are_looked_for() -> None:
    text = "ann@example.com +49 170 1234567 4111 1111 1111 1111 536-22-7814 81.2.69.142 GB82WEST12345698765432"
    together = {(f.kind, f.start, f.end) for f in _ALL.find(text)}
    alone = {(f.kind, f.start, f.end) for kind in KINDS for f in PIIRules([kind]).find(text)}
    assert together == alone
    assert {kind for kind, _, _ in together} == set(KINDS)


DISGUISES: dict[str, Callable[[str], str]] = {
    "zero width between": lambda text: "\u200b".join(text),
    "soft hyphens": lambda text: "\u00ad".join(text),
    "full width": lambda text: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text),
    "bidi controls": lambda text: "\u202e".join(text),
    "tag characters": lambda text: "\U000e0041".join(text),
    "mathematical digits": lambda text: "".join(chr(0x1D7CE + int(c)) if c.isdigit() else c for c in text),
    "no-break spaces": lambda text: text.replace(" ", "\u00a0"),
    "fancy dashes": lambda text: text.replace("-", "\u2011"),
}


@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.parametrize(
    "secret",
    ["4111 1111 1111 1111", "4111-1111-1111-1111", "ann@example.com", "+49 170 1234567", "536-22-7814", "81.2.69.1"],
)
def test_a_disguise_hides_nothing(disguise: str, secret: str) -> None:
    hidden = DISGUISES[disguise](secret)
    assert found(f"it is {hidden} ok") == [hidden]


_SECRETS = ["ann@example.com", "4111 1111 1111 1111", "536-22-7814", "81.2.69.142"]
_AROUND = st.text(alphabet="xyz \n👩‍🚀é\u0301ß中İ\u0930\u094d\ud83d", max_size=12)


@given(st.lists(st.tuples(_AROUND, st.sampled_from(_SECRETS)), min_size=1, max_size=4), _AROUND)
def test_offsets_point_at_the_raw_text_whatever_stands_around(pieces: list[tuple[str, str]], after: str) -> None:
    text = "".join(f"{around} {secret} " for around, secret in pieces) + after
    assert sorted(found(text)) == sorted(secret for _, secret in pieces)
