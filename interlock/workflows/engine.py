"""The one thing a workflow asks of whatever runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from interlock.context import RequestContext
from interlock.errors import DefinitionError
from interlock.workflows.outcome import Outcome

if TYPE_CHECKING:
    from interlock.workflows.workflow import Workflow

__all__ = ["Engine", "WorkflowRun", "default_engine", "set_default_engine"]

I_contra = TypeVar("I_contra", contravariant=True)
O_co = TypeVar("O_co", covariant=True)


class WorkflowRun(Protocol[I_contra, O_co]):
    """One run of one workflow. It is started once."""

    @property
    def run_id(self) -> str:
        """The run's id."""
        ...

    async def start(self, value: I_contra, /, *, request_context: RequestContext | None = None) -> Outcome[O_co]:
        """Run it to its end.

        Args:
            value: The workflow's input.
            request_context: What steps may read.

        Raises:
            pydantic.ValidationError: The input does not fit the workflow's schema.
            AlreadyStarted: It was started before.
        """
        ...

    def cancel(self) -> None:
        """Stop it; the outcome is ``Canceled``. Does nothing once it has ended."""
        ...


class Engine(Protocol):
    """What runs workflows: the library's own, or an adapter to another."""

    def create_run(self, workflow: Workflow[Any, Any], run_id: str | None = None) -> WorkflowRun[Any, Any]:
        """A run that has not started."""
        ...


_default: list[Engine] = []


def set_default_engine(engine: Engine) -> None:
    """Say which engine runs a workflow that names none. The library's runtime does so when it is imported."""
    _default[:] = [engine]


def default_engine() -> Engine:
    """The engine set last.

    Raises:
        DefinitionError: There is none (the runtime has not been imported).
    """
    if not _default:
        raise DefinitionError("no engine is set: import interlock, or call set_default_engine(…)")
    return _default[0]
