"""The kit for tests of guards: it accepts what is right, and says what is wrong with what is not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import anyio
import pytest

from interlock import Agent, Processor, create_step
from interlock.messages import Chunk, TextDelta
from interlock.processors import InputContext, LLMRequestContext, OutputResultContext, OutputStreamContext, TextGuard
from interlock.processors.text_guard import TextStrategy
from interlock.testing import assert_chunking_invariant, assert_same_verdict_everywhere
from tests.lifecycle.acting import flow

TEXT = "see T-12, T-3 and T- too"


class Tickets(TextGuard):
    """Right."""

    id = "tickets"
    patterns = ("T-[0-9]{1,4}",)


class Slow(Processor):
    """Right, and takes its time: it looks at nothing."""

    id = "slow"

    async def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
        await anyio.lowlevel.checkpoint()
        return ctx.chunk


class ByChunk(Processor):
    """Wrong: it looks at each chunk by itself."""

    id = "by-chunk"

    def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
        chunk = ctx.chunk
        return chunk.replace(text=chunk.text.replace("T-12", "*")) if isinstance(chunk, TextDelta) else chunk


class TooLong(TextGuard):
    """Wrong: a match may be longer than it says."""

    id = "too-long"
    longest_match = 3

    def find(self, text: str, start: int, /) -> Iterable[tuple[int, int]]:
        at = text.find("T-12", start)
        return [(at, at + 4)] if at >= 0 else []


class FromTheRight(TextGuard):
    """Wrong: what it finds depends on what comes later."""

    id = "from-the-right"
    longest_match = 4

    def find(self, text: str, start: int, /) -> Iterable[tuple[int, int]]:
        at = text.rfind("T-", start)
        return [(at, at + 2)] if at >= start else []


@pytest.mark.parametrize("strategy", ["redact", "block", "filter", "warn"])
def test_a_guard_that_is_right_is_accepted(strategy: TextStrategy) -> None:
    assert_chunking_invariant(Tickets(strategy=strategy), TEXT)
    assert_same_verdict_everywhere(Tickets(strategy=strategy), TEXT)


def test_a_guard_with_async_hooks_is_accepted() -> None:
    assert_chunking_invariant(Slow(), TEXT)
    assert_same_verdict_everywhere(Slow(), TEXT)


@pytest.mark.anyio
async def test_it_may_be_asked_inside_a_running_loop() -> None:
    assert_chunking_invariant(Tickets(), TEXT)
    with pytest.raises(AssertionError):
        assert_chunking_invariant(ByChunk(), TEXT)


def test_a_guard_that_looks_at_each_chunk_by_itself_is_found_out_with_the_simplest_cut() -> None:
    with pytest.raises(
        AssertionError, match=r"guard 'by-chunk', streamed as \['see T', '-12, .*'\]: a client was given"
    ):
        assert_chunking_invariant(ByChunk(), TEXT)


class Blocking(TooLong):
    """Wrong: it lets go of what it then stops the run for."""

    id = "blocking"
    longest_match = 4

    def open_at(self, text: str, start: int, /) -> int:
        return len(text)


def test_a_block_that_shows_a_part_of_what_it_is_for_is_found_out() -> None:
    with pytest.raises(AssertionError, match=r"stopped for what begins at 4, and a client had been given|ended with"):
        assert_chunking_invariant(Blocking(strategy="block"), TEXT)


@pytest.mark.parametrize("guard", [FromTheRight(), Blocking()])
def test_a_guard_that_finds_other_things_in_pieces_is_found_out(guard: TextGuard) -> None:
    with pytest.raises(AssertionError, match=r"a client was given|ended with"):
        assert_chunking_invariant(guard, TEXT)


def test_a_guard_that_declares_too_little_fails_every_way_and_says_so() -> None:
    with pytest.raises(AssertionError, match=r"guard 'too-long' decides nothing: StepFailed: .*longest_match is 3"):
        assert_same_verdict_everywhere(TooLong(), TEXT)


class OnlyAtTheEnd(Processor):
    """Wrong: it stops an answer that is complete, and lets its first turn pass."""

    id = "only-at-the-end"
    seen = 0

    def process_output_result(self, ctx: OutputResultContext) -> None:
        self.seen += 1
        if self.seen > 1:
            ctx.abort("again")


class Forgetful(Processor):
    """Wrong: it stops a question the first time only."""

    id = "forgetful"
    seen = False

    def process_input(self, ctx: InputContext) -> None:
        if not self.seen:
            self.seen = True
            ctx.abort("the first")


@pytest.mark.parametrize("guard", [OnlyAtTheEnd(), Forgetful()])
def test_a_guard_that_decides_now_so_now_so_is_found_out(guard: Any) -> None:
    with pytest.raises(AssertionError, match=f"guard '{guard.id}' decides differently: .* gave .*, and .* gave"):
        assert_same_verdict_everywhere(guard, TEXT)


@pytest.mark.parametrize(
    "phase", ["input", "output_stream", "output_step", "output_result", "tool_call", "tool_result"]
)
def test_a_guard_is_compared_where_it_acts_and_not_where_it_does_not(phase: str) -> None:
    assert_same_verdict_everywhere(Tickets(phases=[phase]), TEXT)


@pytest.mark.parametrize("phase", ["input", "tool_call", "tool_result"])
def test_a_guard_that_looks_at_no_answer_is_told_that_cuts_say_nothing_about_it(phase: str) -> None:
    with pytest.raises(AssertionError, match=rf"guard 'tickets' looks at no answer \(it acts at {phase}\)"):
        assert_chunking_invariant(Tickets(phases=[phase]), TEXT)


class BeforeTheCall(Processor):
    """Looks at no text that is compared."""

    id = "before-the-call"

    def process_llm_request(self, ctx: LLMRequestContext) -> None:
        """Looks at nothing."""


def test_a_guard_of_which_nothing_can_be_compared_is_not_accepted() -> None:
    with pytest.raises(AssertionError, match=r"looks at no answer and no question \(it acts at llm_request\)"):
        assert_same_verdict_everywhere(BeforeTheCall(), TEXT)


class Broken(Processor):
    """Wrong: it fails, the same way for every cut."""

    id = "broken"

    def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
        raise ValueError("no verdict")


def test_a_guard_that_fails_alike_for_every_cut_is_not_accepted() -> None:
    with pytest.raises(AssertionError, match=r"guard 'broken', .*: the run failed with StepFailed: .*no verdict"):
        assert_chunking_invariant(Broken(), TEXT)


def test_a_guard_that_sleeps_through_a_resumed_turn_is_caught() -> None:
    class Sleepy(Tickets):
        id = "sleepy"

        def process_output_stream(self, ctx: OutputStreamContext) -> Any:
            asked = any(part.type == "tool-invocation" for m in ctx.messages for part in m.parts)
            return ctx.chunk if asked else super().process_output_stream(ctx)

        def process_output_step(self, ctx: Any) -> None:
            """Looks at nothing."""

        def process_output_result(self, ctx: Any) -> None:
            """Looks at nothing."""

    with pytest.raises(AssertionError, match="at a turn that was resumed"):
        assert_same_verdict_everywhere(Sleepy(), "see TICKET-4711, please")


KIT: list[Any] = [assert_chunking_invariant, assert_same_verdict_everywhere]


@pytest.mark.parametrize("assert_holds", KIT)
def test_a_step_made_of_a_guard_is_tried_as_the_guard_is(assert_holds: Any) -> None:
    assert_holds(create_step(Tickets(), id="other", shadow=True), TEXT, finds=True)
    with pytest.raises(AssertionError, match="guard 'too-long'"):
        assert_holds(create_step(TooLong(), id="other"), TEXT)


NO_GUARDS: list[tuple[Any, str]] = [
    (flow("many").then(Tickets()).commit(), "the workflow 'many': try each of its guards by itself"),
    (create_step(flow("many").then(Tickets()).commit(), id="step"), "the workflow 'step': try each"),
    (Agent(id="a", model="embedded/echo"), "<Agent 'a'"),
    (create_step(lambda ctx: ctx.input, id="fn"), "the function step 'fn'"),
    (Tickets, r"the class Tickets: pass an instance, Tickets\(…\)"),
    (None, "None"),
]


@pytest.mark.parametrize("assert_holds", KIT)
@pytest.mark.parametrize(("given", "told"), NO_GUARDS)
def test_what_is_no_guard_is_refused_with_what_the_kit_takes(assert_holds: Any, given: Any, told: str) -> None:
    with pytest.raises(
        TypeError, match=rf"{assert_holds.__name__}\(\) takes a guard, or create_step.*, and not {told}"
    ):
        assert_holds(given, TEXT)


@pytest.mark.parametrize("assert_holds", KIT)
def test_what_is_no_text_is_refused(assert_holds: Any) -> None:
    with pytest.raises(TypeError, match="takes a text to try guard 'tickets' with, and not 5"):
        assert_holds(Tickets(), 5)


@pytest.mark.parametrize("assert_holds", KIT)
@pytest.mark.parametrize("strategy", ["redact", "block", "filter", "warn"])
def test_a_text_in_which_nothing_is_found_passes_unless_the_test_says_that_something_is(
    assert_holds: Any, strategy: TextStrategy
) -> None:
    guard = Tickets(strategy=strategy)
    assert_holds(guard, "nothing here")
    assert_holds(guard, "nothing here", finds=False)
    assert_holds(guard, TEXT, finds=True)
    with pytest.raises(AssertionError, match="guard 'tickets' found nothing in the text, and the test says finds=True"):
        assert_holds(guard, "nothing here", finds=True)
    with pytest.raises(AssertionError, match="did something about the text, and the test says finds=False"):
        assert_holds(guard, TEXT, finds=False)


@pytest.mark.parametrize("assert_holds", KIT)
def test_a_long_text_is_shown_around_the_first_difference(assert_holds: Any) -> None:
    with pytest.raises(AssertionError) as raised:
        assert_holds(FromTheRight(), "x" * 300 + " T-1 and T-2 " + "y" * 300)
    assert len(str(raised.value)) < 500
    assert " at 301 of " in str(raised.value)
