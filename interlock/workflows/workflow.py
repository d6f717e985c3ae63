"""A committed workflow: immutable, checked, ready to be run, nested, used as a processor, or drawn."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from interlock.context import RequestContext
from interlock.schema import UNSET, schema_name
from interlock.steps import Step, SupportsStep
from interlock.verdict import Phase
from interlock.workflows.engine import Engine, WorkflowRun, default_engine
from interlock.workflows.nodes import Plan
from interlock.workflows.outcome import Outcome
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
        input_schema, output_schema: Types; ``UNSET`` where none was given.
        description, metadata: As given.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        input_schema: object = UNSET,
        output_schema: object = UNSET,
        description: str | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> None:
        self.id = plan.id
        self.plan = plan
        self.input_schema = input_schema
        self.output_schema = output_schema
        self.description = description
        self.metadata: Mapping[str, object] = MappingProxyType(dict(metadata or {}))
        self._step = WorkflowStep(self)
        self._phase_plans: dict[Phase, Plan | None] = {}

    def as_step(self) -> Step[I_contra, O_co]:
        """The step that stands for this workflow in another."""
        return self._step

    def plan_for(self, phase: Phase) -> Plan | None:
        """The plan specialised for one point of an agent's run; None where nothing acts there."""
        if phase not in self._phase_plans:
            self._phase_plans[phase] = specialise(self.plan, phase)
        return self._phase_plans[phase]

    def create_run(self, run_id: str | None = None, *, engine: Engine | None = None) -> WorkflowRun[I_contra, O_co]:
        """A run that has not started.

        Args:
            run_id: Default: a fresh one.
            engine: What runs it; default: the library's own.
        """
        return cast("WorkflowRun[I_contra, O_co]", (engine or default_engine()).create_run(self, run_id))

    async def run(
        self,
        value: I_contra,
        /,
        *,
        request_context: RequestContext | None = None,
    ) -> Outcome[O_co]:
        """Start a fresh run and wait for its outcome; short for ``create_run().start(value)``.

        Args:
            value: The workflow's input.
            request_context: What steps may read.

        Raises:
            pydantic.ValidationError: The input does not fit the schema. Whatever happens inside is an outcome.
        """
        return await self.create_run().start(value, request_context=request_context)

    def to_mermaid(self) -> str:
        """The graph as a Mermaid flowchart."""
        from interlock.workflows.draw_mermaid import workflow_mermaid

        return workflow_mermaid(self)

    def to_text(self) -> str:
        """The graph drawn with lines, for a terminal."""
        from interlock.workflows.draw_text import workflow_text

        return workflow_text(self)

    def to_json(self) -> dict[str, Any]:
        """The graph as a JSON object: nodes, nested ones inside, and edges by path."""
        from interlock.workflows.draw_json import workflow_json

        return workflow_json(self)

    def to_networkx(self) -> nx.DiGraph[str]:
        """The graph as a ``networkx.DiGraph``: nodes are step ids (nested: paths) with kind, label, schemas."""
        from interlock.workflows.draw_networkx import workflow_networkx

        return workflow_networkx(self)

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
        self.workflow = workflow

    def acts_in(self, phase: Phase) -> bool:
        """Whether anything in the workflow acts there."""
        return self.workflow.plan_for(phase) is not None
