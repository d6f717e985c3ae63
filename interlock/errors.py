"""Every error Interlock raises, as one tree.

::

    InterlockError
    ├── DefinitionError            wrong before anything ran; lists every fault
    ├── RunError                   wrong while running
    │   ├── StepFailed             a step, hook, map or condition raised
    │   ├── InvalidProcessorReturn a hook or step gave back what its phase does not take
    │   ├── MergeConflict          two branches changed one thing differently
    │   ├── StateConflict          two steps wrote one key of the run's state at the same time
    │   ├── AlreadyStarted         one run was started twice
    │   ├── AlreadyResumed         what a resume would answer has been answered
    │   ├── NothingSuspended       a resume names nothing that waits
    │   ├── RunBusy                another process is running the run right now
    │   ├── UnknownRun             a store has no run of that id
    │   ├── GraphChanged           a stored run belongs to another shape of its workflow
    │   ├── UnrecordableValue      a value of a stored run cannot be written to its journal
    │   ├── OutputMismatch         an answer does not fit the output schema it was asked for with
    │   └── RecordedError          what a step raised, as a journal tells of it
    ├── StorageError               a store could not write or read
    │   ├── JournalConflict        somebody else has written to the same run's journal
    │   └── ForeignThread          a thread belongs to another resource than the one that asks for it
    ├── ModelError                 a provider refused, broke off or was not reachable
    ├── ToolError                  a tool raised, or was called with wrong arguments
    └── BlockedError               only from ``result.raise_if_blocked()``

Stopping on purpose is no error: ``ctx.abort()`` raises a signal of :mod:`interlock.verdict`, which the runtime
turns into data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from interlock.verdict import Tripwire

__all__ = [
    "AlreadyResumed",
    "AlreadyStarted",
    "BlockedError",
    "DefinitionError",
    "ForeignThread",
    "GraphChanged",
    "InterlockError",
    "InvalidProcessorReturn",
    "JournalConflict",
    "MergeConflict",
    "ModelError",
    "NothingSuspended",
    "OutputMismatch",
    "RecordedError",
    "RunBusy",
    "RunError",
    "StateConflict",
    "StepFailed",
    "StorageError",
    "ToolError",
    "UnknownRun",
    "UnrecordableValue",
]


class InterlockError(Exception):
    """What every error of this library derives from.

    ``result`` is set on an error that :meth:`Agent.generate` raises: the :class:`AgentResult` up to the failure.
    """

    result: Any = None


class DefinitionError(InterlockError):
    """A workflow, processor, tool or agent that is wrong before it runs.

    Args:
        faults: One sentence each; all that was found, not only the first.
        subject: What was being defined, for the first line.
    """

    def __init__(self, faults: str | Sequence[str], *, subject: str | None = None) -> None:
        self.faults: tuple[str, ...] = (faults,) if isinstance(faults, str) else tuple(faults)
        self.subject = subject
        head = f"{subject}: " if subject else ""
        if len(self.faults) == 1:
            text = head + self.faults[0]
        else:
            text = f"{head}{len(self.faults)} faults" + "".join(f"\n  {n}. {f}" for n, f in enumerate(self.faults, 1))
        super().__init__(text)


class RunError(InterlockError):
    """Something went wrong while a run was under way."""


def _words_of(cause: BaseException) -> str:
    """What an error says; one that cannot be shown must not hide what has failed."""
    try:
        return str(cause)
    except Exception as error:
        return f"(its str() raised {type(error).__name__})"


class StepFailed(RunError):
    """A step raised.

    Args:
        step_id: The step, by its path where it is nested (``outer/inner``).
        cause: What it raised; also ``__cause__``.
        attempt: Which attempt, from 1.
        phase: The lifecycle phase, where the step is a processor's hook.
        iteration: Which time round of the loop, or which item of the list, from 1; None outside of both.
        part: What of the step it was, where that is not its function: ``"its input does not fit"``.
    """

    def __init__(
        self,
        step_id: str,
        cause: BaseException,
        *,
        attempt: int = 1,
        phase: str | None = None,
        iteration: int | None = None,
        part: str | None = None,
    ) -> None:
        self.step_id = step_id
        self.cause = cause
        self.attempt = attempt
        self.phase = phase
        self.iteration = iteration
        self.part = part
        where = f"step {step_id!r}" + (f" in phase {str(phase)!r}" if phase else "")
        which = [f"iteration {iteration}"] if iteration is not None else []
        which += [f"attempt {attempt}"] if attempt > 1 else []
        tried = f" ({', '.join(which)})" if which else ""
        said = cause.text if isinstance(cause, RecordedError) else f"{type(cause).__name__}: {_words_of(cause)}"
        super().__init__(f"{where} failed{tried}: {part + ': ' if part else ''}{said}")
        self.__cause__ = cause


class StateConflict(RunError):
    """Two steps wrote one key of the run's state at the same time, and the key has no reducer.

    It fails the run wherever it happens: no block collects it, and no step is tried again because of it.

    Args:
        key: The key.
        steps: Both steps, by path: the one that wrote first, and the one that may not.
    """

    def __init__(self, key: str, steps: tuple[str, str]) -> None:
        self.key = key
        self.steps = steps
        first, second = steps
        super().__init__(
            f"{first!r} and {second!r} wrote {key!r} of the run's state at the same time: give the key a reducer in "
            "the state_schema (Annotated[list[str], append]), or let one run after the other"
        )


class InvalidProcessorReturn(RunError):
    """A hook, or a step of a workflow of processors, returned what its phase does not take.

    Args:
        processor_id: Who returned it.
        phase: At which phase.
        returned: What came back (shown by its type, never by its content).
        allowed: What the phase takes, in words.
    """

    def __init__(self, processor_id: str, phase: str, returned: object, allowed: str, *, hint: str = "") -> None:
        self.processor_id = processor_id
        self.phase = phase
        self.allowed = allowed
        text = f"{processor_id!r} returned {_type_name(returned)} in phase {phase!r}; allowed there: {allowed}" + (
            f". {hint}" if hint else ""
        )
        super().__init__(text)


class MergeConflict(RunError):
    """Two branches of a parallel block changed one thing in two ways.

    Args:
        what: The thing: a message's part, a setting.
        branches: The steps that disagree.
    """

    def __init__(self, what: str, branches: Sequence[str]) -> None:
        self.what = what
        self.branches = tuple(branches)
        names = " and ".join(repr(b) for b in self.branches)
        super().__init__(
            f"{names} changed {what} in different ways; say who wins with .merge(prefer=…), "
            "or put one after the other with .then()"
        )


class AlreadyStarted(RunError):
    """A run was started a second time; create another with ``workflow.create_run()``."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        super().__init__(
            f"run {run_id!r} has been started already: create another with workflow.create_run(); where it waits, "
            "resume() goes on with it, and where its process has died, workflow.recover()"
        )


class AlreadyResumed(RunError):
    """A suspension was answered a second time; the first answer counts.

    Args:
        run_id: The run.
        what: What was answered.
        running: Whether the run has not stopped again since.
    """

    def __init__(self, run_id: str, what: str, *, running: bool = False) -> None:
        self.run_id = run_id
        hint = ", and the run goes on; if its process has died, workflow.recover() goes on with it" if running else ""
        super().__init__(f"run {run_id!r}: {what} has been resumed already{hint}")


class NothingSuspended(RunError):
    """A resume that names nothing which waits.

    Args:
        run_id: The run.
        why: What was looked for, and what waits.
    """

    def __init__(self, run_id: str, why: str) -> None:
        self.run_id = run_id
        super().__init__(f"run {run_id!r} cannot be resumed: {why}")


class RunBusy(RunError):
    """A stored run is being run elsewhere right now. What waits in it still waits: try again when that has ended."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        super().__init__(
            f"run {run_id!r} is being run elsewhere: resume it once that has ended; if that process died, "
            "recover the run first"
        )


class UnknownRun(RunError):
    """A store has no run of that id."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        super().__init__(f"the store has no run {run_id!r}; store.runs() lists those it has")


class GraphChanged(RunError):
    """A stored run belongs to another shape of its workflow than the one it is to continue with."""

    def __init__(self, run_id: str, workflow_id: str) -> None:
        self.run_id = run_id
        super().__init__(
            f"run {run_id!r} was made by another shape of workflow {workflow_id!r} (its fingerprint differs): continue "
            "it with the old code, or pass allow_changed_graph=True to recover() if what has run still fits"
        )


class UnrecordableValue(RunError):
    """A value of a run with a store cannot be written to the run's journal.

    Args:
        place: Where in the value: ``"the output of 'triage'['ticket'].handle"``.
        why: What is wrong with what is there.
        hint: What to do about it.
    """

    def __init__(self, place: str, why: str, *, hint: str | None = None) -> None:
        self.place = place
        if hint is None:
            hint = (
                "give its class to_json() and from_json(), make it a dataclass or a pydantic model, "
                "or keep it out of the value"
            )
        super().__init__(f"{place} {why}: a journal cannot hold it; {hint}")


class RecordedError(RunError):
    """What a step raised, as the journal of its run tells of it: the error itself does not outlive its process.

    Args:
        type_name: The class it was of.
        message: What it said.
        own: Whether the class is one of these here, whose messages need no class beside them.
        kinds: The class and those it derives from, up to ``Exception``, each with its module.

    Attributes:
        text: Both, as a traceback shows them.
    """

    def __init__(self, type_name: str, message: str, *, own: bool = False, kinds: Sequence[str] = ()) -> None:
        self.type_name = type_name
        self.message = message
        self.own = own
        self.kinds = tuple(kinds)
        self.text = f"{type_name}: {message}" if message else type_name
        super().__init__(message if own else self.text)

    def was(self, kind: type[BaseException]) -> bool:
        """Whether the error was one of this class."""
        return f"{kind.__module__}.{kind.__qualname__}" in self.kinds


class OutputMismatch(RunError):
    """An answer that does not fit the output schema it was asked for with.

    Args:
        schema: What the schema is called.
        faults: What does not fit, each with its place.
    """

    def __init__(self, schema: str, faults: Sequence[str]) -> None:
        self.schema = schema
        self.faults = tuple(faults)
        super().__init__(f"the answer does not fit the output schema {schema!r}: {'; '.join(self.faults)}")


class StorageError(InterlockError):
    """A store could not write or read; ``__cause__`` says why."""


class JournalConflict(StorageError):
    """A journal was written to by somebody else since it was read.

    Args:
        run_id: Whose journal.
        after: The row that was taken for the last one.
        last: The row that is.
    """

    def __init__(self, run_id: str, after: int, last: int) -> None:
        self.run_id = run_id
        self.after = after
        self.last = last
        super().__init__(
            f"the journal of run {run_id!r} ends with row {last}, not {after}: somebody else has written to it, who "
            "recovered, resumed or ended the run"
        )


class ForeignThread(StorageError):
    """A thread belongs to another resource than the one that asks for it. Whose it is, is not told.

    Args:
        thread: The thread.
        resource: Who asks; None: nobody in particular.
    """

    def __init__(self, thread: str, resource: str | None) -> None:
        self.thread = thread
        self.resource = resource
        asks = "an access without a resource" if resource is None else f"resource {resource!r}"
        super().__init__(
            f"thread {thread!r} is not for {asks}: a thread belongs to the resource that its first message was saved "
            "for; name that one with resource=, or take another thread"
        )


def may_pass(status: int) -> bool:
    """Whether what an HTTP status tells of may pass: time-outs, conflicts, limits, faults of the server."""
    return status in (408, 409, 425, 429) or status >= 500


class ModelError(InterlockError):
    """A model call that failed.

    Args:
        message: What happened, in the provider's words where it gave any.
        provider: ``"openai"``, …
        status: The HTTP status, where there was an answer.
        body: The answer's body, as text.
        retryable: Whether the same call may succeed later; None: judged by the status (408, 409, 425, 429 and 5xx may).
        retry_after: Seconds after which the provider wants to be asked again, where it says so.
    """

    def __init__(
        self,
        message: str,
        *,
        provider: str | None = None,
        status: int | None = None,
        body: str | None = None,
        retryable: bool | None = None,
        retry_after: float | None = None,
    ) -> None:
        self.message = message
        self.retry_after = retry_after
        self.provider = provider
        self.status = status
        self.body = body
        if retryable is None:
            retryable = status is not None and may_pass(status)
        self.retryable = retryable
        where = " ".join(x for x in (provider, f"(status {status})" if status is not None else None) if x)
        super().__init__(f"{where}: {message}" if where else message)


class ToolError(InterlockError):
    """A tool call that failed; the model is shown the message and the run goes on.

    Args:
        tool_name: The tool.
        message: What was wrong.
    """

    def __init__(self, tool_name: str, message: str) -> None:
        self.tool_name = tool_name
        super().__init__(f"tool {tool_name!r}: {message}")


class BlockedError(InterlockError):
    """Raised by ``result.raise_if_blocked()``; carries the :class:`~interlock.verdict.Tripwire`."""

    def __init__(self, tripwire: Tripwire) -> None:
        self.tripwire = tripwire
        where = f" in phase {str(tripwire.phase)!r}" if tripwire.phase is not None else ""
        super().__init__(f"blocked by {tripwire.processor_id!r}{where}: {tripwire.reason}")


def _type_name(value: object) -> str:
    if value is None:
        return "None"
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
