"""Nodes out of what a builder's methods are given, with a sentence for each thing that is wrong with it.

Where something cannot be made, a node stands for it that says nothing of its schemas, so that its neighbours are not
blamed for its absence.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, cast, get_args

from interlock.errors import DefinitionError
from interlock.ids import kebab
from interlock.shown import shown
from interlock.steps import Step, create_step
from interlock.steps.annotations import kind_of_generator
from interlock.steps.step import supports_step
from interlock.workflows.nodes import (
    BranchNode,
    ErrorMode,
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
from interlock.workflows.workflow import WorkflowStep

__all__ = [
    "Made",
    "MadePlan",
    "Uncommitted",
    "made_body",
    "made_branch",
    "made_foreach",
    "made_loop",
    "made_merge",
    "made_parallel",
    "made_sleep",
    "made_step",
    "unknown",
]


class Uncommitted:
    """A workflow that is still being defined: it can be no step.

    Attributes:
        id: The workflow's.
    """

    id: str


class Made(NamedTuple):
    """A node, and what is wrong with it."""

    node: Node
    faults: tuple[str, ...] = ()


class MadePlan(NamedTuple):
    """A plan of an arm or a body, and what is wrong with it."""

    plan: Plan
    faults: tuple[str, ...] = ()


_MOST: Final = sys.float_info.max
"""What a clock can be told at most: a whole number may be larger than any float."""

_ERROR_MODES: Final[tuple[str, ...]] = get_args(ErrorMode)


def unknown(place: str) -> Node:
    """Stands for what could not be made."""
    return MapNode(kebab(place), lambda ctx: ctx.input)


def made_step(x: object, place: str) -> Made:
    """The node that ``x`` can be.

    Args:
        x: A step, processor, workflow or function.
        place: Where it stands, for the faults.
    """
    if isinstance(x, Uncommitted):
        fault = f"{place}: the workflow {x.id!r} is not committed: call .commit() on it first"
        return Made(unknown(place), (fault,))
    try:
        step = cast("Step[Any, Any]", x) if isinstance(x, Step) else create_step(cast("Any", x))
    except DefinitionError as error:
        return Made(unknown(place), tuple(f"{place}: {fault}" for fault in error.faults))
    return Made(NestedNode(step, step.workflow.plan) if isinstance(step, WorkflowStep) else StepNode(step))


def _arm(x: object, place: str) -> MadePlan:
    """An arm of one step, or of a list of them, keyed by its last."""
    if not isinstance(x, list | tuple):
        node, faults = made_step(x, place)
        return MadePlan(Plan(node.id, (node,)), faults)
    steps = cast("Sequence[object]", x)
    if not steps:
        return MadePlan(Plan(kebab(place), (unknown(place),)), (f"{place} has no steps: leave it out",))
    made = [made_step(one, f"{place}, step {number}") for number, one in enumerate(steps, 1)]
    nodes = tuple(one.node for one in made)
    return MadePlan(Plan(nodes[-1].id, nodes), _faults_of(made))


def made_body(x: object, place: str) -> MadePlan:
    """A plan of the one node that ``x`` can be; the arguments are those of :func:`made_step`."""
    node, faults = made_step(x, place)
    return MadePlan(Plan(node.id, (node,)), faults)


def made_parallel(
    branches: object, place: str, *, join: object, on_error: object, concurrency: object, share: bool
) -> Made:
    """A parallel block; the arguments are those of the builder's method."""
    given = _listed(branches)
    if given is None:
        fault = f"{place}: .parallel() takes a list of steps, not {type(branches).__name__}: .parallel([a, b])"
        return Made(ParallelNode("parallel", (Plan(kebab(place), (unknown(place),)),)), (fault,))
    made = [made_body(x, f"{place}, branch {number}") for number, x in enumerate(given, 1)]
    faults = [*_faults_of(made), *_mode_faults(on_error, _ERROR_MODES, f"{place}: on_error")]
    enough, wrong = _join(join, len(made), place)
    faults += wrong
    if concurrency is not None:
        faults += _count_faults(concurrency, f"{place}: concurrency", or_else="or None for all at once")
    arms = tuple(one.plan for one in made)
    node = ParallelNode("parallel", arms, enough, cast("Any", on_error), cast("Any", concurrency), share)
    return Made(node, tuple(faults))


def _join(join: object, arms: int, place: str) -> tuple[int | None, tuple[str, ...]]:
    """How many arms are enough, and what is wrong with that."""
    if join == "all":
        return None, ()
    if join == "any":
        return 1, ()
    if isinstance(join, bool) or not isinstance(join, int) or join < 1:
        return None, (f"{place}: join is 'all', 'any' or a whole number from 1, not {shown(join)}",)
    if join > arms > 0:
        return None, (f"{place}: join={join} waits for more branches than there are ({arms})",)
    return join, ()


def made_branch(branches: object, place: str, *, otherwise: object, mode: object) -> Made:
    """A branch block; the arguments are those of the builder's method."""
    faults: list[str] = []
    conditions: list[Any] = []
    arms: list[Plan] = []
    given = _listed(branches)
    if given is None:
        faults.append(
            f"{place}: .branch() takes a list of pairs, not {type(branches).__name__}: .branch([(condition, step)])"
        )
        conditions.append(None)
        arms.append(Plan(kebab(place), (unknown(place),)))
    for number, pair in enumerate(given or (), 1):
        condition, (plan, found) = _conditional(pair, f"{place}, arm {number}")
        conditions.append(condition)
        arms.append(plan)
        faults += found
    last: Plan | None = None
    if otherwise is not None:
        last, found = _arm(otherwise, f"{place}, otherwise")
        faults += found
    faults += _mode_faults(mode, ("first", "all"), f"{place}: mode")
    return Made(BranchNode("branch", tuple(conditions), tuple(arms), last, cast("Any", mode)), tuple(faults))


def _conditional(pair: object, place: str) -> tuple[object, MadePlan]:
    """A condition and its arm."""
    if not isinstance(pair, tuple | list) or len(cast("Sequence[object]", pair)) != 2:
        fault = (
            f"{place}: a pair is wanted, (condition, step) or (condition, [steps]), not {shown(cast('object', pair))}"
        )
        return None, MadePlan(Plan(kebab(place), (unknown(place),)), (fault,))
    condition, x = cast("Sequence[object]", pair)
    plan, faults = _arm(x, place)
    return condition, MadePlan(plan, (*_function_faults(condition, f"{place}: the condition"), *faults))


def made_merge(prefer: object, with_: object, place: str) -> Made:
    """A merge; the arguments are those of the builder's method."""
    faults: list[str] = []
    winner = prefer.as_step().id if supports_step(prefer) else prefer
    if winner is not None and not isinstance(winner, str):
        faults.append(f"{place}: prefer is a branch's step or its id, not {type(prefer).__name__}")
        winner = None
    if with_ is not None:
        faults += _function_faults(with_, f"{place}: with_", "of {step id: output}, with_=lambda outputs: …")
    if winner is not None and with_ is not None:
        faults.append(f"{place}: prefer= says who wins between forks, with_= makes the value itself: pass one of them")
    return Made(MergeNode("merge", winner, cast("Any", with_)), tuple(faults))


def made_foreach(x: object, place: str, *, concurrency: object, on_error: object) -> Made:
    """A loop over a list; the arguments are those of the builder's method."""
    plan, found = made_body(x, place)
    faults = [*found, *_mode_faults(on_error, _ERROR_MODES, f"{place}: on_error")]
    if _is_function(concurrency):
        faults += _function_faults(concurrency, f"{place}: concurrency")
    else:
        faults += _count_faults(concurrency, f"{place}: concurrency", or_else="or a function of the context")
    return Made(ForeachNode("foreach", plan, cast("Any", concurrency), cast("Any", on_error)), tuple(faults))


def made_loop(x: object, condition: object, place: str, *, until: bool, max_iterations: object) -> Made:
    """A loop; the arguments are those of the builder's methods."""
    plan, found = made_body(x, place)
    faults = [*found, *_function_faults(condition, f"{place}: the condition")]
    faults += _count_faults(max_iterations, f"{place}: max_iterations")
    kind = "do-until" if until else "do-while"
    return Made(LoopNode(kind, plan, cast("Any", condition), until, cast("Any", max_iterations)), tuple(faults))


def made_sleep(time: object, place: str, *, until: bool) -> Made:
    """A wait; the arguments are those of the builder's methods."""
    kind = "sleep-until" if until else "sleep"
    node = SleepNode(kind, cast("Any", time), until)
    if _is_function(time):
        return Made(node, _function_faults(time, f"{place}: its time"))
    if until and isinstance(time, datetime):
        return Made(node)
    if isinstance(time, int | float) and not isinstance(time, bool) and (-_MOST if until else 0) <= time <= _MOST:
        return Made(node)
    wanted = (
        "a datetime, seconds since the epoch, or a function that gives either"
        if until
        else "a number of seconds, 0 or more, or a function that gives one"
    )
    return Made(node, (f"{place}: {wanted}, is wanted, not {shown(time)}",))


def _listed(branches: object) -> list[object] | None:
    """What a block was given as a list; None where it is none."""
    if isinstance(branches, str | Mapping) or not isinstance(branches, Iterable):
        return None
    return list(cast("Iterable[object]", branches))


def _is_function(value: object) -> bool:
    return callable(value) and not isinstance(value, type)


def _function_faults(value: object, what: str, kind: str = "of the context, lambda ctx: …") -> tuple[str, ...]:
    if _is_function(value):
        generator = kind_of_generator(value)
        return () if generator is None else (f"{what} is {generator}: a function that returns once is wanted",)
    given = f"the class {value.__name__}" if isinstance(value, type) else f"{shown(value)}"
    return (f"{what} must be a function {kind}, not {given}",)


def _count_faults(value: object, what: str, *, or_else: str = "") -> tuple[str, ...]:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return ()
    return (f"{what} must be a whole number, at least 1{f', {or_else}' if or_else else ''}, not {shown(value)}",)


def _mode_faults(value: object, allowed: Sequence[str], what: str) -> tuple[str, ...]:
    if isinstance(value, str) and value in allowed:
        return ()
    return (f"{what} is {' or '.join(map(repr, allowed))}, not {shown(value)}",)


def _faults_of(made: Iterable[Made | MadePlan]) -> tuple[str, ...]:
    return tuple(fault for one in made for fault in one.faults)
