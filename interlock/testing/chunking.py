"""Does a guard let the same through however its stream is cut? For tests of one's own guards."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from interlock.models import ScriptedModel
from interlock.processors import Processor, ProcessorStep, TextGuard
from interlock.runtime import Agent
from interlock.steps import Step
from interlock.testing.acting import ACTS_ON_ANSWERS, expect_finding, in_words, warned
from interlock.testing.difference import both_shown, ends_shown
from interlock.testing.own_loop import in_a_loop_of_its_own
from interlock.testing.tested_guard import tested_guard

__all__ = ["assert_chunking_invariant"]

_MOST_SINGLE_CUTS: Final = 200
_RANDOM_CUTS: Final = 40


@dataclass(frozen=True)
class _Shown:
    """What a client of one stream was given.

    Args:
        text: The text.
        status: How the run ended.
        reason: Why it was stopped or has failed.
        warned: Whether the guard has reported something.
    """

    text: str
    status: str
    reason: str | None
    warned: bool = False


def assert_chunking_invariant(
    guard: Processor | ProcessorStep | Step, text: str, *, seed: int = 0, finds: bool | None = None
) -> None:
    """Assert that a guard treats a text alike however it is cut into chunks.

    The text is streamed by a model through an agent with the guard as its output processor: whole, in single
    characters, cut at each place, and cut at random. Each time a client must be given the same, or the run be stopped
    for the same reason. What left before it was stopped must be a beginning of the text; of a :class:`TextGuard`, one
    that shows nothing of what was found. (Of other guards nobody can tell which characters they were stopped for.)

    Args:
        guard: The guard, or a step made of it; ``def`` or ``async def``.
        text: What the model says.
        seed: Of the random cuts.
        finds: Whether the guard is to do something about the text: a test whose text it does not know would pass by
            itself. None: either will do.

    Raises:
        TypeError: It is no guard, or no text.
        AssertionError: It does not; says for which cut, and what a client was given. The first is the simplest. Or
            nothing can be said: the guard acts nowhere in a stream, or fails.

    Example:
        >>> class Tickets(TextGuard):
        ...     id = "tickets"
        ...     patterns = ("TICKET-[0-9]{1,8}",)
        >>> assert_chunking_invariant(Tickets(), "see TICKET-4711, please", finds=True)
    """
    tested = tested_guard(guard, text, by="assert_chunking_invariant")
    in_a_loop_of_its_own(lambda: _assert(tested, text, seed, finds))


async def _assert(guard: Processor, text: str, seed: int, finds: bool | None) -> None:
    if not guard.phases & ACTS_ON_ANSWERS:
        raise AssertionError(
            f"guard {guard.id!r} looks at no answer (it acts at {in_words(guard.phases)}): any cut passes it"
        )
    whole = await _shown(guard, [text], text)
    if whole.status == "failed":
        raise AssertionError(f"{_named(guard, [text])}: the run failed with {whole.reason}")
    expect_finding(guard, finds, found=whole.warned or whole.status != "success" or whole.text != text)
    finest = await _shown(guard, list(text), text)
    for pieces in _cuts(text, seed):
        shown = await _shown(guard, pieces, text)
        if (shown.status, shown.reason) != (whole.status, whole.reason):
            raise AssertionError(
                f"{_named(guard, pieces)}: the run ended with {_ending(shown)}; uncut, it ended with {_ending(whole)}"
            )
        if whole.status == "success" and shown.text != whole.text:
            given, uncut = both_shown(shown.text, whole.text)
            raise AssertionError(f"{_named(guard, pieces)}: a client was given {given}; uncut, it was given {uncut}")
        if whole.status != "success" and not finest.text.startswith(shown.text):
            given, single = both_shown(shown.text, finest.text)
            raise AssertionError(
                f"{_named(guard, pieces)}: before the run was stopped a client was given {given}, and only {single} in "
                "single characters"
            )


async def _shown(guard: Processor, pieces: Sequence[str], text: str) -> _Shown:
    """Stream a text in pieces through the guard, watching how much is held back."""
    agent = Agent(id="chunking", model=ScriptedModel([list(pieces)]), output_processors=[guard])
    given = ""
    async with agent.stream("hello") as stream:
        async for chunk in stream:
            if chunk.type == "text-delta":
                given += chunk.text
        result = await stream.result()
    if result.tripwire is not None:
        _check_block(guard, pieces, given, text)
        return _Shown(given, result.status, result.tripwire.reason)
    if result.error is not None:
        return _Shown(given, result.status, f"{type(result.error).__name__}: {result.error}")
    if given != result.text:
        client, stored = both_shown(given, result.text)
        raise AssertionError(f"{_named(guard, pieces)}: a client was given {client}, and the result says {stored}")
    return _Shown(given, result.status, None, warned(guard, result.checks))


def _check_block(guard: Processor, pieces: Sequence[str], given: str, text: str) -> None:
    if not text.startswith(given):
        client, beginning = both_shown(given, text[: len(given)])
        raise AssertionError(
            f"{_named(guard, pieces)}: before the run was stopped a client was given {client}, and the text begins "
            f"with {beginning}"
        )
    if isinstance(guard, TextGuard):
        first = guard.first_match(text)
        if first is not None and len(given) > first:
            raise AssertionError(
                f"{_named(guard, pieces)}: the run was stopped for what begins at {first}, and a client had been given "
                f"{ends_shown(given)}"
            )


def _cuts(text: str, seed: int) -> Iterator[list[str]]:
    places = range(1, len(text))
    step = max(1, len(text) // _MOST_SINGLE_CUTS)
    for place in places[::step]:
        yield [text[:place], text[place:]]
    for size in (1, 2, 3, 7):
        yield [text[n : n + size] for n in range(0, len(text), size)]
    chosen = random.Random(seed)
    for _ in range(_RANDOM_CUTS):
        some = sorted(chosen.sample(places, k=min(len(places), chosen.randint(0, 12))))
        yield [text[a:b] for a, b in pairwise([0, *some, len(text)])]


def _named(guard: Processor, pieces: Sequence[str]) -> str:
    shown = ", ".join(map(ends_shown, pieces[:8])) + (", …" if len(pieces) > 8 else "")
    return f"guard {guard.id!r}, streamed as [{shown}]"


def _ending(shown: _Shown) -> str:
    return shown.status if shown.reason is None else f"{shown.status} ({shown.reason})"
