"""What a step is. Knows nothing of messages, agents or workflows."""

from interlock.steps.context import RunHost, StepContext, StepRun, Turn, TurnNotes
from interlock.steps.create import StepOptions, create_step, step
from interlock.steps.retry import RetryPolicy
from interlock.steps.step import FunctionStep, Step, SupportsStep, supports_step

__all__ = [
    "FunctionStep",
    "RetryPolicy",
    "RunHost",
    "Step",
    "StepContext",
    "StepOptions",
    "StepRun",
    "SupportsStep",
    "Turn",
    "TurnNotes",
    "create_step",
    "step",
    "supports_step",
]
