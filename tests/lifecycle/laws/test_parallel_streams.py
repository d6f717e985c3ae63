"""Law: guards on text in parallel branches. What leaves is what all of them have decided, joined, for every cut.

The same is asked of the whole text: an agent that is given it in one chunk, which is a stream cut nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock import Agent, Processor
from interlock.errors import DefinitionError, StepFailed
from interlock.messages import Chunk, ReasoningDelta, ReasoningEnd, ReasoningStart, TextDelta, TextEnd, TextStart
from interlock.processors import OutputStreamContext, TextGuard
from interlock.processors.compose import ProcessorLike
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Everywhere, chunks_and_result, flow, picking

pytestmark = pytest.mark.anyio


class Words(TextGuard):
    """Replaces some words, in the stream alone."""

    noun = "a word"

    def __init__(self, id: str, *patterns: str, mark: str, **more: Any) -> None:  # noqa: A002
        super().__init__(id=id, patterns=patterns, replacement=mark, phases=["output_stream"], **more)


def one(**more: Any) -> Words:
    return Words("one", "ab{1,3}c", "111", mark="<1>", **more)


def two(**more: Any) -> Words:
    return Words("two", "bca?", r"\b1{1,4}\b", mark="<2>", **more)


def three(**more: Any) -> Words:
    return Words("three", "<[12]>", "c c", mark="#", **more)


def four(**more: Any) -> Words:
    return Words("four", "x{1,2}", mark="X", **more)


class Upper(Processor):
    """An ordinary processor: it decides each chunk at once."""

    id = "upper"

    def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
        chunk = ctx.chunk
        return chunk.replace(text=chunk.text.replace("x", "X")) if isinstance(chunk, TextDelta) else chunk


def graphs() -> dict[str, list[ProcessorLike]]:
    return {
        "merged": [flow().parallel([one(), two()]).merge().commit()],
        "picked": [flow().parallel([one(), two()]).map(picking("two")).commit()],
        "a chain in a branch": [
            flow().parallel([flow("chain").then(one()).then(three()).commit(), two()]).merge().commit()
        ],
        "a block behind a block": [
            flow().parallel([one(), two()]).merge().parallel([three(), four()]).merge().commit()
        ],
        "alone in a branch": [flow().parallel([one(), Everywhere("idle")]).merge().commit()],
    }


async def shown(entries: Sequence[ProcessorLike], pieces: Sequence[str]) -> str:
    agent = Agent(model=ScriptedModel([list(pieces)]), output_processors=list(entries))
    chunks, result = await chunks_and_result(agent)
    assert result.error is None
    text = "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta))
    assert result.text == text
    return text


@pytest.mark.parametrize("name", list(graphs()))
@settings(max_examples=40, deadline=None)
@given(st.lists(st.text("abc1 x", max_size=5), max_size=8))
async def test_a_client_is_given_the_same_for_every_cut(name: str, pieces: list[str]) -> None:
    text = "".join(pieces)
    assert await shown(graphs()[name], pieces) == await shown(graphs()[name], [text])


async def test_an_ordinary_processor_in_a_branch_has_decided_each_chunk_at_once() -> None:
    beside = [flow().parallel([one(), Upper(), two()]).merge().commit()]
    in_a_chain = [flow().parallel([flow("chain").then(Upper()).then(one()).commit(), two()]).merge().commit()]
    for entries in (beside, in_a_chain):
        assert await shown(entries, ["x ab", "bc x", " bc"]) == "X <1> X <2>"


class Prefaces(Processor):
    """Puts text in: into a part of its own, and at the beginning of another."""

    id = "prefaces"

    def process_output_stream(self, ctx: OutputStreamContext) -> Any:
        match ctx.chunk:
            case ReasoningDelta(text=text):
                return TextDelta(text, "thought")
            case ReasoningEnd() as end:
                return [end, TextDelta("So much for that.", "thought")]
            case TextStart(id=id_) as start:
                return [TextStart("note"), TextDelta("So", "note"), TextEnd("note"), start, TextDelta("Note: ", id_)]
            case TextDelta(text="") as empty:
                return empty.replace(text="Ahem. ")
            case chunk:
                return chunk


async def test_what_a_branch_puts_in_goes_on_where_and_when_it_puts_it_in() -> None:
    script: list[Any] = [
        ReasoningStart("r"),
        *[ReasoningDelta(word, "r") for word in ("The ", "cat ", "and ", "a ", "dog.")],
        ReasoningEnd("r"),
        TextStart("0"),
        *[TextDelta(text, "0") for text in ("", "Hello ", "you.")],
        TextEnd("0"),
    ]
    shown_: list[list[str]] = []
    for entries in ([Prefaces(), four()], [flow().parallel([Prefaces(), four()]).merge().commit()]):
        chunks, result = await chunks_and_result(Agent(model=ScriptedModel([script]), output_processors=entries))
        assert result.error is None
        shown_.append([chunk.text if isinstance(chunk, TextDelta) else chunk.type for chunk in chunks])
    assert shown_[0] == shown_[1]
    assert "Ahem. " in shown_[0]


class Drops(Processor):
    """Drops what is a number as a whole."""

    id = "drops"

    def process_output_stream(self, ctx: OutputStreamContext) -> Chunk | None:
        chunk = ctx.chunk
        return None if isinstance(chunk, TextDelta) and chunk.text.isdigit() else chunk


async def test_what_a_branch_has_dropped_at_the_end_of_a_text_is_gone_when_the_text_ends() -> None:
    entries = [flow().parallel([one(), Drops()]).merge().commit()]
    agent = Agent(model=ScriptedModel([["x ", "111"]]), output_processors=entries)
    chunks, _ = await chunks_and_result(agent)
    told = [chunk.text if isinstance(chunk, TextDelta) else chunk.type for chunk in chunks]
    assert told[told.index("text-start") + 1 : told.index("text-end")] == ["x ", "<1>"]


async def test_edits_of_all_branches_are_joined() -> None:
    for pieces in (["abbc", " 11", "1 abc", "a"], list("abbc 111 abca")):
        assert await shown(graphs()["merged"], pieces) == "<1> <1> <1>"


async def test_a_map_picks_whose_edits_go_on_and_not_when() -> None:
    given_out: list[str] = []
    agent = Agent(
        model=ScriptedModel([["x a", lambda: given_out.append("waits"), "bb", lambda: given_out.append("waits"), "z"]]),
        output_processors=graphs()["picked"],
    )
    async with agent.stream("hello") as stream:
        async for chunk in stream:
            if isinstance(chunk, TextDelta):
                given_out.append(chunk.text)
    # "two" has decided the "a" at once; "one" holds it back, because "abbc" may come.
    assert given_out == ["x ", "waits", "waits", "abbz"]


@pytest.mark.parametrize("graph", ["merge", "map"])
@pytest.mark.parametrize("cut", [1, 2, 3, 20])
async def test_a_branch_that_blocks_lets_nothing_of_what_it_blocks_for_out(graph: str, cut: int) -> None:
    block = flow().parallel([one(strategy="block"), two()])
    entries = [(block.merge() if graph == "merge" else block.map(picking("two"))).commit()]
    text = "so x abbc and more"
    agent = Agent(
        model=ScriptedModel([[text[n : n + cut] for n in range(0, len(text), cut)]]), output_processors=entries
    )
    chunks, result = await chunks_and_result(agent)
    assert result.status == "tripwire"
    assert "so x ".startswith("".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta)))


async def test_no_more_is_held_back_than_the_largest_of_the_branches_holds() -> None:
    came = 0

    def counted(text: str) -> list[Any]:
        def note() -> None:
            nonlocal came
            came += len(text)

        return [note, text]

    text = "ab 11 abb 1 bc aab 111 "
    agent = Agent(
        model=ScriptedModel([[item for one_ in text for item in counted(one_)]]), output_processors=graphs()["merged"]
    )
    shown_ = 0
    longest = max(one().longest_hold, two().longest_hold)
    async with agent.stream("hello") as stream:
        async for chunk in stream:
            if isinstance(chunk, TextDelta):
                shown_ += len(chunk.text)
                assert came - shown_ <= longest + 1


async def test_a_map_that_makes_something_of_its_own_of_texts_that_are_held_back_is_told_so() -> None:
    def own(ctx: Any) -> Any:
        made = ctx.input["processor:one"].fork()
        made.out = (TextDelta("mine"),)
        return made

    entries = [flow().parallel([one(), two()]).map(own).commit()]
    agent = Agent(model=ScriptedModel([["a"]]), output_processors=entries)
    _, result = await chunks_and_result(agent)
    assert "the context of one of the block's branches" in str(result.error)


async def test_where_nobody_could_put_the_text_together_again_the_guard_is_refused() -> None:
    entries = [flow().parallel([one(), two()], join=1).merge().commit()]
    with pytest.raises(DefinitionError, match="holds text back, so its branches must be put together again"):
        await Agent(model=ScriptedModel([["a"]]), output_processors=entries).generate("hello")


async def test_records_say_what_each_branch_did() -> None:
    agent = Agent(model=ScriptedModel([["so 111", " x"]]), output_processors=graphs()["picked"])
    _, result = await chunks_and_result(agent)
    told = {check.processor_id: (check.verdict, check.kept) for check in result.checks}
    assert told == {"one": ("changed", False), "two": ("changed", True)}
    assert not isinstance(result.error, StepFailed)
