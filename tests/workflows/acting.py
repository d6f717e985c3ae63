"""Steps that act at some points of an agent's run, and values that join their forks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from interlock.steps import Step
from interlock.verdict import Phase


class Forked:
    """A value that knows how to join its forks, as the contexts of processors do."""

    def merge_forks(self, forks: Mapping[str, Self], prefer: str | None = None) -> Self:
        del forks, prefer
        return self


class OtherForked(Forked):
    """Another of that kind."""


class ActingStep(Step[Any, Any]):
    """A step that acts at the phases it is given."""

    kind: ClassVar[str] = "processor"

    def __init__(self, id: str, *phases: Phase, schema: object = Forked) -> None:  # noqa: A002
        super().__init__(id, subject=object(), input_schema=schema, output_schema=schema)
        self.phases = frozenset(phases)

    def acts_in(self, phase: Phase) -> bool:
        """Whether it was made to."""
        return self.phases is not None and phase in self.phases
