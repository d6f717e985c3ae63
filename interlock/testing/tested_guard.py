"""What the kit for guards is given: one guard, by itself or in a step, and a text."""

from __future__ import annotations

from typing import cast

from interlock.processors import Processor, ProcessorStep
from interlock.shown import shown
from interlock.steps import Step
from interlock.workflows import Workflow, WorkflowStep

__all__ = ["tested_guard"]


def tested_guard(guard: Processor | ProcessorStep | Step, text: str, *, by: str) -> Processor:
    """The guard itself.

    Args:
        guard: A guard, or a step made of one. How a step has it run (``shadow``, ``timeout``, …) is left out.
        text: What it is tried with.
        by: The function that was called.

    Raises:
        TypeError: It is something else, or the text is none.
    """
    given: object = guard
    if isinstance(given, ProcessorStep):
        given = given.processor
    if not isinstance(given, Processor):
        raise TypeError(f"{by}() takes a guard, or create_step(guard), and not {_told(given)}")
    if not isinstance(cast("object", text), str):
        raise TypeError(f"{by}() takes a text to try guard {given.id!r} with, and not {shown(text)}")
    return given


def _told(given: object) -> str:
    """What was given instead, and what to do about it."""
    if isinstance(given, type):
        return f"the class {given.__name__}: pass an instance, {given.__name__}(…)"
    if isinstance(given, Workflow | WorkflowStep):
        return f"the workflow {given.id!r}: try each of its guards by itself"
    if isinstance(given, Step):
        return f"the {given.kind} step {given.id!r}"
    return shown(given)
