"""Between the events of a run and the rows of its journal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from interlock.errors import RecordedError, StepFailed, UnrecordableValue
from interlock.runtime.journal.values import ValueCodec
from interlock.storage import JournalRow
from interlock.workflows.events import Event
from interlock.workflows.outcome import Blocked, Completed, Failed, Outcome, Paused

__all__ = ["RowForm"]


class RowForm:
    """How what an event tells becomes JSON, and back.

    Args:
        codec: How values do.
    """

    def __init__(self, codec: ValueCodec) -> None:
        self._codec = codec

    def row(self, event: Event) -> JournalRow:
        """An event as a row.

        Raises:
            UnrecordableValue: It holds what cannot be recorded.
        """
        given: Mapping[str, Any] = _finish(event.outcome) if event.type == "workflow-finish" else event.data
        data = {name: self._encoded(name, value, event) for name, value in given.items()}
        return JournalRow(event.seq, event.type, event.time, event.path, event.at, data)

    def data(self, row: JournalRow) -> dict[str, Any]:
        """What a row tells."""
        return {name: self._decoded(name, value) for name, value in row.data.items()}

    def values(self, values: Mapping[str, object]) -> dict[str, Any]:
        """Values as a row's data."""
        return {name: self._codec.encode(value, place=f"{name!r}") for name, value in values.items()}

    def request_context(self, values: Mapping[str, object]) -> dict[str, object]:
        """What of a caller's values can be recorded; the rest is left out."""
        kept: dict[str, object] = {}
        for name, value in values.items():
            try:
                self._codec.encode(value)
            except UnrecordableValue:
                continue
            kept[name] = value
        return kept

    def _encoded(self, name: str, value: Any, event: Event) -> Any:
        if name == "error" and isinstance(value, BaseException):
            return _error_json(value)
        return self._codec.encode(value, place=_place(name, event))

    def _decoded(self, name: str, value: Any) -> Any:
        if name == "error" and isinstance(value, Mapping):
            return _error(cast("Mapping[str, Any]", value))
        return self._codec.decode(value)


def _place(name: str, event: Event) -> str:
    """What a value is, for the error that says it cannot be recorded."""
    words = {"resume_data": "answer", "value": f"{event.data.get('name')!r} written by"}
    said = words.get(name, name.replace("_", " "))
    if not event.path:
        return f"the {said} of the run"
    return f"the {said} {'' if name == 'value' else 'of '}{event.path!r}"


def _finish(outcome: Outcome[Any] | Paused) -> dict[str, Any]:
    told: dict[str, Any] = {"status": outcome.status, "duration": outcome.duration, "state": outcome.state}
    match outcome:
        case Completed(output=output):
            told["output"] = output
        case Blocked(tripwire=tripwire):
            told["tripwire"] = tripwire
        case Failed(error=error):
            told["error"] = error
        case Paused(next=ready):
            told["next"] = list(ready)
        case _:
            pass
    return told


def _error_json(error: BaseException) -> dict[str, Any]:
    if isinstance(error, StepFailed):
        return {
            "step": error.step_id,
            "attempt": error.attempt,
            "phase": None if error.phase is None else str(error.phase),
            "cause": _error_json(error.cause),
        }
    if isinstance(error, RecordedError):
        return {"type": error.type_name, "message": error.message}
    return {"type": type(error).__name__, "message": str(error)}


def _error(told: Mapping[str, Any]) -> Exception:
    if "step" in told:
        return StepFailed(told["step"], _error(told["cause"]), attempt=told["attempt"], phase=told["phase"])
    return RecordedError(told["type"], told["message"])
