"""What a step is. Knows nothing of messages, models or agents."""

from interlock.steps.context import StepContext, StepRun
from interlock.steps.create import create_step, step
from interlock.steps.step import FunctionStep, Step, SupportsStep

__all__ = ["FunctionStep", "Step", "StepContext", "StepRun", "SupportsStep", "create_step", "step"]
