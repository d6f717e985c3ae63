"""What a journal tells of a run: how far it came, what each step did, what waits, how it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter, time
from typing import Any, cast

from interlock.errors import InterlockError, StorageError, UnknownRun
from interlock.runtime.entry import Entry, Key
from interlock.runtime.journal.past import Past
from interlock.runtime.journal.rows import RowForm
from interlock.runtime.run_state import Absolute
from interlock.runtime.strand import Operation
from interlock.storage import JournalRow, RunStore
from interlock.verdict import Tripwire
from interlock.workflows.outcome import (
    Blocked,
    Canceled,
    Completed,
    Failed,
    Outcome,
    Paused,
    StepRecord,
    Suspended,
    Suspension,
)

__all__ = ["History", "RunHistory"]


class _StoredPlace(Operation):
    """Stands for the operation that a row tells of."""

    __slots__ = ("kind",)

    def __init__(self, path: str, kind: str) -> None:
        super().__init__(path.rpartition("/")[2], path)
        self.kind = kind


class History:
    """A run as its journal tells it.

    Args:
        run_id: The run.
        rows: Its journal, from the first row on.
        form: How values were made JSON.

    Attributes:
        status: ``"running"`` where it neither ended nor stands still; else that of its last end.
        seq: The number of the last row.
        workflow_id, input, request_context, fingerprint, parent: As the run was started with (the fingerprint: or
            recovered).
        state: The state it began with.
        deltas: What its steps changed of that, in order.
        entries: What each turn did, in the order in which they started.
        answered: The suspensions that have been answered, by token.
        tripwire: What stopped it.
        untouched: Whether nothing of its own has happened in it yet, but that it was begun.
        last_answered: Where it runs because somebody answered: what was answered.
        started_at, updated_at: Seconds since the epoch, of the first and the last row.
    """

    def __init__(self, run_id: str, rows: Sequence[JournalRow], form: RowForm) -> None:
        self.run_id = run_id
        self.status = "running"
        self.seq = 0
        self.workflow_id = ""
        self.input: Any = None
        self.state: Mapping[str, object] = {}
        self.request_context: Mapping[str, object] = {}
        self.fingerprint = ""
        self.parent: Mapping[str, Any] | None = None
        self.deltas: list[tuple[str, object]] = []
        self.entries: list[Entry] = []
        self.answered: dict[str, Suspension] = {}
        self.last_answered: Suspension | None = None
        self.tripwire: Tripwire | None = None
        self.started_at = 0.0
        self.updated_at = 0.0
        self._places: dict[Key, int] = {}
        self._finish: Mapping[str, Any] = {}
        self._form = form
        self.untouched = True
        for row in rows:
            self.take(row)

    @property
    def suspensions(self) -> list[Suspension]:
        """What waits to be resumed."""
        return [
            entry.notes.suspension
            for entry in self._current()
            if entry.status == "suspended" and entry.notes is not None and entry.notes.suspension is not None
        ]

    @property
    def steps(self) -> list[StepRecord]:
        """What each step did, in the order in which they started."""
        return [entry.record() for entry in self.entries]

    def past(self) -> Past:
        """The same for a run that goes on."""
        past = Past(self.entries, self.tripwire)
        for path, at, value in (self.parent or {}).get("given", ()):
            past.given[path, tuple(at)] = value
        return past

    def outcome(self) -> Outcome[Any] | Paused | None:
        """How it ended or why it stands still; None while it is running, or where its process died."""
        told: dict[str, Any] = {
            "run_id": self.run_id,
            "steps": self.steps,
            "checks": [check for entry in self.entries if entry.notes is not None for check in entry.notes.checks],
            "state": self._finish.get("state", {}),
            "duration": float(self._finish.get("duration", 0.0)),
        }
        match self.status:
            case "success":
                return Completed(self._finish.get("output"), **told)
            case "tripwire":
                return Blocked(cast("Tripwire", self._finish.get("tripwire")), **told)
            case "suspended":
                return Suspended(self.suspensions, **told)
            case "failed":
                error: object = self._finish.get("error")
                known = error if isinstance(error, Exception) else InterlockError("the run failed")
                return Failed(known, **told)
            case "canceled":
                return Canceled(**told)
            case "paused":
                return Paused(tuple(cast("Sequence[str]", self._finish.get("next", ()))), **told)
            case _:
                return None

    def take(self, row: JournalRow) -> None:
        """Take in the next row.

        Raises:
            StorageError: It tells of nothing that a journal holds there.
        """
        try:
            if row.seq != self.seq + 1:
                raise ValueError(f"row {self.seq + 1} is expected there")
            self._take(row, self._form.data(row))
        except StorageError as error:
            raise StorageError(f"row {row.seq} of the journal of run {self.run_id!r}: {error}") from error
        except Exception as error:
            raise StorageError(
                f"the journal of run {self.run_id!r} cannot be read: row {getattr(row, 'seq', '?')} "
                f"({getattr(row, 'type', 'no row')}): {type(error).__name__}: {error}"
            ) from error

    def _take(self, row: JournalRow, data: Mapping[str, Any]) -> None:
        if (row.type == "workflow-start") is not (row.seq == 1):
            raise ValueError("a run begins with workflow-start, and only once")
        inherited = 0 if self.parent is None else self.parent.get("rows", 0)
        if row.seq > 1 + inherited and row.type != "workflow-recover":
            self.untouched = False
        self.seq = row.seq
        self.updated_at = row.time
        self.started_at = self.started_at if row.seq > 1 else row.time
        key = (row.path, row.at)
        match row.type:
            case "workflow-start":
                self.workflow_id = data.get("workflow", "")
                self.input = data.get("input")
                self.state = self._mapping(data, "state")
                self.request_context = self._mapping(data, "request_context")
                self.fingerprint = data.get("fingerprint", "")
                self.parent = data.get("parent")
            case "workflow-recover":
                self.status = "running"
                self.last_answered = None
                self.fingerprint = data.get("fingerprint", "")
            case "workflow-resume":
                self.status = "running"
                self._resume(data)
            case "workflow-finish":
                self.status = data["status"]
                self.last_answered = None
                self._finish = data
                for entry in self._current() if self.status == "suspended" else ():
                    if entry.status == "unfinished":  # a block around what waits
                        entry.status = "suspended"
            case "step-start":
                self._start(key, row, data)
            case "step-result":
                self._result(self._entry(key, row), data)
            case "step-suspended":
                self._suspend(self._entry(key, row), data)
            case "step-retry":
                self._retry(self._entry(key, row), data)
            case "branch-chosen":
                self._entry(key, row).noted().chosen = tuple(data["chosen"])
            case "loop-progress":
                answers = self._entry(key, row).noted().answers
                if data["iteration"] > len(answers):
                    answers.append(data["again"])
            case "sleep":
                self._entry(key, row).noted().until = data["until"]
            case "state-changed" if data.get("set"):
                self.deltas += [(name, Absolute(value)) for name, value in data["state"].items()]
            case _:  # what a step wrote, progress, values of the state: for readers only
                pass

    def _current(self) -> list[Entry]:
        """What each turn did; without the attempts that another was made after."""
        return [self.entries[place] for place in self._places.values()]

    def _mapping(self, data: Mapping[str, Any], name: str) -> Mapping[str, object]:
        """A value that has to be a mapping.

        Raises:
            StorageError: It is none.
        """
        found: object = data.get(name) or {}
        if not isinstance(found, Mapping):
            raise StorageError(f"the journal of run {self.run_id!r} is damaged: its {name} is no mapping")
        return cast("Mapping[str, object]", found)

    def _entry(self, key: Key, row: JournalRow) -> Entry:
        """What is known of a turn; a row without a start before it makes one."""
        if key not in self._places:
            self._start(key, row, {})
        return self.entries[self._places[key]]

    def _start(self, key: Key, row: JournalRow, data: Mapping[str, Any]) -> None:
        entry = Entry(_StoredPlace(row.path, data.get("kind", "")), data.get("input"), row.at)
        entry.status = "unfinished"
        entry.began = perf_counter() - (time() - row.time)
        place = self._places.get(key)
        if place is None:
            self._places[key] = len(self.entries)
            self.entries.append(entry)
            return
        entry.notes = self.entries[place].notes
        self.entries[place] = entry

    def _result(self, entry: Entry, data: Mapping[str, Any]) -> None:
        entry.status = data["status"]
        entry.output = data.get("output")
        entry.error = data["error"] if entry.status == "failed" else None
        entry.duration = data.get("duration", 0.0)
        entry.verdict = data.get("verdict")
        self.tripwire = self.tripwire or data.get("tripwire")
        notes = entry.noted()
        notes.attempts = data.get("attempts", notes.attempts)
        notes.checks = list(data.get("checks", ()))
        if data.get("chosen") is not None:
            notes.chosen = tuple(data["chosen"])
        if data.get("state"):
            notes.deltas = [(name, delta) for name, delta in data["state"]]
            self.deltas += notes.deltas

    def _suspend(self, entry: Entry, data: Mapping[str, Any]) -> None:
        entry.status = "suspended"
        entry.noted().suspension = Suspension(
            entry.op.step_id, entry.op.path, data.get("label"), data.get("payload"), data["token"], data.get("index")
        )

    def _resume(self, data: Mapping[str, Any]) -> None:
        for entry in self._current():
            notes = entry.notes
            if notes is not None and notes.suspension is not None and notes.suspension.token == data["token"]:
                self.answered[data["token"]] = self.last_answered = notes.suspension
                notes.suspension = None
                notes.resume_data = data.get("resume_data")
                entry.status = "unfinished"

    def _retry(self, entry: Entry, data: Mapping[str, Any]) -> None:
        entry.noted().attempts = data["attempt"] + 1
        entry.error = data.get("error")
        path, at = entry.op.path, entry.at
        for key in [k for k in self._places if k[0].startswith(f"{path}/") and k[1][: len(at)] == at]:
            self.entries[self._places.pop(key)].noted().stale = True


class RunHistory:
    """Reading runs back from a store.

    Args:
        store: The store.
        form: How values were made JSON.
    """

    def __init__(self, store: RunStore, form: RowForm) -> None:
        self._store = store
        self._form = form

    async def read(self, run_id: str) -> History:
        """A run.

        Raises:
            UnknownRun: The store has none of that id.
            StorageError: The store failed, or its rows tell of no run.
        """
        rows = await self.rows(run_id)
        return History(run_id, rows, self._form)

    async def rows(self, run_id: str) -> Sequence[JournalRow]:
        """The rows of a run.

        Raises:
            UnknownRun: The store has none of that id.
            StorageError: The store failed.
        """
        try:
            rows = list(await self._store.read(run_id))
        except StorageError:
            raise
        except Exception as error:
            raise StorageError(f"the store failed to read the journal of run {run_id!r}: {error}") from error
        if not rows:
            raise UnknownRun(run_id)
        return rows
