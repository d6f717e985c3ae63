"""From the chunks of a step, as they were emitted, to the parts of the answer."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from interlock.messages import (
    Chunk,
    DataChunk,
    DataPart,
    FileChunk,
    FilePart,
    Part,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningPart,
    SourceChunk,
    SourcePart,
    StepFinish,
    TextDelta,
    TextEnd,
    TextPart,
    TextStart,
    ToolCall,
    ToolCallDelta,
    ToolError,
    ToolInvocationPart,
    ToolResult,
    Usage,
)
from interlock.runtime.assembly import Assembly


def assembled(*chunks: Chunk) -> Assembly:
    """The assembly of these."""
    made = Assembly()
    for chunk in chunks:
        made.add(chunk)
    return made


def told(parts: Sequence[Part]) -> list[tuple[str, str]]:
    """What parts are, in short."""
    return [(part.type, getattr(part, "text", getattr(part, "tool_call_id", ""))) for part in parts]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.text(max_size=4)), max_size=12))
def test_deltas_of_one_id_are_one_part_whatever_stands_between_them(pieces: list[tuple[str, str]]) -> None:
    made = assembled(*(TextDelta(text, id_) for id_, text in pieces))
    joined = {id_: "".join(text for other, text in pieces if other == id_) for id_, _ in pieces}
    assert [part.text for part in made.parts() if isinstance(part, TextPart)] == [t for t in joined.values() if t]
    assert made.text == "".join(joined.values())


def test_text_reasoning_and_calls_become_parts_in_their_order() -> None:
    made = assembled(
        ReasoningDelta("I "),
        ReasoningDelta("think"),
        ReasoningEnd(signature="sealed"),
        TextStart(),
        TextDelta("so "),
        TextDelta("be it"),
        TextEnd(),
        ToolCallDelta("1", "{"),
        ToolCall("1", "track", {"n": 1}),
        StepFinish("tool-calls", Usage(1, 2)),
    )
    assert told(made.parts()) == [("reasoning", "I think"), ("text", "so be it"), ("tool-invocation", "1")]
    first, _, last = made.parts()
    assert isinstance(first, ReasoningPart)
    assert first.signature == "sealed"
    assert isinstance(last, ToolInvocationPart)
    assert (last.tool_name, last.args, last.state) == ("track", {"n": 1}, "call")
    assert (made.text, made.reasoning) == ("so be it", "I think")
    assert made.finish == StepFinish("tool-calls", Usage(1, 2))
    assert made.tool_calls == [ToolCall("1", "track", {"n": 1})]


def test_text_of_one_id_before_and_after_a_call_is_two_parts() -> None:
    made = assembled(TextDelta("before"), ToolCall("1", "t"), TextDelta("after"), TextDelta("wards"))
    assert told(made.parts()) == [("text", "before"), ("tool-invocation", "1"), ("text", "afterwards")]
    assert made.text == "beforeafterwards"


def test_one_id_of_text_and_of_reasoning_are_two_things() -> None:
    made = assembled(TextDelta("said", "0"), ReasoningDelta("thought", "0"))
    assert told(made.parts()) == [("text", "said"), ("reasoning", "thought")]


def test_empty_parts_are_left_out_but_a_sealed_empty_thought_is_kept() -> None:
    assert assembled(TextDelta(""), ReasoningDelta("")).parts() == []
    assert told(assembled(ReasoningDelta(""), ReasoningEnd(signature="sealed")).parts()) == [("reasoning", "")]
    assert told(assembled(ReasoningEnd(signature="sealed")).parts()) == [("reasoning", "")]


def test_a_seal_that_comes_without_one_takes_nothing_away() -> None:
    (part,) = assembled(ReasoningDelta("x"), ReasoningEnd(signature="sealed"), ReasoningEnd()).parts()
    assert isinstance(part, ReasoningPart)
    assert part.signature == "sealed"


def test_the_result_of_a_call_the_provider_ran_goes_to_its_part_and_that_of_others_does_not() -> None:
    calls = [ToolCall(n, "search", provider_executed=True) for n in ("1", "2")]
    made = assembled(
        *calls,
        ToolCall("3", "own"),
        ToolResult("1", "search", result="found", provider_executed=True),
        ToolError("2", "search", error="no luck", provider_executed=True),
        ToolResult("3", "own", result="not here"),
        ToolResult("4", "search", result="nobody's", provider_executed=True),
    )
    parts = [part for part in made.parts() if isinstance(part, ToolInvocationPart)]
    assert [(p.state, p.result, p.error) for p in parts] == [
        ("result", "found", None),
        ("error", None, "no luck"),
        ("call", None, None),
    ]


def test_files_and_sources_become_parts() -> None:
    made = assembled(FileChunk("image/png", "AAAA"), SourceChunk("s", "https://example.com", "A page"))
    assert made.parts() == [FilePart("image/png", "AAAA"), SourcePart("s", "https://example.com", "A page")]


def test_parts_may_be_asked_for_while_more_comes() -> None:
    made = assembled(TextDelta("so "))
    assert told(made.parts()) == [("text", "so ")]
    made.add(TextDelta("far"))
    assert told(made.parts()) == [("text", "so far")]


def test_without_an_end_there_is_no_finish() -> None:
    assert assembled(TextDelta("x")).finish is None


def test_data_is_a_part_unless_it_is_transient_and_the_last_of_an_id_counts() -> None:
    made = assembled(
        DataChunk("at", 1, "a"),
        TextDelta("x"),
        DataChunk("at", 2, "a"),
        DataChunk("at", 3),
        DataChunk("at", 4),
        TextDelta("y"),
        DataChunk("at", 5, transient=True),
    )
    assert made.parts() == [DataPart("at", 2, "a"), TextPart("xy"), DataPart("at", 3), DataPart("at", 4)]


def test_200_000_deltas_are_kept_as_one_text_and_not_as_so_many_objects() -> None:
    made = Assembly()
    made.add(TextDelta("warm"))
    tracemalloc.start()
    try:
        for _ in range(200_000):
            made.add(TextDelta("".join(["w", "ord "])))
        held, _peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert made.text == "warm" + "word " * 200_000
    assert held < 5 * 200_000 * 4 * 2  # a string buffer holds up to four bytes a character, and some room
