"""Define, check, compile and draw a graph of steps. Runs nothing: that is what the runtime is for."""

from interlock.workflows.builder import WorkflowBuilder, create_workflow
from interlock.workflows.engine import Engine, WorkflowRun, default_engine, set_default_engine
from interlock.workflows.nodes import MapNode, MergeNode, NestedNode, Node, ParallelNode, Plan, StepNode, acting_steps
from interlock.workflows.outcome import Blocked, Canceled, Completed, Failed, Outcome, StepRecord
from interlock.workflows.specialise import specialise
from interlock.workflows.workflow import Workflow, WorkflowStep

__all__ = [
    "Blocked",
    "Canceled",
    "Completed",
    "Engine",
    "Failed",
    "MapNode",
    "MergeNode",
    "NestedNode",
    "Node",
    "Outcome",
    "ParallelNode",
    "Plan",
    "StepNode",
    "StepRecord",
    "Workflow",
    "WorkflowBuilder",
    "WorkflowRun",
    "WorkflowStep",
    "acting_steps",
    "create_workflow",
    "default_engine",
    "set_default_engine",
    "specialise",
]
