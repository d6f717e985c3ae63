from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from interlock.processors.detection.finding import join_overlapping
from interlock.processors.detection.pii.masking import Masking
from interlock.processors.detection.pii.recogniser import KINDS
from interlock.processors.detection.pii.rules import PIIRules
from interlock.processors.detection.scan_copy import ScanCopy


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


@pytest.mark.parametrize(
    ("kind", "text", "masked", "short"),
    [
        ("ip-address", "１９２．１６８．１７．５", "***．***．**．５", "****５"),
        ("ip-address", "192․168․17․5", "***․***․**․5", "****5"),
        ("ip-address", "192。168。17。5", "***。***。**。5", "****5"),
        ("ip-address", "２００１：ｄｂ８：：ff00:42:8329", "****：***：：****:**:8329", "****8329"),
        ("email", "ann＠example．com", "a*n＠*******．com", "a***n@***.com"),
        ("email", "an\u200bn@exa\u200bmple.com", "a**n@********.com", "a***n@***.com"),
        ("credit-card", "4111\u200b111111111111", "*************1111", "****1111"),
        ("credit-card", "４１１１１１１１１１１１１１１１", "************１１１１", "****１１１１"),
        ("phone", "+⑫⑫⑫⑫⑫⑫⑫", "+*******", "****"),
    ],
)
def test_a_mask_takes_characters_for_what_they_read_as(kind: str, text: str, masked: str, short: str) -> None:
    assert Masking("mask").replace(kind, text) == masked
    assert Masking("mask", preserve_format=False).replace(kind, text) == short


@pytest.mark.parametrize("text", ["", "-.-", "****", "."])
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_mask_would_leave_as_it_is_gets_its_kind(kind: str, text: str) -> None:
    assert Masking("mask").replace(kind, text) == f"[{kind.upper().replace('-', '_')}]"


_SECRETS = {
    "ip-address": ("192.168.17.5", "2001:db8::ff00:42:8329", "81.2.69.142"),
    "email": ("ann.smith@example.com", "bo@mail.example.org"),
    "credit-card": ("4111 1111 1111 1111", "5555-5555-5555-4444", "378282246310005"),
    "phone": ("+49 170 1234567", "(415) 555-2671"),
    "ssn": ("123-45-6789",),
    "iban": ("DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432"),
}
_WRITTEN: dict[str, str] = {
    **{c: c + chr(ord(c) + 0xFEE0) for c in map(chr, range(0x21, 0x7F))},
    **{str(n): f"{n}{chr(0xFF10 + n)}{chr(0x660 + n)}{chr(0x966 + n)}{chr(0x1D7CE + n)}" for n in range(10)},
    ".": ".．․。",
    "-": "-－‐‑–−",
    " ": " \u00a0\u2009\u3000",
    "@": "@＠﹫",
}


@st.composite
def _disguised(draw: st.DrawFn) -> tuple[str, str]:
    kind = draw(st.sampled_from(sorted(_SECRETS)))
    text = "".join(
        draw(st.sampled_from(_WRITTEN[c])) + draw(st.sampled_from(["", "", "\u200b", "\u00ad", "\U000e0041"]))
        for c in draw(st.sampled_from(_SECRETS[kind]))
    )
    return kind, text


@given(_disguised(), st.booleans())
@settings(deadline=None, max_examples=200)
@example(("ip-address", "192。168。17。5"), True)
def test_a_mask_never_leaves_what_it_was_to_hide(secret: tuple[str, str], preserve_format: bool) -> None:
    kind, text = secret
    masked = Masking("mask", preserve_format=preserve_format).replace(kind, text)
    assert masked != text
    assert not preserve_format or len(masked) == len(text)
    left = ScanCopy(masked).folded.text
    kept = [c for c in (left.rpartition(".")[0] if kind == "email" else left) if c.isalnum()]
    assert len(kept) <= 4
    alarms = [f for f in join_overlapping(PIIRules(KINDS).find(f"My data: {masked} ok")) if f.score >= 0.6]
    assert [f.kind for f in alarms if f.kind == kind] == []


def test_a_hash_names_a_disguise_as_what_it_reads_as() -> None:
    masking = Masking("hash")
    assert masking.replace("ip-address", "１９２․１６８․17.5") == masking.replace("ip-address", "192.168.17.5")
    assert masking.replace("email", "an\u200bn＠example.com") == masking.replace("email", "ann@example.com")


@pytest.mark.parametrize(
    ("made", "shown", "given"),
    [
        ("**** 1111 **** 1111", "1111", "[CREDIT_CARD]"),
        ("**** １１１１ **** 1111", "1111", "[CREDIT_CARD]"),
        ("4111 1111 1111 1111", "1111", "[CREDIT_CARD]"),
        ("**** 111* **** 1111", "1111", "**** 111* **** 1111"),
    ],
)
def test_a_mask_that_leaves_more_than_it_means_to_show_is_not_used(
    monkeypatch: pytest.MonkeyPatch, made: str, shown: str, given: str
) -> None:
    def faulty(*_: object) -> tuple[str, str]:
        return made, shown

    monkeypatch.setattr("interlock.processors.detection.pii.masking._mask_number", faulty)
    assert Masking("mask").replace("credit-card", "4111 1111 1111 1111") == given
