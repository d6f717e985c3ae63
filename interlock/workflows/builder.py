"""Defining a workflow: each method gives a new builder; ``commit()`` checks everything and freezes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypedDict, TypeVar, overload

from interlock.errors import DefinitionError
from interlock.nearest import did_you_mean
from interlock.steps import RetryPolicy, StepContext, SupportsStep
from interlock.workflows.making import (
    Made,
    Uncommitted,
    made_branch,
    made_foreach,
    made_loop,
    made_merge,
    made_parallel,
    made_sleep,
    made_step,
)
from interlock.workflows.making_dag import made_dag
from interlock.workflows.making_map import bound, made_map
from interlock.workflows.naming import named
from interlock.workflows.nodes import ErrorMode, Node, Plan
from interlock.workflows.outcome import Failed, Outcome
from interlock.workflows.sources import Source
from interlock.workflows.workflow import Workflow

__all__ = ["WorkflowBuilder", "WorkflowOptions", "commit_list"]

I_contra = TypeVar("I_contra", contravariant=True)
Cur_co = TypeVar("Cur_co", covariant=True)
O = TypeVar("O")  # noqa: E741
N = TypeVar("N")
T = TypeVar("T")

_Steppable: TypeAlias = SupportsStep[T, Any] | Callable[[StepContext[T]], Any]
_Any: TypeAlias = SupportsStep[Any, Any] | Callable[[StepContext[Any]], Any]
_Same: TypeAlias = SupportsStep[T, T] | Callable[[StepContext[T]], T | Awaitable[T]]
_Yes: TypeAlias = Callable[[StepContext[T]], bool | Awaitable[bool]]


class WorkflowOptions(TypedDict):
    """What is said of a workflow as a whole; see :func:`create_workflow`."""

    input_schema: object
    output_schema: object
    state_schema: object
    retry: RetryPolicy | None
    on_start: Callable[[StepContext[Any]], object] | None
    on_finish: Callable[[Outcome[Any]], object] | None
    on_error: Callable[[Failed], object] | None
    description: str | None
    metadata: Mapping[str, object] | None


@dataclass(frozen=True, slots=True)
class _Link:
    """One node behind those before it. Builders share what stands before, so that each further node costs the same."""

    before: _Link | None
    node: Node
    faults: tuple[str, ...]
    number: int


class WorkflowBuilder(Uncommitted, Generic[I_contra, Cur_co, O]):
    """A workflow being defined. Made by :func:`create_workflow`.

    Type parameters: the workflow's input, what flows at this place, the workflow's output.
    """

    def __init__(self, id: str, options: WorkflowOptions, last: _Link | None = None) -> None:  # noqa: A002
        self.id = id
        self._options = options
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
        return self._with(made_step(x, self._place()))

    def parallel(
        self,
        branches: Sequence[_Steppable[Cur_co]],
        /,
        *,
        join: Literal["all", "any"] | int = "all",
        on_error: ErrorMode = "fail_fast",
        concurrency: int | None = None,
        share: bool = False,
    ) -> WorkflowBuilder[I_contra, dict[str, Any], O]:
        """Run all branches at once, each on its own fork of the input.

        Gives ``{step id: output}`` in list order, whatever order they finish in.

        Args:
            branches: Steps, processors, workflows or functions; their ids are the keys.
            join: How many are enough: all; ``"any"`` for the first; or a number. The rest are then cancelled, and a
                branch that fails counts only once too few are left.
            on_error: What a branch that fails means. ``"fail_fast"``: it cancels the others and fails the run;
                ``"wait_all"``: the others end first; ``"collect"``: its value is a
                :class:`~interlock.workflows.StepError` and the run goes on. One that aborts always stops the run.
            concurrency: How many run at once; None: all.
            share: Give all branches the input itself. Without it each has a copy of its own, and an input that cannot
                be copied fails the run.
        """
        place = self._place("parallel")
        return self._with(
            made_parallel(branches, place, join=join, on_error=on_error, concurrency=concurrency, share=share)
        )

    def branch(
        self,
        branches: Sequence[tuple[_Yes[Cur_co], _Steppable[Cur_co] | Sequence[_Any]]],
        /,
        *,
        otherwise: _Steppable[Cur_co] | Sequence[_Any] | None = None,
        mode: Literal["first", "all"] = "first",
    ) -> WorkflowBuilder[I_contra, dict[str, Any], O]:
        """Run what stands beside the condition that holds.

        Gives ``{step id: output}`` of what ran; ``{}`` where no condition holds and nothing is given ``otherwise``.

        Args:
            branches: Pairs of a condition and what runs then: a step, or a list of steps one after the other, keyed by
                its last. Conditions are functions of :class:`StepContext`, ``def`` or ``async def``; one that raises
                fails the run.
            otherwise: What runs where no condition holds; one or a list likewise.
            mode: ``"first"``: conditions are asked in order, the first that holds decides; ``"all"``: every step whose
                condition holds runs, at once.
        """
        return self._with(made_branch(branches, self._place("branch"), otherwise=otherwise, mode=mode))

    @overload
    def map(self, x: Mapping[str, Source | SupportsStep], /) -> WorkflowBuilder[I_contra, dict[str, Any], O]: ...
    @overload
    def map(self, x: Callable[[StepContext[Cur_co]], Awaitable[N]], /) -> WorkflowBuilder[I_contra, N, O]: ...
    @overload
    def map(self, x: Callable[[StepContext[Cur_co]], N], /) -> WorkflowBuilder[I_contra, N, O]: ...
    def map(self, x: Any, /) -> WorkflowBuilder[I_contra, Any, O]:
        """Reshape what flows.

        Args:
            x: A function, ``def`` or ``async def``: what it returns goes on, and ``ctx.input`` is what flows. Or a
                dict of sources (:func:`from_step`, :func:`value`, :func:`template`, …; a step is short for all of what
                it gave): a dict of what they read goes on.
        """
        return self._with(made_map(x, self._place("map")))

    def merge(
        self, *, prefer: str | SupportsStep | None = None, with_: Callable[[Mapping[str, Any]], Any] | None = None
    ) -> WorkflowBuilder[I_contra, Any, O]:
        """Make one value of what the parallel or branch block before gives.

        Of a single branch that ran, its value goes on; of none, the block's input. Values that have forks (contexts of
        processors) are joined three-way: edits that do not overlap are all applied. Where they overlap, the one that
        starts first keeps its replacement (a redaction before a rewrite, one made with ``edit_text`` before a change
        in place) and the others only delete. Plain values of several branches need ``with_``.

        Args:
            prefer: The branch (its step id, or the step) that wins where two branches contradict each other; without
                it that fails the run with ``MergeConflict``.
            with_: A function of ``{step id: output}`` that gives the value.
        """
        return self._with(made_merge(prefer, with_, self._place("merge")))

    @overload
    def foreach(
        self: WorkflowBuilder[I_contra, list[T], O],
        x: _Steppable[T],
        /,
        *,
        concurrency: int | Callable[[StepContext[list[T]]], int | Awaitable[int]] = 1,
        on_error: Literal["collect"],
    ) -> WorkflowBuilder[I_contra, list[Any], O]: ...
    @overload
    def foreach(
        self: WorkflowBuilder[I_contra, list[T], O],
        x: SupportsStep[T, N],
        /,
        *,
        concurrency: int | Callable[[StepContext[list[T]]], int | Awaitable[int]] = 1,
        on_error: ErrorMode = "fail_fast",
    ) -> WorkflowBuilder[I_contra, list[N], O]: ...
    @overload
    def foreach(
        self: WorkflowBuilder[I_contra, list[T], O],
        x: Callable[[StepContext[T]], Awaitable[N]],
        /,
        *,
        concurrency: int | Callable[[StepContext[list[T]]], int | Awaitable[int]] = 1,
        on_error: ErrorMode = "fail_fast",
    ) -> WorkflowBuilder[I_contra, list[N], O]: ...
    @overload
    def foreach(
        self: WorkflowBuilder[I_contra, list[T], O],
        x: Callable[[StepContext[T]], N],
        /,
        *,
        concurrency: int | Callable[[StepContext[list[T]]], int | Awaitable[int]] = 1,
        on_error: ErrorMode = "fail_fast",
    ) -> WorkflowBuilder[I_contra, list[N], O]: ...
    def foreach(
        self, x: Any, /, *, concurrency: int | Callable[[Any], Any] = 1, on_error: ErrorMode = "fail_fast"
    ) -> WorkflowBuilder[I_contra, Any, O]:
        """Run ``x`` on each item of the list that flows; gives the list of what it gave, in order.

        Args:
            x: A step, processor, workflow or function.
            concurrency: How many items at once, or a function of :class:`StepContext` that says so.
            on_error: What an item that fails means, as in :meth:`parallel`.
        """
        return self._with(made_foreach(x, self._place("foreach"), concurrency=concurrency, on_error=on_error))

    @overload
    def do_while(
        self: WorkflowBuilder[I_contra, T, O], x: _Same[T], condition: _Yes[T], /, *, max_iterations: int = 1000
    ) -> WorkflowBuilder[I_contra, T, O]: ...
    @overload
    def do_while(
        self, x: SupportsStep[Cur_co | N, N], condition: _Yes[N], /, *, max_iterations: int = 1000
    ) -> WorkflowBuilder[I_contra, N, O]: ...
    @overload
    def do_while(
        self,
        x: Callable[[StepContext[Cur_co | N]], Awaitable[N]],
        condition: _Yes[N],
        /,
        *,
        max_iterations: int = 1000,
    ) -> WorkflowBuilder[I_contra, N, O]: ...
    @overload
    def do_while(
        self, x: Callable[[StepContext[Cur_co | N]], N], condition: _Yes[N], /, *, max_iterations: int = 1000
    ) -> WorkflowBuilder[I_contra, N, O]: ...
    def do_while(
        self, x: Any, condition: Callable[[Any], Any], /, *, max_iterations: int = 1000
    ) -> WorkflowBuilder[I_contra, Any, O]:
        """Run ``x`` again and again while the condition holds, at least once; gives its last output.

        Args:
            x: A step, processor, workflow or function. It takes what flows, and later what it gave itself.
            condition: Asked after each time; its ``ctx.input`` is what ``x`` gave, ``ctx.iteration`` how often it ran.
            max_iterations: More than this many times is a failure.
        """
        place = self._place("do-while")
        return self._with(made_loop(x, condition, place, until=False, max_iterations=max_iterations))

    @overload
    def do_until(
        self: WorkflowBuilder[I_contra, T, O], x: _Same[T], condition: _Yes[T], /, *, max_iterations: int = 1000
    ) -> WorkflowBuilder[I_contra, T, O]: ...
    @overload
    def do_until(
        self, x: SupportsStep[Cur_co | N, N], condition: _Yes[N], /, *, max_iterations: int = 1000
    ) -> WorkflowBuilder[I_contra, N, O]: ...
    @overload
    def do_until(
        self,
        x: Callable[[StepContext[Cur_co | N]], Awaitable[N]],
        condition: _Yes[N],
        /,
        *,
        max_iterations: int = 1000,
    ) -> WorkflowBuilder[I_contra, N, O]: ...
    @overload
    def do_until(
        self, x: Callable[[StepContext[Cur_co | N]], N], condition: _Yes[N], /, *, max_iterations: int = 1000
    ) -> WorkflowBuilder[I_contra, N, O]: ...
    def do_until(
        self, x: Any, condition: Callable[[Any], Any], /, *, max_iterations: int = 1000
    ) -> WorkflowBuilder[I_contra, Any, O]:
        """Run ``x`` again and again until the condition holds, at least once; gives its last output.

        The arguments are those of :meth:`do_while`.
        """
        place = self._place("do-until")
        return self._with(made_loop(x, condition, place, until=True, max_iterations=max_iterations))

    def dag(self, graph: Mapping[Any, Iterable[_Any | str]], /) -> WorkflowBuilder[I_contra, Any, O]:
        """Run any graph without cycles; each step starts as soon as those it needs have ended.

        A step that needs none takes what flows, one that needs one takes what that gives, one that needs several takes
        ``{step id: output}``. What no other step needs goes on: one output, or ``{step id: output}`` of several.

        Args:
            graph: From each step (or processor, workflow, function) to those it needs: the same objects, or their ids.
        """
        return self._with(made_dag(graph, self._place("dag")))

    def sleep(
        self, seconds: float | Callable[[StepContext[Cur_co]], float | Awaitable[float]], /
    ) -> WorkflowBuilder[I_contra, Cur_co, O]:
        """Wait; what flows passes through.

        Args:
            seconds: How long, or a function of :class:`StepContext` that says so.
        """
        return self._with(made_sleep(seconds, self._place("sleep"), until=False))

    def sleep_until(
        self,
        time: datetime | float | Callable[[StepContext[Cur_co]], datetime | float | Awaitable[datetime | float]],
        /,
    ) -> WorkflowBuilder[I_contra, Cur_co, O]:
        """Wait until a point in time, not at all where that is past; what flows passes through.

        Args:
            time: A datetime (local time where it names no zone), seconds since the epoch, or a function of
                :class:`StepContext` that gives either.
        """
        return self._with(made_sleep(time, self._place("sleep-until"), until=True))

    def commit(self: WorkflowBuilder[I_contra, O, O]) -> Workflow[I_contra, Cur_co | O]:
        """Check everything and freeze.

        What is no step is named here: ``map``, ``map-2``, ``parallel``, …, beside the ids of the steps.

        Raises:
            DefinitionError: With every fault found, not only the first.
        """
        return self._checked()

    def _checked(self, *, states_apart: bool = False) -> Workflow[Any, Any]:
        from interlock.workflows.check import faults_in

        links = self._links()
        faults = [fault for link in links for fault in link.faults]
        try:
            nodes, unread = bound(named([link.node for link in links]))
            plan = Plan(self.id, nodes)
            faults += faults_in(plan, self._options, states_apart=states_apart)
        except RecursionError:
            raise DefinitionError(
                "it is nested deeper than Python's recursion limit allows", subject=f"workflow {self.id!r}"
            ) from None
        faults += unread
        if faults:
            raise DefinitionError(faults, subject=f"workflow {self.id!r}")
        return Workflow(plan, **self._options)

    def __repr__(self) -> str:
        return f"<WorkflowBuilder {self.id!r}: {self._count} nodes, not committed>"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            if name == "plan" or (not name.startswith("_") and hasattr(Workflow, name)):
                raise AttributeError(f"workflow {self.id!r} is not committed: call .commit() before .{name}")
            raise AttributeError(f"a workflow builder has no {name!r}{did_you_mean(name, dir(type(self)))}")

    @property
    def _count(self) -> int:
        return 0 if self._last is None else self._last.number

    def _place(self, kind: str | None = None) -> str:
        """How the next node is called where something is wrong with it."""
        return f"node {self._count + 1}" + (f" ({kind})" if kind is not None else "")

    def _links(self) -> list[_Link]:
        links: list[_Link] = []
        link = self._last
        while link is not None:
            links.append(link)
            link = link.before
        return links[::-1]

    def _with(self, made: Made) -> WorkflowBuilder[I_contra, Any, O]:
        return WorkflowBuilder(self.id, self._options, _Link(self._last, made.node, made.faults, self._count + 1))


def commit_list(builder: WorkflowBuilder[Any, Any, Any]) -> Workflow[Any, Any]:
    """Commit what is made of a list, in which each workflow keeps a state of its own.

    Args:
        builder: With the list's entries, one after the other.

    Raises:
        DefinitionError: With every fault found, not only the first.
    """
    return builder._checked(states_apart=True)
