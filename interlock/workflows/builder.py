"""Defining a workflow: each method gives a new builder; ``commit()`` checks everything and freezes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar, cast, overload

from interlock.errors import DefinitionError
from interlock.schema import UNSET
from interlock.steps import Step, StepContext, SupportsStep, create_step
from interlock.workflows.check import faults_in
from interlock.workflows.nodes import MapNode, MergeNode, NestedNode, Node, ParallelNode, Plan, StepNode
from interlock.workflows.workflow import Workflow, WorkflowStep

__all__ = ["WorkflowBuilder", "create_workflow"]

I_contra = TypeVar("I_contra", contravariant=True)
Cur_co = TypeVar("Cur_co", covariant=True)
O = TypeVar("O")  # noqa: E741
I = TypeVar("I")  # noqa: E741
N = TypeVar("N")

StepLike = SupportsStep | Callable[[StepContext[Any]], Any]
"""What ``then`` and ``parallel`` take besides steps: processors, workflows, functions."""


@dataclass(frozen=True)
class _Draft:
    """What a builder has gathered."""

    id: str
    input_schema: Any
    output_schema: Any
    description: str | None
    metadata: Mapping[str, object]
    nodes: tuple[Node, ...] = ()
    faults: tuple[str, ...] = ()
    arm_schemas: Mapping[int, Mapping[str, tuple[Any, Any]]] = field(default_factory=dict[int, Any])


class WorkflowBuilder(Generic[I_contra, Cur_co, O]):
    """A workflow being defined. Made by :func:`create_workflow`.

    Type parameters: the workflow's input, what flows at this place, the workflow's output.
    """

    def __init__(self, draft: _Draft) -> None:
        self._draft = draft

    @overload
    def then(self, x: Step[Cur_co, N], /) -> WorkflowBuilder[I_contra, N, O]: ...
    @overload
    def then(self, x: SupportsStep, /) -> WorkflowBuilder[I_contra, Any, O]: ...
    @overload
    def then(self, x: Callable[[StepContext[Cur_co]], Awaitable[N]], /) -> WorkflowBuilder[I_contra, N, O]: ...
    @overload
    def then(self, x: Callable[[StepContext[Cur_co]], N], /) -> WorkflowBuilder[I_contra, N, O]: ...
    def then(self, x: Any, /) -> WorkflowBuilder[I_contra, Any, O]:
        """Run ``x`` after what stands so far; it takes what that gives.

        Args:
            x: A step, processor, workflow, or a function of :class:`StepContext`.
        """
        made = self._step(x)
        return self._fault(made) if isinstance(made, str) else self._with(_node_for(made))

    def parallel(self, branches: Sequence[StepLike], /) -> WorkflowBuilder[I_contra, dict[str, Any], O]:
        """Run all branches at once, each on its own fork of the input.

        Gives ``{step id: output}`` in list order, whatever order they finish in. The first branch that aborts or fails
        cancels the others.

        Args:
            branches: Steps, processors, workflows or functions; their ids are the keys.
        """
        made = [self._step(x) for x in branches]
        steps = [one for one in made if not isinstance(one, str)]
        faults = (*self._draft.faults, *(one for one in made if isinstance(one, str)))
        node = ParallelNode(self._fresh("parallel"), tuple(Plan(s.id, (_node_for(s),)) for s in steps))
        schemas = {**self._draft.arm_schemas, id(node): {s.id: (s.input_schema, s.output_schema) for s in steps}}
        return WorkflowBuilder(
            replace(self._draft, faults=faults, arm_schemas=schemas, nodes=(*self._draft.nodes, node))
        )

    @overload
    def map(self, function: Callable[[StepContext[Cur_co]], Awaitable[N]], /) -> WorkflowBuilder[I_contra, N, O]: ...
    @overload
    def map(self, function: Callable[[StepContext[Cur_co]], N], /) -> WorkflowBuilder[I_contra, N, O]: ...
    def map(self, function: Callable[[StepContext[Any]], Any], /) -> WorkflowBuilder[I_contra, Any, O]:
        """Reshape what flows: what ``function(ctx)`` returns goes on.

        Args:
            function: ``def`` or ``async def``; ``ctx.input`` is what flows.
        """
        if not callable(cast("object", function)):
            return self._fault(f".map() takes a function, not {type(function).__name__}")
        return self._with(MapNode(self._fresh("map"), function))

    def merge(self, *, prefer: str | SupportsStep | None = None) -> WorkflowBuilder[I_contra, Any, O]:
        """Join the branches of the parallel block before: every branch's edits, three-way.

        Edits that do not overlap are all applied. Where they overlap, the one that starts first keeps its replacement
        and the others only delete.

        Args:
            prefer: The branch (its step id, or the step) that wins where two branches contradict each other; without
                it that fails the run with ``MergeConflict``.
        """
        winner = prefer.as_step().id if isinstance(prefer, SupportsStep) else prefer
        return self._with(MergeNode(self._fresh("merge"), winner))

    def commit(self) -> Workflow[I_contra, O]:
        """Check everything and freeze.

        Raises:
            DefinitionError: With every fault found, not only the first.
        """
        d = self._draft
        plan = Plan(d.id, d.nodes)
        faults = [*d.faults, *faults_in(plan, d.input_schema, d.output_schema, d.arm_schemas)]
        if faults:
            raise DefinitionError(faults, subject=f"workflow {d.id!r}")
        return Workflow(
            plan,
            input_schema=d.input_schema,
            output_schema=d.output_schema,
            description=d.description,
            metadata=d.metadata,
        )

    def __repr__(self) -> str:
        return f"<WorkflowBuilder {self._draft.id!r}: {len(self._draft.nodes)} nodes, not committed>"

    def _step(self, x: Any) -> Step[Any, Any] | str:
        """The step that ``x`` can be, or what is wrong with it."""
        place = f"node {len(self._draft.nodes) + 1}"
        if isinstance(x, WorkflowBuilder):
            inner = cast("WorkflowBuilder[Any, Any, Any]", x)._draft.id
            return f"{place}: the workflow {inner!r} is not committed: call .commit() on it first"
        try:
            made: Step[Any, Any] = create_step(x)
        except DefinitionError as error:
            return f"{place}: {'; '.join(error.faults)}"
        return made

    def _fault(self, fault: str) -> WorkflowBuilder[I_contra, Any, O]:
        return WorkflowBuilder(replace(self._draft, faults=(*self._draft.faults, fault)))

    def _with(self, node: Node) -> WorkflowBuilder[I_contra, Any, O]:
        return WorkflowBuilder(replace(self._draft, nodes=(*self._draft.nodes, node)))

    def _fresh(self, kind: str) -> str:
        count = sum(node.id == kind or node.id.startswith(f"{kind}-") for node in self._draft.nodes)
        return kind if count == 0 else f"{kind}-{count + 1}"


def _node_for(step: Step[Any, Any]) -> Node:
    if isinstance(step, WorkflowStep):
        return NestedNode(step, step.workflow.plan)
    return StepNode(step)


@overload
def create_workflow(
    *,
    id: str,
    input_schema: type[I],
    output_schema: type[O],
    description: str | None = None,
    metadata: Mapping[str, object] | None = None,
) -> WorkflowBuilder[I, I, O]: ...
@overload
def create_workflow(
    *,
    id: str,
    input_schema: type[I],
    description: str | None = None,
    metadata: Mapping[str, object] | None = None,
) -> WorkflowBuilder[I, I, Any]: ...
@overload
def create_workflow(
    *,
    id: str,
    input_schema: object = UNSET,
    output_schema: object = UNSET,
    description: str | None = None,
    metadata: Mapping[str, object] | None = None,
) -> WorkflowBuilder[Any, Any, Any]: ...
def create_workflow(
    *,
    id: str,  # noqa: A002
    input_schema: object = UNSET,
    output_schema: object = UNSET,
    description: str | None = None,
    metadata: Mapping[str, object] | None = None,
) -> WorkflowBuilder[Any, Any, Any]:
    """Begin to define a workflow.

    Args:
        id: Unique where the workflow is nested; no white space, ``.`` or ``/``.
        input_schema: The type of its input; without one it takes anything. ``ProcessorStepSchema`` makes it a workflow
            of processors.
        output_schema: The type of its output.
        description: For people.
        metadata: For whoever draws or lists workflows.

    Example:
        >>> wordy = (
        ...     create_workflow(id="wordy", input_schema=str, output_schema=int)
        ...     .then(create_step(lambda ctx: ctx.input.split(), id="split"))
        ...     .map(lambda ctx: len(ctx.input))
        ...     .commit()
        ... )
        >>> wordy
        <Workflow 'wordy': 2 nodes, str -> int>
    """
    return WorkflowBuilder(_Draft(id, input_schema, output_schema, description, metadata or {}))
