"""The checks of a store of runs: who keeps the rules passes, and each way to break one is found by its check."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import anyio.lowlevel
import pytest

from interlock.errors import JournalConflict
from interlock.storage import JournalRow, MemoryRunStore, RunStore, RunSummary
from interlock.testing import run_store_checks, run_store_conformance
from interlock.testing.run_stores import RunStoreCheck

CHECKS = {check.__name__: check for check in run_store_checks}

Rows = Sequence[JournalRow]


class AsksAnybody(MemoryRunStore):
    async def ask_to_cancel(self, run_id: str) -> bool:
        await super().ask_to_cancel(run_id)
        return True


class DeletesWhatIsNotThere(MemoryRunStore):
    async def delete(self, run_id: str) -> bool:
        return await super().delete(run_id) or run_id == "nobody"


class HasNoUnknownRuns(MemoryRunStore):
    async def read(self, run_id: str, *, after: int = 0) -> Rows:
        rows = await super().read(run_id, after=after)
        if not rows and not after:
            raise KeyError(run_id)
        return rows


class KeepsTheNumbersGiven(MemoryRunStore):
    async def read(self, run_id: str, *, after: int = 0) -> Rows:
        return [replace(row, seq=7) for row in await super().read(run_id, after=after)]


class ReadsOneRowTooMany(MemoryRunStore):
    async def read(self, run_id: str, *, after: int = 0) -> Rows:
        return await super().read(run_id, after=after - 1)


class ReadsAll(MemoryRunStore):
    async def read(self, run_id: str, *, after: int = 0) -> Rows:
        return await super().read(run_id)


class LosesThePath(MemoryRunStore):
    async def read(self, run_id: str, *, after: int = 0) -> Rows:
        return [replace(row, path="") for row in await super().read(run_id, after=after)]


class RoundsTimes(MemoryRunStore):
    async def read(self, run_id: str, *, after: int = 0) -> Rows:
        return [replace(row, time=round(row.time, 3)) for row in await super().read(run_id, after=after)]


class GivesIterationsAsAList(MemoryRunStore):
    async def read(self, run_id: str, *, after: int = 0) -> Rows:
        return [replace(row, at=list(row.at)) for row in await super().read(run_id, after=after)]  # type: ignore[arg-type]


def changes_values(change: Callable[[Any], Any]) -> type[MemoryRunStore]:
    def changed(value: Any) -> Any:
        if isinstance(value, dict):
            return change({key: changed(item) for key, item in cast("dict[str, Any]", value).items()})
        return change([changed(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value)

    class ChangesValues(MemoryRunStore):
        async def read(self, run_id: str, *, after: int = 0) -> Rows:
            return [replace(row, data=changed(dict(row.data))) for row in await super().read(run_id, after=after)]

    return ChangesValues


def sorted_keys(value: Any) -> Any:
    return dict(sorted(cast("dict[str, Any]", value).items())) if isinstance(value, dict) else cast("object", value)


def floats_for_large_integers(value: Any) -> Any:
    return float(value) if type(value) is int and abs(value) > 2**53 else value


def nulls_away(value: Any) -> Any:
    return value.replace("\0", "") if isinstance(value, str) else value


def whole_floats_as_integers(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def shortened(value: Any) -> Any:
    return value[:65_536] if isinstance(value, str) else value


def empty_as_none(value: Any) -> Any:
    return None if value == {} else value


class KeepsWhatItIsGiven(MemoryRunStore):
    """Rows are shared with whoever appended them; what is read is a copy."""

    def __init__(self) -> None:
        super().__init__()
        self.given: dict[str, list[Mapping[str, Any]]] = {}

    async def append(self, run_id: str, after: int, rows: Rows) -> bool:
        told = await super().append(run_id, after, rows)
        self.given.setdefault(run_id, []).extend(row.data for row in rows)
        return told

    async def read(self, run_id: str, *, after: int = 0) -> Rows:
        rows = await super().read(run_id, after=after)
        return [replace(row, data=json.loads(json.dumps(self.given[run_id][row.seq - 1]))) for row in rows]


class GivesWhatItKeeps(MemoryRunStore):
    """What is read is shared by all readers."""

    def __init__(self) -> None:
        super().__init__()
        self.read_before: dict[tuple[str, int], JournalRow] = {}

    async def read(self, run_id: str, *, after: int = 0) -> Rows:
        rows = await super().read(run_id, after=after)
        return [self.read_before.setdefault((run_id, row.seq), row) for row in rows]


class TakesAnyPlaceForTheLast(MemoryRunStore):
    async def append(self, run_id: str, after: int, rows: Rows) -> bool:
        return await super().append(run_id, len(await super().read(run_id)), rows)


class TakesLaterPlacesForTheLast(MemoryRunStore):
    async def append(self, run_id: str, after: int, rows: Rows) -> bool:
        return await super().append(run_id, min(after, len(await super().read(run_id))), rows)


class SaysLittleOfConflicts(MemoryRunStore):
    async def append(self, run_id: str, after: int, rows: Rows) -> bool:
        try:
            return await super().append(run_id, after, rows)
        except JournalConflict:
            raise JournalConflict(run_id, after, after) from None


class AppendsRowByRow(MemoryRunStore):
    async def append(self, run_id: str, after: int, rows: Rows) -> bool:
        if not rows:
            raise ValueError("no rows")
        told = False
        for number, row in enumerate(rows):
            told = await super().append(run_id, after + number, [row])
            for _ in range(3):
                await anyio.lowlevel.checkpoint()
        return told


class AppendsNothing(MemoryRunStore):
    async def append(self, run_id: str, after: int, rows: Rows) -> bool:
        return bool(rows) and await super().append(run_id, after, rows)


class LooksFirstAndWritesLater(MemoryRunStore):
    """Puts the journal it saw, and its rows, in the place of the journal there is by then."""

    async def append(self, run_id: str, after: int, rows: Rows) -> bool:
        seen = await super().read(run_id)
        if len(seen) != after:
            raise JournalConflict(run_id, after, len(seen))
        made = MemoryRunStore()
        await made.append(run_id, 0, [*seen, *rows])
        self._runs[run_id] = made._runs[run_id]
        return False


class ThinksNothingOfCase(MemoryRunStore):
    async def append(self, run_id: str, after: int, rows: Rows) -> bool:
        return await super().append(run_id.lower(), after, rows)

    async def read(self, run_id: str, *, after: int = 0) -> Rows:
        return await super().read(run_id.lower(), after=after)


class ListsByTheFirstWrite(MemoryRunStore):
    async def runs(self, *, limit: int = 100) -> Sequence[RunSummary]:
        listed = sorted(await super().runs(limit=1_000), key=lambda run: run.run_id, reverse=True)
        return listed[:limit]


class ListsByTime(MemoryRunStore):
    async def runs(self, *, limit: int = 100) -> Sequence[RunSummary]:
        return sorted(await super().runs(limit=1_000), key=lambda run: -run.updated_at)[:limit]


class ListsAll(MemoryRunStore):
    async def runs(self, *, limit: int = 100) -> Sequence[RunSummary]:
        return await super().runs(limit=max(limit, 104))


class MovesARunThatIsAskedToEnd(MemoryRunStore):
    async def ask_to_cancel(self, run_id: str) -> bool:
        if run_id in self._runs:
            self._runs[run_id] = self._runs.pop(run_id)
        return await super().ask_to_cancel(run_id)


def tells(**wrong: Callable[[RunSummary, Rows], Any]) -> type[MemoryRunStore]:
    class TellsWrongly(MemoryRunStore):
        async def runs(self, *, limit: int = 100) -> Sequence[RunSummary]:
            summaries = await super().runs(limit=limit)
            rows = {run.run_id: await super(TellsWrongly, self).read(run.run_id) for run in summaries}
            changes = [{name: change(run, rows[run.run_id]) for name, change in wrong.items()} for run in summaries]
            return [replace(run, **change) for run, change in zip(summaries, changes, strict=True)]

    return TellsWrongly


def last_status(run: RunSummary, rows: Rows) -> str:
    said = [row.data["status"] for row in rows if "status" in row.data]
    return str(said[-1]) if said else run.status


def status_that_stays(run: RunSummary, rows: Rows) -> str:
    said = [row.data["status"] for row in rows if row.type == "workflow-finish"]
    return str(said[-1]) if said else run.status


class ForgetsWhatWasAskedOnceTold(MemoryRunStore):
    async def append(self, run_id: str, after: int, rows: Rows) -> bool:
        told = await super().append(run_id, after, rows)
        run = self._runs[run_id]
        run.summary = replace(run.summary, cancel_asked=False)
        return told


class AsksForever(MemoryRunStore):
    def __init__(self) -> None:
        super().__init__()
        self.asked: set[str] = set()

    async def ask_to_cancel(self, run_id: str) -> bool:
        there = await super().ask_to_cancel(run_id)
        if there:
            self.asked.add(run_id)
        return there

    async def append(self, run_id: str, after: int, rows: Rows) -> bool:
        return await super().append(run_id, after, rows) or run_id in self.asked


class AsksWhatHasEnded(MemoryRunStore):
    async def ask_to_cancel(self, run_id: str) -> bool:
        run = self._runs.get(run_id)
        if run is not None:
            run.summary = replace(run.summary, cancel_asked=True)
        return run is not None


class SuspensionIsAnEnd(MemoryRunStore):
    async def append(self, run_id: str, after: int, rows: Rows) -> bool:
        told = await super().append(run_id, after, rows)
        if rows[-1].type == "workflow-finish":
            run = self._runs[run_id]
            run.summary = replace(run.summary, cancel_asked=False)
        return told


class AsksAllRuns(MemoryRunStore):
    async def ask_to_cancel(self, run_id: str) -> bool:
        asked = [await super(AsksAllRuns, self).ask_to_cancel(other) for other in list(self._runs)]
        return bool(asked) and run_id in self._runs


class DeletesAllRuns(MemoryRunStore):
    async def delete(self, run_id: str) -> bool:
        there = await super().delete(run_id)
        self._runs.clear()
        return there


class DeletesTheRowsAlone(MemoryRunStore):
    async def delete(self, run_id: str) -> bool:
        run = self._runs.get(run_id)
        there = run is not None and bool(run.rows)
        if run is not None:
            run.rows.clear()
        return there


class RemembersWhatWasAsked(AsksForever):
    async def append(self, run_id: str, after: int, rows: Rows) -> bool:
        await MemoryRunStore.append(self, run_id, after, rows)
        if run_id in self.asked:
            await self.ask_to_cancel(run_id)
        return self._runs[run_id].summary.cancel_asked


MUTANTS: Mapping[str, Sequence[type[MemoryRunStore]]] = {
    "an_unknown_run_is_empty": (AsksAnybody, DeletesWhatIsNotThere, HasNoUnknownRuns),
    "rows_are_numbered_from_one": (KeepsTheNumbersGiven, ReadsOneRowTooMany, ReadsAll),
    "a_row_comes_back_as_it_was": (LosesThePath, RoundsTimes, GivesIterationsAsAList),
    "values_come_back_exactly": tuple(
        map(
            changes_values,
            (sorted_keys, floats_for_large_integers, nulls_away, whole_floats_as_integers, shortened, empty_as_none),
        )
    ),
    "what_is_kept_cannot_be_changed_from_outside": (KeepsWhatItIsGiven, GivesWhatItKeeps),
    "an_append_behind_another_row_is_refused": (
        TakesAnyPlaceForTheLast,
        TakesLaterPlacesForTheLast,
        SaysLittleOfConflicts,
    ),
    "an_append_is_whole_or_not_at_all": (AppendsRowByRow, AppendsNothing),
    "of_many_that_append_at_once_one_wins": (LooksFirstAndWritesLater, SaysLittleOfConflicts),
    "a_cancelled_append_is_whole_or_not_at_all": (AppendsRowByRow,),
    "runs_do_not_touch_one_another": (ThinksNothingOfCase,),
    "runs_are_listed_the_one_written_to_last_first": (
        ListsByTheFirstWrite,
        ListsByTime,
        ListsAll,
        MovesARunThatIsAskedToEnd,
    ),
    "a_summary_tells_what_the_rows_tell": (
        tells(status=last_status),
        tells(status=status_that_stays),
        tells(started_at=lambda run, rows: rows[-1].time),
        tells(updated_at=lambda run, rows: rows[0].time),
        tells(rows=lambda run, rows: 1),
        tells(parent=lambda run, rows: None),
        tells(workflow_id=lambda run, rows: rows[-1].data.get("workflow", "")),
    ),
    "a_request_to_cancel_stands_until_the_run_has_ended": (
        ForgetsWhatWasAskedOnceTold,
        AsksForever,
        AsksWhatHasEnded,
        SuspensionIsAnEnd,
        AsksAllRuns,
        tells(cancel_asked=lambda run, rows: False),
    ),
    "a_deleted_run_is_gone": (DeletesAllRuns, DeletesTheRowsAlone, RemembersWhatWasAsked),
}


def _copied(store: RunStore) -> RunStore:
    """A second store that has what the first had when it was opened, and nothing newer."""
    assert isinstance(store, MemoryRunStore)
    made = type(store)()
    made._runs = dict(store._runs)
    return made


def _shared(store: RunStore) -> RunStore:
    """A second store over the very same runs."""
    assert isinstance(store, MemoryRunStore)
    made = type(store)()
    made._runs = store._runs
    return made


REOPENED_MUTANTS: Mapping[str, Sequence[tuple[type[MemoryRunStore], Callable[[RunStore], RunStore]]]] = {
    "what_was_appended_is_there_when_opened_again": ((MemoryRunStore, _copied),),
    "of_two_that_have_it_open_one_wins": ((LooksFirstAndWritesLater, _shared),),
}


def test_each_check_has_its_mutants() -> None:
    assert {*MUTANTS, *REOPENED_MUTANTS} == set(CHECKS)


@pytest.mark.anyio
@pytest.mark.parametrize("check", run_store_checks, ids=lambda check: check.__name__)
async def test_a_store_that_keeps_the_rules_passes(check: RunStoreCheck) -> None:
    await check(MemoryRunStore, reopen=_shared)
    await check(MemoryRunStore)


@pytest.mark.anyio
@pytest.mark.parametrize(("name", "number"), [(name, n) for name, some in MUTANTS.items() for n in range(len(some))])
async def test_a_check_finds_a_store_that_breaks_its_rule_and_tells_the_rule(name: str, number: int) -> None:
    with pytest.raises(AssertionError, match=rf"^{name}: (.|\n)*\nThe rule: \w"):
        await CHECKS[name](MUTANTS[name][number])


@pytest.mark.anyio
@pytest.mark.parametrize("name", REOPENED_MUTANTS)
async def test_a_check_finds_a_store_that_breaks_its_rule_when_it_is_open_twice(name: str) -> None:
    for mutant, reopen in REOPENED_MUTANTS[name]:
        with pytest.raises(AssertionError, match=rf"^{name}: (.|\n)*\nThe rule: \w"):
            await CHECKS[name](mutant, reopen=reopen)


@pytest.mark.anyio
async def test_conformance_tells_of_every_broken_rule_at_once() -> None:
    with pytest.raises(AssertionError) as caught:
        await run_store_conformance(AppendsRowByRow)
    told = str(caught.value)
    assert told.count("The rule: ") == 2
    assert "an_append_is_whole_or_not_at_all: a refused append left rows behind: [1, 2, 3]" in told
    assert "a_cancelled_append_is_whole_or_not_at_all: a cancelled append of two rows left 1 behind" in told


@pytest.mark.anyio
async def test_a_store_may_be_made_by_an_async_function() -> None:
    made: list[RunStore] = []

    async def make() -> RunStore:
        made.append(MemoryRunStore())
        return made[-1]

    await run_store_conformance(make)
    assert len(made) == len(MUTANTS)


@pytest.mark.anyio
async def test_what_lacks_a_method_is_no_store() -> None:
    class NoStore:
        async def append(self, run_id: str, after: int, rows: Rows) -> bool:
            return False

    with pytest.raises(AssertionError, match="NoStore lacks a method of RunStore"):
        await run_store_conformance(NoStore)  # type: ignore[arg-type]
