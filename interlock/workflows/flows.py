"""What is known of the value between two nodes, for the check of edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Union, get_args, get_origin

from typing_extensions import is_typeddict

from interlock.schema import UNSET, fits, is_set, is_union
from interlock.workflows.outcome import StepError

__all__ = ["Flow", "Keyed", "either", "is_mergeable", "item_of", "list_of", "takes_keyed"]


@dataclass(frozen=True, slots=True)
class Keyed:
    """The schema of an output keyed by step id.

    Attributes:
        arms: One schema a key.
        collected: Whether a value may be a ``StepError`` instead.
        one: Whether at most one key is there.
        advice: What makes something else of it; None where nothing can stand in between.
    """

    arms: Mapping[str, Any]
    collected: bool = False
    one: bool = False
    advice: str | None = ".map(…) or .merge()"

    def __str__(self) -> str:
        kind = "an output keyed by step id"
        return f"{kind} ({', '.join(self.arms)})" + (" in which a StepError may stand" if self.collected else "")

    @property
    def remedy(self) -> str:
        """What to do where a step does not take it."""
        if self.advice is None:
            return "a step that needs several others takes a dict of what they give"
        return f"put {self.advice} between them"


@dataclass(frozen=True, slots=True)
class Flow:
    """What flows at one place.

    Attributes:
        schema: Its schema, or :class:`Keyed`.
        says: The clause that a schema completes: ``'score' gives``.
    """

    schema: Any
    says: str

    @property
    def plain(self) -> Any:
        """Its schema, where that is to be the schema of an item or of a value under a key."""
        return dict if isinstance(self.schema, Keyed) else self.schema


def either(*schemas: Any) -> Any:
    """The schema of a value that is of one of these."""
    different: list[Any] = []
    for schema in schemas:
        if not is_set(schema):
            return UNSET
        if schema not in different:
            different.append(schema)
    if len(different) == 1:
        return different[0]
    try:
        return Union[tuple(different)]  # noqa: UP007  (they are values, not syntax)
    except TypeError:  # one of them has no hash, such as Annotated with a list
        return UNSET


def takes_keyed(wanted: Any, given: Keyed) -> bool:
    """Whether a dict of the arms' outputs can be of this schema."""
    if not is_set(wanted):
        return True
    if is_mergeable(wanted):
        return False
    key_and_value = get_args(wanted)
    if get_origin(wanted) in (dict, Mapping) and len(key_and_value) == 2:
        values = [either(arm, StepError) if given.collected else arm for arm in given.arms.values()]
        return fits(str, key_and_value[0]) and all(fits(one, key_and_value[1]) for one in values)
    return fits(dict, wanted)


def is_mergeable(schema: Any) -> bool:
    """Whether values of this schema know how to join their forks."""
    members = get_args(schema) if is_union(schema) else (schema,)
    return all(callable(getattr(member, "merge_forks", None)) for member in members)


def item_of(schema: Any) -> tuple[bool, Any]:
    """Whether a value of this schema can be a list, and the schema of its items.

    Example:
        >>> item_of(list[int]), item_of(UNSET), item_of(str)
        ((True, <class 'int'>), (True, UNSET), (False, UNSET))
    """
    if not is_set(schema):
        return True, UNSET
    args = get_args(schema)
    if get_origin(schema) is Annotated:
        return item_of(args[0])
    if is_union(schema):
        items = [item_of(one) for one in args]
        return all(can for can, _ in items), either(*(item for _, item in items))
    kind = get_origin(schema) or schema
    if schema is None or not isinstance(kind, type):
        return schema is not None, UNSET
    return _may_be_list(kind), args[0] if len(args) == 1 and _may_be_list(kind) else UNSET


def list_of(item: Any) -> Any:
    """The schema of a list of items of this schema."""
    return list[item] if is_set(item) else list


def _may_be_list(kind: type) -> bool:
    if is_typeddict(kind):
        return False
    try:
        return issubclass(kind, list) or issubclass(list, kind)
    except TypeError:  # a protocol with data members
        return True
