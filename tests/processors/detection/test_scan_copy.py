from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.processors.detection.invisible import INVISIBLE
from interlock.processors.detection.scan_copy import (
    LONGEST_SEGMENT,
    SECOND_OF_COMPOSITION,
    Layer,
    ScanCopy,
    joins_previous,
    segments,
)

_TRICKY = (
    "aeKſﬁ①½４ＡªİßΣςа\u0301\u0300\u0308\u0303\u0302\u0e34각ᄀ\u1161\u11a8が\u3099ﾞカ"
    "\u200b\u200d\u00ad\u202e\ud83d\U0001f469\U0001f680\ufe0f\U000e0041क्ष़ﷺ\r\n \t\x00"
)
_texts = st.text(max_size=40) | st.text(alphabet=_TRICKY, max_size=40)


def _visible(text: str) -> str:
    return "".join(c for c in text if ord(c) not in INVISIBLE)


def _without_surrogates(text: str) -> str:
    return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)


@given(_texts)
def test_plain_is_the_whole_text_normalised_without_the_invisible(text: str) -> None:
    assert ScanCopy(text).plain.text == unicodedata.normalize("NFKC", _without_surrogates(_visible(text)))


@given(_texts)
def test_segments_tile_the_visible_characters_in_order(text: str) -> None:
    cut = list(segments(text))
    assert "".join(s.text for s in cut) == _visible(text)
    assert all(one.end <= other.start for one, other in pairwise(cut))
    assert all(_visible(text[s.start : s.end]) == s.text for s in cut)


@given(_texts, st.data())
def test_a_span_goes_back_to_raw_text_that_reads_the_same(text: str, data: st.DataObject) -> None:
    copy = ScanCopy(text)
    for layer in (copy.plain, copy.folded):
        if not layer.text:
            continue
        start = data.draw(st.integers(0, len(layer.text) - 1))
        end = data.draw(st.integers(start + 1, len(layer.text)))
        raw_start, raw_end = layer.raw_span(start, end)
        assert 0 <= raw_start < raw_end <= len(text)
        again = ScanCopy(text[raw_start:raw_end])
        read = again.plain.text if layer is copy.plain else again.folded.text
        assert layer.text[start:end] in read


@given(_texts)
def test_all_of_a_layer_goes_back_to_all_that_is_visible(text: str) -> None:
    layer = ScanCopy(text).folded
    if layer.text:
        start, end = layer.raw_span(0, len(layer.text))
        assert _visible(text[:start]) == "" == _visible(text[end:])


@given(st.text(alphabet="abcXYZ0123 .,-@", max_size=60))
def test_ascii_takes_the_short_way_to_the_same_copy(text: str) -> None:
    short, long = ScanCopy(text).folded, ScanCopy(text + "é").folded
    assert short.text + "é" == long.text
    assert all(short.raw_span(n, n + 1) == long.raw_span(n, n + 1) for n in range(len(text)))


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        ("４１１１", "4111"),
        ("4\u200b1\u00ad1\u20601", "4111"),
        ("i\x00gnore", "ignore"),
        ("𝐈𝐠𝐧𝐨𝐫𝐞", "ignore"),
        ("ⓘⓖⓝⓞⓡⓔ", "ignore"),
        ("ɪɢɴᴏʀᴇ", "ignore"),
        ("ℌello", "hello"),
        ("ﬁne STRASSE straße", "fine strasse strasse"),
        ("٤١١١", "4111"),
        ("“don’t”—", '"don\'t"-'),
        ("ig\U000e0041nore", "ignore"),
        ("ig\u202enore", "ignore"),
        ("іgnоrе", "ignore"),
    ],
)
def test_disguises_come_off(raw: str, read: str) -> None:
    assert ScanCopy(raw).folded.text == read


@pytest.mark.parametrize(("raw", "counts"), [("іgnоrе", True), ("оса", False), ("ignore", True), ("ɪɢɴᴏʀᴇ", True)])
def test_folded_letters_of_another_script_count_only_where_scripts_mix(raw: str, counts: bool) -> None:
    layer = ScanCopy(raw).folded
    assert layer.counts(0, len(layer.text)) is counts


def test_lone_surrogates_become_the_replacement_character_of_the_same_length() -> None:
    layer = ScanCopy("a\ud83db\udfff\u0301").plain
    assert layer.text == "a\ufffdb\ufffd\u0301"
    assert layer.raw_span(2, 3) == (2, 3)


def test_a_span_inside_an_expansion_covers_the_whole_raw_character() -> None:
    layer = ScanCopy("xﬃy").plain
    assert layer.text == "xffiy"
    assert layer.raw_span(1, 2) == layer.raw_span(2, 3) == (1, 2)


def test_a_long_run_of_combining_marks_is_cut() -> None:
    assert max(len(s.text) for s in segments("e" + "\u0301\u0316" * 500)) == LONGEST_SEGMENT


def test_the_table_of_second_characters_holds_all_of_this_pythons() -> None:
    seconds: set[str] = set()
    for point in range(0x110000):
        parts = unicodedata.decomposition(chr(point)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            pair = "".join(chr(int(p, 16)) for p in parts)
            if unicodedata.normalize("NFC", pair) == chr(point) and unicodedata.combining(pair[1]) == 0:
                seconds.add(pair[1])
    hangul = {chr(p) for p in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}
    assert seconds | hangul <= SECOND_OF_COMPOSITION
    assert all(joins_previous(c) for c in seconds | hangul)


def test_a_layer_without_a_map_is_its_own_raw_text() -> None:
    assert Layer("abc").raw_span(1, 2) == (1, 2)
    assert Layer("abc").counts(0, 3)
