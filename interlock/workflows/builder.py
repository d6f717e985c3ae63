"""Defining a workflow: each method gives a new builder; ``commit()`` checks everything and freezes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

from interlock.errors import DefinitionError
from interlock.ids import kebab
from interlock.schema import UNSET
from interlock.steps import StepContext, SupportsStep, create_step
from interlock.workflows.check import faults_in
from interlock.workflows.nodes import MapNode, MergeNode, NestedNode, Node, ParallelNode, Plan, StepNode
from interlock.workflows.workflow import Workflow, WorkflowStep

__all__ = ["WorkflowBuilder", "create_workflow"]

I_contra = TypeVar("I_contra", contravariant=True)
Cur_co = TypeVar("Cur_co", covariant=True)
O = TypeVar("O")  # noqa: E741
I = TypeVar("I")  # noqa: E741
N = TypeVar("N")


@dataclass(frozen=True, slots=True)
class _Heading:
    """What is said of the workflow as a whole."""

    id: str
    input_schema: Any
    output_schema: Any
    description: str | None
    metadata: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class _Link:
    """One node behind those before it. Builders share what stands before, so that each further node costs the same."""

    before: _Link | None
    node: Node
    faults: tuple[str, ...]
    number: int


class WorkflowBuilder(Generic[I_contra, Cur_co, O]):
    """A workflow being defined. Made by :func:`create_workflow`.

    Type parameters: the workflow's input, what flows at this place, the workflow's output.
    """

    def __init__(self, heading: _Heading, last: _Link | None = None) -> None:
        self._heading = heading
        self._last = last

    @overload
    def then(self, x: SupportsStep[Cur_co, N], /) -> WorkflowBuilder[I_contra, N, O]: ...
    @overload
    def then(self, x: Callable[[StepContext[Cur_co]], Awaitable[N]], /) -> WorkflowBuilder[I_contra, N, O]: ...
    @overload
    def then(self, x: Callable[[StepContext[Cur_co]], N], /) -> WorkflowBuilder[I_contra, N, O]: ...
    def then(self, x: Any, /) -> WorkflowBuilder[I_contra, Any, O]:
        """Run ``x`` after what stands so far; it takes what that gives.

        Args:
            x: A step, processor, workflow, or a function of :class:`StepContext`.
        """
        return self._with(*self._node(x, f"node {self._count + 1}"))

    def parallel(
        self, branches: Sequence[SupportsStep[Cur_co, Any] | Callable[[StepContext[Cur_co]], Any]], /
    ) -> WorkflowBuilder[I_contra, dict[str, Any], O]:
        """Run all branches at once, each on its own fork of the input.

        Gives ``{step id: output}`` in list order, whatever order they finish in. The first branch that aborts or fails
        cancels the others.

        Args:
            branches: Steps, processors, workflows or functions; their ids are the keys.
        """
        place = f"node {self._count + 1} (parallel)"
        given = cast("object", branches)
        if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
            fault = f"{place}: .parallel() takes a list of steps, not {type(branches).__name__}: .parallel([a, b])"
            return self._with(ParallelNode("parallel", (Plan(kebab(place), (_unknown(place),)),)), fault)
        made = [self._node(x, f"{place}, branch {number}") for number, x in enumerate(branches, 1)]
        arms = tuple(Plan(node.id, (node,)) for node, *_ in made)
        return self._with(ParallelNode("parallel", arms), *(fault for _, *faults in made for fault in faults))

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
            place = f"node {self._count + 1} (map)"
            return self._with(_unknown(place), f"{place}: .map() takes a function, not {type(function).__name__}")
        return self._with(MapNode("map", function))

    def merge(self, *, prefer: str | SupportsStep | None = None) -> WorkflowBuilder[I_contra, Any, O]:
        """Join the branches of the parallel block before: every branch's edits, three-way.

        Edits that do not overlap are all applied. Where they overlap, the one that starts first keeps its replacement
        (a redaction before a rewrite, one made with ``edit_text`` before a change in place) and the others only delete.

        Args:
            prefer: The branch (its step id, or the step) that wins where two branches contradict each other; without
                it that fails the run with ``MergeConflict``.
        """
        winner = prefer.as_step().id if isinstance(prefer, SupportsStep) else prefer
        return self._with(MergeNode("merge", winner))

    def commit(self: WorkflowBuilder[I_contra, O, O]) -> Workflow[I_contra, Cur_co | O]:
        """Check everything and freeze.

        Maps, merges and parallel blocks are named here: ``map``, ``map-2``, …, beside the ids of the steps.

        Raises:
            DefinitionError: With every fault found, not only the first.
        """
        heading, links = self._heading, self._links()
        plan = Plan(heading.id, _named([link.node for link in links]))
        faults = [fault for link in links for fault in link.faults]
        faults += faults_in(plan, heading.input_schema, heading.output_schema)
        if faults:
            raise DefinitionError(faults, subject=f"workflow {heading.id!r}")
        return Workflow(
            plan,
            input_schema=heading.input_schema,
            output_schema=heading.output_schema,
            description=heading.description,
            metadata=heading.metadata,
        )

    def __repr__(self) -> str:
        return f"<WorkflowBuilder {self._heading.id!r}: {self._count} nodes, not committed>"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            if name in ("run", "create_run", "as_step", "plan", "to_text", "to_mermaid", "to_json", "to_networkx"):
                raise AttributeError(f"workflow {self._heading.id!r} is not committed: call .commit() before .{name}")
            raise AttributeError(f"a workflow builder has no attribute {name!r}")

    @property
    def _count(self) -> int:
        return 0 if self._last is None else self._last.number

    def _links(self) -> list[_Link]:
        links: list[_Link] = []
        link = self._last
        while link is not None:
            links.append(link)
            link = link.before
        return links[::-1]

    def _node(self, x: object, place: str) -> tuple[Node, *tuple[str, ...]]:
        """The node that ``x`` can be; where it can be none, one that stands for it and what is wrong with it."""
        if isinstance(x, WorkflowBuilder):
            return _unknown(
                place
            ), f"{place}: the workflow {x._heading.id!r} is not committed: call .commit() on it first"
        try:
            step = create_step(cast("SupportsStep", x))
        except DefinitionError as error:
            return _unknown(place), *(f"{place}: {fault}" for fault in error.faults)
        return (NestedNode(step, step.workflow.plan) if isinstance(step, WorkflowStep) else StepNode(step),)

    def _with(self, node: Node, *faults: str) -> WorkflowBuilder[I_contra, Any, O]:
        return WorkflowBuilder(self._heading, _Link(self._last, node, faults, self._count + 1))


def _unknown(place: str) -> Node:
    """Stands for what could not be made, so that its neighbours are not blamed for its absence."""
    return MapNode(kebab(place), lambda ctx: ctx.input)


def _named(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """The nodes with ids for those that are no steps, none of which is a step's."""
    taken = {arm.id for node in nodes if isinstance(node, ParallelNode) for arm in node.arms}
    taken |= {node.id for node in nodes if isinstance(node, StepNode | NestedNode)}
    counts: Counter[str] = Counter()
    named: list[Node] = []
    for node in nodes:
        match node:
            case StepNode() | NestedNode():
                named.append(node)
            case ParallelNode(id=kind) | MapNode(id=kind) | MergeNode(id=kind):
                counts[kind] += 1
                while (name := kind if counts[kind] == 1 else f"{kind}-{counts[kind]}") in taken:
                    counts[kind] += 1
                named.append(replace(node, id=name))
    return tuple(named)


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
    return WorkflowBuilder(_Heading(id, input_schema, output_schema, description, metadata or {}))
