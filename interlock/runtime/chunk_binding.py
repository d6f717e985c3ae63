"""From a plan to the stages of a chunk's path: once per run, one case a kind of node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Protocol, assert_never, cast

from interlock.errors import DefinitionError
from interlock.processors.base import ProcessorStep
from interlock.processors.compose import Gives, gives
from interlock.processors.stream_context import OutputStreamContext
from interlock.runtime.chunk_chain import ChunkChain, Halt, Stage
from interlock.runtime.chunk_stages.arm import Arm
from interlock.runtime.chunk_stages.block import BlockStage, Reducer
from interlock.runtime.chunk_stages.branch import BranchStage
from interlock.runtime.chunk_stages.call import Asked, Call, Function, FunctionStage
from interlock.runtime.chunk_stages.dag import DagStage
from interlock.runtime.chunk_stages.forked import forked
from interlock.runtime.chunk_stages.hook import ChunkOnly, HookStage
from interlock.runtime.chunk_stages.lane_guards import keeps_lanes, record
from interlock.runtime.chunk_stages.loop import LoopStage
from interlock.runtime.chunk_stages.merge import MergeStage
from interlock.runtime.chunk_stages.parallel import ParallelStage
from interlock.runtime.chunk_stages.policy import PolicyCall, threaded, timed
from interlock.runtime.chunk_stages.scope import Mark, NestedEnd, Round, Scope, ScopeStage
from interlock.runtime.chunk_stages.tried import NestedStage, Tried
from interlock.runtime.chunk_stages.values import Keyed
from interlock.runtime.chunk_stages.wait import ForeachStage, SleepStage
from interlock.runtime.execution import Execution
from interlock.steps import FunctionStep, RetryPolicy, Step, StepRun
from interlock.workflows import MapNode, MergeNode, NestedNode, Node, ParallelNode, Plan, StepNode, WorkflowStep
from interlock.workflows.nodes import BranchNode, DagNode, ForeachNode, LoopNode, SleepNode, plans_in

if TYPE_CHECKING:
    from interlock.runtime.chunk_stages.lane_block import LaneBlockStage
    from interlock.runtime.chunk_stages.lane_guards import Editor

__all__ = ["Binding", "Laid", "Rooms"]


_APART: Final = (
    "so its branches must be put together again: put .map(…) or .merge() right behind a plain parallel block, or move "
    "the guard out of it"
)
_ROUND: Final = "and would see a text again each time the loop goes round: move the guard out of the loop"
_AGAIN: Final = (
    "and would see a text again each time the workflow is tried again: give the retry to steps in it, or move the "
    "guard out of it"
)


class Rooms(Protocol):
    """The path that stages are made for."""

    execution: Execution
    looks_at_data: bool
    """Whether a processor is asked about data chunks."""

    def context(self) -> OutputStreamContext:
        """A context of the path's run, kept up with its steps."""
        ...

    def note(self, stage: HookStage) -> None:
        """Take a processor's stage into the records."""
        ...

    def hook_count(self) -> int:
        """How many processors' stages there are so far."""
        ...

    def hooks_since(self, count: int) -> Sequence[HookStage]:
        """The processors' stages noted after the first ``count``."""
        ...


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in a plan binding stands.

    Attributes:
        scope: The workflow around.
        prefix: Ids of the workflows around, each with a ``/`` behind it.
        order: Positions from the outermost chain inwards; sorting by it gives list order.
        retry: The policy of steps that have none.
        halts: Of the blocks around, from the innermost out.
    """

    scope: Scope
    prefix: str = ""
    order: tuple[int, ...] = ()
    retry: RetryPolicy | None = None
    halts: tuple[Halt, ...] = ()

    def at(self, number: int, halt: Halt | None = None) -> _Place:
        """The place of the node ``number`` of a chain, or of the chain ``number`` of a block."""
        halts = self.halts if halt is None else (halt, *self.halts)
        return replace(self, order=(*self.order, number), halts=halts)


@dataclass(slots=True)
class Laid:
    """A chain while it is made.

    Attributes:
        stages: So far.
        ends: Of the workflows laid out in it, the place of the first stage behind each.
    """

    stages: list[Stage] = field(default_factory=list[Stage])
    ends: dict[StepRun, int] = field(default_factory=dict[StepRun, int])

    def chain(self, execution: Execution, halt: Halt | None = None) -> ChunkChain:
        """The chain."""
        return ChunkChain(self.stages, execution, self.ends, halt)


class Binding:
    """Turns one list's plan into stages for a path.

    Args:
        path: The path.
        list_name: For records.
    """

    def __init__(self, path: Rooms, list_name: str) -> None:
        self._path = path
        self._list = list_name
        self._execution = path.execution

    def lay(self, plan: Plan, number: int, retry: RetryPolicy | None, laid: Laid) -> None:
        """Lay a whole plan out behind what stands there.

        Args:
            plan: Specialised for the per-chunk point.
            number: The list's.
            retry: The policy of steps that have none.
            laid: The chain.
        """
        place = _Place(Scope.of(self._execution, asks=_asks(plan.nodes)), order=(number,), retry=retry)
        given = self._workflow(plan, place, laid, Gives())
        if not given.context:
            laid.stages.append(ChunkOnly(plan.nodes[-1].id))

    def _workflow(self, plan: Plan, place: _Place, laid: Laid, given: Gives) -> Gives:
        """A workflow laid out in a chain: one that a step can end."""
        if place.scope.asks:
            laid.stages.append(ScopeStage(place.scope, self._path.context()))
        given = self._nodes(plan.nodes, place, laid, given)
        laid.ends[place.scope.run] = len(laid.stages)
        return given

    def _nodes(self, nodes: Sequence[Node], place: _Place, laid: Laid, given: Gives) -> Gives:
        """The nodes of a chain; nested workflows are laid out flat."""
        index = 0
        while index < len(nodes):
            node, here = nodes[index], place.at(index)
            follower = nodes[index + 1] if index + 1 < len(nodes) else None
            if isinstance(node, ParallelNode) and follower is not None and _is_quick(node, follower, here, given):
                laid.stages.append(self._block(node, follower, here))
                given = Gives()
                index += 2
            else:
                given = self._node(node, here, laid, given)
                index += 1
        return given

    def _node(self, node: Node, place: _Place, laid: Laid, given: Gives) -> Gives:
        if isinstance(node, NestedNode):
            return self._nested(node, place, laid, given)
        if isinstance(node, StepNode) and isinstance(node.step, ProcessorStep) and not given.context:
            laid.stages.append(ChunkOnly(place.prefix + node.id))
        laid.stages.append(self._stage(node, place, given))
        return gives((node,), given)

    def _nested(self, node: NestedNode, place: _Place, laid: Laid, given: Gives) -> Gives:
        step = node.step
        path = place.prefix + node.id
        retry = cast("WorkflowStep[Any, Any]", step).workflow.retry or place.retry
        scope = place.scope.nested(step, asks=_asks(node.plan.nodes))
        inner = replace(place, scope=scope, prefix=f"{path}/", retry=retry)
        if _policy(step.retry) is None and step.timeout is None:
            given = self._workflow(node.plan, inner, laid, given)
        else:
            own, before = Laid(), self._path.hook_count()
            given = self._workflow(node.plan, inner, own, given)
            if _policy(step.retry) is not None:
                self._refuse_lanes(self._path.hooks_since(before), path, _AGAIN)
            stage = NestedStage(path, own.chain(self._execution), self._execution)
            stage.call = self._tried(stage.call, path, step, None, again=stage.again)
            laid.stages.append(stage)
        if place.scope.asks:
            laid.stages.append(NestedEnd(step, place.scope, self._path.context()))
        return given

    def _stage(self, node: Node, place: _Place, given: Gives) -> Stage:
        path = place.prefix + node.id
        scope = place.scope
        match node:
            case StepNode(step=step) if isinstance(step, ProcessorStep):
                return self._hook(step, path, place)
            case StepNode(step=step):
                return self._function(cast("FunctionStep[Any, Any]", step), path, place)
            case MapNode(id=id_, function=function):
                return FunctionStage(function, Asked(id_, path), scope, self._path.context())
            case MergeNode():
                return MergeStage(node, path, self._execution)
            case ParallelNode(arms=arms):
                halt = Halt(at_failure=node.on_error == "fail_fast" and node.join is None)
                made = self._arms(arms, place, halt, given)
                self._refuse_lanes(_hooks_of(made), path)
                return ParallelStage(path, scope, node, made, halt)
            case BranchNode():
                return self._branch(node, path, place, given)
            case DagNode(items=items):
                halt = Halt()
                made = self._arms([i.plan for i in items], place, halt, None)
                self._refuse_lanes(_hooks_of(made), path)
                return DagStage(path, scope, node, made, halt)
            case LoopNode():
                return self._loop(node, path, place, given)
            case SleepNode(time=time):
                call = self._call(time, node, path, scope) if callable(time) else None
                return SleepStage(path, scope, node, call)
            case ForeachNode(body=body):
                return ForeachStage(path, scope, self._arm(body, place.at(0), None, Gives()).chain)
            case NestedNode():
                raise AssertionError("nested workflows are laid out flat")
            case _:
                assert_never(node)

    def _hook(self, step: ProcessorStep, path: str, place: _Place) -> HookStage:
        context = self._path.context()
        stage = HookStage(step, context, self._execution, path, self._list, place.order, place.halts)
        policy = stage.policy
        if policy.blocking:
            stage.call = threaded(stage.call)
        retry = _policy(step.retry or place.retry)
        if policy.shadow or policy.on_failure == "skip" or retry is not None:
            stage.call = forked(stage.call)
        if policy.timeout is not None:
            stage.call = timed(stage.call, policy.timeout, self._execution)
        if retry is not None:
            own = stage.seat.own_latch
            stage.call = Tried(stage.call, path, self._execution, retry=retry, timeout=None, own_latch=own)
        if not policy.plain:
            stage.call = PolicyCall(stage.call, stage, policy, self._execution)
        if self._path.looks_at_data and not step.processor.process_data_parts:
            stage.call = stage.past_data(stage.call)
        self._path.note(stage)
        place.scope.outputs.note(step, stage)
        return stage

    def _function(self, step: FunctionStep[Any, Any], path: str, place: _Place) -> FunctionStage:
        function = _in_thread(step.function) if step.blocking else step.function
        stage = FunctionStage(function, Asked(step.id, path, step), place.scope, self._path.context())
        stage.call = self._tried(stage.call, path, step, place.retry, subject=stage)
        return stage

    def _tried(
        self,
        call: Callable[[Any], object],
        path: str,
        step: Step[Any, Any],
        default: RetryPolicy | None,
        *,
        subject: Call | None = None,
        again: Callable[[], object] | None = None,
    ) -> Callable[[Any], object]:
        """What a stage calls, with the step's retry policy and time-out, where it has them."""
        retry = _policy(step.retry or default)
        if retry is None and step.timeout is None:
            return call
        return Tried(call, path, self._execution, retry=retry, timeout=step.timeout, subject=subject, again=again)

    def _call(self, function: Function, node: Node, path: str, scope: Scope) -> Call:
        return Call(function, Asked(node.id, path), scope, self._path.context())

    def _branch(self, node: BranchNode, path: str, place: _Place, given: Gives) -> BranchStage:
        halt = Halt()
        plans = node.arms if node.otherwise is None else (*node.arms, node.otherwise)
        arms = self._arms(plans, place, halt, given)
        if node.mode != "first" or not given.context or not all(gives(plan.nodes, given).context for plan in plans):
            self._refuse_lanes(_hooks_of(arms), path)
        return BranchStage(
            path,
            place.scope,
            [self._call(condition, node, path, place.scope) for condition in node.conditions],
            arms[: len(node.arms)],
            halt,
            otherwise=None if node.otherwise is None else arms[-1],
            first_only=node.mode == "first",
        )

    def _loop(self, node: LoopNode, path: str, place: _Place, given: Gives) -> LoopStage:
        round_ = Round()
        scope = replace(place.scope, rounds=(*place.scope.rounds, round_))
        again = Gives(context=given.context and gives(node.body.nodes, given).context)
        arm = self._arm(node.body, replace(place, scope=scope).at(0), None, again)
        self._refuse_lanes(arm.hooks, path, _ROUND)
        return LoopStage(path, scope, node, arm.chain, self._call(node.condition, node, path, scope), round_)

    def _arms(self, plans: Sequence[Plan], place: _Place, halt: Halt, given: Gives | None) -> list[Arm]:
        """The branches of a block; of a graph (``given`` is None), each may be given anything."""
        into = given if given is not None else Gives(context=False, branches=False)
        return [self._arm(plan, place.at(number, halt), halt, into) for number, plan in enumerate(plans)]

    def _arm(self, plan: Plan, place: _Place, halt: Halt | None, given: Gives) -> Arm:
        laid, hooks = self._laid(plan, place, given)
        return Arm(plan.id, laid.chain(self._execution, halt), self._path.context(), hooks)

    def _laid(self, plan: Plan, place: _Place, given: Gives) -> tuple[Laid, Sequence[HookStage]]:
        before = self._path.hook_count()
        laid = Laid()
        self._nodes(plan.nodes, place, laid, given)
        return laid, self._path.hooks_since(before)

    def _block(self, node: ParallelNode, follower: Node, place: _Place) -> BlockStage:
        """Plain branches and what makes one of them, as one stage."""
        halt = Halt()
        scope = place.scope
        path = place.prefix + follower.id
        laid = [self._laid(plan, place.at(number, halt), Gives()) for number, plan in enumerate(node.arms)]
        kind = BlockStage
        editors: list[Sequence[HookStage] | None] = []
        if any(keeps_lanes(hook) for _, hooks in laid for hook in hooks):
            kind = _lane_block()
            editors = [self._editors(chain, hooks, place.prefix + node.id) for chain, hooks in laid]
        arms = [
            Arm(plan.id, chain.chain(self._execution, halt), self._path.context(), hooks)
            for plan, (chain, hooks) in zip(node.arms, laid, strict=True)
        ]
        outputs = Keyed(self._path.context().chunk, {arm.key: arm.context for arm in arms})
        reducer: Reducer | None = None
        match follower:
            case MapNode(id=id_, function=function):
                reducer = Reducer(function, Asked(id_, path), scope, self._path.context(), outputs)
            case StepNode(step=step):
                function = cast("FunctionStep[Any, Any]", step).function
                reducer = Reducer(function, Asked(step.id, path, step), scope, self._path.context(), outputs)
            case _:
                pass
        made = kind(
            place.prefix + node.id,
            arms,
            scope,
            halt,
            scope.run if any(_asks(arm.nodes) for arm in node.arms) else self._execution.latch,
            reducer=reducer,
            prefer=follower.prefer if isinstance(follower, MergeNode) else None,
        )
        if kind is not BlockStage:
            cast("LaneBlockStage", made).watch(cast("Sequence[Sequence[Editor] | None]", editors))
        return made

    def _editors(self, chain: Laid, hooks: Sequence[HookStage], path: str) -> Sequence[HookStage] | None:
        """The processors of a branch that are to tell what becomes of texts; None: none of them holds text back.

        Raises:
            DefinitionError: One does, and something else than processors stands in the branch.
        """
        if not any(keeps_lanes(hook) for hook in hooks):
            return None
        others = [stage for stage in chain.stages if not isinstance(stage, HookStage | Mark)]
        if others:
            raise DefinitionError(
                f"a branch of {path!r} holds a guard that holds text back beside what is no processor: such a guard "
                "stands in a branch with processors alone, or outside of the block",
                subject="output_stream",
            )
        record(hooks)
        return hooks

    def _refuse_lanes(self, hooks: Sequence[HookStage], path: str, why: str = _APART) -> None:
        """Refuse guards that hold text back where nobody could put their text together again.

        Raises:
            DefinitionError: One of these does.
        """
        guards = [repr(hook.processor.id) for hook in hooks if keeps_lanes(hook)]
        if guards:
            raise DefinitionError(f"{', '.join(guards)} in {path!r} holds text back, {why}", subject="output_stream")


def _hooks_of(arms: Sequence[Arm]) -> list[HookStage]:
    """The processors in branches."""
    return [hook for arm in arms for hook in arm.hooks]


def _lane_block() -> type[BlockStage]:
    """The block in which texts are held back; imported where there is one."""
    from interlock.runtime.chunk_stages.lane_block import LaneBlockStage

    return LaneBlockStage


def _is_quick(node: ParallelNode, follower: Node, place: _Place, given: Gives) -> bool:
    """Whether a block and what follows it are one stage."""
    if node.join is not None or node.on_error != "fail_fast" or node.concurrency is not None or not given.context:
        return False
    match follower:
        case MapNode():
            one = True
        case MergeNode(with_=with_):
            one = with_ is None
        case StepNode(step=step):
            plain = _policy(step.retry or place.retry) is None and step.timeout is None and not step.blocking
            one = isinstance(step, FunctionStep) and plain
        case _:
            one = False
    return one and all(gives(arm.nodes, given).context for arm in node.arms)


def _asks(nodes: Sequence[Node]) -> bool:
    """Whether functions of this workflow are asked about chunks; those of nested ones are not its own."""
    for node in nodes:
        match node:
            case NestedNode():
                continue
            case MapNode() | BranchNode() | LoopNode():
                return True
            case SleepNode(time=time):
                if callable(time):
                    return True
            case StepNode(step=step):
                if not isinstance(step, ProcessorStep):
                    return True
            case _:
                if any(_asks(plan.nodes) for plan in plans_in(node)):
                    return True
    return False


def _policy(retry: RetryPolicy | None) -> RetryPolicy | None:
    """A policy that does something."""
    return None if retry is None or retry.attempts == 1 else retry


def _in_thread(function: Function) -> Function:
    """The function in a worker thread, left alone where it is cancelled."""

    def called(context: Any) -> object:
        from anyio import to_thread

        return to_thread.run_sync(function, context, abandon_on_cancel=True)

    return called
