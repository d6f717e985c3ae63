"""Law: ordinary processors in branches beside guards that hold text back. Nothing is lost, and nothing comes back.

No character of these texts is like another, so it can be told of each what became of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from interlock import Agent, Processor, create_step
from interlock.messages import Chunk, StepFinish, TextDelta, TextEnd
from interlock.processors import OutputStreamContext, Scope, TextGuard
from interlock.processors.compose import ProcessorLike
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import chunks_and_result, flow

pytestmark = pytest.mark.anyio

KINDS = {"a": 0x4E00, "b": 0x5E00, "c": 0x6E00}
"""Where the characters of each kind begin: those of a text are one after the other."""

A, B, C = (f"[{chr(start)}-{chr(start + 0xFF)}]" for start in KINDS.values())


def spelled(kinds: str) -> str:
    """A text of these kinds of characters."""
    return "".join(chr(KINDS[kind] + number) for number, kind in enumerate(kinds))


class Takes(TextGuard):
    """Takes out what it finds."""

    noun = "a run"

    def __init__(self, id: str, *patterns: str, **more: Any) -> None:  # noqa: A002
        super().__init__(id=id, patterns=patterns, replacement="", phases=["output_stream"], **more)


class Plain(Processor):
    """An ordinary processor: it makes pieces of the pieces of a text."""

    ends: tuple[type[Any], ...] = (TextEnd, StepFinish)

    def __init__(self, id: str) -> None:  # noqa: A002
        super().__init__(id=id)

    def process_output_stream(self, ctx: OutputStreamContext) -> Any:
        kept: list[str] = ctx.state.setdefault("kept", [])
        chunk = ctx.chunk
        if isinstance(chunk, TextDelta):
            return self.made(chunk, kept)
        if isinstance(chunk, self.ends) and kept:
            rest = "".join(kept)
            kept.clear()
            return [TextDelta(rest, "0"), chunk]
        return chunk

    def made(self, chunk: TextDelta, kept: list[str]) -> Chunk | Sequence[Chunk] | None:
        return chunk


class Splits(Plain):
    def made(self, chunk: TextDelta, kept: list[str]) -> Sequence[Chunk]:
        return [chunk.replace(text=one) for one in chunk.text]


class Copies(Plain):
    def made(self, chunk: TextDelta, kept: list[str]) -> Chunk:
        return chunk.replace(text=chunk.text)


class Batches(Plain):
    """Makes one piece of three."""

    def made(self, chunk: TextDelta, kept: list[str]) -> Chunk | None:
        kept.append(chunk.text)
        if len(kept) < 3:
            return None
        text = "".join(kept)
        kept.clear()
        return chunk.replace(text=text)


class Lags(Plain):
    """Lets all but the last characters go."""

    def made(self, chunk: TextDelta, kept: list[str]) -> Chunk | None:
        text = "".join(kept) + chunk.text
        kept[:] = [text[-2:]]
        return chunk.replace(text=text[:-2]) if len(text) > 2 else None


class Drops(Plain):
    """Drops every piece that begins with a character of the kind."""

    def made(self, chunk: TextDelta, kept: list[str]) -> Chunk | None:
        return None if chunk.text and KINDS["c"] <= ord(chunk.text[0]) else chunk


class Late(Plain):
    """Lets what begins with a character of the kind go behind all others."""

    def made(self, chunk: TextDelta, kept: list[str]) -> Chunk | None:
        if chunk.text and KINDS["c"] <= ord(chunk.text[0]):
            kept.append(chunk.text)
            return None
        return chunk


class Last(Late):
    """Lets it go when the text has ended."""

    ends = (StepFinish,)


class Marks(Plain):
    """Puts a mark in the place of characters of a kind."""

    def made(self, chunk: TextDelta, kept: list[str]) -> Chunk:
        return chunk.replace(text="".join(one if ord(one) < KINDS["c"] else "*" for one in chunk.text))


class Strips(Plain):
    """Takes characters of a kind out of each piece."""

    def made(self, chunk: TextDelta, kept: list[str]) -> Chunk:
        return chunk.replace(text="".join(one for one in chunk.text if ord(one) < KINDS["c"]))


Maker = Callable[[str], Any]
"""Makes an entry of a list, given its id."""

CHANGE_NOTHING: list[Maker] = [
    Plain,
    Splits,
    Copies,
    Batches,
    Lags,
    lambda id_: Takes(id_, A, scope=Scope(parts=["reasoning"])),
    lambda id_: Takes(id_, A, strategy="warn"),
    lambda id_: create_step(Takes(id_, A), shadow=True),
]
GUARDS: list[Maker] = [
    lambda id_: Takes(id_, f"{A}{{2,3}}"),
    lambda id_: Takes(id_, f"{A}{B}?{C}", f"{B}{{2}}"),
    lambda id_: Takes(id_, f"{C}{{1,4}}{A}"),
]
TEXTS = st.lists(st.text("abc", max_size=5), max_size=8)


def rows(*makers: Sequence[Maker]) -> st.SearchStrategy[list[Maker]]:
    return st.lists(st.sampled_from([maker for each in makers for maker in each]), min_size=1, max_size=3)


def built(row: Sequence[Maker], name: str) -> ProcessorLike:
    made = flow(name)
    for number, maker in enumerate(row):
        made = made.then(maker(f"{name}-{number}"))
    return made.commit()


def pieces_of(cuts: Sequence[str]) -> list[str]:
    text, at = spelled("".join(cuts)), 0
    made: list[str] = []
    for cut in cuts:
        made.append(text[at : at + len(cut)])
        at += len(cut)
    return made


async def shown(pieces: Sequence[str], *branches: ProcessorLike) -> str:
    entries = list(branches) if len(branches) == 1 else [flow().parallel(list(branches)).merge().commit()]
    chunks, result = await chunks_and_result(Agent(model=ScriptedModel([list(pieces)]), output_processors=entries))
    assert result.error is None
    text = "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta))
    assert result.text == text
    return text


@settings(max_examples=150, deadline=None)
@given(rows(CHANGE_NOTHING), rows(GUARDS), st.booleans(), TEXTS)
async def test_a_branch_that_changes_nothing_changes_nothing(
    plain: list[Maker], guards: list[Maker], first: bool, cuts: list[str]
) -> None:
    pieces = pieces_of(cuts)
    expected = await shown(pieces, built(guards, "guards"))
    branches = [built(plain, "plain"), built(guards, "guards")]
    assert await shown(pieces, *(branches if first else branches[::-1])) == expected
    event("edited" if expected != "".join(pieces) else "as it came")


@settings(max_examples=300, deadline=None)
@given(st.lists(rows(CHANGE_NOTHING, [Drops, Strips], GUARDS), min_size=1, max_size=2), rows(GUARDS), TEXTS)
async def test_a_character_goes_on_where_it_goes_on_in_every_branch(
    branches: list[list[Maker]], guards: list[Maker], cuts: list[str]
) -> None:
    pieces = pieces_of(cuts)
    rows_ = [*branches, guards]
    alone = [await shown(pieces, built(row, f"row{number}")) for number, row in enumerate(rows_)]
    text = await shown(pieces, *[built(row, f"row{number}") for number, row in enumerate(rows_)])
    assert text == "".join(one for one in "".join(pieces) if all(one in each for each in alone))
    event("edited" if text != "".join(pieces) else "as it came")


@settings(max_examples=200, deadline=None)
@given(rows(CHANGE_NOTHING, [Marks]), rows(GUARDS), st.booleans(), TEXTS)
async def test_what_a_branch_replaces_in_places_it_has_not_replaced_elsewhere(
    plain: list[Maker], guards: list[Maker], first: bool, cuts: list[str]
) -> None:
    pieces = pieces_of(cuts)
    branches = [built(plain, "plain"), built(guards, "guards")]
    alone = [await shown(pieces, branch) for branch in branches]
    text = await shown(pieces, *(branches if first else branches[::-1]))
    assert text.replace("*", "") == "".join(one for one in "".join(pieces) if all(one in each for each in alone))


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from([Plain, Splits, Copies]), max_size=2),
    st.sampled_from([Late, Last]),
    rows(GUARDS),
    st.booleans(),
    TEXTS,
)
async def test_what_a_branch_lets_go_further_behind_lacks_what_others_took_out(
    plain: list[Maker], late: Maker, guards: list[Maker], first: bool, cuts: list[str]
) -> None:
    pieces = pieces_of(cuts)
    branches = [built([*plain[:1], late, *plain[1:]], "plain"), built(guards, "guards")]
    order, kept = [await shown(pieces, branch) for branch in branches]
    text = await shown(pieces, *(branches if first else branches[::-1]))
    assert text == "".join(one for one in order if one in kept)
    event("moved" if order != "".join(pieces) else "in order")
