"""Where a key of a mapping comes from: ``.map({"key": source, …})``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from interlock.steps import Step, StepContext

__all__ = ["Source"]


class Source(ABC):
    """Reads one value out of a run.

    Attributes:
        label: What a drawing and a fingerprint call it.
        steps: The steps it reads the outputs of.
    """

    label: str
    steps: tuple[Step[Any, Any], ...] = ()

    @abstractmethod
    def read(self, ctx: StepContext[Any]) -> object:
        """The value, at the place of the map that reads it."""
