from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.messages import FilePart, Message, Part, ReasoningPart, TextEdit, TextPart
from interlock.processors import InputContext, UnicodeNormalizer
from interlock.processors.detection.invisible import INVISIBLE
from interlock.processors.shaping.invisible_text import hidden_spans


def normalized(text: str, **options: Any) -> str:
    ctx = InputContext(text)
    UnicodeNormalizer(**options).process_input(ctx)
    return ctx.messages[0].text


_texts = st.text(max_size=40) | st.text(
    alphabet="aé\u0301 ﬁＡ\t\r\n\u200b\u200d\u00adक\u094d👩🚀\ufe0f™\u202e\x00", max_size=40
)


@given(_texts)
def test_the_text_is_in_normalisation_form_nfkc(text: str) -> None:
    made = normalized(text, preserve_emojis=False, collapse_whitespace=False, trim=False)
    assert made == unicodedata.normalize("NFKC", text)


@given(_texts, st.booleans(), st.booleans())
def test_normalising_twice_changes_nothing_more(text: str, strip: bool, emojis: bool) -> None:
    once = normalized(text, strip_control_chars=strip, preserve_emojis=emojis)
    assert normalized(once, strip_control_chars=strip, preserve_emojis=emojis) == once


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("Ｈｅｌｌｏ", "Hello"),
        ("ﬁne ½ №", "fine 1⁄2 No"),
        ("  a   b\t\tc  ", "a b c"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("a\n\n\n\nb", "a\n\nb"),
        ("a\n\nb", "a\n\nb"),
        ("a\u00a0b", "a b"),
        ("   ", ""),
    ],
)
def test_by_default_spelling_and_white_space_are_made_plain(text: str, made: str) -> None:
    assert normalized(text) == made


def test_white_space_stays_where_asked() -> None:
    assert normalized("  a   b ", collapse_whitespace=False) == "a   b"
    assert normalized("  a   b ", trim=False) == " a b "
    assert normalized("if x:\n    y\n", collapse_whitespace=False, trim=False) == "if x:\n    y\n"


def test_without_stripping_invisible_characters_stay() -> None:
    assert normalized("a\u200bb\u202ec\x00d") == "a\u200bb\u202ec\x00d"


@pytest.mark.parametrize(
    "hidden", ["\u200b", "\u202e", "\u2066", "\x00", "\x07", "\U000e0041", "\u00ad", "\ufeff", "\u200d"]
)
def test_stripping_takes_out_what_is_invisible(hidden: str) -> None:
    assert normalized(f"a{hidden}b{hidden * 3}c", strip_control_chars=True) == "abc"


SURVIVORS = [
    "👩‍🚀",
    "👨‍👩‍👧‍👦",
    "🏳️‍🌈",
    "❤️ ☎️ ™️ ©️ ℹ️",
    "1️⃣ #️⃣",
    "🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿",
    "👍🏽 🇩🇪",
    "🈁 🈚",
    "क्‍ष न्‌त",
    "می‌خواهم",
    "שלום עולם",
    "مرحبا بالعالم",
    "ශ්‍රී ලංකා",
    "한국어 日本語 ภาษาไทย",
    "葛󠄀城",
]


@pytest.mark.parametrize("text", SURVIVORS)
def test_emojis_joiners_and_right_to_left_text_survive_stripping(text: str) -> None:
    assert normalized(text, strip_control_chars=True) == unicodedata.normalize("NFC", text)


def test_without_preserving_emojis_nothing_holds_them_together() -> None:
    assert normalized("👩‍🚀 ™️", strip_control_chars=True, preserve_emojis=False) == "👩🚀 TM"


@pytest.mark.parametrize(
    "smuggled", ["👩" + "\ufe0f\ufe0e" * 20, "🏴" + "\U000e0041" * 9, "a\ufe0fb", "👩\u200d", "क\u200d"]
)
def test_characters_that_only_look_like_part_of_an_emoji_or_letter_do_not_hide(smuggled: str) -> None:
    left = sum(ord(c) in INVISIBLE for c in normalized(smuggled, strip_control_chars=True))
    assert left <= 1


@given(_texts)
def test_only_invisible_characters_are_ever_hidden(text: str) -> None:
    for start, end in hidden_spans(text, keep_emojis=True):
        assert all(ord(c) in INVISIBLE for c in text[start:end])


def test_only_text_parts_are_rewritten() -> None:
    parts: list[Part] = [
        TextPart("ﬁ"),
        FilePart("text/plain", data="77yI", filename="ﬁ"),
        ReasoningPart("ﬁ", signature="sealed"),
    ]
    ctx = InputContext(Message("user", parts))
    UnicodeNormalizer().process_input(ctx)
    assert ctx.messages[0].parts == [TextPart("fi"), *parts[1:]]


def test_a_clean_message_is_not_touched() -> None:
    base = InputContext("Where is my parcel?")
    fork = base.fork()
    UnicodeNormalizer(strip_control_chars=True).process_input(fork)
    assert not fork.changed_from(base)


def test_a_redaction_beside_it_wins_where_both_change_the_same_characters() -> None:
    base = InputContext("Hi   ｓｅｃｒｅｔ")
    rewritten, redacted = base.fork(), base.fork()
    UnicodeNormalizer().process_input(rewritten)
    redacted.message_list.edit_text(redacted.messages[0].id, 0, TextEdit(4, 11, "[X]"))
    assert base.merge_forks({"a": rewritten, "b": redacted}).messages[0].text == "Hi [X]"


def test_beside_a_redaction_both_hold() -> None:
    base = InputContext("Ｈｉ   secret   ﬁne")
    rewritten, redacted = base.fork(), base.fork()
    UnicodeNormalizer().process_input(rewritten)
    redacted.message_list.edit_text(redacted.messages[0].id, 0, TextEdit(5, 11, "[X]"))
    assert base.merge_forks({"a": rewritten, "b": redacted}).messages[0].text == "Hi [X] fine"
