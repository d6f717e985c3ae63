"""Whether a path can lead anywhere in a value of a schema, before there is a value."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, cast, get_args, get_origin, get_type_hints

from typing_extensions import is_typeddict

from interlock.schema import UNSET, is_set, plain_type, schema_name
from interlock.steps import Step
from interlock.workflows.flows import Flow, Keyed
from interlock.workflows.paths import Path
from interlock.workflows.sources import Source

__all__ = ["fault_in_path", "run_input_faults", "source_faults"]


def source_faults(sources: Mapping[str, Source] | None, flow: Flow) -> list[str]:
    """What is certainly wrong with the paths of a mapping's sources, into what flows there and into steps' outputs.

    Args:
        sources: By key; None where a function maps.
        flow: What flows there.
    """
    found: list[str | None] = []
    for root, path in _paths(sources):
        if root == "input":
            found.append(_fault_in_flow(path, flow))
        elif not isinstance(root, str):
            found.append(fault_in_path(path, root.output_schema, root.id))
    return [fault for fault in found if fault is not None]


def run_input_faults(sources: Mapping[str, Source] | None, schema: Any) -> list[str]:
    """The same of the paths into what the run was started with.

    Args:
        sources: By key; None where a function maps.
        schema: What the workflow takes.
    """
    found = [fault_in_path(path, schema, "run_input") for root, path in _paths(sources) if root == "run_input"]
    return [fault for fault in found if fault is not None]


def _paths(sources: Mapping[str, Source] | None) -> Iterator[tuple[Step[Any, Any] | str, Path]]:
    for source in (sources or {}).values():
        yield from source.paths()


def _fault_in_flow(path: Path, flow: Flow) -> str | None:
    given = flow.schema
    if not isinstance(given, Keyed):
        return fault_in_path(path, given, "input")
    if not path.parts:
        return None
    first, *rest = path.parts
    if isinstance(first, int) or first not in given.arms:
        return f"{path.after('input')}: the input is keyed by step id, and {first!r} is none of {', '.join(given.arms)}"
    return None if given.collected else _fault(rest, given.arms[first], path, "input")


def fault_in_path(path: Path, schema: Any, root: str) -> str | None:
    """What is certainly wrong with a path into values of a schema; None where it may lead somewhere.

    Args:
        path: The path.
        schema: Of the values it is followed in.
        root: What they are called.

    Example:
        >>> from typing import TypedDict
        >>> Order = TypedDict("Order", {"total": int})
        >>> fault_in_path(Path("[0].totl"), list[Order], "input")
        "input[0].totl: Order has no 'totl', but total"
        >>> fault_in_path(Path("[0].total"), list[Order], "input") is None
        True
    """
    return _fault(path.parts, schema, path, root)


def _fault(parts: Sequence[str | int], schema: Any, path: Path, root: str) -> str | None:
    for part in parts:
        try:
            schema = _inside(schema, part)
        except LookupError as error:
            return f"{path.after(root)}: {schema_name(schema)} {error.args[0]}"
    return None


def _inside(schema: Any, part: str | int) -> Any:
    """The schema of one part of values of a schema; UNSET where nothing is known of it.

    Raises:
        LookupError: There is no such part; the sentence goes on behind the schema's name.
    """
    while get_origin(schema) is Annotated:
        schema = get_args(schema)[0]
    if not is_set(schema):
        return UNSET
    origin = get_origin(schema)
    if origin is list:
        if isinstance(part, int):
            return get_args(schema)[0]
        raise LookupError(f"has no {part!r}, but items: [0]")
    if origin is dict:
        return get_args(schema)[1]
    if not isinstance(schema, type):
        return UNSET
    if is_typeddict(schema):
        return _named(part, _hints(schema))
    if plain_type(schema) is not None:
        if isinstance(part, int) or not hasattr(schema, part):
            raise LookupError(f"has no {part!r}" if isinstance(part, str) else "has no items")
        return UNSET
    return _of_class(schema, part)


def _of_class(schema: type, part: str | int) -> Any:
    """The same of a class with fields."""
    known: Mapping[str, Any] | None = getattr(schema, "model_fields", None)
    if isinstance(known, Mapping):
        config = cast("Mapping[str, Any]", getattr(schema, "model_config", {}))
        found = {name: getattr(field, "annotation", UNSET) for name, field in known.items()}
        if config.get("extra") == "allow" and part not in found:
            return UNSET
    elif is_dataclass(schema):
        hints = _hints(schema)
        found = {field.name: hints.get(field.name, UNSET) for field in fields(schema)}
        if hasattr(schema, "__getattr__"):
            return found.get(cast("str", part), UNSET)
    else:
        return UNSET
    if isinstance(part, str) and part not in found and inspect.getattr_static(schema, part, None) is not None:
        return UNSET  # a property, for example
    if isinstance(part, int) and hasattr(schema, "__getitem__"):
        return UNSET
    return _named(part, found)


def _named(part: str | int, found: Mapping[str, Any]) -> Any:
    if isinstance(part, int):
        raise LookupError("has no items")
    if part not in found:
        raise LookupError(f"has no {part!r}, but {', '.join(found) or 'nothing'}")
    return found[part]


def _hints(schema: type) -> Mapping[str, Any]:
    """What a class says of its fields; UNSET of each where that cannot be read."""
    try:
        return get_type_hints(schema)
    except (NameError, TypeError):
        return dict.fromkeys(schema.__annotations__, UNSET)
