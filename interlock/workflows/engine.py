"""What a workflow asks of whatever runs it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, overload

from interlock.errors import DefinitionError
from interlock.storage import RunStore
from interlock.workflows.events import Event
from interlock.workflows.outcome import Outcome, Paused

if TYPE_CHECKING:
    from interlock.workflows.workflow import Workflow

__all__ = ["Engine", "EventStream", "WorkflowRun", "default_engine", "set_default_engine", "set_default_engine_maker"]

I_contra = TypeVar("I_contra", contravariant=True)
O_co = TypeVar("O_co", covariant=True)


class EventStream(Protocol[O_co]):
    """A run's events as they come, the last of which is ``workflow-finish``."""

    def __aiter__(self) -> AsyncIterator[Event]: ...

    async def __anext__(self) -> Event: ...

    async def outcome(self) -> Outcome[O_co]:
        """Wait for the run's end, and say how it ended; events that nobody has read are dropped."""
        ...


class WorkflowRun(Protocol[I_contra, O_co]):
    """One run of one workflow. It is started once, and resumed as often as it suspends."""

    @property
    def run_id(self) -> str:
        """The run's id."""
        ...

    @overload
    async def start(
        self,
        value: I_contra,
        /,
        *,
        state: object = None,
        request_context: Mapping[str, object] | None = None,
        pause: Literal[False] = False,
    ) -> Outcome[O_co]: ...
    @overload
    async def start(
        self,
        value: I_contra,
        /,
        *,
        state: object = None,
        request_context: Mapping[str, object] | None = None,
        pause: bool,
    ) -> Outcome[O_co] | Paused: ...
    async def start(
        self,
        value: I_contra,
        /,
        *,
        state: object = None,
        request_context: Mapping[str, object] | None = None,
        pause: bool = False,
    ) -> Outcome[O_co] | Paused:
        """Run it to its end.

        Args:
            value: The workflow's input.
            state: Where the run's state begins: a mapping, or an instance of the ``state_schema``.
            request_context: What steps may read.
            pause: Stop before the first step; :meth:`next` takes one step at a time.

        Raises:
            pydantic.ValidationError: The input or the state does not fit the workflow's schema.
            AlreadyStarted: It was started before, here or in its store.
        """
        ...

    def stream(
        self, value: I_contra, /, *, state: object = None, request_context: Mapping[str, object] | None = None
    ) -> AbstractAsyncContextManager[EventStream[O_co]]:
        """Run it and read its events along: ``async with run.stream(x) as events: async for event in events: …``.

        Leaving the ``with`` early cancels the run. A slow reader slows the run. Args and errors are those of
        :meth:`start`.
        """
        ...

    async def resume(
        self,
        data: object = None,
        /,
        *,
        step: object = None,
        label: str | None = None,
        token: str | None = None,
        index: int | None = None,
        request_context: Mapping[str, object] | None = None,
    ) -> Outcome[O_co]:
        """Answer a step that waits, and run on to the end or the next suspension.

        Args:
            data: The answer: the step's ``ctx.resume_data``.
            step: Which step, by itself, its id or its path; needed where several wait and neither label nor token is
                given.
            label: Which, by the label it gave.
            token: Which, by the suspension's token.
            index: Which item of a ``foreach``, from 0.
            request_context: What steps may read from now on; default: as before.

        Raises:
            NothingSuspended: Nothing waits that fits, or several do.
            AlreadyResumed: It was answered already.
            pydantic.ValidationError: The data does not fit the step's ``resume_schema``; the run still waits.
            UnknownRun: The store has no such run.
            GraphChanged: The workflow's shape is another than the stored run's.
            RunBusy: Another process is running it right now.
        """
        ...

    def resume_stream(
        self,
        data: object = None,
        /,
        *,
        step: object = None,
        label: str | None = None,
        token: str | None = None,
        index: int | None = None,
        request_context: Mapping[str, object] | None = None,
    ) -> AbstractAsyncContextManager[EventStream[O_co]]:
        """:meth:`resume`, read along as in :meth:`stream`. Args and errors are those of :meth:`resume`."""
        ...

    async def next(self) -> Outcome[O_co] | Paused:
        """Of a run started with ``pause=True``: take one step.

        Raises:
            RunError: It does not stand before a step.
            RunBusy: Somebody else takes it right now.
        """
        ...

    def cancel(self) -> None:
        """Stop it; the outcome is ``Canceled``. Does nothing once it has ended."""
        ...


class Engine(Protocol):
    """What runs workflows: the library's own, or an adapter to another."""

    def create_run(
        self, workflow: Workflow[Any, Any], run_id: str | None = None, *, store: RunStore | None = None
    ) -> WorkflowRun[Any, Any]:
        """A run that has not started, or that the store has."""
        ...

    async def recover(
        self,
        workflow: Workflow[Any, Any],
        run_id: str,
        *,
        store: RunStore,
        allow_changed_graph: bool = False,
        request_context: Mapping[str, object] | None = None,
    ) -> Outcome[Any]:
        """Go on with a stored run that did not come to its end."""
        ...

    async def time_travel(
        self,
        workflow: Workflow[Any, Any],
        run_id: str,
        step: object,
        *,
        store: RunStore,
        new_run_id: str | None = None,
        value: object,
        state: object = None,
        request_context: Mapping[str, object] | None = None,
        allow_changed_graph: bool = False,
    ) -> Outcome[Any]:
        """Run a stored run anew from one of its steps on, as a run of its own."""
        ...


_default: list[Engine] = []
_maker: list[Callable[[], Engine]] = []


def set_default_engine(engine: Engine) -> None:
    """Say which engine runs a workflow that names none."""
    _default[:] = [engine]


def set_default_engine_maker(make: Callable[[], Engine]) -> None:
    """Say what makes the default engine when it is first asked for. The library's runtime does so on import."""
    _maker[:] = [make]


def default_engine() -> Engine:
    """The engine set last.

    Raises:
        DefinitionError: There is none (the runtime has not been imported).
    """
    if _default:
        return _default[0]
    if _maker:
        _default.append(_maker[0]())
    if not _default:
        raise DefinitionError("no engine is set: import interlock, or call set_default_engine(…)")
    return _default[0]
