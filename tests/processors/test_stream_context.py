"""The context of a chunk: what came in, what goes on, and how several branches' chunks are joined."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.errors import MergeConflict
from interlock.messages import Chunk, ReasoningDelta, StepFinish, TextDelta, ToolCall
from interlock.processors import OutputStreamContext
from interlock.processors.seat import RunFacts, Seat
from interlock.processors.stream_context import StreamSoFar, merge_outs

TEXT = TextDelta("my card and my mail")
BASE: tuple[Chunk, ...] = (TEXT,)


def joined(*outs: tuple[Chunk, ...], prefer: str | None = None, base: tuple[Chunk, ...] = BASE) -> tuple[Chunk, ...]:
    """What goes on of what several branches made."""
    return merge_outs(base, {f"branch-{n}": out for n, out in enumerate(outs)}, prefer)


def test_at_first_what_came_in_goes_on() -> None:
    context = OutputStreamContext("hello", chunk=TEXT)
    assert context.out == (TEXT,)
    assert (context.text, list(context.parts), context.step_number) == ("", [], 0)


def test_text_is_the_text_deltas_joined_and_parts_are_all_chunks() -> None:
    so_far = StreamSoFar(3)
    context = OutputStreamContext("hello", chunk=TEXT, so_far=so_far)
    chunks: list[Chunk] = [TextDelta("a"), ReasoningDelta("thinking"), TextDelta("b"), StepFinish()]
    for n, chunk in enumerate(chunks, 1):
        so_far.add(chunk)
        assert list(context.parts) == chunks[:n]
    assert (context.text, context.step_number) == ("ab", 3)


@given(st.lists(st.text(max_size=4), max_size=20), st.sets(st.integers(0, 19)))
def test_asking_for_the_text_at_any_time_does_not_change_it(texts: list[str], asked: set[int]) -> None:
    so_far = StreamSoFar()
    for n, text in enumerate(texts):
        so_far.add(TextDelta(text))
        if n in asked:
            assert so_far.text == "".join(texts[: n + 1])
    assert so_far.text == "".join(texts)


def test_a_fork_has_a_chunk_and_an_out_of_its_own() -> None:
    base = OutputStreamContext("hello", chunk=TEXT)
    fork = base.fork()
    assert not fork.changed_from(base)
    fork.out = ()
    fork.chunk = StepFinish()
    assert fork.changed_from(base)
    assert (base.chunk, base.out) == (TEXT, (TEXT,))


def test_a_seat_looks_at_the_conversation_through_a_fork_of_its_own() -> None:
    base = OutputStreamContext("hello", chunk=TEXT)
    seated = base.seated(Seat("guard", RunFacts(), {}))
    seated.message_list.add("more")
    assert base.message_list.texts() == ["hello"]
    assert seated.processor_id == "guard"


def test_where_nobody_changed_it_the_same_tuple_goes_on() -> None:
    assert joined(BASE, BASE) is BASE
    assert joined(BASE, (TextDelta(TEXT.text),)) is BASE


def test_what_one_branch_or_all_alike_made_goes_on() -> None:
    made = (TextDelta("other"), StepFinish())
    assert joined(BASE, made, BASE) == made
    assert joined(made, made) == made


def test_dropped_by_any_is_dropped() -> None:
    assert joined(BASE, (TextDelta("other"),), ()) == ()
    assert joined((), BASE) == ()


def test_edits_of_one_text_are_joined_and_what_any_branch_took_out_is_out() -> None:
    assert joined((TextDelta("my [X] and my mail"),), (TextDelta("my card and my [Y]"),)) == (
        TextDelta("my [X] and my [Y]"),
    )
    thought = ReasoningDelta("my card and my mail", "7")
    outs = (ReasoningDelta("my [X] and my mail", "7"),), (ReasoningDelta("my card and my [Y]", "7"),)
    assert joined(*outs, base=(thought,)) == (ReasoningDelta("my [X] and my [Y]", "7"),)


WORDS = st.lists(st.sampled_from(["card", "mail", "name", "and", "my"]), min_size=1, max_size=8)


@given(words=WORDS, first=st.sampled_from(["card", "mail"]), second=st.sampled_from(["name", "and"]))
def test_redactions_of_different_words_are_all_kept(words: list[str], first: str, second: str) -> None:
    text = " ".join(words)
    base: tuple[Chunk, ...] = (TextDelta(text),)
    outs = [(TextDelta(text.replace(word, "#")),) for word in (first, second)]
    (made,) = joined(*outs, base=base)
    assert isinstance(made, TextDelta)
    assert first not in made.text
    assert second not in made.text


CONTRADICTIONS: list[tuple[tuple[Chunk, ...], tuple[Chunk, ...]]] = [
    ((TEXT, TEXT), (TEXT, StepFinish())),
    ((TextDelta("x", "7"),), (TextDelta("y"),)),
    ((StepFinish(),), (TextDelta("y"),)),
    ((TextDelta("a"), TextDelta("b")), (TextDelta("c"),)),
]


@pytest.mark.parametrize(("one", "other"), CONTRADICTIONS)
def test_two_things_made_of_one_chunk_are_a_conflict_unless_one_is_preferred(
    one: tuple[Chunk, ...], other: tuple[Chunk, ...]
) -> None:
    with pytest.raises(MergeConflict, match="text-delta") as raised:
        joined(one, other)
    assert raised.value.branches == ("branch-0", "branch-1")
    assert joined(one, other, prefer="branch-1") == other
    with pytest.raises(MergeConflict):
        joined(one, other, BASE, prefer="branch-2")


def test_two_changes_of_a_tool_call_are_a_conflict() -> None:
    call = ToolCall("1", "track", {"n": 1})
    with pytest.raises(MergeConflict, match="tool-call"):
        joined((call.replace(args={"n": 2}),), (call.replace(args={"n": 3}),), base=(call,))


def test_joining_forks_joins_what_goes_on() -> None:
    base = OutputStreamContext("hello", chunk=TEXT)
    one, other = base.fork(), base.fork()
    one.out = (TextDelta("my [X] and my mail"),)
    made = base.merge_forks({"a": one, "b": other})
    assert made.out == one.out
    assert base.out == (TEXT,)


def test_200_000_deltas_are_kept_as_one_text_and_256_chunks() -> None:
    so_far = StreamSoFar()
    tracemalloc.start()
    try:
        for _ in range(200_000):
            so_far.add(TextDelta("".join(["w", "ord "])))
        held, _peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (so_far.text, len(so_far.parts)) == ("word " * 200_000, 256)
    assert held < 5 * 200_000 * 4 * 2  # a string buffer holds up to four bytes a character, and some room


def test_whoever_asks_for_it_sees_all_chunks_of_a_step() -> None:
    so_far = StreamSoFar(keep_parts=True)
    for _ in range(300):
        so_far.add(TextDelta("x"))
    assert len(so_far.parts) == 300
