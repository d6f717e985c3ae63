"""What was redacted exactly does not come back in other letters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.errors import MergeConflict
from interlock.messages import Message, MessageList, TextEdit, TextPart, merge
from interlock.messages.lost_words import LostWords, WordsOf, fold

SECRETS = [
    "ANN.SMITH@EXAMPLE.COM",
    "hunter2Xyz",
    "4111 1111 2222 3333",
    "４１１１２２２２３３３３",
    "Ｍarjorie",
    "ZOË@café.fr",
]
WORDS = ["Mail", "the", "PIN", "of", "ｗord", "now,", "42", "Ok", "is", "-"]
FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}


def nfkc(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def swapped(text: str) -> str:
    words = text.split(" ")
    return " ".join([*words[len(words) // 2 :], *words[: len(words) // 2]]).lower()


IN_PLACE: list[Callable[[str], str]] = [
    str.lower,
    str.upper,
    str.swapcase,
    str.title,
    nfkc,
    lambda text: unicodedata.normalize("NFD", text),
    lambda text: nfkc(text).casefold(),
    lambda text: text.translate(FULL_WIDTH),
    lambda text: f"In short: {text.lower()} is it",
    lambda text: f"{text.upper()}. I say {text.lower()}!",
    lambda text: text.replace(" ", "-").lower(),
    lambda text: text.replace(" ", ""),
    swapped,
]


def listed(text: str) -> MessageList:
    return MessageList([Message("user", [TextPart(text)], id="m")])


def in_place(base: MessageList, text: str) -> MessageList:
    fork = base.fork()
    part = fork[0].parts[0]
    assert isinstance(part, TextPart)
    part.text = text
    return fork


def plain(text: str) -> str:
    return nfkc(nfkc(text).casefold())


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_no_telling_run_of_a_redacted_text_comes_back_through_a_change_in_place(data: st.DataObject) -> None:
    secrets = data.draw(st.lists(st.sampled_from(SECRETS), min_size=1, max_size=2, unique=True))
    words = data.draw(st.permutations([*secrets, *data.draw(st.lists(st.sampled_from(WORDS), max_size=6))]))
    text = " ".join(words)
    base = listed(text)
    guard = base.fork()
    shape = data.draw(st.sampled_from(["[X]", "", "*"]))
    places = sorted((text.index(secret), text.index(secret) + len(secret)) for secret in secrets)
    guard.edit_text("m", 0, [TextEdit(low, high, shape) for low, high in places])
    forks = {"guard": guard}
    for name in data.draw(st.sampled_from(["p", "pq"])):
        forks[name] = in_place(base, data.draw(st.sampled_from(IN_PLACE))(text))
    runs = {run for secret in secrets for run in re.findall(r"[^\W\d_]{4,}|\d{3,}", plain(secret))}
    for order in permutations(forks):
        try:
            result = merge(base, {name: forks[name] for name in order}).texts()[0]
        except MergeConflict:
            continue
        assert not [run for run in runs if run in plain(result)], (order, result)


@pytest.mark.parametrize("order", [("guard", "place"), ("place", "guard")])
@pytest.mark.parametrize(
    ("text", "low", "high", "change", "result"),
    [
        ("Mail ANN@EXAMPLE.COM now", 5, 20, str.lower, "mail [X] now"),
        ("card ４１１１１１１１ x", 5, 13, nfkc, "card [X] x"),
        ("Ann has 4111-2222", 8, 17, str.upper, "ANN HAS [X]"),
    ],
)
def test_an_exact_redaction_keeps_its_replacement_beside_a_change_in_place(
    order: tuple[str, str], text: str, low: int, high: int, change: Callable[[str], str], result: str
) -> None:
    base = listed(text)
    guard = base.fork()
    guard.edit_text("m", 0, TextEdit(low, high, "[X]"))
    forks = {"guard": guard, "place": in_place(base, change(text))}
    found = merge(base, {name: forks[name] for name in order}).texts()[0]
    assert found == result


def test_every_exact_redaction_within_a_change_in_place_keeps_its_replacement() -> None:
    base = listed("ANNSMITHBOBJONES")
    guard = base.fork()
    guard.edit_text("m", 0, [TextEdit(0, 3, "[A]"), TextEdit(8, 11, "[B]")])
    assert merge(base, {"place": in_place(base, "annsmithbobjones"), "guard": guard}).texts() == ["[A][B]"]


def test_a_preferred_change_in_place_keeps_its_replacement_without_what_was_redacted() -> None:
    base = listed("call ANNSMITH now")
    guard = base.fork()
    guard.edit_text("m", 0, TextEdit(5, 13, "[X]"))
    forks = {"place": in_place(base, "call <annsmith> now"), "guard": guard}
    assert merge(base, forks, "place").texts() == ["call <> now"]


def test_letters_fold_without_case_width_and_accents() -> None:
    assert fold("ＭＡＲＪÖＲＩＥ ﬁ ß") == fold("marjo\u0308rie FI SS") == "marjorie fi ss"


def test_lost_words_go_however_they_are_written_and_wherever_they_stand() -> None:
    lost = WordsOf("pay Marjorie 42 or 4111 by ann").lost([(4, 12), (19, 23)])
    assert lost.out_of("xＭＡＲＪＯＲＩＥx said 41114 by ANN") == "xx said 4 by ANN"
    assert WordsOf("hunter2abcd").lost([(0, 11)]).out_of("ABCD, hunter, 2") == ", , 2"


@pytest.mark.parametrize(
    ("word", "again"),
    [("Re\u0301my", "RE\u0301MY"), ("Re\u0301my", "R\u00e9my"), ("\u0939\u093f\u0928\u094d\u0926\u0940",) * 2],
)
def test_a_sign_of_its_own_does_not_part_a_word(word: str, again: str) -> None:
    lost = WordsOf(f"of {word} now").lost([(3, 3 + len(word))])
    assert "now" in lost.out_of(f"now {again}")
    assert fold(word)[:3] not in fold(lost.out_of(f"now {again}"))


def test_a_word_that_comes_together_when_another_is_taken_out_goes_too() -> None:
    assert LostWords(["4111"]).out_of("a41411111b") == "ab"
    assert LostWords(["4111"]).out_of("41" * 9 + "11" * 9) == ""
