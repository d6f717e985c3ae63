"""Texts that guards hold back, where what ends them goes another way: nothing is lost, nothing leaves too early."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock import Agent, Completed, Processor, RetryPolicy, create_step
from interlock.errors import DefinitionError
from interlock.messages import Chunk, ReasoningDelta, StepFinish, TextDelta, TextEnd, TextStart, ToolCall
from interlock.processors import OutputStreamContext, TextGuard
from interlock.processors.compose import ProcessorLike
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Patient, chunks_and_result, flow, picking
from tests.runtime.chunk_acting import Path

pytestmark = pytest.mark.anyio


class Cards(TextGuard):
    """Redacts card numbers, in the stream alone."""

    id = "cards"
    patterns = (r"4[0-9]{5}",)

    def __init__(self) -> None:
        super().__init__(phases=["output_stream"], replacement="[CARD]")


class Words(TextGuard):
    """Redacts a word."""

    id = "words"
    patterns = ("secret",)

    def __init__(self) -> None:
        super().__init__(phases=["output_stream"], replacement="[WORD]")


class Ones(TextGuard):
    """Redacts a digit."""

    id = "ones"
    patterns = ("1",)

    def __init__(self) -> None:
        super().__init__(phases=["output_stream"], replacement="[ONE]")


class Stops(TextGuard):
    """Stops the run for a number of two digits, which a third would make another."""

    id = "stops"
    patterns = ("41[0-9]?",)

    def __init__(self) -> None:
        super().__init__(phases=["output_stream"], strategy="block")


class Without(Processor):
    """Drops chunks of some types."""

    id = "without"

    def __init__(self, *types: str) -> None:
        super().__init__()
        self.types = types

    def process_output_stream(self, ctx: OutputStreamContext) -> Chunk | None:
        return None if ctx.chunk.type in self.types else ctx.chunk


async def shown(entries: Sequence[ProcessorLike], chunks: Sequence[Any]) -> str:
    agent = Agent(model=ScriptedModel([list(chunks)]), output_processors=list(entries))
    given, result = await chunks_and_result(agent)
    assert result.error is None
    return "".join(chunk.text for chunk in given if isinstance(chunk, TextDelta))


def deltas(*texts: str) -> list[Chunk]:
    return [TextDelta(text) for text in texts]


@pytest.mark.parametrize("end", [TextEnd(), ToolCall("c", "nothing", {})], ids=["text-end", "tool-call"])
async def test_a_guard_that_was_not_told_of_an_end_finds_what_it_finds_at_its_place(end: Chunk) -> None:
    row = flow("row").then(Without(end.type)).then(Cards()).commit()
    entries = [flow().parallel([row, Words()]).merge().commit()]
    chunks = [*deltas("ab 41"), end, *deltas("zz 412345 secret yy")]
    assert await shown(entries, chunks) == "ab 41zz [CARD] [WORD] yy"


@pytest.mark.parametrize("dropped", [["step-finish"], ["step-finish", "text-end"]])
async def test_what_a_guard_holds_goes_on_though_the_end_of_the_answer_was_dropped_before_it(
    dropped: list[str],
) -> None:
    assert await shown([Without(*dropped), Cards()], [*deltas("ab 41"), TextEnd()]) == "ab 41"
    assert await shown([Without(*dropped), Cards(), Words()], [*deltas("412345 sec"), TextEnd()]) == "[CARD] sec"
    block = flow().parallel([Cards(), Words()]).merge().commit()
    assert await shown([Without(*dropped), block], [*deltas("412345 s ab 41"), TextEnd()]) == "[CARD] s ab 41"
    assert await shown([Without(*dropped), Cards(), Ones()], [*deltas("ab 41"), TextEnd()]) == "ab 4[ONE]"


async def test_what_was_held_goes_on_before_the_end_of_the_answer() -> None:
    row = flow("row").then(Without("step-finish")).then(Cards()).commit()
    path = Path(flow().parallel([row, Words()]).map(picking("words")).commit())
    assert await path.texts("ab 41") == ["ab "]
    assert await path.feed(StepFinish()) == (TextDelta("41"), StepFinish())


def the_only_or_what_came(ctx: Any) -> Any:
    return next(iter(ctx.input.values()), ctx.run_input)


def routed(test: Callable[[Chunk], bool], *, ends: str = "merge") -> ProcessorLike:
    """A guard that only some chunks come to."""

    def condition(ctx: Any) -> bool:
        return test(ctx.input.chunk)

    made: Any = flow().branch([(condition, Cards())])
    done = made.merge() if ends == "merge" else made.map(the_only_or_what_came)
    return done.commit()  # type: ignore[no-any-return]


@pytest.mark.parametrize("ends", ["merge", "map"])
async def test_a_chunk_does_not_overtake_the_text_that_a_branch_holds(ends: str) -> None:
    entry = routed(lambda chunk: getattr(chunk, "text", "") != "X", ends=ends)
    assert await shown([entry], [*deltas("ab 41", "X", "412345 41"), TextEnd()]) == "ab 41X[CARD] 41"


@pytest.mark.parametrize("ends", ["merge", "map"])
async def test_the_end_of_the_answer_goes_past_a_branch_only_when_that_holds_nothing(ends: str) -> None:
    entry = routed(lambda chunk: isinstance(chunk, TextDelta), ends=ends)
    assert await shown([entry], deltas("ab 4123", "45 and 41")) == "ab [CARD] and 41"


async def test_what_goes_past_a_branch_in_another_text_has_it_go_on_holding() -> None:
    entry = routed(lambda chunk: isinstance(chunk, TextDelta))
    chunks = [TextDelta("4123"), ReasoningDelta("hm"), ToolCall("c", "nothing", {}), TextDelta("45 ")]
    assert await shown([entry], chunks[:2] + chunks[3:]) == "[CARD] "


PIECES = st.lists(st.sampled_from(["4", "1", "12345", "41234", "a", "sec", "ret", "412345", "X"]), max_size=8)
ROUTES = st.sampled_from(["all", "text alone", "not X", "no ends", "even"])


def route(name: str) -> Callable[[Chunk], bool]:
    seen: list[Chunk] = []

    def even(chunk: Chunk) -> bool:
        seen.append(chunk)
        return len(seen) % 2 == 0

    routes: dict[str, Callable[[Chunk], bool]] = {
        "all": lambda chunk: True,
        "text alone": lambda chunk: isinstance(chunk, TextDelta),
        "not X": lambda chunk: getattr(chunk, "text", "") != "X",
        "no ends": lambda chunk: not isinstance(chunk, TextEnd | StepFinish),
        "even": even,
    }
    return routes[name]


@given(PIECES, ROUTES, st.booleans(), st.sampled_from(["asyncio", "trio"]))
def test_whatever_way_chunks_take_no_text_is_lost_doubled_or_out_of_order(
    pieces: list[str], name: str, behind: bool, backend: str
) -> None:
    async def run() -> None:
        entries: list[ProcessorLike] = [Patient("waits", turns=1), routed(route(name))]
        entries += [flow("behind").parallel([Words(), Patient("too", turns=1)]).merge().commit()] * behind
        chunks = [TextStart(), *deltas(*pieces), TextEnd()]
        text = await shown(entries, chunks)
        if behind:
            assert "secret" not in text
            text = text.replace("[WORD]", "secret")
        assert text.replace("[CARD]", "412345") in _cards_told(pieces)

    anyio.run(run, backend=backend)


def _cards_told(pieces: Sequence[str]) -> list[str]:
    """The text; every card in it that could be meant reads ``412345``."""
    text = "".join(pieces)
    made = {text}
    for at in range(len(text)):
        if text[at] == "4" and text[at : at + 6].isdigit() and len(text[at : at + 6]) == 6:
            made |= {one[:at] + "412345" + one[at + 6 :] for one in made}
    return sorted(made)


async def test_a_guard_that_would_see_a_text_twice_or_in_parts_is_refused() -> None:
    def always(ctx: Any) -> bool:
        return True

    loop = flow().do_until(Cards(), always).commit()
    both = flow().branch([(always, Cards()), (always, Words())], mode="all").merge().commit()
    again: Any = create_step(flow("inner").then(Cards()).commit(), retry=RetryPolicy(attempts=2))
    for entry, why in (
        (loop, "each time the loop goes round"),
        (both, "must be put together again"),
        (flow().then(again).commit(), "each time the workflow is tried again"),
    ):
        with pytest.raises(DefinitionError, match=why):
            await Agent(model="embedded/echo", output_processors=[entry]).generate("hello")


async def test_a_workflow_that_is_run_by_itself_holds_nothing_back_at_its_end() -> None:
    outcome = await flow().then(Cards()).commit().run(OutputStreamContext(chunk=TextDelta("ab 412345 41")))
    assert isinstance(outcome, Completed)
    assert isinstance(outcome.output, OutputStreamContext)
    assert "".join(chunk.text for chunk in outcome.output.out if isinstance(chunk, TextDelta)) == "ab [CARD] 41"


async def test_a_block_for_what_was_held_is_a_block_where_its_end_went_another_way() -> None:
    entry = (
        flow()
        .branch([(lambda ctx: isinstance(getattr(ctx.input, "chunk", None), TextDelta), Stops())])
        .merge()
        .commit()
    )
    agent = Agent(model=ScriptedModel([["ab 41"]]), output_processors=[entry])
    given, result = await chunks_and_result(agent)
    assert result.status == "tripwire"
    assert "".join(chunk.text for chunk in given if isinstance(chunk, TextDelta)) == "ab "
