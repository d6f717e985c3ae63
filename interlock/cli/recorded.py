"""A run as its journal has it, without the workflow's code: its values stay the JSON that was recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, cast

from interlock.cli.ending import WrongCall
from interlock.errors import StepFailed
from interlock.runtime.journal.history import History, RunHistory
from interlock.runtime.journal.rows import RowForm
from interlock.runtime.journal.values import ValueCodec
from interlock.storage import JournalRow, RunStore
from interlock.verdict import Tripwire

__all__ = ["RecordedForm", "output_of", "plain", "recorded", "what_failed"]

_VALUES: Final = frozenset({"input", "output", "payload", "resume_data", "value", "parent", "request_context", "state"})
"""What in a row is the workflow's own, whose classes may be known to its code alone."""


class RecordedForm(RowForm):
    """How rows are read where the workflow's classes are not at hand: only what is the library's own is made anew."""

    def __init__(self) -> None:
        super().__init__(ValueCodec())

    def data(self, row: JournalRow) -> dict[str, Any]:
        """What a row tells."""
        kept = {name: value for name, value in row.data.items() if name in _VALUES}
        own = {name: value for name, value in row.data.items() if name not in _VALUES}
        if row.type == "step-result":
            kept.pop("state", None)  # what a step changed: for a run that goes on
        told = {**kept, **super().data(replace(row, data={**own, **_bare(own)}))}
        if isinstance(told.get("tripwire"), Tripwire):
            told["tripwire"] = replace(told["tripwire"], metadata=own["tripwire"]["fields"].get("metadata"))
        return told


def _bare(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """A tripwire without its metadata, which are the workflow's."""
    told = data.get("tripwire")
    if not isinstance(told, Mapping):
        return {}
    tripwire = cast("Mapping[str, Any]", told)
    return {"tripwire": {**tripwire, "fields": {**tripwire["fields"], "metadata": None}}}


async def recorded(store: RunStore, run_id: str) -> History:
    """What the journal tells of a run.

    Raises:
        UnknownRun: There is none of that id.
        WrongCall: It is an agent's, which is no workflow's.
    """
    rows = await store.read(run_id)
    if rows and rows[0].type == "agent-suspend":
        agent = rows[0].data.get("agent")
        raise WrongCall(
            f"run {run_id!r} is one of agent {agent!r}: interlock runs list says how it stands, and in a program "
            f"agent.resume({run_id!r}, approve=True) goes on with it"
        )
    return await RunHistory(store, RecordedForm()).read(run_id)


def output_of(history: History) -> Mapping[str, object]:
    """What the run gave, under ``"output"``; nothing where it did not come to its end."""
    outcome = history.outcome()
    return {"output": outcome.output} if outcome is not None and outcome.status == "success" else {}


def plain(value: Any) -> Any:
    """A recorded value without what says of which class it was: easier to read, and not to be read back.

    Example:
        >>> plain({"$": "object", "class": "shop:Order", "fields": {"lines": {"$": "tuple", "v": [1, 2]}}})
        {'lines': [1, 2]}
    """
    if isinstance(value, list):
        return [plain(item) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    told = cast("dict[str, Any]", value)
    for part in ("fields", "v") if "$" in told else ():
        if part in told:
            return plain(told[part])
    return {name: plain(item) for name, item in told.items()}


def what_failed(error: BaseException, path: str = "") -> str:
    """An error as it is told beside a step, whose name need not be said again.

    Example:
        >>> what_failed(StepFailed("pay", ValueError("no money")), "pay")
        'ValueError: no money'
        >>> what_failed(StepFailed("pay", ValueError("no money")), "parallel")
        "step 'pay' failed: ValueError: no money"
    """
    if isinstance(error, StepFailed):
        return what_failed(error.cause) if error.step_id == path else str(error)
    told = str(error)
    name = type(error).__name__
    return told if name == "RecordedError" else f"{name}: {told}" if told else name
