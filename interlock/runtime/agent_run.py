"""One run of an agent: what it is about and how it stands. The loop, the turn and the tools work on this."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import TYPE_CHECKING, Any, Final, Protocol

from interlock.ids import new_id
from interlock.messages import (
    Chunk,
    DataChunk,
    FinishReason,
    Message,
    MessageList,
    ObjectChunk,
    Part,
    StepStartPart,
    TextDelta,
    TextPart,
    ToolCall,
    ToolCallApproval,
    ToolCallDelta,
    ToolCallStart,
    ToolCallSuspended,
    ToolError,
    ToolInvocationPart,
    ToolResult,
    Usage,
)
from interlock.messages.parts import same_json
from interlock.messages.signals import put_signal
from interlock.models import LanguageModel, ToolChoice
from interlock.processors.progress import RunResult, StepResult
from interlock.processors.seat import RunFacts
from interlock.runtime.assembly import Assembly, put_data
from interlock.runtime.occurred import FEEDBACK, Occurred, ToolProgress
from interlock.runtime.options import Release
from interlock.runtime.points import Points
from interlock.runtime.result import AgentResult, RunStatus
from interlock.runtime.shelf import Shelf
from interlock.runtime.tool_tasks import ToolTasks
from interlock.tools import Tool
from interlock.verdict import AbortSignal

if TYPE_CHECKING:
    from interlock.models.output_schema import ObjectSchema
    from interlock.runtime.tool_calls import Waiting

__all__ = ["FEEDBACK", "SETTINGS", "AgentRun", "CallSettings"]


@dataclass(frozen=True)
class CallSettings:
    """What a call is made with, the agent's own values filled in.

    Attributes:
        model, tools, tool_choice, active_tools, model_settings, provider_options: As in ``process_input_step``.
        max_steps: Model calls at most.
        max_retries: How often steps are done again at most; None: not for verdicts, ten times for failed model calls.
        release: When a client is given what it is to see.
        of_the_call: The options of the call that no store can keep.
        output_schema: What the answer is to be; None: any text.
    """

    model: LanguageModel
    tools: Sequence[Tool]
    tool_choice: ToolChoice
    active_tools: Sequence[str] | None
    model_settings: dict[str, Any]
    provider_options: dict[str, Any]
    max_steps: int
    max_retries: int | None = None
    release: Release = "chunk"
    of_the_call: Sequence[str] = ()
    output_schema: object = None


SETTINGS: Final = (
    "tool_choice",
    "active_tools",
    "model_settings",
    "provider_options",
    "max_steps",
    "max_retries",
    "release",
)
"""What of the settings is data."""

_OF_CALLS: Final = (ToolCallStart, ToolCallDelta, ToolCall, ToolResult, ToolError)

_STANDS: Final = (
    "message_id",
    "messages",
    "steps",
    "finish_reason",
    "baseline",
    "more_steps",
    "before_answer",
    "_before",
    "_accepted",
    "_call_ids",
    "_used_ids",
    "_held",
    "_held_step",
    "_step_accepted",
    "attempt",
    "came",
    "tool_progress",
)


class Answering(Protocol):
    """A model's answer while it comes in."""

    def step(self, number: int) -> StepResult:
        """The step, as far as it has come."""
        ...


@dataclass
class AgentRun:
    """The state of one run.

    Attributes:
        facts: Its ids, the request context and the latch.
        settings: What the call is made with.
        messages: The conversation.
        points: The ten points.
        tool_tasks: Where tools run.
        message_id: Of the assistant message that the answer becomes.
        steps: The finished steps.
        status: How it ended; None while it runs.
        baseline: The untagged system messages as the input processors left them.
        waits: Whether it waits for the model or a tool right now: a verdict that comes from elsewhere interrupts that.
        looks_at_result: Whether it waits for hooks that look at a tool's result: their verdict interrupts only them.
        begun: Whether the input processors have been asked.
        more_steps: Model calls besides ``max_steps``, because a processor asked for them.
        takes_back: Whether the newest attempt at a step was taken back as a whole.
        asks_again: Whether what a provider's own tool returned was refused, so that the model is asked once more.
        answer: The model's answer in the step that is being taken; None before the model was asked.
        open_step: The step that is being taken, as soon as its answer is complete.
        before_answer: The conversation as the model was asked with it.
        waiting: The step whose tools wait for somebody's approval.
        questions: What the client is asked then.
        shelf: Where it is kept meanwhile.
        journal_rows: How many rows a store has of it.
        object_schema: What the newest step's answer is to be.
        output: The object that the answer has come to.
        attempt: At the newest step, from 1.
        came: The types of the chunks that models and tools gave, accepted or not.
        tool_progress: How far the tools came that were started, by call.
    """

    facts: RunFacts
    settings: CallSettings
    messages: MessageList
    points: Points
    tool_tasks: ToolTasks
    shelf: Shelf
    message_id: str = field(default_factory=lambda: new_id("msg"))
    steps: list[StepResult] = field(default_factory=list[StepResult])
    status: RunStatus | None = None
    finish_reason: FinishReason = "other"
    error: Exception | None = None
    baseline: Sequence[str] = ()
    waits: bool = False
    looks_at_result: bool = False
    begun: bool = False
    more_steps: int = 0
    asks_again: bool = False
    takes_back: bool = False
    answer: Answering | None = None
    open_step: StepResult | None = None
    before_answer: MessageList | None = None
    waiting: Waiting | None = None
    questions: list[ToolCallApproval | ToolCallSuspended] = field(
        default_factory=list[ToolCallApproval | ToolCallSuspended]
    )
    journal_rows: int = 0
    object_schema: ObjectSchema | None = None
    output: object = None
    attempt: int = 0
    came: set[str] = field(default_factory=set[str])
    tool_progress: dict[str, ToolProgress] = field(default_factory=dict[str, ToolProgress])
    _tried: int = -1
    _at_end: MessageList | None = None
    _delivered: StringIO = field(default_factory=StringIO)
    _held: list[Chunk] = field(default_factory=list[Chunk])
    _held_step: int = 0
    _data: list[Part] = field(default_factory=list[Part])
    _data_of_input: int | None = None
    _step_accepted: bool = False
    _call_ids: dict[str, str] = field(default_factory=dict[str, str])
    _begun_calls: dict[str, str] = field(default_factory=dict[str, str])
    _used_ids: set[str] = field(default_factory=set[str])
    _accepted: MessageList | None = None
    _shown: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self._before = self.messages.fork()

    @property
    def number(self) -> int:
        """The number of the step that is taken next, or is being taken, from 0."""
        return sum(step.reason is None for step in self.steps if step is not self.open_step)

    def begin_attempt(self) -> None:
        """The model is about to be asked, for a step or for the same step again."""
        number = self.number
        self.attempt = self.facts.attempt = self.attempt + 1 if number == self._tried else 1
        self._tried = number
        self.answer = self.open_step = self.before_answer = None
        self.asks_again = False
        self._begun_calls.clear()
        self._step_accepted = False
        self._held_step = len(self._held)
        if self.facts.outbox is not None:
            self.facts.outbox.signals.clear()
        if self._data_of_input is None:
            self._data_of_input = len(self._data)
        else:
            del self._data[self._data_of_input :]

    def begin_again(self) -> None:
        """The first step is done again: what the turn began with has not been accepted yet."""
        self._accepted = None

    def accept_step(self) -> None:
        """Say that the answer of the step was accepted: what was held back until then may go, and its tools may run."""
        self._step_accepted = True
        self._clear_feedback()

    def holds(self, chunk: Chunk) -> bool:
        """Whether a chunk is held back for now; then it is kept."""
        if not self.holds_back:
            return False
        self._held.append(chunk)
        return True

    @property
    def holds_back(self) -> bool:
        """Whether a client is shown nothing for now."""
        release = self.settings.release
        return release != "chunk" and (release != "step" or not self._step_accepted)

    def let_go(self) -> Sequence[Chunk]:
        """What was held back, which now goes to the client."""
        held = self._held
        if not held:
            return ()
        self._held = []
        self._held_step = 0
        from interlock.runtime.held import as_they_stand  # seldom asked for

        known = self.messages.get(self.message_id)
        stand = list(self.messages.response) if known is None else [known]  # somebody has put others in its place
        new = [one for one in stand if one.role == "assistant" and one.id not in self._shown]
        self._shown.update(one.id for one in new if known is None)
        return as_they_stand(held, [part for one in new for part in one.parts])

    def drop_held(self, *, texts_only: bool = False) -> None:
        """Forget what is held back of the newest step, because it was not accepted."""
        kept = [c for c in self._held[self._held_step :] if texts_only and type(c) not in (TextDelta, ObjectChunk)]
        self._held[self._held_step :] = kept

    def with_own_id(self, chunk: Chunk) -> Chunk:
        """A tool call under an id of its own, where the model has used its id before; its pieces and result as well."""
        self.came.add(chunk.type)
        if not isinstance(chunk, _OF_CALLS):
            return chunk
        given = chunk.tool_call_id
        if isinstance(chunk, ToolResult | ToolError):
            own = self._call_ids.get(given, given)
        else:
            if given not in self._begun_calls or isinstance(chunk, ToolCallStart):
                self._begun_calls[given] = self._unused_id(given)
            own = self._begun_calls[given]
            if isinstance(chunk, ToolCall):
                self._call_ids[given] = self._begun_calls.pop(given)
        return chunk if own == given else chunk.replace(tool_call_id=own)

    def _unused_id(self, given: str) -> str:
        if not self._used_ids:
            self._used_ids.update(self._ids_before())
        own, number = given, 1
        while own in self._used_ids:
            number += 1
            own = f"{given}-{number}"
        self._used_ids.add(own)
        return own

    def _ids_before(self) -> Iterator[str]:
        """The ids of the tool calls that the conversation began with: a model may count anew in each run."""
        for message in self.messages.fork():
            if message.role == "assistant":
                yield from (part.tool_call_id for part in message.parts if isinstance(part, ToolInvocationPart))

    def look_at_latch(self) -> None:
        """A verdict recorded by something that was left running counts as soon as anything moves.

        Raises:
            AbortSignal: There is one.
        """
        tripwire = self.facts.latch.tripwire
        if tripwire is not None:
            raise AbortSignal(tripwire)

    def is_waiting(self) -> bool:
        """Whether the run waits for a hook, the model or a tool right now, and would be interrupted by a verdict."""
        return not self.looks_at_result and (self.waits or self.points.is_waiting())

    def delivered(self, chunk: Chunk) -> None:
        """Note a chunk that goes to the client."""
        if type(chunk) is TextDelta:
            self._delivered.write(chunk.text)

    def keep_data(self, chunk: DataChunk, into: Assembly | None = None) -> None:
        """Have a data chunk be a part of its message, unless it is transient.

        Args:
            chunk: What was given out.
            into: The answer that is coming in, where one is.
        """
        other = chunk.message_id not in (None, self.message_id) and self.messages.get(chunk.message_id or "")
        known = other or self.messages.get(self.message_id)
        if into is not None and not other:
            into.add(chunk)
        elif known:
            put_data(known.parts, chunk)
        else:
            put_data(self._data, chunk)

    def take_signals(self) -> None:
        """Put the signals that hooks have sent while chunks came in behind the answer."""
        outbox = self.facts.outbox
        if outbox is not None and outbox.signals:
            signals, outbox.signals = outbox.signals, []
            for signal in signals:
                put_signal(self.messages, signal, "response")

    def commit_parts(self, parts: Sequence[Part]) -> None:
        """Take a step's parts into the answer. One that said nothing is there too: what was said before is not its."""
        known = self.messages.get(self.message_id)
        if known is not None:
            known.parts.extend([StepStartPart(), *parts])
            return
        parts = [*(part.copy() for part in self._data), *parts]
        if parts:
            self.messages.add(Message("assistant", list(parts), id=self.message_id), source="response")

    def accept(self) -> None:
        """Say that what the conversation holds now has been accepted: what comes later may be taken back to here."""
        self._accepted = self.messages.fork()

    def _take_back(self) -> None:
        """Leave in the conversation what was accepted. After a tripwire nothing of the answer but its tool pairs."""
        self._at_end = self.messages.fork()
        if self._accepted is None:  # then this turn leaves nothing: what it was asked goes too
            accepted = self._before.fork()
            accepted.remove(accepted.input.ids())
        else:
            accepted = self._accepted
        self.messages.adopt(accepted)
        self._clear_feedback()
        if self.facts.latch.tripwire is None:
            return
        for message in list(self.messages.response):
            pairs: list[Part] = [p for p in message.parts if isinstance(p, ToolInvocationPart) and p.state != "call"]
            if pairs:
                message.parts = pairs
            else:
                self.messages.remove(message.id)

    def _clear_feedback(self) -> None:
        if self.facts.retry_count:
            self.messages.clear_system(FEEDBACK)

    def step_text(self) -> str:
        """The newest step's text as it now stands in the conversation."""
        known = self.messages.get(self.message_id)
        text = ""
        for part in () if known is None else known.parts:
            if isinstance(part, StepStartPart):
                text = ""
            elif isinstance(part, TextPart):
                text += part.text
        return text

    def take_arguments(self, step: StepResult) -> None:
        """Have the tools of a step be given what stands in the conversation by now."""
        known = self.messages.get(self.message_id)
        stand = {p.tool_call_id: p for p in known.parts if isinstance(p, ToolInvocationPart)} if known else {}
        for n, call in enumerate(step.tool_calls):
            part = stand.get(call.tool_call_id)
            if part is not None and not same_json(part.args, call.args):
                step.tool_calls[n] = call.replace(args=part.args)

    @property
    def usage(self) -> Usage:
        """Tokens of all steps."""
        return sum((step.usage for step in self.steps), Usage())

    @property
    def text(self) -> str:
        """The answer as it now stands in the conversation."""
        return "".join(m.text for m in self.messages.response if m.role == "assistant")

    def so_far(self) -> RunResult:
        """The run as ``process_output_result`` sees it."""
        return RunResult(self.text, self.usage, self.finish_reason, tuple(self.steps))

    def end(self, status: RunStatus, *, error: Exception | None = None) -> None:
        """Say how it ended. The first word counts."""
        if self.status is not None:
            return
        self.status = status
        self.error = error
        if status == "tripwire" and self.facts.latch.tripwire is not None:
            self.points.note_block(self.facts.latch.tripwire)
        if status == "suspended":
            self.finish_reason = "suspended"
        elif status != "success":
            self.finish_reason = "error" if status == "failed" else "other"
            self._take_back()

    def brought_along(self) -> list[str]:
        """What it goes on with that is not its agent's own and that no store can keep."""
        given = list(self.settings.of_the_call)
        calls = () if self.waiting is None else self.waiting.calls
        if "tools" not in given and any(
            call.tool is not None and call.tool not in self.settings.tools for call in calls
        ):
            given.append("tools")  # offered by a processor
        return given

    def stands(self) -> dict[str, object]:
        """Where it stands, as data; besides that, what it waits for and what its points have come to."""
        return {**{name: getattr(self, name) for name in _STANDS}, "_delivered": self._delivered.getvalue()}

    def stand_at(self, stands: Mapping[str, object]) -> None:
        """Stand where another run stood."""
        stands = {"tool_progress": {}, **stands}  # which not every version has written
        for name in _STANDS:
            setattr(self, name, stands[name])
        self.points.follow(self.messages, self.steps[-1].step_number)
        self._delivered = StringIO()
        self._delivered.write(str(stands["_delivered"]))
        self.begun = True
        self.facts.attempt, self._tried = self.attempt, self.steps[-1].step_number

    def go_on(self, tool_tasks: ToolTasks) -> None:
        """Go on after it was suspended.

        Args:
            tool_tasks: Where tools run from now on.
        """
        self.tool_tasks = tool_tasks
        self.status = None

    def _occurred(self) -> Occurred:
        """What there was to look at, whatever is left of it."""
        lists = (self._before, self.points.stopped_with, self._at_end, self.messages)
        return Occurred(tuple(one for one in lists if one is not None), frozenset(self.came), dict(self.tool_progress))

    def result(self) -> AgentResult:
        """The result. What was not delivered to a client is not in the text of a run that did not end well."""
        status = self.status or "canceled"
        text = self.text if status in ("success", "suspended") else self._delivered.getvalue()
        waiting = self.waiting if status == "suspended" else None
        return AgentResult(
            self.facts.run_id,
            status,
            text,
            self.finish_reason,
            self.usage,
            tuple(self.steps),
            self.messages,
            tuple(self.points.records()),
            tripwire=self.facts.latch.tripwire if status == "tripwire" else None,
            error=self.error,
            output=self.output if status == "success" else None,
            lists=self.points.lists,
            occurred=self._occurred(),
            agent_id=self.facts.agent_id,
            suspended=() if waiting is None else tuple(call.asked() for call in waiting.pending()),
        )
