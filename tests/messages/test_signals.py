"""Signals: how they are made, shown to the model and to a client, and replaced."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.messages import Message, MessageList
from interlock.messages.signals import put_signal, signal_message

TEXTS = st.text(st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="\ufffe\uffff"), max_size=20)


def shown(*signals: Message) -> list[str]:
    """What the model reads of a conversation of these."""
    messages = MessageList("hello")
    for signal in signals:
        put_signal(messages, signal, "input")
    return [message.text for message in messages.to_prompt()[1:]]


def test_a_signal_is_shown_to_the_model_under_its_tag_with_its_attributes() -> None:
    signal = signal_message("no tools now", tag="note", attributes={"kind": "limit", "left": 0, "hard": True})
    assert shown(signal) == ['<note kind="limit" left="0" hard="true">no tools now</note>']


@given(TEXTS.filter(bool), TEXTS)
def test_nothing_in_a_signal_pretends_to_be_the_element_around_it(text: str, value: str) -> None:
    read = ElementTree.fromstring(shown(signal_message(text, attributes={"of": value}))[0])
    assert (read.tag, read.text or "", read.attrib, len(read)) == ("system-reminder", text, {"of": value}, 0)


@pytest.mark.parametrize("tag", ["", "a b", "a>", "1st", 7])
def test_a_tag_that_could_stand_in_no_element_is_refused(tag: str) -> None:
    with pytest.raises(ValueError, match="a signal's tag is a name of letters"):
        signal_message("x", tag=tag)


def test_attributes_and_contents_that_cannot_be_shown_are_refused() -> None:
    with pytest.raises(ValueError, match="a signal's attribute is a name of letters"):
        signal_message("x", attributes={'a"b': "c"})
    with pytest.raises(ValueError, match="a signal's attribute 'a' is a text or a number"):
        signal_message("x", attributes={"a": []})  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="contents are a text, not a int"):
        signal_message(7)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_an_equal_transient_signal_takes_the_place_of_the_earlier_one() -> None:
    def note(text: str, left: int = 1) -> Message:
        return signal_message(text, attributes={"left": left}, transient=True)

    texts = shown(note("a"), note("b"), note("a"), note("a", 2))
    assert [(t[len('<system-reminder left="')], t.partition(">")[2][0]) for t in texts] == [
        ("1", "b"),
        ("1", "a"),
        ("2", "a"),
    ]


def test_signals_that_are_stored_are_all_kept() -> None:
    assert len(shown(signal_message("a"), signal_message("a"), signal_message("a", transient=True))) == 3


def test_a_signal_is_hidden_from_the_client_unless_it_is_asked_for() -> None:
    messages = MessageList("hello")
    put_signal(messages, signal_message("be brief"), "input")
    assert [m["role"] for m in messages.to_ui()] == ["user"]
    assert [m["role"] for m in messages.to_ui(signals=True)] == ["user", "signal"]
    assert messages.to_ui(signals=True)[1]["parts"] == [{"type": "text", "text": "be brief"}]


def test_a_signal_is_a_user_message_in_openais_form_and_stays_a_signal_in_json() -> None:
    messages = MessageList("hello")
    put_signal(messages, signal_message("be brief", tag="note"), "input")
    assert messages.to_openai()[1] == {"role": "user", "content": "<note>be brief</note>"}
    assert MessageList.from_json(messages.to_json()).to_openai() == messages.to_openai()


def test_what_a_signal_says_of_itself_is_not_believed_where_it_would_break_out_of_its_element() -> None:
    told = {"signal": {"tag": "x><y", "attributes": {"a>": "b", "c": '"><'}}}
    assert shown(Message("signal", "hi", metadata=told)) == ['<system-reminder c="&quot;&gt;&lt;">hi</system-reminder>']
