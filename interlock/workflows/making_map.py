"""Maps out of functions and of sources, and what those sources read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from interlock.shown import shown
from interlock.steps import Step, StepContext
from interlock.steps.annotations import kind_of_generator
from interlock.steps.step import supports_step
from interlock.workflows.making import Made, unknown
from interlock.workflows.naming import steps_in_scope
from interlock.workflows.nodes import MapNode, Node
from interlock.workflows.sources import Source, from_step

__all__ = ["Reading", "bound", "made_map"]


class Reading:
    """The function of a map that was made of sources: reads each into a dict.

    Args:
        sources: By key.
    """

    __slots__ = ("sources",)

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self.sources = sources

    def __call__(self, ctx: StepContext[Any]) -> dict[str, object]:
        """What they give, by key."""
        return {key: source.read(ctx) for key, source in self.sources.items()}


def made_map(x: object, place: str) -> Made:
    """The node; the argument is that of the builder's method."""
    if not isinstance(x, Mapping):
        if callable(x):
            if (generator := kind_of_generator(x)) is not None:
                fault = f"{place}: .map() was given {generator}: a function that returns once is wanted"
                return Made(unknown(place), (fault,))
            return Made(MapNode("map", cast("Callable[[StepContext[Any]], Any]", x)))
        wanted = "a function or a dict of sources"
        return Made(unknown(place), (f"{place}: .map() takes {wanted}, not {type(x).__name__}",))
    given = cast("Mapping[object, object]", x)
    sources: dict[str, Source] = {}
    faults = [] if given else [f"{place}: the dict has no keys; a map to an empty dict is .map(lambda ctx: {{}})"]
    for key, source in given.items():
        if not isinstance(key, str):
            faults.append(f"{place}: the key {shown(key)} is no string")
        elif isinstance(source, Source):
            sources[key] = source
        elif supports_step(source):
            sources[key] = from_step(source)
        else:
            faults.append(f"{place}, {key!r}: {_hint(source)}")
    if faults:
        return Made(unknown(place), tuple(faults))
    return Made(_of_sources("map", sources))


def _hint(given: object) -> str:
    if callable(given):
        return (
            "a function is no source: map with one alone, .map(lambda ctx: {…}), or make a step of it that runs before"
        )
    return f"{shown(given, 60)} is no source: a value that is always the same is value({shown(given, 60)})"


def _of_sources(id_: str, sources: Mapping[str, Source]) -> MapNode:
    return MapNode(id_, Reading(sources), sources)


def bound(nodes: Sequence[Node]) -> tuple[tuple[Node, ...], list[str]]:
    """The nodes with the ids in their sources tied to steps, and a sentence for each step that is not before."""
    result: list[Node] = []
    faults: list[str] = []
    before: dict[str, Step[Any, Any]] = {}
    done = 0
    for number, node in enumerate(nodes):
        if not isinstance(node, MapNode) or node.sources is None:
            result.append(node)
            continue
        for earlier in nodes[done:number]:
            before.update((inner.id, inner.step) for inner in steps_in_scope(earlier))
        done = number
        tied: dict[str, Source] = {}
        for key, source in node.sources.items():
            missing = [name for name in source.names if name not in before]
            missing += [step.id for step in source.steps if before.get(step.id) is not step]
            faults += [
                f"{node.id!r}, {key!r} reads {name!r}, which is no step before it in this workflow" for name in missing
            ]
            tied[key] = source if missing else source.bound(before)
        result.append(_of_sources(node.id, tied))
    return tuple(result), faults
