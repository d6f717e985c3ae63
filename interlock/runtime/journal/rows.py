"""Between the events of a run and the rows of its journal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from interlock.errors import UnrecordableValue
from interlock.storage import JournalRow
from interlock.workflows.events import Event
from interlock.workflows.outcome import Blocked, Completed, Failed, Outcome, Paused

if TYPE_CHECKING:
    from interlock.runtime.journal.values import ValueCodec

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
        if event.type == "workflow-finish":
            return self._last_row(event)
        given = event.data
        data = {name: self._encoded(name, value, event) for name, value in given.items()}
        return JournalRow(event.seq, event.type, event.time, event.path, event.at, data)

    def _last_row(self, event: Event) -> JournalRow:
        """The row of an outcome. One that tells of a failure can always be written, if without the state."""
        outcome = event.outcome
        given = _finish(outcome)
        try:
            data = {name: self._encoded(name, value, event) for name, value in given.items()}
        except UnrecordableValue:
            if not isinstance(outcome, Failed):
                raise
            data = {name: self._encoded(name, value, event) for name, value in given.items() if name != "state"}
        return JournalRow(event.seq, event.type, event.time, event.path, event.at, data)

    def data(self, row: JournalRow) -> dict[str, Any]:
        """What a row tells."""
        return {name: self._codec.decode(value) for name, value in row.data.items()}

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
        return self._codec.encode(value, place=_place(name, event))


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
