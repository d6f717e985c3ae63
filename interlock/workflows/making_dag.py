"""A block of any acyclic graph out of a mapping of nodes to those they need. Cycles are found at ``commit()``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from interlock.shown import shown
from interlock.steps.step import supports_step
from interlock.workflows.making import Made, MadePlan, made_body, unknown
from interlock.workflows.nodes import DagItem, DagNode, NestedNode, StepNode

__all__ = ["made_dag"]


def made_dag(graph: object, place: str) -> Made:
    """The node.

    Args:
        graph: As the builder's method takes it.
        place: Where it stands, for the faults.
    """
    if not isinstance(graph, Mapping):
        wanted = ".dag() takes a dict from each step to the list of those it needs, .dag({a: [], b: [a]})"
        return Made(unknown(place), (f"{place}: {wanted}, not {type(graph).__name__}",))
    given = cast("Mapping[object, object]", graph)
    made = [made_body(key, f"{place}, key {number}") for number, key in enumerate(given, 1)]
    places = _Places(given, made)
    faults = [fault for one in made for fault in one.faults]
    items: list[DagItem] = []
    for (plan, _), needs in zip(made, given.values(), strict=True):
        found, wrong = places.of(needs, f"{place}, {plan.id!r}")
        items.append(DagItem(plan, found))
        faults += wrong
    return Made(DagNode("dag", tuple(items)), tuple(faults))


class _Places:
    """Where each node of a block stands: by its id, by the object that was given, and by the step of that."""

    def __init__(self, keys: Iterable[object], made: Iterable[MadePlan]) -> None:
        self._by_id: dict[str, int] = {}
        self._by_object: dict[object, int] = {}
        for number, (key, (plan, _)) in enumerate(zip(keys, made, strict=True)):
            self._by_id.setdefault(plan.id, number)
            self._by_object[key] = number
            if isinstance(node := plan.nodes[0], StepNode | NestedNode):
                self._by_object.setdefault(node.step, number)

    def of(self, needs: object, place: str) -> tuple[tuple[int, ...], list[str]]:
        """The places of what a node needs, and what is wrong with that."""
        if isinstance(needs, str) or not isinstance(needs, Iterable):
            return (), [f"{place}: what it needs is a list of steps or ids, [a, b], not {shown(needs)}"]
        found: dict[int, None] = {}
        faults: list[str] = []
        for need in cast("Iterable[object]", needs):
            number = self._one(need)
            if number is None:
                faults.append(f"{place} needs {shown(need)}, which is none of {', '.join(map(repr, self._by_id))}")
            elif number in found:
                faults.append(f"{place} needs {shown(need)} twice")
            else:
                found[number] = None
        return tuple(found), faults

    def _one(self, need: object) -> int | None:
        if isinstance(need, str):
            return self._by_id.get(need)
        try:
            number = self._by_object.get(need)
        except TypeError:  # it has no hash, so it is no key
            return None
        if number is None and supports_step(need):
            return self._by_object.get(need.as_step())
        return number
