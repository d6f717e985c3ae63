"""What a step is: one unit of a workflow, with an id and a schema for what goes in and what comes out."""

from __future__ import annotations

import copy
import inspect
import sys
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar, Generic, Self, TypeGuard

from typing_extensions import TypeVar

from interlock.schema import UNSET, schema_name
from interlock.shown import shown
from interlock.steps.context import StepContext
from interlock.steps.retry import RetryPolicy
from interlock.verdict import Phase

__all__ = ["FunctionStep", "Step", "SupportsStep", "fault_in_timeout", "supports_step"]

I_contra = TypeVar("I_contra", contravariant=True, default=Any)
O_co = TypeVar("O_co", covariant=True, default=Any)


class SupportsStep(ABC, Generic[I_contra, O_co]):
    """Anything that can stand in a workflow: a step, a processor, a workflow.

    Type parameters: what it takes, what it gives; without them, anything.
    """

    @abstractmethod
    def as_step(self) -> Step[I_contra, O_co]:
        """The step that stands for this object, always the same one."""


def supports_step(x: object) -> TypeGuard[SupportsStep]:
    """Whether something can stand in a workflow. ``isinstance`` would leave type checkers without type parameters."""
    return isinstance(x, SupportsStep)


class Step(SupportsStep[I_contra, O_co]):
    """One unit of a workflow. Steps compare by identity and can be keys.

    Attributes:
        id: Unique in its workflow.
        kind: What it is made of: ``"function"``, ``"processor"``, ``"workflow"``, ``"agent"``, ``"tool"``.
        input_schema, output_schema: Types; ``UNSET`` where none was given.
        description: For people.
        metadata: For whoever draws or lists workflows.
        subject: What it was made of.
        retry: How often it is tried again; None: as its workflow says.
        timeout: Seconds that one attempt may take; None: any number.
        blocking: Whether its function runs in a worker thread.
        state_schema: How it sees the run's state; ``UNSET``: as its workflow does.
        resume_schema: The type of what it is resumed with.
        suspend_schema: The type of what it shows when it waits.
        phases: The points of an agent's run at which it acts, in a workflow of processors; None: all.
    """

    kind: ClassVar[str]
    retry: RetryPolicy | None = None
    timeout: float | None = None
    blocking: bool = False
    state_schema: object = UNSET
    resume_schema: object = UNSET
    suspend_schema: object = UNSET
    phases: frozenset[Phase] | None = None

    def __init__(
        self,
        id: str,  # noqa: A002
        *,
        subject: object,
        input_schema: object = UNSET,
        output_schema: object = UNSET,
        description: str | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> None:
        self.id = id
        self.subject = subject
        self.input_schema = input_schema
        self.output_schema = output_schema
        self.description = description
        self.metadata: Mapping[str, object] = metadata or {}

    def as_step(self) -> Step[I_contra, O_co]:
        return self

    def acts_in(self, phase: Phase) -> bool:
        """Whether it does anything at that point of an agent's run, when its workflow stands in an agent."""
        return self.phases is None or phase in self.phases

    def faults(self) -> list[str]:
        """What is wrong with it as it was altered, in sentences."""
        return []

    @property
    def renaming(self) -> str:
        """How one like it is given another id, in code."""
        return 'create_step(x, id="…")'

    def altered(self, **changes: object) -> Self:
        """A second step of the same make with other attributes (``id=…``)."""
        made = copy.copy(self)
        for name, value in changes.items():
            setattr(made, name, value)
        return made

    def __repr__(self) -> str:
        return (
            f"<Step {self.id!r} ({self.kind}): {schema_name(self.input_schema)} -> {schema_name(self.output_schema)}>"
        )


def fault_in_timeout(timeout: object) -> str | None:
    """Why something is no time-out, in a sentence; None where it is one, or None."""
    if timeout is None:
        return None
    if isinstance(timeout, int | float) and not isinstance(timeout, bool) and 0 < timeout <= sys.float_info.max:
        return None
    return f"timeout: a number of seconds above 0 is wanted, not {shown(timeout)}"


class FunctionStep(Step[I_contra, O_co]):
    """A step made of a function that takes a :class:`StepContext`; ``def`` or ``async def``.

    Attributes:
        function: The function.
    """

    kind: ClassVar[str] = "function"

    def __init__(
        self,
        id: str,  # noqa: A002
        function: Callable[[StepContext[I_contra]], O_co | Awaitable[O_co]],
        *,
        input_schema: object = UNSET,
        output_schema: object = UNSET,
        description: str | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(
            id,
            subject=function,
            input_schema=input_schema,
            output_schema=output_schema,
            description=description,
            metadata=metadata,
        )
        self.function = function

    @property
    def is_async(self) -> bool:
        """Whether the function is a coroutine function."""
        function: object = self.function
        return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004  (an object with an async __call__)
        )

    def __call__(self, ctx: StepContext[I_contra]) -> O_co | Awaitable[O_co]:
        """The function itself, for calling it in a test of its own."""
        return self.function(ctx)
