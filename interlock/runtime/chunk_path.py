"""The path of a chunk: the per-chunk point's plans, bound to one run, with everything made beforehand.

It is taken once per streamed chunk, so nothing is built there: each processor has one context, used again for every
chunk. A list of plain processors and a workflow of the user's take the same path.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from time import perf_counter
from typing import Any, cast

from interlock.errors import InvalidProcessorReturn
from interlock.messages import Chunk, MessageList, StepStart
from interlock.processors.base import ProcessorStep
from interlock.processors.returns import allowed_in
from interlock.processors.stream_context import OutputStreamContext, StreamSoFar
from interlock.runtime.checks import PointChecks
from interlock.runtime.chunk_chain import ChunkChain, Flow, MaybeFlow, Stage
from interlock.runtime.chunk_stages import Arm, BlockStage, FunctionStage, HookStage, Reducer
from interlock.runtime.execution import Execution
from interlock.runtime.strand import is_awaitable
from interlock.steps import FunctionStep, StepRun
from interlock.verdict import Phase
from interlock.workflows import MapNode, MergeNode, NestedNode, Node, ParallelNode, Plan, StepNode

__all__ = ["ChunkPath"]


class ChunkPath:
    """What every chunk of a run's streams goes through.

    Args:
        plans: By the agent's list they stand in, specialised for the per-chunk point.
        execution: The run's.
        messages: The conversation that hooks see.
    """

    def __init__(self, plans: Sequence[tuple[str, Plan]], execution: Execution, messages: MessageList) -> None:
        self._execution = execution
        self._base = OutputStreamContext(messages, chunk=StepStart(), run=execution.facts)
        self._contexts: list[OutputStreamContext] = []
        self._hooks: list[HookStage] = []
        stages: list[Stage] = []
        for number, (name, plan) in enumerate(plans):
            stages += _Binding(self, name).bind(plan, "", (number,))
        self._chain = ChunkChain(stages, execution)
        self._so_far = StreamSoFar()
        self._count = 0
        self._seconds = 0.0

    @property
    def execution(self) -> Execution:
        """The run's."""
        return self._execution

    def begin_step(self, step_number: int, messages: MessageList) -> None:
        """A new model call begins: hooks see its text and parts only."""
        self._so_far = StreamSoFar(step_number)
        for context in self._contexts:
            context.so_far = self._so_far
            context.message_list = messages.fork()

    def feed(self, chunk: Chunk) -> MaybeFlow:
        """Take a chunk through; what comes out is what may be emitted."""
        self._so_far.add(chunk)
        self._count += 1
        began = perf_counter()
        out = self._chain.push(chunk)
        if out is not chunk and is_awaitable(out):
            return self._timed(cast("Awaitable[Flow]", out), began)
        self._seconds += perf_counter() - began
        return out

    async def _timed(self, awaitable: Awaitable[Flow], began: float) -> Flow:
        try:
            return await awaitable
        finally:
            self._seconds += perf_counter() - began

    def note_checks(self, told: PointChecks) -> None:
        """Note what each processor decided over all chunks: one record each."""
        share = self._seconds / len(self._hooks) if self._hooks else 0.0
        tripwire = self._execution.latch.tripwire
        for hook in self._hooks:
            warnings = hook.warnings()
            verdict, reason = hook.verdict, hook.reason
            runs = self._count + hook.extra_runs
            if verdict != "blocked" and hook.not_checked is not None:
                verdict, reason = "not-checked", hook.not_checked
            elif verdict == "passed" and runs == 0:
                verdict, reason = "not-checked", "no chunk came to it"
            if warnings and verdict in ("passed", "changed"):
                verdict, reason = "warned", "; ".join(dict.fromkeys(warnings))
            told.note(
                hook,
                verdict,
                duration=share,
                reason=reason,
                runs=runs,
                kept=not hook.left_behind,
                metadata=tripwire.metadata if tripwire is not None and verdict == "blocked" else None,
            )

    @property
    def count(self) -> int:
        """How many chunks have come in."""
        return self._count

    def context(self) -> OutputStreamContext:
        """A context of this path's run, kept up with its steps."""
        made = self._base.fork()
        self._contexts.append(made)
        return made

    def note(self, stage: HookStage) -> HookStage:
        """Take a processor's stage into the records."""
        self._contexts.append(stage.target)
        self._hooks.append(stage)
        return stage

    def hook_count(self) -> int:
        """How many processors' stages there are so far."""
        return len(self._hooks)

    def hooks_since(self, count: int) -> Sequence[HookStage]:
        """The processors' stages noted after the first ``count``."""
        return self._hooks[count:]


class _Binding:
    """Turns one list's plan into stages for a path."""

    def __init__(self, path: ChunkPath, list_name: str) -> None:
        self._path = path
        self._list = list_name

    def bind(self, plan: Plan, prefix: str, order: tuple[int, ...]) -> list[Stage]:
        """The stages of a chain; nested workflows are laid out flat."""
        stages: list[Stage] = []
        run = self._path.execution.scope(None)
        nodes = list(_flat(plan, prefix))
        index = 0
        while index < len(nodes):
            where, node = nodes[index]
            here = (*order, index)
            if isinstance(node, ParallelNode):
                follower = nodes[index + 1] if index + 1 < len(nodes) else None
                stages.append(self._block(node, where, follower, here, run))
                index += 2
                continue
            stages.append(self._single(node, where, here, run))
            index += 1
        return stages

    def _single(self, node: Node, where: str, order: tuple[int, ...], run: StepRun) -> Stage:
        path = where + node.id
        match node:
            case StepNode(step=step) if isinstance(step, ProcessorStep):
                return self._path.note(
                    HookStage(step, self._path.context(), self._path.execution, path, self._list, order)
                )
            case StepNode(step=step):
                function = cast("FunctionStep[Any, Any]", step).function
            case MapNode(function=function):
                pass
            case _:
                raise _no_context(path)
        return FunctionStage(function, node.id, path, self._path.context(), self._path.execution, run)

    def _block(
        self,
        node: ParallelNode,
        where: str,
        follower: tuple[str, Node] | None,
        order: tuple[int, ...],
        run: StepRun,
    ) -> Stage:
        arms = [self._arm(arm, where, (*order, number)) for number, arm in enumerate(node.arms)]
        reducer: tuple[Reducer, str] | None = None
        prefer: str | None = None
        match follower:
            case (_, MapNode(id=id_, function=function)):
                reducer = (function, id_)
            case (_, StepNode(step=step)) if isinstance(step, FunctionStep):
                reducer = (step.function, step.id)
            case (_, MergeNode(prefer=preferred)):
                prefer = preferred
            case _:
                raise _no_context(where + node.id)
        return BlockStage(
            where + node.id,
            arms,
            self._path.context(),
            self._path.execution,
            run,
            reducer=reducer,
            prefer=prefer,
        )

    def _arm(self, plan: Plan, where: str, order: tuple[int, ...]) -> Arm:
        before = self._path.hook_count()
        chain = ChunkChain(self.bind(plan, where, order), self._path.execution)
        return Arm(plan.id, chain, self._path.context(), self._path.hooks_since(before))


def _flat(plan: Plan, prefix: str) -> list[tuple[str, Node]]:
    """The nodes of a chain with the path they stand at, nested workflows laid out in place."""
    nodes: list[tuple[str, Node]] = []
    for node in plan.nodes:
        if isinstance(node, NestedNode):
            nodes += _flat(node.plan, f"{prefix}{node.id}/")
        else:
            nodes.append((prefix, node))
    return nodes


def _no_context(path: str) -> InvalidProcessorReturn:
    return InvalidProcessorReturn(
        path,
        str(Phase.OUTPUT_STREAM),
        {},
        allowed_in(Phase.OUTPUT_STREAM),
        hint="The keyed output of a parallel block needs .map(…) or .merge() behind it",
    )
