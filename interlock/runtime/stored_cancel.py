"""Ending a stored run from outside of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import time
from typing import Any, Final, Literal, cast

from interlock.errors import JournalConflict, RunError, StorageError, UnknownRun
from interlock.storage import JournalRow, RunStore, has_ended, summed_up

__all__ = ["CancelResult", "cancel_run"]

CancelResult = Literal["canceled", "asked", "ended"]
"""``"canceled"``: the run has ended now; ``"asked"``: it is running, and ends when it next writes to its journal;
``"ended"``: it had ended before."""

_STANDS: Final = ("suspended", "paused")
_WENT_ON: Final = ("workflow-resume", "workflow-recover")


async def cancel_run(store: RunStore, run_id: str, *, force: bool = False) -> CancelResult:
    """Cancel a stored run, whoever started it.

    A run that waits to be resumed ends at once: its end is written where nobody else has written since, so of a
    cancel and a resume at the same time one wins. One that is running is asked to end. Whether its process died
    meanwhile, a journal cannot tell: such a run ends when it is recovered, or now, with ``force``.

    It ends an agent's run that waits for an answer, too. One that somebody goes on with hears nothing from its store.

    Args:
        store: The store that has it.
        run_id: The run.
        force: End it at once also where it seems to be running, because its process died. If that lives after all,
            its next write to the journal fails, and with it the run there.

    Raises:
        UnknownRun: The store has no such run.
        RunError: It is an agent's, and it is running: ``cancel()`` its stream, or end it with ``force``.
        StorageError: It could not be read or written, or what is kept of it is damaged.

    Example:
        >>> import anyio
        >>> from interlock import StepContext, create_workflow, step
        >>> from interlock.runtime import MemoryRunStore
        >>> @step
        ... def ask(ctx: StepContext[str]) -> str:
        ...     ctx.suspend("may I?")
        >>> async def main() -> None:
        ...     store = MemoryRunStore()
        ...     run = create_workflow(id="asks", input_schema=str).then(ask).commit().create_run(store=store)
        ...     await run.start("hello")
        ...     print(await cancel_run(store, run.run_id), await cancel_run(store, run.run_id))
        >>> anyio.run(main)
        canceled ended
    """
    asked = False
    refused: JournalConflict | None = None
    while True:
        rows = await store.read(run_id)
        if not rows:
            raise UnknownRun(run_id)
        _check(run_id, rows)
        if refused is not None and refused.after == len(rows):
            raise StorageError(
                f"the journal of run {run_id!r} is damaged: it has {len(rows)} rows, and the store says that row "
                f"{refused.last} is the last"
            ) from refused
        status = summed_up(run_id, rows).status
        if has_ended(status):
            return "canceled" if asked and status == "canceled" else "ended"
        if force or status in _STANDS:
            try:
                await store.append(run_id, len(rows), _ending(rows))
            except JournalConflict as conflict:
                refused = conflict
                continue  # somebody was quicker; what it did shows when the journal is read again
            return "canceled"
        if _of_agent(rows):
            raise RunError(
                f"run {run_id!r} is an agent's that somebody goes on with: cancel() the stream there; where its "
                "process has died, pass force=True"
            )
        if asked:
            return "asked"
        await store.ask_to_cancel(run_id)
        asked = True  # it may have come to stand still before it could see that: look once more


def _check(run_id: str, rows: Sequence[JournalRow]) -> None:
    """Refuse a journal that tells of no run, or of a part of one.

    Raises:
        StorageError: It is one.
    """
    for number, row in enumerate(rows, 1):
        fault = _fault(number, row, of_agent=_of_agent(rows))
        if fault is not None:
            raise StorageError(f"the journal of run {run_id!r} cannot be read: row {row.seq} ({row.type}): {fault}")


def _of_agent(rows: Sequence[JournalRow]) -> bool:
    return rows[0].type == "agent-suspend"


def _fault(number: int, row: JournalRow, *, of_agent: bool) -> str | None:
    if row.seq != number:
        return f"row {number} is expected there"
    if of_agent:
        if not row.type.startswith("agent-"):
            return "it is none of an agent's run"
    elif (row.type == "workflow-start") is not (number == 1):
        return "a run begins with workflow-start, and only once"
    if not isinstance(cast("object", row.data), Mapping):
        return "its data is no mapping"
    if row.type != "step-result" and not isinstance(row.data.get("state") or {}, Mapping):
        return "its state is no mapping"
    if row.type == "workflow-finish" and not isinstance(row.data.get("duration", 0.0), int | float):
        return "its duration is no number"
    return None


def _ending(rows: Sequence[JournalRow]) -> list[JournalRow]:
    """The rows that end a run: one for each step that has begun and not ended, the inner ones first, and the last."""
    last, now = rows[-1], time()
    seq = len(rows)
    if _of_agent(rows):
        return [JournalRow(seq + 1, "agent-finish", now, data={"status": "canceled"})]
    made: list[JournalRow] = []
    for row, until in reversed(_begun(rows)):
        seq += 1
        data = {"status": "canceled", "duration": max(until - row.time, 0.0)}
        made.append(JournalRow(seq, "step-result", now, row.path, row.at, data))
    if last.type == "workflow-finish":  # it stands still, and has told of itself
        duration = float(last.data.get("duration", 0.0))
        state = cast("Mapping[str, Any]", last.data.get("state") or {})
    else:
        went_on = next(row for row in reversed(rows) if row.type in _WENT_ON or row is rows[0])
        duration = max(last.time - went_on.time, 0.0)
        state = _state(rows)
    data = {"status": "canceled", "duration": duration, "state": state}
    return [*made, JournalRow(seq + 1, "workflow-finish", now, data=data)]


def _begun(rows: Sequence[JournalRow]) -> list[tuple[JournalRow, float]]:
    """What has begun and not ended: the row it began with, and until when it is known to have run."""
    begun: dict[tuple[str, tuple[int, ...]], tuple[JournalRow, float]] = {}
    for row in rows:
        key = (row.path, row.at)
        match row.type:
            case "step-start":
                begun.pop(key, None)
                begun[key] = row, rows[-1].time
            case "step-suspended" if key in begun:
                begun[key] = begun[key][0], row.time
            case "step-result":
                begun.pop(key, None)
            case _:
                pass
    return list(begun.values())


def _state(rows: Sequence[JournalRow]) -> Mapping[str, Any]:
    """What has become of the keys of the run's state."""
    state: dict[str, Any] = {}
    for row in rows:
        if row.type in ("workflow-start", "state-changed"):
            state.update(cast("Mapping[str, Any]", row.data.get("state") or {}))
    return state
