"""The loop: input, step after step, the result. This is the order in which the ten points run."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from interlock.messages import Chunk, ErrorChunk, Finish, ObjectChunk, Start, TripwireChunk
from interlock.processors.contexts import InputContext, OutputResultContext
from interlock.runtime.agent_run import AgentRun
from interlock.runtime.ending import keep, keep_what_was_accepted
from interlock.runtime.repeating import reject, repeats
from interlock.runtime.turn import take_step, taken_back
from interlock.runtime.written import unread, written
from interlock.verdict import AbortSignal, Phase, Tripwire

__all__ = ["run_loop", "tripwire_chunk"]


async def run_loop(run: AgentRun, *, again: bool = False) -> AsyncGenerator[Chunk, None]:
    """Run an agent to its end, yielding what the client is given.

    Args:
        run: The run.
        again: Whether its newest attempt at a step was taken back, by somebody else than this loop.

    It is pulled: nothing happens between one chunk and the reader's wish for the next. It ends with ``finish``, or with
    exactly one ``tripwire`` or ``error`` chunk; the run says how. A run that has been begun already goes on where it
    stands: with its next step.
    """
    if not run.begun:
        yield Start(run.facts.run_id, run.message_id)
    last: Finish | TripwireChunk | ErrorChunk
    left = False
    try:
        if not run.begun:
            run.begun = True
            await _input(run)
            for chunk in await written(run):
                if not run.holds(chunk):
                    yield chunk
        if again:
            for chunk in await taken_back(run):
                if not run.holds(chunk):
                    yield chunk
        while True:
            async with aclosing(take_step(run)) as chunks:
                async for chunk in chunks:
                    if run.holds(chunk):
                        continue
                    try:
                        for held in run.let_go():
                            yield held
                        yield chunk
                    except GeneratorExit:
                        left = True
                        raise
            if run.waiting is not None:
                break
            if _goes_on(run):
                continue
            accepted = await _accepted(run)
            for chunk in await (written(run) if accepted else taken_back(run)):
                if not run.holds(chunk):
                    yield chunk
            if accepted:
                break
        run.look_at_latch()
        whole = None if run.object_schema is None else _whole(run)
        await (keep(run, "success") if run.waiting is None else run.shelf.put(run))
    except (AbortSignal, Exception) as error:
        last = _ended_early(run, error)
        await keep_what_was_accepted(run)
        if left:  # nobody reads any more, and what was left behind could not be closed: the result tells
            return
        for chunk in unread(run):
            if not run.holds(chunk):
                yield chunk
    else:
        run.end("success" if run.waiting is None else "suspended")
        last = Finish(run.finish_reason, run.usage)
        if run.waiting is None:
            for held in run.let_go():
                yield held
            if whole is not None:
                yield whole
        else:  # whoever leaves now leaves a run that waits
            for question in run.questions:
                yield question
    yield last


def tripwire_chunk(tripwire: Tripwire, run_id: str) -> TripwireChunk:
    """What the client is told of a tripwire."""
    return TripwireChunk(
        tripwire.reason,
        tripwire.processor_id,
        tripwire.retry,
        tripwire.metadata,
        None if tripwire.phase is None else str(tripwire.phase),
        run_id,
    )


def _whole(run: AgentRun) -> ObjectChunk | None:
    from interlock.runtime.objects import whole_object  # seldom asked for

    return whole_object(run)


def _ended_early(run: AgentRun, error: Exception | AbortSignal) -> TripwireChunk | ErrorChunk:
    """A tripwire that was recorded counts, whatever was raised after it."""
    tripwire = run.facts.latch.tripwire
    if tripwire is not None:
        run.end("tripwire")
        return tripwire_chunk(tripwire, run.facts.run_id)
    assert isinstance(error, Exception)  # a signal without a record is turned into a failure where it is caught
    run.end("failed", error=error)
    return ErrorChunk(error)


async def _input(run: AgentRun) -> None:
    if run.points.acts(Phase.INPUT):
        await run.points.run(InputContext(run.messages, run=run.facts))
    run.baseline = [message.text for message in run.messages.system_messages()]


def _goes_on(run: AgentRun) -> bool:
    """Whether the model is to be asked again: it called tools that ran here, and there are steps left."""
    step = run.steps[-1]
    run.finish_reason = step.finish_reason
    if not step.tool_results and not run.asks_again:
        return False
    if run.number < run.settings.max_steps + run.more_steps:
        return True
    run.finish_reason = "max-steps"
    return False


async def _accepted(run: AgentRun) -> bool:
    """``output_result``; False where a processor asks for one more step there."""
    if not run.points.acts(Phase.OUTPUT_RESULT):
        return True
    try:
        await run.points.run(OutputResultContext(run.messages, result=run.so_far(), run=run.facts))
    except AbortSignal:
        if not repeats(run):
            raise
        reject(run)
        return False
    return True
