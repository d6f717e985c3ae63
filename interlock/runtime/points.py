"""Running a lifecycle point: its graph on its context; what continues is adopted by the conversation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar, cast

from interlock.errors import InvalidProcessorReturn
from interlock.messages import MessageList
from interlock.processors.base import Processor
from interlock.processors.contexts import APIErrorContext
from interlock.processors.hook_context import HookContext
from interlock.processors.returns import allowed_in
from interlock.processors.seat import RunFacts
from interlock.runtime.checks import PointChecks, joined, why_stopped, with_block
from interlock.runtime.execution import Execution
from interlock.runtime.lower import Place, lower
from interlock.runtime.operations.hooks_in import hooks_in
from interlock.runtime.processor_lists import ProcessorLists
from interlock.runtime.strand import Operation, Strand, drive
from interlock.runtime.workflow_states import WorkflowStates
from interlock.verdict import CheckRecord, Phase, Tripwire
from interlock.workflows import Plan, StepNode

if TYPE_CHECKING:
    from interlock.runtime.chunk_path import ChunkPath

__all__ = ["Points"]

C = TypeVar("C", bound=HookContext)


class Points:
    """The ten points of one run.

    Args:
        lists: The processors.
        facts: The run.
        messages: Its conversation.
        last_in_input_step: One more processor behind the input list in ``input_step`` (the call's ``prepare_step``).

    Attributes:
        checks: What was decided at the points that have run, in running order.
        lists: The processors.
        stopped_with: The conversation as processors had left it where a point was stopped; None where none was.
    """

    def __init__(
        self,
        lists: ProcessorLists,
        facts: RunFacts,
        messages: MessageList,
        *,
        last_in_input_step: Processor | None = None,
    ) -> None:
        self.facts = facts
        self.checks: list[CheckRecord] = []
        self.lists = self._lists = lists
        self._messages = messages
        self._states: dict[int, dict[str, object]] = {}
        self._workflow_states = WorkflowStates(lists.state_schemas)
        self._earlier: list[CheckRecord] = []
        self._newest_step: dict[Phase, int | None] = {}
        self._current: Execution | None = None
        self.stopped_with: MessageList | None = None
        self._last = () if last_in_input_step is None else _as_operations(last_in_input_step)
        self._inner: dict[tuple[str, ...], ChunkPath] = {}
        plans = lists.plans(Phase.OUTPUT_STREAM)
        self._path: ChunkPath | None = None
        if plans:
            from interlock.runtime.chunk_path import ChunkPath

            self._path = ChunkPath(plans, self._execution(Phase.OUTPUT_STREAM), messages)

    @property
    def chunk_path(self) -> ChunkPath | None:
        """What every chunk goes through; None where nothing looks at chunks."""
        return self._path

    def inner_path(self, inside: tuple[str, ...], step_number: int) -> ChunkPath:
        """What the chunks of an agent go through that a tool has asked: the same graph, with texts of their own.

        Args:
            inside: The tool calls around it, from the outermost in.
            step_number: The step that made the outermost.
        """
        path = self._inner.get(inside)
        if path is None:
            from interlock.runtime.chunk_path import ChunkPath

            plans = self._lists.plans(Phase.OUTPUT_STREAM)
            path = ChunkPath(plans, self._execution(Phase.OUTPUT_STREAM), self._messages, inside=inside)
            path.begin_step(step_number, self._messages)
            self._inner[inside] = path
        return path

    def end_inner_paths(self) -> None:
        """The tools of a step have ended. What was decided about the agents that they asked stays known."""
        for path in self._inner.values():
            self._earlier = joined(self._earlier, _checks_of(path))
        self._inner.clear()

    def renew_paths(self) -> None:
        """A verdict was taken back: verdicts of hooks in a stream count for what is done from now on."""
        for path in self._paths():
            path.renew()

    def _paths(self) -> Iterable[ChunkPath]:
        return self._inner.values() if self._path is None else (self._path, *self._inner.values())

    def acts(self, phase: Phase) -> bool:
        """Whether anything acts at a point."""
        return self._lists.acts(phase) or (phase is Phase.INPUT_STEP and bool(self._last))

    async def run(self, context: C, *, step_number: int | None = None) -> C:
        """Run the graph of the context's phase.

        Args:
            context: Made on the run's conversation.
            step_number: For the records.

        Returns:
            The context that continues; its messages have been adopted by the conversation.

        Raises:
            AbortSignal: Something tripped; the latch has it.
            StepFailed: A hook, step or map raised.
            InvalidProcessorReturn: One gave back what the phase does not take.
        """
        phase = context.phase
        ops: Sequence[Operation] = self._lists.operations(phase)
        if phase is Phase.INPUT_STEP:
            ops = (*ops, *self._last)
        self._newest_step[phase] = step_number
        execution = self._execution(phase, step_number)
        self._workflow_states.next_point()
        flowing = context.fork()
        strand = Strand(ops, flowing, execution, execution.scope(flowing))
        self._current = execution
        try:
            await (_until_answered(strand) if phase is Phase.API_ERROR else drive(strand))
            final = _checked(strand.value, phase)
        except BaseException as error:
            execution.checks.stopped(hooks_in(ops), why_stopped(execution.latch.tripwire, error))
            left: object = strand.value
            if isinstance(left, HookContext):
                self.stopped_with = left.message_list
            raise
        finally:
            self._current = None
            self.checks += execution.checks.records()
        self._messages.adopt(final.message_list)
        self._messages.settle()
        return cast("C", final)

    def note_block(self, tripwire: Tripwire) -> None:
        """Have the records say who stopped what was done: also a step, and one that was noted as having passed it.

        Args:
            tripwire: Its verdict.
        """
        phase = tripwire.phase
        place = None if phase is None else self._lists.place_of(tripwire.processor_id, phase)
        if phase is None or place is None:
            return
        in_stream = phase is Phase.OUTPUT_STREAM
        block = CheckRecord(
            tripwire.processor_id,
            phase,
            place[0],
            "blocked",
            reason=tripwire.reason,
            path=place[1],
            step_number=None if in_stream else self._newest_step.get(phase),
            metadata=tripwire.metadata,
            attempt=1 if in_stream else self.facts.attempt,
        )
        if not in_stream:
            self.checks = with_block(self.checks, block) if place[2] else [*self.checks, block]
            return
        told = [one for one in self.records() if one.phase is phase and (one.list, one.path) == place[:2]]
        if not any(one.verdict == "blocked" and one.reason == block.reason for one in told):
            self._earlier = joined(self._earlier, [block])

    def not_asked(self, phase: Phase, reason: str, *, step_number: int | None = None) -> None:
        """Note, for every processor of a point, that it did not look at something.

        Args:
            phase: The point.
            reason: Why not.
            step_number: For the records.
        """
        told = PointChecks(step_number, self.facts.attempt)
        told.stopped(hooks_in(self._lists.operations(phase)), reason)
        self.checks += told.records()

    def is_waiting(self) -> bool:
        """Whether a hook is being waited for right now, in the task that runs the loop."""
        current = self._current
        return (current is not None and current.waiting) or any(path.execution.waiting for path in self._paths())

    def records(self) -> list[CheckRecord]:
        """What was decided so far, in running order; at the per-chunk point over all chunks, last."""
        stream = self._earlier
        for path in self._paths():
            if path.count:
                stream = joined(stream, _checks_of(path))
        return [*self.checks, *stream]

    def processors(self) -> Iterable[Processor]:
        """All processors of the run's lists, each once."""
        return self._lists.processors().values()

    def states(self) -> dict[str, dict[str, object]]:
        """What processors and workflows keep for the run, by list and id."""
        named = self._lists.processors()
        kept = {name: self._states[id(p)] for name, p in named.items() if self._states.get(id(p))}
        values = self._workflow_states.values()
        return {**kept, **{name: values[one] for name, one in self._lists.workflows().items() if one in values}}

    def restore(self, checks: Sequence[CheckRecord], states: Mapping[str, dict[str, object]]) -> None:
        """Go on from what was decided and kept before.

        Args:
            checks: As :meth:`records` gave them.
            states: As :meth:`states` gave them; of processors that are not there any more, nothing is taken over.
        """
        self.checks = [check for check in checks if check.phase is not Phase.OUTPUT_STREAM]
        self._earlier = [check for check in checks if check.phase is Phase.OUTPUT_STREAM]
        for name, processor in self._lists.processors().items():
            if name in states:
                self._states.setdefault(id(processor), {}).update(states[name])
        for name, workflow in self._lists.workflows().items():
            if name in states:
                self._workflow_states.restore(workflow, states[name])

    def follow(self, messages: MessageList, step_number: int) -> None:
        """Work on another conversation from now on, in the middle of a step."""
        self._messages = messages
        if self._path is not None:
            self._path.begin_step(step_number, messages)

    def _execution(self, phase: Phase, step_number: int | None = None) -> Execution:
        return Execution(
            self.facts,
            phase,
            states=self._states,
            workflow_states=self._workflow_states,
            checks=PointChecks(step_number, self.facts.attempt),
        )


def _checks_of(path: ChunkPath) -> list[CheckRecord]:
    checks = PointChecks()
    path.note_checks(checks)
    return checks.records()


async def _until_answered(strand: Strand) -> None:
    """Ask handlers one after the other, until one has answered."""
    ops = strand.ops
    for number, op in enumerate(ops, 1):
        strand.ops, strand.index = (op,), 0
        await drive(strand)
        if isinstance(strand.value, APIErrorContext) and strand.value.retry is not None:
            hooks = list(hooks_in((op,)))
            who = repr(hooks[0].processor.id if len(hooks) == 1 else op.step_id)
            strand.execution.checks.stopped(hooks_in(ops[number:]), f"{who} has answered")
            break


def _as_operations(processor: Processor) -> tuple[Operation, ...]:
    plan = Plan("last", (StepNode(processor.as_step()),))
    return lower(plan, Place(Phase.INPUT_STEP, "input", order=(1,)))


def _checked(value: object, phase: Phase) -> HookContext:
    if isinstance(value, HookContext) and value.phase is phase:
        return value
    raise InvalidProcessorReturn(
        "the graph",
        str(phase),
        value,
        allowed_in(phase),
        hint="A workflow that ends with a parallel block needs .map(…) or .merge() behind it",
    )
