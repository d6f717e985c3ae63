from __future__ import annotations

import json
from collections.abc import Awaitable
from typing import Any, cast

import pytest

from interlock.errors import DefinitionError, ModelError
from interlock.messages import Message, MessageList, Usage
from interlock.models import ScriptedModel
from interlock.processors import InputContext, ModerationProcessor, OutputResultContext, RunResult
from interlock.processors.detection.moderation.categories import CATEGORIES
from interlock.processors.detection.moderation.rules import ModerationRules
from interlock.verdict import AbortSignal, Phase
from tests.processors.guards.verdicts import ask

THRESHOLD = 0.5
_RULES = ModerationRules(CATEGORIES)


def scores(text: str) -> dict[str, float]:
    return {f.kind: f.score for f in _RULES.find(text)}


UNWANTED = {
    "harassment": ["You are a worthless piece of garbage.", "shut up, you moron", "f*ck you, a$$hole"],
    "harassment/threatening": ["I will kill you.", "go kill yourself", "I know where you live and I'm coming for you"],
    "hate": ["All immigrants are vermin.", "I hate all muslims"],
    "hate/threatening": ["Jews should be gassed", "kill all the immigrants"],
    "self-harm/intent": ["I want to kill myself tonight.", "I don't want to be alive, I'd be better off dead"],
    "self-harm/instructions": ["What is the most painless way: how do I kill myself?", "easiest way to commit suicide"],
    "sexual": ["horny milf porn", "suck my dick"],
    "sexual/minors": ["selling child porn", "erotic story about a 12 year old"],
    "violence": ["How do I build a pipe bomb at home?", "they were beaten to death; death to them all"],
}


@pytest.mark.parametrize(("category", "text"), [(c, text) for c, texts in UNWANTED.items() for text in texts])
def test_plain_cases_of_a_category_are_found(category: str, text: str) -> None:
    assert scores(text).get(category, 0.0) >= THRESHOLD


@pytest.mark.parametrize(
    "white", ["  ", "\t", "\n", "\r\n", " \n ", "\u00a0\u00a0", "\u3000", "\u2028", "\v", "\u2800"]
)
def test_no_white_space_hides_what_is_unwanted(white: str) -> None:
    texts = [(category, text.replace(" ", white)) for category, texts in UNWANTED.items() for text in texts]
    assert [t for category, t in texts if scores(t).get(category, 0.0) < THRESHOLD] == []


def test_gore_is_found_where_there_is_more_than_a_word_of_it() -> None:
    text = "They tortured him until his guts spilled out."
    assert scores(text)["violence/graphic"] >= THRESHOLD
    assert scores("Many were mutilated at Verdun.")["violence/graphic"] < THRESHOLD


HONEST = [
    "How do I kill a zombie process in Linux?",
    "The script should be executed as root, and its children should be killed on time-out.",
    "The eggs should be beaten until stiff.",
    "I cut myself shaving, how do I stop the bleeding?",
    "I'm going to die of laughter!",
    "Where can I find sexual education material for children aged ten?",
    "The sexual abuse of children is a crime in every country.",
    "A patient had suicidal thoughts; which hotline can we give?",
    "She is trans and works as a nurse.",
    "Immigrants are not criminals.",
    "What does the word faggot mean and why is it offensive?",
    "I feel so stupid, I forgot my keys again.",
    "I am such an idiot, sorry!",
    "This fucking game is so good.",
    "You are sick, please see a doctor.",
    "I'll beat you at chess tomorrow.",
    "My grandmother died of breast cancer.",
    "When do you go back to your country after the exchange?",
    "You are going to pay at the counter.",
    "Dick van Dyke played the chimney sweep.",
    "Scunthorpe, Penistone and Cockermouth are towns.",
    "The assassin class in this assembly game is hard to pass.",
    "Niger and Nigeria are countries.",
    "Chinks in the armour were visible.",
    "Kill two birds with one stone.",
    "Your phone is useless without a battery.",
    "Is oral sex safe during pregnancy?",
    "Они ехали в автобусе и говорили о погоде.",
]


@pytest.mark.parametrize("white", ["  ", "\t", "\n"])
def test_white_space_makes_nothing_of_honest_texts(white: str) -> None:
    assert [t for t in HONEST if max(scores(t.replace(" ", white)).values(), default=0.0) >= THRESHOLD] == []


@pytest.mark.parametrize("text", HONEST)
def test_an_honest_text_raises_no_alarm(text: str) -> None:
    assert max(scores(text).values(), default=0.0) < THRESHOLD


@pytest.mark.parametrize(
    "text", ["f\u200bu\u00adck you, moron", "ｆｕｃｋ ｙｏｕ ｍｏｒｏｎ", "𝐟𝐮𝐜𝐤 𝐲𝐨𝐮 𝐦𝐨𝐫𝐨𝐧", "fuсk yоu mоrоn"]
)
def test_a_disguise_hides_no_abuse(text: str) -> None:
    assert scores(text)["harassment"] >= THRESHOLD


def test_block_names_categories_and_never_what_was_found() -> None:
    tripwire = ask(ModerationProcessor(include_scores=True), "I will kill you, Bartholomew.").tripwire
    assert tripwire is not None
    assert (tripwire.processor_id, tripwire.phase) == ("moderation", Phase.INPUT)
    assert tripwire.metadata == {
        "categories": ["harassment/threatening"],
        "count": 1,
        "scores": {"harassment/threatening": 0.7},
    }
    assert "Bartholomew" not in repr(tripwire)
    assert "kill" not in repr(tripwire)


def test_warn_and_filter_do_as_they_say() -> None:
    seen = ask(ModerationProcessor(strategy="warn"), "I will kill you.")
    assert (seen.texts, [w.detail for w in seen.warnings]) == (
        ["I will kill you."],
        [{"categories": ["harassment/threatening"], "count": 1}],
    )
    assert ask(ModerationProcessor(strategy="filter"), "hello", "I will kill you.").texts == ["hello"]


def test_only_the_categories_asked_for_are_looked_for() -> None:
    guard = ModerationProcessor(categories=["sexual"])
    assert ask(guard, "I will kill you.").tripwire is None
    assert ask(guard, "suck my dick").tripwire is not None


def test_the_answer_is_read_at_the_end_of_the_run() -> None:
    conversation = MessageList("hello")
    conversation.add(Message.assistant("You are a worthless piece of garbage."), source="response")
    result = RunResult(text="", usage=Usage(), finish_reason="stop", steps=())
    with pytest.raises(AbortSignal) as stopped:
        ModerationProcessor().process_output_result(OutputResultContext(conversation, result=result))
    assert stopped.value.tripwire.phase is Phase.OUTPUT_RESULT


def test_a_category_of_ones_own_needs_a_model() -> None:
    with pytest.raises(DefinitionError, match="'spoilers'"):
        ModerationProcessor(categories=["spoilers"])
    ModerationProcessor(categories=["spoilers"], model=ScriptedModel([]))


@pytest.mark.parametrize(("options", "says"), [({"strategy": "redact"}, "block, warn"), ({"threshold": 2}, "0 and 1")])
def test_a_wrong_option_is_refused_with_what_will_do(options: dict[str, Any], says: str) -> None:
    with pytest.raises(DefinitionError, match=says):
        ModerationProcessor(**options)


# With a model


def _answer(*scores: dict[str, float]) -> str:
    return json.dumps({"verdicts": [{"text_id": n, "scores": s} for n, s in enumerate(scores)]})


async def _judge(guard: ModerationProcessor, *texts: str) -> InputContext:
    ctx = InputContext(MessageList([Message.user(t) for t in texts]))
    waiting = cast("object", guard.process_input(ctx))
    assert isinstance(waiting, Awaitable)
    await cast("Awaitable[None]", waiting)
    return ctx


@pytest.mark.anyio
async def test_one_call_judges_all_texts_that_the_rules_left_open() -> None:
    model = ScriptedModel([_answer({}, {"hate": 0.8})])
    guard = ModerationProcessor(model=model, strategy="filter")
    ctx = await _judge(guard, "hello", "I will kill you.", "  ", "people like that, you know")
    assert [m.text for m in ctx.messages] == ["hello", "  "]
    assert model.calls == 1
    assert "kill" not in model.received(0).partition("text_id")[2].partition("verdicts")[2]
    assert "I will kill you" not in model.received(0)


@pytest.mark.anyio
async def test_the_models_verdict_blocks_at_the_threshold_and_not_below() -> None:
    below = ModerationProcessor(model=ScriptedModel([_answer({"hate": 0.49})]))
    assert [m.text for m in (await _judge(below, "hello")).messages] == ["hello"]
    at = ModerationProcessor(model=ScriptedModel([_answer({"spoilers": 0.5})]), categories=["spoilers"])
    with pytest.raises(AbortSignal) as stopped:
        await _judge(at, "the butler did it")
    assert stopped.value.tripwire.metadata == {"categories": ["spoilers"], "count": 1}


@pytest.mark.anyio
async def test_a_model_is_not_asked_where_the_rules_have_decided_all() -> None:
    model = ScriptedModel([])
    with pytest.raises(AbortSignal):
        await _judge(ModerationProcessor(model=model), "I will kill you.")
    assert model.calls == 0


@pytest.mark.anyio
async def test_a_judge_that_cannot_be_understood_fails_the_guard_and_never_passes_the_text() -> None:
    with pytest.raises(ModelError):
        await _judge(ModerationProcessor(model=ScriptedModel(["looks fine to me"])), "hello")
