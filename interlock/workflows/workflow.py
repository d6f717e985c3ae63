"""A committed workflow: immutable, checked, ready to be run, nested, used as a processor, or drawn."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import anyio
import sniffio

from interlock.errors import RunError
from interlock.schema import UNSET, schema_name
from interlock.steps import RetryPolicy, Step, StepContext, SupportsStep
from interlock.storage import RunStore
from interlock.verdict import Phase
from interlock.workflows.engine import Engine, WorkflowRun, default_engine
from interlock.workflows.nodes import Plan
from interlock.workflows.outcome import Failed, Outcome, Paused
from interlock.workflows.specialise import specialise

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Workflow", "WorkflowStep"]

I_contra = TypeVar("I_contra", contravariant=True)
O_co = TypeVar("O_co", covariant=True)


class Workflow(SupportsStep[I_contra, O_co]):
    """A graph of steps. Made by ``create_workflow(…)…commit()``; never changes afterwards.

    Attributes:
        id: Its id.
        plan: What the runtime runs and the drawings show.
        input_schema, output_schema, state_schema: Types; ``UNSET`` where none was given.
        retry: How often its steps are tried again that say nothing of it themselves.
        on_start: Called with a context before the first step; what it raises refuses the run.
        on_finish: Called with the outcome.
        on_error: Called with the outcome of a run that failed.
        description, metadata: As given.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        input_schema: object = UNSET,
        output_schema: object = UNSET,
        state_schema: object = UNSET,
        retry: RetryPolicy | None = None,
        on_start: Callable[[StepContext[Any]], object] | None = None,
        on_finish: Callable[[Outcome[Any]], object] | None = None,
        on_error: Callable[[Failed], object] | None = None,
        description: str | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> None:
        self.id = plan.id
        self.plan = plan
        self.input_schema = input_schema
        self.output_schema = output_schema
        self.state_schema = state_schema
        self.retry = retry
        self.on_start = on_start
        self.on_finish = on_finish
        self.on_error = on_error
        self.description = description
        self.metadata: Mapping[str, object] = MappingProxyType(dict(metadata or {}))
        self._step = WorkflowStep(self)
        self._phase_plans: dict[Phase, Plan | None] = {}
        self._fingerprint: str | None = None

    @property
    def fingerprint(self) -> str:
        """A stable hash of ids, kinds, edges and schemas; the code of steps is not in it."""
        if self._fingerprint is None:
            from interlock.workflows.fingerprint import fingerprint

            self._fingerprint = fingerprint(self)
        return self._fingerprint

    def as_step(self) -> Step[I_contra, O_co]:
        """The step that stands for this workflow in another."""
        return self._step

    def plan_for(self, phase: Phase) -> Plan | None:
        """The plan specialised for one point of an agent's run; None where nothing acts there."""
        if phase not in self._phase_plans:
            self._phase_plans[phase] = specialise(self.plan, phase)
        return self._phase_plans[phase]

    def create_run(
        self, run_id: str | None = None, *, store: RunStore | None = None, engine: Engine | None = None
    ) -> WorkflowRun[I_contra, O_co]:
        """A run: one that has not started, or one that the store has, to resume it.

        Args:
            run_id: Default: a fresh one.
            store: Where its journal is kept; without one nothing is written.
            engine: What runs it; default: the library's own.
        """
        made: WorkflowRun[Any, Any] = (engine or default_engine()).create_run(self, run_id, store=store)
        return made

    def run(
        self,
        value: I_contra,
        /,
        *,
        state: object = None,
        request_context: Mapping[str, object] | None = None,
    ) -> Coroutine[Any, Any, Outcome[O_co]]:
        """Start a fresh run and wait for its outcome; short for ``create_run().start(value)``.

        Args:
            value: The workflow's input.
            state: Where the run's state begins.
            request_context: What steps may read.

        Raises:
            pydantic.ValidationError: The input does not fit the schema. Whatever happens inside is an outcome.
        """
        run: WorkflowRun[Any, Any] = default_engine().create_run(self)
        return run.start(value, state=state, request_context=request_context)

    def run_sync(
        self,
        value: I_contra,
        /,
        *,
        state: object = None,
        request_context: Mapping[str, object] | None = None,
    ) -> Outcome[O_co]:
        """:meth:`run` for scripts, in an event loop of its own.

        Example:
            >>> from interlock import create_workflow
            >>> double = create_workflow(id="double", input_schema=int).map(lambda ctx: ctx.input * 2).commit()
            >>> double.run_sync(21).output
            42

        Raises:
            pydantic.ValidationError: The input does not fit the schema.
            RunError: It was called inside a running event loop.
        """
        try:
            library = sniffio.current_async_library()
        except sniffio.AsyncLibraryNotFoundError:
            return anyio.run(functools.partial(self.run, value, state=state, request_context=request_context))
        raise RunError(f"run_sync was called inside a running {library} loop: await run(…) there")

    async def recover(
        self,
        run_id: str,
        *,
        store: RunStore,
        allow_changed_graph: bool = False,
        request_context: Mapping[str, object] | None = None,
        engine: Engine | None = None,
    ) -> Outcome[O_co]:
        """Go on with a stored run whose process died, and wait for its outcome.

        What has finished is taken from the journal and does not run again; a step that was under way begins anew. A
        run that has ended, or waits to be resumed, is only told of.

        Args:
            run_id: The run.
            store: The store that has it.
            allow_changed_graph: Go on although the workflow has another shape now.
            request_context: What steps may read; default: what of the first one could be recorded.
            engine: What runs it; default: the library's own.

        Raises:
            UnknownRun: The store has no such run.
            RunError: It is a run of another workflow.
            GraphChanged: The workflow has another shape now.
            RunBusy: This very process is running it right now.
        """
        return await (engine or default_engine()).recover(
            self,
            run_id,
            store=store,
            allow_changed_graph=allow_changed_graph,
            request_context=request_context,
        )

    async def time_travel(
        self,
        run_id: str,
        step: SupportsStep | str,
        *,
        store: RunStore,
        new_run_id: str | None = None,
        input: object = UNSET,  # noqa: A002
        state: object = None,
        request_context: Mapping[str, object] | None = None,
        allow_changed_graph: bool = False,
        engine: Engine | None = None,
    ) -> Outcome[O_co]:
        """Run a stored run anew from one of its steps on, as a run of its own, and wait for its outcome.

        What had finished before the step first started is taken over; the step and what follows run. The old run stays
        as it was; the new one's journal names it as its parent.

        Args:
            run_id: The old run.
            step: The step, its id, or its path where it is nested.
            store: The store that has the old run, and gets the new one.
            new_run_id: Default: a fresh one.
            input: What the step is given instead of what it was given.
            state: What to change of the run's state as it was then, a mapping.
            request_context: What steps may read; default: what of the old one could be recorded.
            allow_changed_graph: Do so although the workflow has another shape now.
            engine: What runs it; default: the library's own.

        Raises:
            UnknownRun: The store has no such run.
            RunError: The step did not start in it.
            GraphChanged: The workflow has another shape now.
            AlreadyStarted: There is a run of the new id.
            pydantic.ValidationError: The input does not fit the step's schema.
        """
        return await (engine or default_engine()).time_travel(
            self,
            run_id,
            step,
            store=store,
            new_run_id=new_run_id,
            value=input,
            state=state,
            request_context=request_context,
            allow_changed_graph=allow_changed_graph,
        )

    def to_mermaid(self, *, run: Outcome[Any] | Paused | None = None) -> str:
        """The graph as a Mermaid flowchart.

        Args:
            run: How a run of it ended, or where one stands: shown on the nodes.
        """
        from interlock.workflows.draw_mermaid import workflow_mermaid

        return workflow_mermaid(self, run=run)

    def to_text(self, *, run: Outcome[Any] | Paused | None = None) -> str:
        """The graph drawn with lines, for a terminal.

        Args:
            run: How a run of it ended, or where one stands: told in the boxes.
        """
        from interlock.workflows.draw_text import workflow_text

        return workflow_text(self, run=run)

    def to_svg(self, *, run: Outcome[Any] | Paused | None = None) -> str:
        """The graph as an SVG picture that stands alone.

        Args:
            run: How a run of it ended, or where one stands: nodes are coloured by it.
        """
        from interlock.workflows.draw_svg import workflow_svg

        return workflow_svg(self, run=run)

    def to_dot(self, *, run: Outcome[Any] | Paused | None = None) -> str:
        """The graph in the DOT language of Graphviz.

        Args:
            run: How a run of it ended, or where one stands: nodes are coloured by it.
        """
        from interlock.workflows.draw_dot import workflow_dot

        return workflow_dot(self, run=run)

    def to_json(self, *, run: Outcome[Any] | Paused | None = None) -> dict[str, Any]:
        """The graph as a JSON object: nodes, nested ones inside, and edges by path.

        Args:
            run: How a run of it ended, or where one stands: told of each node.
        """
        from interlock.workflows.draw_json import workflow_json

        return workflow_json(self, run=run)

    def to_networkx(self) -> nx.DiGraph[str]:
        """The graph as a ``networkx.DiGraph``: nodes are step ids (nested: paths) with kind, label, schemas."""
        from interlock.workflows.draw_networkx import workflow_networkx

        return workflow_networkx(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """How a notebook shows it: the picture, and the drawing with lines where only text can be shown."""
        return {"image/svg+xml": self.to_svg(), "text/plain": self.to_text()}

    def __repr__(self) -> str:
        return (
            f"<Workflow {self.id!r}: {len(self.plan.nodes)} nodes, "
            f"{schema_name(self.input_schema)} -> {schema_name(self.output_schema)}>"
        )


class WorkflowStep(Step[I_contra, O_co]):
    """A workflow as a step of another.

    Attributes:
        workflow: The workflow.
    """

    kind: ClassVar[str] = "workflow"

    def __init__(self, workflow: Workflow[I_contra, O_co]) -> None:
        super().__init__(
            workflow.id,
            subject=workflow,
            input_schema=workflow.input_schema,
            output_schema=workflow.output_schema,
            description=workflow.description,
            metadata=workflow.metadata,
        )
        self.state_schema = workflow.state_schema
        self.workflow = workflow

    def acts_in(self, phase: Phase) -> bool:
        """Whether anything in the workflow acts there."""
        return self.workflow.plan_for(phase) is not None
