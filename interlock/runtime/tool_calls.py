"""The tools of a step: calls are looked at before any runs, they run at once, results are looked at in order."""

from __future__ import annotations

import math
import traceback
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NoReturn

import anyio

from interlock.errors import ToolError as ToolFailed
from interlock.messages import (
    Chunk,
    JSONValue,
    ToolCall,
    ToolCallSuspended,
    ToolError,
    ToolInvocationPart,
    ToolResult,
)
from interlock.messages.parts import copy_json
from interlock.processors.contexts import ToolCallContext, ToolResultContext
from interlock.processors.progress import StepResult
from interlock.runtime.agent_run import AgentRun
from interlock.runtime.cancellation import interrupts
from interlock.runtime.occurred import ToolProgress
from interlock.runtime.repeating import sent_back
from interlock.runtime.shelf import Answer
from interlock.runtime.watchdog import watchdog
from interlock.shown import shown_error
from interlock.tools import Tool, ToolContext
from interlock.tracing import warn
from interlock.verdict import AbortSignal, Latch, Phase, SuspendSignal

__all__ = [
    "Call",
    "Waiting",
    "approval_asked",
    "call_tools",
    "keep_emitted",
    "looked_at_calls",
    "looked_at_result",
    "waits",
]


class Call:
    """One call while it runs.

    Attributes:
        chunk: The call, with the arguments as the hooks left them.
        tool: The tool; None where there is none of that name.
        known: The names of the tools that were offered.
        result: What it returned.
        error: What the model is told instead; None where the tool returned.
        asks: Whether it needs an approval; None: nobody has looked.
        approved: What somebody has answered, where the call had to be approved; None: nobody has.
        question: What the tool has asked, as ``(payload,)``; None: nothing, or it was answered.
        answer: What somebody has answered to that.
        done: Whether what came of it stands in the conversation.
        refused: Why it was stopped for what the tool gave while it ran; None: it was not.
        progress: How far the tool itself came; None: it was not started.
    """

    def __init__(self, chunk: ToolCall, tools: Mapping[str, Tool]) -> None:
        self.chunk = chunk
        self.tool = tools.get(chunk.tool_name)
        self.known = tuple(tools)
        self.result: object = None
        self.error: str | None = None
        self.asks: bool | None = None
        self.approved: bool | None = None
        self.question: tuple[JSONValue] | None = None
        self.answer: object = None
        self.done = False
        self.refused: str | None = None
        self.ended = anyio.Event()
        self.scope = anyio.CancelScope()
        self.started = False
        self.progress: ToolProgress | None = None

    @property
    def waits(self) -> bool:
        """Whether it waits for somebody."""
        return self.question is not None or bool(self.asks and self.approved is None)

    def asked(self) -> ToolCall | ToolCallSuspended:
        """What somebody is asked for it."""
        if self.question is None:
            return self.chunk
        return ToolCallSuspended(self.chunk.tool_call_id, self.chunk.tool_name, self.chunk.args, *self.question)

    def ask(self, payload: JSONValue) -> NoReturn:
        """The tool asks something. It is noted, so that it stands however the tool then ends."""
        if self.question is None:
            self.question = (payload,)
        raise SuspendSignal(payload)

    def begin(self) -> None:
        """It is about to run, for the first time or once more."""
        self.ended = anyio.Event()
        self.scope = anyio.CancelScope()
        self.started = True

    async def run(self, tool: Tool, context: ToolContext, latch: Latch) -> None:
        """Run the tool, unless a verdict stands already; its failure is data."""
        self.error = f"tool {tool.name!r} was cancelled"
        try:
            with self.scope:
                if not self.scope.cancel_called and latch.tripwire is None:  # else stopped before its first step
                    self.progress = "started"
                    self.result = await tool.run(copy_json(self.chunk.args), context)
                    self.error, self.progress = None, "returned"
        except anyio.get_cancelled_exc_class():
            if anyio.current_effective_deadline() == -math.inf:
                raise
            self.progress = "raised"  # nobody cancelled it: it awaited what somebody else had cancelled
        except ToolFailed as error:
            self.error, self.progress = str(error), "raised"
        except BaseException as error:
            if interrupts(error):
                raise
            if self.question is not None:
                return
            self.error, self.progress = f"tool {tool.name!r} failed: {shown_error(error)}", "raised"
            warn("a tool failed", tool=tool.name, run_id=context.run_id, error=type(error).__name__, at=_place(error))
        finally:
            if self.question is not None:  # what it has come to since counts for nothing
                self.result = self.error = None
                self.progress = "started"
            self.ended.set()
            if context.outbox is not None:
                context.outbox.stir()


async def looked_at_calls(run: AgentRun, step: StepResult, tools: Sequence[Tool]) -> list[Call]:
    """The calls of a step that are to run, as the processors leave them.

    Args:
        run: The run.
        step: The step that made the calls.
        tools: What the model was offered.
    """
    by_name = {tool.name: tool for tool in tools}
    calls = [Call(c, by_name) for c in step.tool_calls if not c.provider_executed]
    for call in _held(run, calls):
        await _look_at_call(run, call, step.step_number)
    run.look_at_latch()
    return _held(run, calls)


class Waiting:
    """A step whose tools may not run before somebody has answered.

    Args:
        step: The step.
        calls: Its calls, as the processors left them.
    """

    __slots__ = ("calls", "step")

    def __init__(self, step: StepResult, calls: Sequence[Call]) -> None:
        self.step = step
        self.calls = calls

    def pending(self) -> list[Call]:
        """The calls that nobody has answered for."""
        return [call for call in self.calls if call.waits]

    def asking(self) -> dict[str, bool]:
        """The ids of these calls, and whether it is data that the tool waits for."""
        return {call.chunk.tool_call_id: call.question is not None for call in self.pending()}

    def decide(self, answer: Answer) -> None:
        """Take an answer in. A call that was not approved does not run (on); the model is told why."""
        for call in self.pending():
            if answer.tool_call_id not in (None, call.chunk.tool_call_id):
                continue
            if call.question is None:
                call.approved = answer.approve
            call.question, call.answer = None, answer.data
            if answer.approve is False:
                call.error = answer.reason or "the call was not approved"


async def approval_asked(run: AgentRun, step: StepResult, calls: Sequence[Call]) -> Waiting | None:
    """The step as it waits, where one of its tools needs an approval; then none of them runs for now.

    Raises:
        ToolError: The tool's own rule for it fails: nobody can tell whether the tool may run.
    """
    for call in calls:
        if call.asks is None:
            tool = call.tool if call.error is None else None
            call.asks = tool is not None and await tool.asks_first(
                call.chunk.args, _tool_context(run, call, step.step_number)
            )
    return waits(step, calls)


def waits(step: StepResult, calls: Sequence[Call]) -> Waiting | None:
    """The step as it waits, where one of its calls does."""
    return Waiting(step, calls) if any(call.waits for call in calls) else None


async def call_tools(
    run: AgentRun, step: StepResult, calls: Sequence[Call]
) -> AsyncGenerator[ToolResult | ToolError | None, None]:
    """Run the calls of a step, yielding their chunks in the order of the calls; None where a tool has written.

    A result is looked at as soon as the calls before it have been; the tools behind it go on running meanwhile.

    Args:
        run: The run.
        step: The step that made the calls; its ``tool_results`` are filled.
        calls: What is to run. One that asks something has no chunk; it is run again when it was answered.
    """
    run.look_at_latch()
    outbox = run.facts.open_outbox()
    try:
        for call in calls:
            if not call.done:
                _start(run, call, step.step_number)
        for call in calls:
            if call.done:
                continue
            while not call.ended.is_set():
                run.waits = True
                try:
                    await outbox.stirred()
                finally:
                    run.waits = False
                if outbox:
                    yield None
            if call.refused is not None:
                call.question, call.error = None, call.refused
            if call.question is not None:
                continue
            chunk = await _ended(run, call, step.step_number)
            call.done = True
            step.tool_results.append(chunk)
            yield chunk
    finally:
        await _stop(calls)
        run.tool_progress.update({call.chunk.tool_call_id: call.progress for call in calls if call.progress})
        step.usage += outbox.take_spent()


def _held(run: AgentRun, calls: Sequence[Call]) -> list[Call]:
    """The calls that are still in the answer: one that a processor took out of the conversation does not run."""
    answer = run.messages.get(run.message_id) if calls else None
    if answer is None:
        return []
    held = {part.tool_call_id for part in answer.parts if isinstance(part, ToolInvocationPart)}
    return [call for call in calls if call.chunk.tool_call_id in held]


def _keep(run: AgentRun, call: Call, **said: Any) -> None:
    """Have the conversation say this of a call; where a processor has taken the call out of it, it says nothing."""
    if _held(run, [call]):
        run.messages.update_tool_invocation(call.chunk.tool_call_id, **said)


def keep_emitted(run: AgentRun, step: StepResult, calls: Sequence[Call], came: Chunk, emitted: Chunk) -> None:
    """Have the conversation hold what a stream processor made of a tool's result: what is emitted is what is stored.

    What the model is shown is made of that, too.
    """
    if not isinstance(emitted, ToolResult | ToolError) or emitted.tool_call_id != getattr(came, "tool_call_id", None):
        return
    call = next(call for call in calls if call.chunk.tool_call_id == emitted.tool_call_id)
    shown = None
    if isinstance(emitted, ToolResult) and call.tool is not None:
        shown = _shown_to_model(call, call.tool, emitted.result)
    error = emitted.error if isinstance(emitted, ToolError) else call.error
    if isinstance(emitted, ToolResult) and error is None:
        _keep(run, call, result=emitted.result, model_output=shown)
    else:
        _keep(run, call, error=error)
    step.tool_results = [emitted if kept is came else kept for kept in step.tool_results]


async def looked_at_result(run: AgentRun, chunk: ToolResult, step_number: int) -> ToolResult | ToolError:
    """A tool's result as the processors leave it, before anybody sees it.

    Where one of them has the model asked again instead, the reason stands as the tool's error in the result's place.
    """
    run.came.add(chunk.type)
    if not run.points.acts(Phase.TOOL_RESULT):
        return chunk
    context = ToolResultContext(
        run.messages,
        tool_name=chunk.tool_name,
        tool_call_id=chunk.tool_call_id,
        args=chunk.args,
        result=chunk.result,
        provider_executed=chunk.provider_executed,
        step_number=step_number,
        steps=run.steps,
        run=run.facts,
    )
    run.looks_at_result = True
    try:
        with suppress(AbortSignal), watchdog(run.facts.latch, run.points.is_waiting):
            context = await run.points.run(context, step_number=step_number)
    finally:
        run.looks_at_result = False
    error = sent_back(run, chunk, Phase.TOOL_RESULT)
    if error is not None:
        return error
    run.look_at_latch()
    return chunk.replace(result=copy_json(context.result))  # hooks may keep theirs, and change it later


async def _look_at_call(run: AgentRun, call: Call, step_number: int) -> None:
    if not run.points.acts(Phase.TOOL_CALL):
        return
    chunk = call.chunk
    context = ToolCallContext(
        run.messages,
        tool_name=chunk.tool_name,
        tool_call_id=chunk.tool_call_id,
        args=chunk.args,
        step_number=step_number,
        run=run.facts,
    )
    context = await run.points.run(context, step_number=step_number)
    if repr(context.args) != repr(chunk.args):  # equality would not tell 1 from True
        call.chunk = chunk.replace(args=context.args)
        _keep(run, call, args=context.args)
    call.error = context.denied


def _start(run: AgentRun, call: Call, step_number: int) -> None:
    """Start a call; one that was denied, or that names no tool, has ended with an error."""
    chunk, tool = call.chunk, call.tool
    if call.error is None and tool is None:
        names = ", ".join(map(repr, call.known)) or "none"
        call.error = f"there is no tool {chunk.tool_name!r}; the tools are: {names}"
    if call.error is not None or tool is None:
        call.started = False
        call.ended.set()
        return
    call.begin()
    run.tool_tasks.start_soon(call.run, tool, _tool_context(run, call, step_number), run.facts.latch)


def _tool_context(run: AgentRun, call: Call, step_number: int) -> ToolContext:
    return ToolContext(
        run.facts.run_id,
        call.chunk.tool_call_id,
        step_number,
        run.messages.fork().all,
        run.facts.request_context,
        call.chunk.tool_name,
        run.facts.open_outbox(),
        call.answer,
        call.ask,
    )


async def _ended(run: AgentRun, call: Call, step_number: int) -> ToolResult | ToolError:
    """The chunk of a call that has ended, its outcome taken into the conversation."""
    chunk = call.chunk
    if call.error is None:
        came = ToolResult(chunk.tool_call_id, chunk.tool_name, chunk.args, call.result)
        result = await looked_at_result(run, came, step_number)
        if isinstance(result, ToolError):
            _keep(run, call, error=result.error)
            return result
        assert call.tool is not None  # without one it had ended with an error
        shown = _shown_to_model(call, call.tool, result.result)
        if call.error is None:
            _keep(run, call, result=result.result, model_output=shown)
            return result
    if call.started:
        run.points.not_asked(Phase.TOOL_RESULT, "the tool failed: its error was not looked at", step_number=step_number)
    _keep(run, call, error=call.error)
    return ToolError(chunk.tool_call_id, chunk.tool_name, chunk.args, call.error or "")


def _place(error: BaseException) -> str:
    """Where something was raised: the file and line of the innermost frame."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{last.filename}:{last.lineno}"


def _shown_to_model(call: Call, tool: Tool, result: object) -> object:
    """The tool's own form of the final result; where making it fails, that is the call's error."""
    try:
        return tool.model_output(result)
    except Exception as error:
        call.error = f"to_model_output of tool {tool.name!r} failed: {shown_error(error)}"
        return None


async def _stop(calls: Sequence[Call]) -> None:
    """Cancel what still runs and wait until it has ended."""
    running = [call for call in calls if call.started and not call.ended.is_set()]
    for call in running:
        call.scope.cancel()
    with anyio.CancelScope(shield=True):
        for call in running:
            await call.ended.wait()
