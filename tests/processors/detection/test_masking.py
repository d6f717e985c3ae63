from __future__ import annotations

import pytest

from interlock.processors.detection.pii.masking import Masking


@pytest.mark.parametrize(
    ("kind", "text", "masked"),
    [
        ("email", "ann@example.com", "a*n@*******.com"),
        ("email", "ann.smith@mail.example.co.uk", "a*******h@****.*******.**.uk"),
        ("email", "ab@example.com", "**@*******.com"),
        ("credit-card", "4111 1111 1111 1111", "**** **** **** 1111"),
        ("credit-card", "378282246310005", "***********0005"),
        ("phone", "+49 170 1234567", "+** *** ***4567"),
        ("phone", "(415) 555-2671", "(***) ***-2671"),
        ("ssn", "536-22-7814", "***-**-7814"),
        ("ip-address", "81.2.69.142", "**.*.**.142"),
        ("iban", "GB82 WEST 1234 5698 7654 32", "**** **** **** **** **54 32"),
    ],
)
def test_a_mask_keeps_a_recognisable_shape_and_the_last_four(kind: str, text: str, masked: str) -> None:
    assert Masking("mask").replace(kind, text) == masked


def test_a_mask_without_format_tells_no_length() -> None:
    masking = Masking("mask", preserve_format=False)
    assert masking.replace("email", "ann@example.com") == "a***n@***.com"
    assert masking.replace("email", "alexandra@x.com") == "a***a@***.com"
    assert masking.replace("credit-card", "4111 1111 1111 1111") == "****1111"


@pytest.mark.parametrize("text", ["4111", "41111111", "12345"])
def test_a_short_number_is_not_shown_whole(text: str) -> None:
    assert "*" in Masking("mask").replace("phone", text)
    assert sum(c.isdigit() for c in Masking("mask").replace("phone", text)) <= len(text) // 4


def test_a_hash_names_the_same_thing_the_same_however_it_is_written() -> None:
    masking = Masking("hash")
    assert masking.replace("credit-card", "4111 1111 1111 1111") == masking.replace("credit-card", "4111111111111111")
    assert masking.replace("email", "Ann@Example.com") == masking.replace("email", "ann@example.com")
    assert masking.replace("email", "ann@example.com") != masking.replace("email", "bob@example.com")


def test_a_hash_is_keyed_so_two_detectors_do_not_agree() -> None:
    assert Masking("hash").replace("phone", "4155552671") != Masking("hash").replace("phone", "4155552671")
    same = [Masking("hash", key=b"k").replace("phone", "4155552671") for _ in range(2)]
    assert same[0] == same[1]


def test_a_hash_has_no_digits_that_a_later_guard_could_take_for_a_number() -> None:
    assert not any(c.isdigit() for c in Masking("hash").replace("ssn", "536-22-7814"))


def test_placeholder_names_the_kind_and_remove_leaves_nothing() -> None:
    assert Masking("placeholder").replace("credit-card", "4111 1111 1111 1111") == "[CREDIT_CARD]"
    assert Masking("remove").replace("email", "ann@example.com") == ""
