"""One step of the loop: from the conversation to a prompt, the model's answer through the guards, then its tools."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

from interlock.errors import InterlockError
from interlock.messages import (
    Chunk,
    DataChunk,
    StepFinish,
    StepStart,
    TextDelta,
    ToolCall,
    ToolCallApproval,
    ToolCallSuspended,
    ToolError,
    ToolResult,
)
from interlock.models import LanguageModel, ModelRequest, ToolSpec
from interlock.processors.contexts import (
    InputStepContext,
    LLMRequestContext,
    LLMResponseContext,
    OutputStepContext,
)
from interlock.processors.progress import StepResult
from interlock.runtime.agent_run import AgentRun
from interlock.runtime.assembly import Assembly
from interlock.runtime.model_call import ModelFailed, model_chunks
from interlock.runtime.refused_calls import RefusedCalls
from interlock.runtime.repeating import recover, reject, repeats, sent_back
from interlock.runtime.tool_calls import (
    Call,
    Waiting,
    approval_asked,
    call_tools,
    keep_emitted,
    looked_at_calls,
    looked_at_result,
    waits,
)
from interlock.runtime.watchdog import watchdog
from interlock.runtime.written import looked_at, written
from interlock.tools import Tool
from interlock.verdict import AbortSignal, Phase

if TYPE_CHECKING:
    from interlock.runtime.objects import PartialObject

__all__ = ["passed", "take_step", "taken_back"]


class _Answer:
    """How one model call is made and what it gave."""

    def __init__(self, model: LanguageModel, tools: Sequence[Tool], request: ModelRequest) -> None:
        self.model = model
        self.tools = tools
        self.request = request
        self.cached: tuple[Chunk, ...] | None = None
        self.chunks: list[Chunk] = []
        self.assembly = Assembly()
        self.object: PartialObject | None = None

    def step(self, number: int) -> StepResult:
        """The step, as far as it has come."""
        finish = self.assembly.finish or StepFinish()
        return StepResult(
            number,
            self.assembly.text,
            self.assembly.reasoning,
            list(self.assembly.tool_calls),
            finish_reason=finish.finish_reason,
            usage=finish.usage,
            provider_metadata=finish.provider_metadata,
        )


async def take_step(run: AgentRun) -> AsyncGenerator[Chunk, None]:
    """Take one step, yielding what the client is given; again and again, until its answer is accepted.

    Raises:
        AbortSignal: Something tripped. The model's connection is closed and the tools have ended by then.
        Exception: A hook failed, or the model did and nobody recovers from that or stopped the run for it.
    """
    waiting, run.waiting = run.waiting, None
    while True:
        if waiting is None:
            run.begin_attempt()
        try:
            async with aclosing(
                _attempt(run) if waiting is None else _called(run, waiting.step, waiting.calls)
            ) as chunks:
                async for chunk in chunks:
                    yield chunk
        except ModelFailed as failure:
            await recover(run, failure.error)
        except AbortSignal:
            if not repeats(run):
                raise
            reject(run)
        else:
            break
        waiting = None
        for chunk in await taken_back(run):
            yield chunk
    if run.waiting is None:
        run.open_step = None
        run.accept()


async def taken_back(run: AgentRun) -> Sequence[Chunk]:
    """What the client is given of an attempt that was taken back: what was written meanwhile, and its end where it has
    seen its beginning."""
    chunks = await written(run, rejected=True)
    seen = run.takes_back and run.before_answer is not None and not run.holds_back
    return [*chunks, StepFinish("retry")] if seen else chunks


async def _attempt(run: AgentRun) -> AsyncGenerator[Chunk, None]:
    """One attempt at a step: the model's answer, and the tools it calls."""
    number = run.number
    _restore_system_messages(run)
    answer = await _prepared(run, number)
    run.answer = answer
    run.before_answer = run.messages.fork()
    if number == 0:
        run.accept()  # what is stopped before the model was asked leaves nothing
    path = run.points.chunk_path
    if path is not None:
        path.begin_step(number, run.messages)
    for chunk in await passed(run, StepStart(number)):
        yield chunk
    ends: list[Chunk] = []
    async with aclosing(_answered(run, answer, number)) as incoming:
        async for chunk in incoming:
            if type(chunk) is StepFinish:
                ends.append(chunk)  # the client is told that the answer has ended when it is known how
            else:
                yield chunk
    step = run.open_step = answer.step(number)
    run.steps.append(step)
    run.commit_parts(answer.assembly.parts())
    run.take_signals()
    await _after_answer(run, answer, step)
    calls = await looked_at_calls(run, step, answer.tools)
    run.take_arguments(step)
    for chunk in await written(run):
        yield chunk
    run.accept_step()
    for chunk in ends:
        yield chunk
    async with aclosing(_called(run, step, calls)) as results:
        async for chunk in results:
            yield chunk


async def _called(run: AgentRun, step: StepResult, calls: Sequence[Call]) -> AsyncGenerator[Chunk, None]:
    """The tools of a step; where somebody must be asked first, only the question."""
    run.waiting = await approval_asked(run, step, calls)
    if run.waiting is not None:
        for chunk in await _asked(run, run.waiting):
            yield chunk
        return
    refused = RefusedCalls(run, calls)
    async with aclosing(call_tools(run, step, calls)) as results:
        async for came in results:
            if came is None:
                for chunk in await written(run, refused=refused):
                    yield chunk
                continue
            stands, flow = await _passed_outcome(run, came, refused=refused)
            if stands is not came:
                keep_emitted(run, step, calls, came, stands)
            for chunk in flow:
                if chunk is not stands:
                    keep_emitted(run, step, calls, stands, chunk)
                yield chunk
    run.points.end_inner_paths()
    run.take_signals()
    run.waiting = waits(step, calls)
    if run.waiting is None:
        order = {call.chunk.tool_call_id: number for number, call in enumerate(calls)}
        step.tool_results.sort(key=lambda result: order.get(result.tool_call_id, -1))
    else:
        for chunk in await _asked(run, run.waiting):
            yield chunk


async def _asked(run: AgentRun, waiting: Waiting) -> Sequence[Chunk]:
    """What the client is given before it is asked: the questions themselves are put when the run can be resumed."""
    run.questions.clear()
    given: list[Chunk] = []
    for call in waiting.pending():
        asked = call.asked()
        if isinstance(asked, ToolCall):
            question: ToolCallApproval | ToolCallSuspended = ToolCallApproval(
                asked.tool_call_id, asked.tool_name, asked.args
            )
        else:
            question = asked
        for chunk in await passed(run, question):
            if isinstance(chunk, ToolCallApproval | ToolCallSuspended):
                run.questions.append(chunk)
            else:
                given.append(chunk)
    return given


async def _answered(run: AgentRun, answer: _Answer, number: int) -> AsyncGenerator[Chunk, None]:
    """The model's answer, as the guards let it pass."""
    keeps_chunks = run.points.acts(Phase.LLM_RESPONSE)
    run.look_at_latch()
    async with aclosing(model_chunks(run, answer.model, answer.request, answer.cached)) as incoming:
        async for given in incoming:
            looked = run.with_own_id(given)
            if isinstance(looked, ToolResult | ToolError):
                came = answer.assembly.with_its_arguments(looked)
                seen = await looked_at_result(run, came, number) if isinstance(came, ToolResult) else came
                stands, flow = await _passed_outcome(run, seen, answer.assembly)
                run.asks_again = type(seen) is not type(came) or stands is not seen
            else:
                flow = await passed(run, looked, answer.assembly)
            for chunk in flow:
                if keeps_chunks:
                    answer.chunks.append(chunk)
                yield chunk
                if answer.object is not None and type(chunk) is TextDelta:
                    made = answer.object.add(chunk.text)
                    if made is not None:
                        yield made
            if run.asks_again:  # what the model goes on to say is made of what was refused
                break
        if not run.asks_again:
            return
    for chunk in await passed(run, StepFinish("tool-calls"), answer.assembly):
        if keeps_chunks:
            answer.chunks.append(chunk)
        yield chunk


async def passed(
    run: AgentRun, chunk: Chunk, into: Assembly | None = None, *, refused: RefusedCalls | None = None
) -> tuple[Chunk, ...]:
    """What the client is given for a chunk; before it, what hooks have written meanwhile.

    Args:
        run: The run.
        chunk: What came.
        into: The answer that it belongs to; what goes on becomes a part of it.
        refused: As in :func:`written`.
    """
    return await _taken_in(run, await _flow(run, chunk), into, refused=refused)


async def _flow(run: AgentRun, chunk: Chunk) -> tuple[Chunk, ...]:
    run.look_at_latch()
    return (chunk,) if run.points.chunk_path is None else await looked_at(run, chunk)


async def _taken_in(
    run: AgentRun, flow: tuple[Chunk, ...], into: Assembly | None, *, refused: RefusedCalls | None
) -> tuple[Chunk, ...]:
    before = await written(run, into, refused=refused) if run.facts.outbox else ()
    for one in flow:
        if into is not None:
            into.add(one)
        elif type(one) is DataChunk:
            run.keep_data(one)
    return (*before, *flow) if before else flow


async def _passed_outcome(
    run: AgentRun, came: ToolResult | ToolError, into: Assembly | None = None, *, refused: RefusedCalls | None = None
) -> tuple[ToolResult | ToolError, tuple[Chunk, ...]]:
    """A tool's outcome as it stands, and what the client is given for it.

    Where a guard has the model asked again instead, the reason stands in its place, which guards look at in turn.
    """
    while True:
        run.looks_at_result = True
        flow: tuple[Chunk, ...] | None = None
        try:
            with suppress(AbortSignal), watchdog(run.facts.latch, run.points.is_waiting):
                flow = await _flow(run, came)
        finally:
            run.looks_at_result = False
        if flow is not None:  # what was written meanwhile is no part of the outcome, and neither is a verdict on that
            return came, await _taken_in(run, flow, into, refused=refused)
        error = sent_back(run, came, Phase.OUTPUT_STREAM)
        if error is None:
            run.look_at_latch()
            raise AssertionError("what stops the run is written down")
        came = error


def _restore_system_messages(run: AgentRun) -> None:
    """Untagged system messages go back to what the input processors left; tagged ones stay."""
    if [message.text for message in run.messages.system_messages()] != list(run.baseline):
        run.messages.set_system(run.baseline)


async def _prepared(run: AgentRun, number: int) -> _Answer:
    """The request, as the input processors left it."""
    settings = run.settings
    step = InputStepContext(
        run.messages,
        model=settings.model,
        step_number=number,
        steps=run.steps,
        tools=settings.tools,
        tool_choice=settings.tool_choice,
        active_tools=settings.active_tools,
        model_settings=settings.model_settings,
        provider_options=settings.provider_options,
        output_schema=settings.output_schema,
        run=run.facts,
    )
    if run.points.acts(Phase.INPUT_STEP):
        step = await run.points.run(step, step_number=number)
        if number > 0:
            run.accept()  # what is kept of earlier steps is kept as the guards leave it now
    tools = _offered(step.tools, step.active_tools)
    _check_choice(step.tool_choice, tools)
    request = ModelRequest(
        run.messages.to_prompt(),
        [ToolSpec(tool.name, tool.description, tool.parameters) for tool in tools],
        step.tool_choice,
        step.model_settings,
        step.provider_options,
    )
    answer = _Answer(step.model, tools, request)
    _ask_for_object(run, answer, step.output_schema)
    if run.points.acts(Phase.LLM_REQUEST):
        context = LLMRequestContext(
            run.messages,
            prompt=request.prompt,
            model=step.model,
            step_number=number,
            steps=run.steps,
            run=run.facts,
        )
        context = await run.points.run(context, step_number=number)
        request.prompt = context.prompt
        answer.cached = context.response
    return answer


def _ask_for_object(run: AgentRun, answer: _Answer, schema: object) -> None:
    """Have the model be asked for what the answer is to be, where that is said."""
    run.object_schema = None
    run.facts.asks_for_object = schema is not None
    if schema is None:
        return
    from interlock.models.output_schema import object_schema
    from interlock.runtime.objects import PartialObject

    run.object_schema = object_schema(schema)
    answer.request.output_schema = run.object_schema.json_schema
    answer.object = PartialObject()


def _offered(tools: Sequence[Tool], active: Sequence[str] | None) -> list[Tool]:
    if active is None:
        return list(tools)
    unknown = set(active) - {tool.name for tool in tools}
    if unknown:
        raise InterlockError(
            f"active_tools names {', '.join(sorted(map(repr, unknown)))}, but the tools are "
            f"{', '.join(repr(tool.name) for tool in tools) or 'none'}"
        )
    return [tool for tool in tools if tool.name in active]


def _check_choice(choice: str, tools: Sequence[Tool]) -> None:
    names = [tool.name for tool in tools]
    if choice not in ("auto", "none", "required", *names):
        raise InterlockError(
            f"tool_choice is {choice!r}: 'auto', 'none', 'required', or the name of a tool that is offered "
            f"({', '.join(map(repr, names)) or 'none is'})"
        )


async def _after_answer(run: AgentRun, answer: _Answer, step: StepResult) -> None:
    """``llm_response``, then ``output_step``."""
    number = step.step_number
    if run.points.acts(Phase.LLM_RESPONSE):
        response = LLMResponseContext(
            run.messages,
            chunks=answer.chunks,
            model=answer.model,
            request=answer.request,
            from_cache=answer.cached is not None,
            step_number=number,
            steps=run.steps,
            run=run.facts,
        )
        await run.points.run(response, step_number=number)
    if run.points.acts(Phase.OUTPUT_STEP):
        output = OutputStepContext(
            run.messages,
            text=step.text,
            tool_calls=step.tool_calls,
            finish_reason=step.finish_reason,
            usage=step.usage,
            provider_metadata=step.provider_metadata,
            step_number=number,
            steps=run.steps,
            run=run.facts,
        )
        await run.points.run(output, step_number=number)
        step.text = run.step_text()
        run.take_arguments(step)
