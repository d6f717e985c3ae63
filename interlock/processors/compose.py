"""An agent's list of processors as one workflow: each processor a step, each workflow nested, in a chain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, assert_never, cast

from interlock.errors import DefinitionError
from interlock.processors.base import Processor, ProcessorStep
from interlock.processors.contexts import ProcessorStepSchema
from interlock.schema import fits, schema_name
from interlock.steps import Step
from interlock.steps.step import supports_step
from interlock.workflows import Workflow, WorkflowBuilder, WorkflowStep, create_workflow
from interlock.workflows.builder import commit_list
from interlock.workflows.nodes import (
    BranchNode,
    DagNode,
    ForeachNode,
    LoopNode,
    MapNode,
    MergeNode,
    NestedNode,
    Node,
    ParallelNode,
    Plan,
    SleepNode,
    StepNode,
    steps_by_path,
)

__all__ = ["Gives", "ProcessorLike", "compose", "gives"]

ProcessorLike = Processor | Workflow[Any, Any] | Step[Any, Any]
"""What a list of processors holds."""


def compose(name: str, entries: Sequence[ProcessorLike]) -> Workflow[Any, Any] | None:
    """One workflow of a list; None for an empty one.

    Args:
        name: ``"input"``, ``"output"`` or ``"error"``.
        entries: Processors, workflows of processors, steps made of either.

    Raises:
        DefinitionError: Something is neither, an id is no id, or two processors share one id.
    """
    if entries in ((), []):
        return None
    faults: list[str] = []
    steps: list[tuple[str, Step[Any, Any]]] = []
    builder = create_workflow(
        id=f"{name}-processors", input_schema=ProcessorStepSchema, output_schema=ProcessorStepSchema
    )
    for index, entry in enumerate(_entries(name, entries)):
        made = _step_of(entry, f"item {index}")
        if isinstance(made, str):
            faults.append(made)
            continue
        if isinstance(made, ProcessorStep):
            made.processor.processor_index = index
        steps.append((f"item {index}", made))
        builder = builder.then(made)
    shared = _shared_ids(steps)
    faults += shared
    if steps and not shared:
        try:
            workflow = commit_list(builder)
        except DefinitionError as error:
            faults += error.faults
        else:
            if not faults:
                return workflow
    raise DefinitionError(faults, subject=f"{name}_processors")


def _entries(name: str, entries: object) -> Sequence[object]:
    if isinstance(entries, Sequence) and not isinstance(entries, str):
        return cast("Sequence[object]", entries)
    raise DefinitionError(
        f"it is a {type(entries).__name__}: pass a list of processors, [processor, …]", subject=f"{name}_processors"
    )


def _step_of(entry: object, place: str) -> Step[Any, Any] | str:
    if isinstance(entry, type):
        return f"{place} is the class {entry.__name__}: pass an instance, {entry.__name__}(…)"
    if isinstance(entry, WorkflowBuilder):
        return f"{place} is a workflow that is not committed: call .commit() on it first"
    if not supports_step(entry):
        return f"{place} is a {type(entry).__name__}: a processor, a workflow of processors, or a step made of one"
    try:
        made: Step[Any, Any] = entry.as_step()
    except DefinitionError as error:
        return f"{place}: {error}"
    if not fits(made.input_schema, ProcessorStepSchema):
        wanted = schema_name(made.input_schema)
        return f"{place}: {made.id!r} takes {wanted}, not ProcessorStepSchema: it is no processor"
    if isinstance(made, WorkflowStep) and not gives(made.workflow.plan.nodes).context:
        return (
            f"{place}: the workflow {made.id!r} ends with {_last_block(made.workflow.plan)}: put .map(…) or .merge() "
            "behind it"
        )
    return made


class Gives(NamedTuple):
    """What is known of what flows at one place in a workflow of processors.

    Attributes:
        context: Whether it is a context, and surely not the keyed output of a block.
        branches: Where it is such an output, whether each branch's is a context, surely.
        several: Whether it is surely that of more branches than one.
    """

    context: bool = True
    branches: bool = True
    several: bool = False


_A_CONTEXT = Gives()


def gives(nodes: Sequence[Node], given: Gives = _A_CONTEXT) -> Gives:
    """What a chain gives.

    Args:
        nodes: The chain.
        given: What it is given.
    """
    for node in nodes:
        given = _through(node, given)
    return given


def _through(node: Node, given: Gives) -> Gives:
    match node:
        case StepNode() | MapNode() | ForeachNode():  # what does not give one fails
            return Gives()
        case MergeNode(with_=with_):
            return Gives(context=given.branches or (with_ is not None and given.several))
        case SleepNode():
            return given
        case NestedNode(plan=plan):
            return gives(plan.nodes, given)
        case LoopNode(body=body):
            once = gives(body.nodes, given)
            return Gives(once.context and gives(body.nodes, once).context, once.branches, once.several)
        case DagNode():
            return _of_graph(node, given)
        case ParallelNode(arms=arms, join=enough):
            count = len(arms) if enough is None else enough
            return _keyed([gives(arm.nodes, given) for arm in arms], several=count > 1)
        case BranchNode(arms=arms, otherwise=otherwise):
            ways = [gives(arm.nodes, given) for arm in (*arms, *([otherwise] if otherwise is not None else []))]
            return _keyed([*ways, given], several=False)  # a merge of no branch gives what the block was given
        case _:
            assert_never(node)


def _of_graph(node: DagNode, given: Gives) -> Gives:
    known: dict[int, Gives] = {}
    left = list(range(len(node.items)))
    while left:
        number = left.pop(0)
        item = node.items[number]
        if any(need not in known for need in item.needs):
            left.append(number)
            continue
        needs = [known[need] for need in item.needs]
        into = given if not needs else needs[0] if len(needs) == 1 else _keyed(needs, several=True)
        known[number] = gives(item.plan.nodes, into)
    sinks = [known[sink] for sink in node.sinks]
    return sinks[0] if len(sinks) == 1 else _keyed(sinks, several=True)


def _keyed(ways: Sequence[Gives], *, several: bool) -> Gives:
    return Gives(context=False, branches=all(way.context for way in ways), several=several)


def _last_block(plan: Plan) -> str:
    """What a workflow ends with whose output is keyed, in words."""
    last = plan.nodes[-1]
    match last:
        case NestedNode(plan=inner) | LoopNode(body=inner):
            return _last_block(inner)
        case ParallelNode():
            return "a parallel block"
        case BranchNode():
            return "a branch"
        case DagNode():
            return "a graph of several ends"
        case _:
            return "the keyed output of a block"


def _shared_ids(steps: Sequence[tuple[str, Step[Any, Any]]]) -> list[str]:
    """Two processors under one id: state and verdicts could not be told apart."""
    owners: dict[str, tuple[str, ProcessorStep]] = {}
    faults: list[str] = []
    for place, step in _placed(steps):
        processor = step.processor
        first_place, first = owners.setdefault(processor.id, (place, step))
        if first.processor is processor:
            continue
        renamed = any(one.id != f"processor:{processor.id}" for one in (first, step))
        faults.append(
            f"two processors have the id {processor.id!r}: {first_place} and {place}; give one another id with "
            f"{step.renaming}" + (" (create_step(…, id=…) gives one to its step alone)" if renamed else "")
        )
    return faults


def _placed(steps: Sequence[tuple[str, Step[Any, Any]]]) -> Iterator[tuple[str, ProcessorStep]]:
    """Every processor in a list, those in its workflows with their path."""
    for place, step in steps:
        if isinstance(step, ProcessorStep):
            yield f"{place} ({step.id})", step
        elif isinstance(step, WorkflowStep):
            for path, inner in steps_by_path(step.workflow.plan):
                if isinstance(inner, ProcessorStep):
                    yield f"{place} ({step.id}/{path})", inner
