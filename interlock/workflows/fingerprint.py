"""A workflow's shape as a short text: what must be the same for a stored run to be continued.

In it are the ids and kinds of steps and blocks, their edges and order, the options that decide which steps run and
what they are given, and the names and fields of schemas. Not in it: the code of functions, conditions and validators,
how often steps are tried, how long is waited, how much runs at once, descriptions.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from enum import Enum, EnumMeta
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    assert_never,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from typing_extensions import is_typeddict

from interlock.errors import DefinitionError
from interlock.schema import is_set, is_union, schema_name
from interlock.steps import Step
from interlock.workflows.constants import constant_text
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
)

if TYPE_CHECKING:
    from interlock.workflows.workflow import Workflow

__all__ = ["fingerprint"]

_VERSION: Final = 1
"""Changes whenever what goes in does, so that fingerprints of other releases are known to be others."""
_LENGTH: Final = 32
_SCHEMAS: Final = ("input_schema", "output_schema", "state_schema", "resume_schema", "suspend_schema")


def fingerprint(workflow: Workflow[Any, Any]) -> str:
    """32 hexadecimal digits, the same in every process and version of Python.

    Example:
        >>> from interlock.workflows import create_workflow
        >>> one, other = (create_workflow(id="w", input_schema=int).map(f).commit() for f in (str, repr))
        >>> fingerprint(one) == fingerprint(other), len(fingerprint(one))
        (True, 32)

    Raises:
        DefinitionError: The workflow is nested too deep for Python.
    """
    try:
        shape = [_VERSION, _schemas(workflow), _plan(workflow.plan)]
        text = json.dumps(shape, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    except RecursionError:
        raise DefinitionError(
            f"workflow {workflow.id!r} is nested deeper than Python's recursion limit allows"
        ) from None
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]


def _plan(plan: Plan) -> object:
    return [plan.id, [_node(node) for node in plan.nodes]]


def _node(node: Node) -> object:
    match node:
        case StepNode(step=step):
            return [*_step(step)]
        case NestedNode(step=step, plan=plan):
            return [*_step(step), _plan(plan)]
        case ParallelNode(id=id_, arms=arms):
            return ["parallel", id_, node.join, node.on_error, [_plan(arm) for arm in arms]]
        case BranchNode(id=id_, arms=arms, otherwise=otherwise):
            last = None if otherwise is None else _plan(otherwise)
            return ["branch", id_, node.mode, [_plan(arm) for arm in arms], last]
        case MapNode(id=id_, sources=sources):
            read = None if sources is None else {key: source.label for key, source in sources.items()}
            return ["map", id_, read]
        case MergeNode(id=id_):
            return ["merge", id_, node.prefer, node.with_ is not None]
        case ForeachNode(id=id_, body=body):
            return ["foreach", id_, node.on_error, _plan(body)]
        case LoopNode(id=id_, body=body):
            return ["loop", id_, node.until, _plan(body)]
        case DagNode(id=id_, items=items):
            return ["dag", id_, [[_plan(item.plan), list(item.needs)] for item in items]]
        case SleepNode(id=id_):
            return ["sleep", id_, node.until]
        case _:
            assert_never(node)


def _step(step: Step[Any, Any]) -> list[object]:
    return [step.kind, step.id, _schemas(step)]


def _schemas(owner: object) -> object:
    """The schemas that a step or a workflow has, by the names of its attributes."""
    given = {name: getattr(owner, name, None) for name in _SCHEMAS if is_set(getattr(owner, name, Any))}
    return {name: _schema(schema, ()) for name, schema in given.items()}


def _schema(schema: Any, around: tuple[object, ...]) -> object:
    """The structure of a type; inside itself it is only named.

    Args:
        schema: The type.
        around: The types that this one stands in.
    """
    if not is_set(schema) or schema is None or isinstance(getattr(schema, "__interlock_name__", None), str):
        return schema_name(schema)  # the library's own are known by their names
    origin, args = get_origin(schema), get_args(schema)
    if origin is Annotated:
        return _schema(args[0], around)
    if origin is Literal:
        return ["Literal", *(_constant(value) for value in args)]
    if is_union(schema):
        return ["Union", *sorted((_schema(one, around) for one in args), key=json.dumps)]
    if origin is not None:
        whole = _schema(origin, around)
        return [whole, *(_part(one, around) for one in args)] if args else whole
    if any(schema is outer for outer in around):
        return _name(schema)
    inside = (*around, schema)
    if hasattr(schema, "__value__"):  # type X = …
        return [_name(schema), _schema(schema.__value__, inside)]
    if isinstance(schema, EnumMeta):
        members = cast("Mapping[str, Enum]", schema.__members__)
        return [_name(schema), {name: _constant(member.value) for name, member in members.items()}]
    fields = _fields(schema)
    if fields is None:
        return _name(schema)
    return [_name(schema), {name: _schema(field, inside) for name, field in fields.items()}]


def _part(arg: Any, around: tuple[object, ...]) -> object:
    """An argument of a generic type; of ``Callable``, the first is a list."""
    if isinstance(arg, list):
        return [_schema(one, around) for one in cast("list[Any]", arg)]
    return "..." if arg is ... else _schema(arg, around)


def _fields(schema: Any) -> Mapping[str, Any] | None:
    """The fields of a type and their types; None of one that has none."""
    of_pydantic = getattr(schema, "model_fields", None) or getattr(schema, "__pydantic_fields__", None)
    if isinstance(of_pydantic, Mapping):
        return {name: field.annotation for name, field in cast("Mapping[str, Any]", of_pydantic).items()}
    if is_typeddict(schema):
        names = [*schema.__required_keys__, *schema.__optional_keys__]
    elif dataclasses.is_dataclass(schema):
        names = [field.name for field in dataclasses.fields(schema)]
    elif isinstance(schema, type) and hasattr(schema, "_fields"):  # a named tuple
        names = [*cast("Any", schema)._fields]
    else:
        return None
    try:
        hints = get_type_hints(schema)
    except NameError:  # it names types that are not there when the program runs
        hints = {}
    return {name: hints.get(name, Any) for name in names}


def _constant(value: object) -> str:
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    return constant_text(value) if isinstance(value, str | bytes | int | float | None) else type(value).__name__


def _name(schema: Any) -> str:
    """A type's own name, without its module: a program that is run and one that is imported have different ones."""
    for attribute in ("__name__", "__forward_arg__"):
        if isinstance(name := getattr(schema, attribute, None), str):
            return name
    return str(schema).replace("typing.", "")
