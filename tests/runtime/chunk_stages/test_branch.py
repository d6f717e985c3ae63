"""Branches at the per-chunk point: conditions are asked about each chunk, in order, and choose what looks at it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio.lowlevel
import pytest

from interlock.errors import StepFailed
from interlock.messages import TextDelta
from interlock.processors import OutputStreamContext
from interlock.verdict import AbortSignal
from tests.runtime.chunk_acting import Path, drop, flow, guard, shout, split, star, text_of

pytestmark = pytest.mark.anyio

Condition = Callable[[Any], bool | Awaitable[bool]]


def begins(letter: str, *, log: list[str] | None = None, turns: int = 0) -> Condition:
    """Whether a chunk's text begins with that letter; notes each time it is asked."""

    def ask(ctx: Any) -> bool:
        if log is not None:
            log.append(letter)
        return text_of(ctx.input.chunk).startswith(letter)

    async def asks(ctx: Any) -> bool:
        for _ in range(turns):
            await anyio.lowlevel.checkpoint()
        return ask(ctx)

    return asks if turns else ask


@pytest.mark.parametrize("turns", [0, 1])
async def test_the_first_condition_that_holds_decides_for_each_chunk_by_itself(turns: int) -> None:
    log: list[str] = []
    block = flow().branch(
        [
            (begins("a", log=log, turns=turns), guard("shouting", shout)),
            (begins("b", log=log, turns=turns), guard("starring", star, turns=turns)),
        ]
    )
    assert await Path(block.merge().commit()).texts("ab", "ba", "c") == ["AB", "*ba", "c"]
    assert log == ["a", "a", "b", "a", "b"]


@pytest.mark.parametrize("turns", [(0, 0), (1, 0), (0, 2)])
async def test_in_mode_all_every_branch_whose_condition_holds_looks_at_once(turns: tuple[int, int]) -> None:
    def replaces(old: str, new: str) -> Callable[[OutputStreamContext], Any]:
        def act(ctx: OutputStreamContext) -> Any:
            chunk = ctx.chunk
            return chunk.replace(text=chunk.text.replace(old, new)) if isinstance(chunk, TextDelta) else chunk

        return act

    block = flow().branch(
        [
            (lambda ctx: "one" in ctx.input.chunk.text, guard("first", replaces("one", "1"), turns=turns[0])),
            (lambda ctx: "two" in ctx.input.chunk.text, guard("second", replaces("two", "2"), turns=turns[1])),
        ],
        mode="all",
    )
    path = Path(block.merge().commit())
    assert await path.texts("one and two", "one", "two", "three") == ["1 and 2", "1", "2", "three"]


async def test_otherwise_is_what_looks_where_no_condition_holds() -> None:
    block = flow().branch([(begins("a"), guard("a", shout))], otherwise=guard("rest", star)).merge().commit()
    assert await Path(block).texts("ab", "cd") == ["AB", "*cd"]


async def test_a_branch_of_several_steps_is_a_chain_keyed_by_its_last() -> None:
    keys: list[list[str]] = []

    def only(ctx: Any) -> Any:
        keys.append(list(ctx.input))
        return next(iter(ctx.input.values()))

    block = flow().branch([(begins("a"), [guard("first", shout), guard("last", star, turns=1)])])
    assert await Path(block.map(only).commit()).texts("ab") == ["*AB"]
    assert keys == [["processor:last"]]


async def test_a_map_sees_the_branches_that_were_taken_and_no_others() -> None:
    seen: list[dict[str, list[str]]] = []

    def look(ctx: Any) -> Any:
        seen.append({key: [chunk.text for chunk in branch.out] for key, branch in ctx.input.items()})
        return next(iter(ctx.input.values()), ctx.run_input)

    block = flow().branch([(begins("a"), guard("a", shout)), (begins("ab"), guard("b", drop))], mode="all")
    assert await Path(block.map(look).commit()).texts("ab", "ac", "c") == ["AB", "AC", "c"]
    assert seen == [{"processor:a": ["AB"], "processor:b": []}, {"processor:a": ["AC"]}, {}]


async def test_each_of_several_chunks_is_asked_about_by_itself() -> None:
    block = flow().branch([(begins("a"), guard("a", shout))]).merge().commit()
    assert await Path(guard("splitting", split), block, guard("behind", star)).texts("aba") == ["*A", "*b", "*A"]


@pytest.mark.parametrize("turns", [0, 1])
async def test_a_condition_that_raises_fails_the_run_and_names_the_branch(turns: int) -> None:
    log: list[str] = []

    async def later(ctx: Any) -> bool:
        await anyio.lowlevel.checkpoint()
        raise OSError("broken")

    def broken(ctx: Any) -> bool:
        raise OSError("broken")

    inner = flow("inner").branch([(later if turns else broken, guard("a", log=log))], otherwise=guard("b", log=log))
    path = Path(flow("outer").then(inner.merge().commit()).commit())
    with pytest.raises(StepFailed, match=r"'outer/inner/branch' in phase 'output_stream' failed: OSError: broken"):
        await path.feed(TextDelta("x"))
    assert log == []
    assert {check.processor_id: (check.verdict, check.reason, check.runs) for check in path.checks()} == {
        "a": ("not-checked", "the run failed first", 0),
        "b": ("not-checked", "the run failed first", 0),
    }


@pytest.mark.parametrize("swallows", [False, True])
@pytest.mark.parametrize("turns", [0, 1])
async def test_a_condition_may_stop_the_run(turns: int, swallows: bool) -> None:
    def stop(ctx: Any) -> bool:
        try:
            ctx.abort("not this")
        except BaseException:
            if not swallows:
                raise
        return True

    async def stops(ctx: Any) -> bool:
        await anyio.lowlevel.checkpoint()
        return stop(ctx)

    log: list[str] = []
    path = Path(flow().branch([(stops if turns else stop, guard("a", log=log))]).merge().commit())
    with pytest.raises(AbortSignal):
        await path.feed(TextDelta("x"))
    assert log == []
    (check,) = path.checks()
    assert (check.verdict, check.reason) == ("not-checked", "'branch' blocked first")


@pytest.mark.parametrize("turns", [0, 1])
async def test_records_count_the_chunks_that_came_to_a_branch_and_call_none_passed_that_saw_none(turns: int) -> None:
    block = flow().branch(
        [
            (begins("a"), [guard("a", shout, turns=turns), guard("behind-a")]),
            (begins("b"), guard("b", turns=turns)),
            (begins("x"), guard("never", turns=turns)),
        ],
        otherwise=guard("rest"),
    )
    path = Path(guard("splitting", split), block.merge().commit(), guard("last"))
    await path.texts("abc", "a", "ca", "")
    told = {check.processor_id: (check.runs, check.verdict, check.reason) for check in path.checks()}
    assert told == {
        "splitting": (4, "changed", None),
        "a": (3, "changed", None),
        "behind-a": (3, "passed", None),
        "b": (1, "passed", None),
        "never": (0, "not-checked", "no chunk came to it"),
        "rest": (2, "passed", None),
        "last": (6, "passed", None),
    }


async def test_a_branch_that_a_map_left_behind_is_not_kept() -> None:
    block = flow().branch([(begins("a"), guard("a", shout)), (begins("a"), guard("b", star))], mode="all")
    path = Path(block.map(lambda ctx: ctx.input["processor:b"]).commit())
    assert await path.texts("ab") == ["*ab"]
    assert {check.processor_id: check.kept for check in path.checks()} == {"a": False, "b": True}
