"""Calls on a fork of a guard's texts: the same goes on, and what a chunk does not touch is not copied."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from interlock import Agent, create_step
from interlock.messages import Chunk, ReasoningDelta, TextDelta, TextEnd, TextStart, ToolCallDelta, ToolCallStart
from interlock.processors import TextGuard
from interlock.processors.compose import ProcessorLike
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import chunks_and_result

pytestmark = pytest.mark.anyio


class Words(TextGuard):
    """Takes out a word."""

    id = "words"
    patterns = ("ab{1,3}c", "TICKET-[0-9]{1,8}")


async def given_out(entry: ProcessorLike, script: Sequence[Any], **more: Any) -> list[Chunk]:
    agent = Agent(model=ScriptedModel([list(script)]), output_processors=[entry])
    chunks, _ = await chunks_and_result(agent, max_steps=1, **more)
    return [chunk for chunk in chunks if isinstance(chunk, TextDelta | ReasoningDelta | ToolCallDelta)]


DELTAS = st.one_of(
    st.builds(TextDelta, st.text("abc", max_size=4), st.sampled_from("01")),
    st.builds(ReasoningDelta, st.text("abc", max_size=4), st.just("r")),
    st.builds(ToolCallDelta, st.just("c"), st.sampled_from(['"', "ab", "c", "[", "\\", "u0061"])),
    st.builds(TextEnd, st.sampled_from("01")),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(DELTAS, max_size=15))
async def test_a_guard_whose_failure_would_be_skipped_lets_the_same_go(script: list[Chunk]) -> None:
    assert await given_out(create_step(Words(), on_failure="skip"), script) == await given_out(Words(), script)


@settings(max_examples=50, deadline=None)
@example(['{"a": "', '\\u0061bc"', "}"])
@given(st.lists(st.sampled_from(['{"a": "', "ab", "bc", '"', ', "b": [', "]", "}", "\\", "u0061"]), max_size=10))
async def test_parts_of_an_answer_that_is_to_be_an_object_are_one_text_for_a_fork_as_well(pieces: list[str]) -> None:
    parts = [
        [TextStart(str(number)), *[TextDelta(one, str(number)) for one in piece], TextEnd(str(number))]
        for number, piece in enumerate(pieces)
    ]
    script = [chunk for part in parts for chunk in part]
    shown = [
        await given_out(entry, script, output_schema={"type": "object"})
        for entry in (Words(), create_step(Words(), on_failure="skip"))
    ]
    assert shown[0] == shown[1]


def open_texts(count: int) -> list[Any]:
    return [TextDelta("TICKET", str(number)) for number in range(count)]


def nested_arguments(count: int) -> list[Any]:
    return [ToolCallStart("c", "search"), *[ToolCallDelta("c", "[")] * count]


@pytest.mark.parametrize("policy", [{"on_failure": "skip"}, {"shadow": True}])
@pytest.mark.parametrize("script", [open_texts, nested_arguments])
async def test_what_a_chunk_costs_does_not_grow_with_what_came_before(
    policy: dict[str, Any], script: Callable[[int], list[Any]]
) -> None:
    async def calls(count: int) -> int:
        made = 0

        def profile(frame: object, event: str, argument: object) -> None:
            nonlocal made
            made += event == "call"

        sys.setprofile(profile)
        try:
            await given_out(create_step(Words(), **policy), script(count))
        finally:
            sys.setprofile(None)
        return made

    few, more, most = [await calls(count) for count in (50, 150, 250)]
    assert most - more < 1.2 * (more - few)
