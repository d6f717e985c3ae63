"""The rules of a store of runs, one function each: it is given an empty store, and raises where the rule is broken."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

import anyio
import anyio.lowlevel

from interlock.errors import JournalConflict
from interlock.storage import JournalRow, RunStore, RunSummary

__all__ = ["OF_ONE_STORE", "OF_TWO_OPENED_STORES", "BrokenRule"]

R = TypeVar("R", bound=Callable[..., Awaitable[None]])


class BrokenRule(Exception):
    """What was found instead of what the rule says."""


OF_ONE_STORE: Final[list[Callable[[RunStore], Awaitable[None]]]] = []
"""Rules that one store shows."""

OF_TWO_OPENED_STORES: Final[list[Callable[[RunStore, RunStore], Awaitable[None]]]] = []
"""Rules that show where what is kept is open twice."""


def _listed(rules: list[Any]) -> Callable[[R], R]:
    def note(rule: R) -> R:
        rules.append(rule)
        return rule

    return note


def expect(holds: bool, otherwise: str) -> None:
    """Raise where it does not hold."""
    if not holds:
        raise BrokenRule(otherwise)


def row(kind: str = "step-result", *, time: float = 1.0, **data: object) -> JournalRow:
    """A row of some type, with a number that nobody is to look at."""
    return JournalRow(7, kind, time, data=data)


def start(workflow: str = "w", *, time: float = 1.0, parent: Mapping[str, object] | None = None) -> JournalRow:
    """The first row of a run."""
    if parent is None:
        return row("workflow-start", time=time, workflow=workflow)
    return row("workflow-start", time=time, workflow=workflow, parent=parent)


def finish(status: str, *, time: float = 9.0) -> JournalRow:
    """The row with which a run stops."""
    return row("workflow-finish", time=time, status=status)


async def expect_conflict(store: RunStore, run_id: str, after: int, last: int) -> None:
    """Append behind another row than the last."""
    try:
        await store.append(run_id, after, [row(late=True)])
    except JournalConflict as conflict:
        told = (conflict.run_id, conflict.after, conflict.last)
        expect(told == (run_id, after, last), f"the JournalConflict says {told}, not {(run_id, after, last)}")
    else:
        raise BrokenRule(f"append(after={after}) was taken where row {last} is the last; JournalConflict was due")


async def expect_rows(store: RunStore, run_id: str, *names: object) -> None:
    """The journal has rows with these ``name``, in this order, numbered from 1."""
    rows = await store.read(run_id)
    found = [(r.seq, r.data.get("name")) for r in rows]
    wanted = list(enumerate(names, 1))
    expect(found == wanted, f"the journal has the rows {found}, not {wanted}")


async def summary_of(store: RunStore, run_id: str) -> RunSummary:
    """What runs() says of a run."""
    found = [summary for summary in await store.runs() if summary.run_id == run_id]
    expect(len(found) == 1, f"runs() lists {run_id!r} {len(found)} times, not once")
    return found[0]


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same; 1, 1.0 and True differ, and so do dicts in another order."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        left, right = cast("dict[str, Any]", one), cast("dict[str, Any]", other)
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(one, list):
        ours, theirs = cast("list[Any]", one), cast("list[Any]", other)
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return repr(one) == repr(other)


@_listed(OF_ONE_STORE)
async def an_unknown_run_is_empty(store: RunStore) -> None:
    """A run that nobody has written to has no rows, is not listed, and nothing can be asked of it."""
    expect(list(await store.read("nobody")) == [], "read() gives rows of a run that nobody wrote to")
    expect(list(await store.runs()) == [], "runs() lists runs in an empty store")
    expect(await store.ask_to_cancel("nobody") is False, "ask_to_cancel() of an unknown run is not False")
    expect(await store.cancel_asked("nobody") is False, "cancel_asked() of an unknown run is not False")
    expect(await store.delete("nobody") is False, "delete() of an unknown run is not False")
    expect(list(await store.runs()) == [], "asking for an unknown run made one")
    expect(await store.append("nobody", 0, [start()]) is False, "a request to cancel an unknown run was kept")


@_listed(OF_ONE_STORE)
async def rows_are_numbered_from_one(store: RunStore) -> None:
    """Rows are numbered from 1 without gaps, whatever ``seq`` says; read(after=n) gives those behind number n."""
    await store.append("r", 0, [row(name="a"), row(name="b")])
    await store.append("r", 2, [row(name="c")])
    await expect_rows(store, "r", "a", "b", "c")
    for after in range(5):
        found = [r.seq for r in await store.read("r", after=after)]
        wanted = list(range(after + 1, 4))
        expect(found == wanted, f"read(after={after}) gives the rows {found}, not {wanted}")


@_listed(OF_ONE_STORE)
async def a_row_comes_back_as_it_was(store: RunStore) -> None:
    """Type, time, path, iterations and data of a row come back as they were appended."""
    written = JournalRow(1, "step-start", 1_700_000_000.123456, "outer/größer", (3, 1), {"input": {"x": 1}})
    bare = JournalRow(2, "sleep", 0.1)
    await store.append("r", 0, [written, bare])
    found = list(await store.read("r"))
    expect(found == [written, bare], f"{[written, bare]} came back as {found}")
    expect([type(r.at) for r in found] == [tuple, tuple], "at is no tuple")


VALUES: Final[Mapping[str, Any]] = {
    "letters": "Grüße, 你好, 👩‍👩‍👧, e\u0301, \u2028, \ufeff",
    "control characters": "a\0b\x01\x1f\x7f\r\n\t",
    "quotes": '\'"\\`$ {"$": 1} %s --;',
    "empty": ["", [], {}, [[]], {"": ""}, None],
    "booleans": [True, False, 1, 0, 1.0, 0.0],
    "integers": [2**53 + 1, -(2**63), 2**64, 10**300, -(10**300)],
    "floats": [0.1, 1e308, 5e-324, -0.0, 1e22, 3.0, 123456789.123456789],
    "nested": [[[[[[[[{"a": [{"b": [{"c": [None]}]}]}]]]]]]]],
    "keys in order": {"z": 1, "a": 2, "m": 3, "$": 4, "$sha256": 5, "$ref": 6},
    "large": "0123456789abcdef" * 20_000,
    "large and nested": {"list": ["ä" * 5_000] * 3, "numbers": list(range(5_000))},
}


@_listed(OF_ONE_STORE)
async def values_come_back_exactly(store: RunStore) -> None:
    """Every JSON value in a row's data comes back as it was, to the last digit, and keys in the order they had."""
    for number, (name, value) in enumerate(VALUES.items()):
        await store.append("r", number, [row(value=value)])
        found = list(await store.read("r", after=number))
        expect(len(found) == 1, f"read(after={number}) gives {len(found)} rows, not 1")
        shown = f"{value!r:.200} came back as {found[0].data.get('value')!r:.200}"
        expect(same(dict(found[0].data), {"value": value}), f"{name}: {shown}")
    everything = [r.data["value"] for r in await store.read("r")]
    expect(same(everything, list(VALUES.values())), "read together, the values are others than one by one")


@_listed(OF_ONE_STORE)
async def what_is_kept_cannot_be_changed_from_outside(store: RunStore) -> None:
    """A change to a row's data after the append, or to what read() gave, changes nothing in the store."""
    data: dict[str, Any] = {"name": "a", "list": [1, {"x": []}]}
    rows = [JournalRow(0, "step-result", 1.0, data=data)]
    await store.append("r", 0, rows)
    data["list"][1]["x"].append("changed")
    data["name"] = "changed"
    rows.append(row(name="changed"))
    for _ in range(2):
        found = [cast("dict[str, Any]", r.data) for r in await store.read("r")]
        expect(same(found, [{"name": "a", "list": [1, {"x": []}]}]), f"the rows changed: {found}")
        found[0]["list"][1]["x"].append("changed")
        found[0]["name"] = "changed"


@_listed(OF_ONE_STORE)
async def an_append_behind_another_row_is_refused(store: RunStore) -> None:
    """An append that takes another row for the last one raises JournalConflict, which says so, and writes nothing."""
    await expect_conflict(store, "new", 1, 0)
    expect(list(await store.runs()) == [], "a refused append made a run")
    await store.append("r", 0, [row(name="a"), row(name="b")])
    for after in (0, 1, 3, -1):
        await expect_conflict(store, "r", after, 2)
    await expect_rows(store, "r", "a", "b")
    await store.append("r", 2, [row(name="c")])
    await expect_rows(store, "r", "a", "b", "c")


@_listed(OF_ONE_STORE)
async def an_append_is_whole_or_not_at_all(store: RunStore) -> None:
    """Several rows are appended together or not at all: also where one is no JSON (ValueError), or there are none."""
    await store.append("r", 0, [start(), row()])
    before = await summary_of(store, "r")
    no_json = [row(value=object()), row(value=float("nan")), row(value={1, 2})]
    batches: list[Sequence[JournalRow]] = [[], *([finish("success"), bad] for bad in no_json)]
    for rows in batches:
        try:
            await store.append("r", 2, rows)
        except ValueError:
            pass
        else:
            raise BrokenRule(f"append({[dict(r.data) for r in rows]}) was taken; ValueError was due")
        found = [r.seq for r in await store.read("r")]
        expect(found == [1, 2], f"a refused append left rows behind: {found}")
    expect(await summary_of(store, "r") == before, "a refused append changed the summary")


@_listed(OF_ONE_STORE)
async def of_many_that_append_at_once_one_wins(store: RunStore) -> None:
    """Of many that append behind the same row at once, exactly one writes; the others get JournalConflict."""
    won: list[tuple[int, str]] = []

    async def append(name: str) -> None:
        last = 0
        for _ in range(4):
            while True:
                try:
                    await store.append("r", last, [row(name=name)])
                    break
                except JournalConflict as conflict:
                    expect(conflict.last > last, f"JournalConflict for {last} says that row {conflict.last} is last")
                    last = conflict.last
            last += 1
            won.append((last, name))

    async with anyio.create_task_group() as tasks:
        for number in range(8):
            tasks.start_soon(append, f"t{number}")
    found = [(r.seq, r.data.get("name")) for r in await store.read("r")]
    expect(found == sorted(won), f"{sorted(won)} were told that they had written; the journal has {found}")
    expect(len(found) == 32, f"32 appends made {len(found)} rows")


@_listed(OF_ONE_STORE)
async def a_cancelled_append_is_whole_or_not_at_all(store: RunStore) -> None:
    """An append whose task is cancelled has been made whole or not at all, and the store can be used afterwards."""
    last = 0
    for turns in range(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(store.append, "r", last, [row(name=turns), row(name=turns)])
            for _ in range(turns):
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
        found = [r.data.get("name") for r in await store.read("r", after=last)]
        expect(found in ([], [turns, turns]), f"a cancelled append of two rows left {len(found)} behind")
        last += len(found)
    await store.append("r", last, [row(name="after")])
    expect([r.seq for r in await store.read("r", after=last)] == [last + 1], "an append after a cancelled one is lost")


@_listed(OF_ONE_STORE)
async def runs_do_not_touch_one_another(store: RunStore) -> None:
    """Each run has a journal of its own, whatever its id is."""
    ids = ["r", "R", "r ", "r'", "r%", "r_", "ř", "r/1", "0"]
    for number in range(3):
        for run_id in ids:
            await store.append(run_id, number, [row(name=(run_id, number)[number % 2])])
    for run_id in ids:
        await expect_rows(store, run_id, run_id, 1, run_id)
    listed = sorted(summary.run_id for summary in await store.runs())
    expect(listed == sorted(ids), f"runs() lists {listed}, not {sorted(ids)}")


@_listed(OF_ONE_STORE)
async def runs_are_listed_the_one_written_to_last_first(store: RunStore) -> None:
    """runs() gives the run whose journal grew last first, whatever times the rows tell, and no more than the limit."""
    for run_id in "abc":
        await store.append(run_id, 0, [start(time=5.0)])
    await store.append("a", 1, [row(time=1.0), row(time=1.0)])
    await store.ask_to_cancel("b")
    await store.read("b")
    for limit, wanted in ((100, "acb"), (2, "ac"), (1, "a"), (0, "")):
        found = "".join(summary.run_id for summary in await store.runs(limit=limit))
        expect(found == wanted, f"runs(limit={limit}) gives {list(found)}, not {list(wanted)}")
    for number in range(101):
        await store.append(f"many{number}", 0, [start()])
    expect(len(await store.runs()) == 100, f"runs() gives {len(await store.runs())} of 104 runs, not 100")


@_listed(OF_ONE_STORE)
async def a_summary_tells_what_the_rows_tell(store: RunStore) -> None:
    """A summary has the workflow, parent, first and last time and number of rows; its status is that of the last row
    about the whole run."""
    await store.append("r", 0, [start("shop", time=5.0, parent={"run_id": "older", "seq": 3})])
    wanted = RunSummary("r", "shop", "running", 5.0, 5.0, 1, "older", False)
    found = await summary_of(store, "r")
    expect(found == wanted, f"after the start it is {found}, not {wanted}")
    steps: list[tuple[JournalRow, str]] = [
        (row("step-result", time=6.0, status="failed"), "running"),
        (finish("suspended", time=7.0), "suspended"),
        (row("workflow-resume", time=8.0), "running"),
        (finish("paused", time=8.5), "paused"),
        (row("workflow-recover", time=9.0), "running"),
        (row("step-suspended", time=10.0, status="suspended"), "running"),
        (finish("success", time=11.0), "success"),
    ]
    for number, (written, status) in enumerate(steps, 2):
        await store.append("r", number - 1, [written])
        found = await summary_of(store, "r")
        wanted = RunSummary("r", "shop", status, 5.0, written.time, number, "older", False)
        expect(found == wanted, f"after a {written.type!r} it is {found}, not {wanted}")
    for status in ("tripwire", "failed", "canceled"):
        await store.append(status, 0, [start(), row(), finish(status)])
        found = await summary_of(store, status)
        wanted = RunSummary(status, "w", status, 1.0, 9.0, 3, None, False)
        expect(found == wanted, f"of a run appended at once it is {found}, not {wanted}")


@_listed(OF_ONE_STORE)
async def a_request_to_cancel_stands_until_the_run_has_ended(store: RunStore) -> None:
    """ask_to_cancel() is told by every later append, by cancel_asked() and by the summary, until the run has ended."""

    async def expect_asked(run_id: str, asked: bool, when: str) -> None:
        expect(await store.cancel_asked(run_id) is asked, f"cancel_asked() is not {asked} {when}")
        told = (await summary_of(store, run_id)).cancel_asked
        expect(told is asked, f"the summary says cancel_asked={told} {when}")

    for run_id in ("r", "other"):
        expect(await store.append(run_id, 0, [start()]) is False, "append() says True though nobody asked")
    await expect_asked("r", False, "though nobody asked")
    expect(await store.ask_to_cancel("r") is True, "ask_to_cancel() of a run is not True")
    expect(await store.ask_to_cancel("r") is True, "asking a second time is not True")
    await expect_asked("r", True, "once asked for")
    await expect_asked("other", False, "of another run")
    expect(len(await store.read("r")) == 1, "a request to cancel made a row")
    later = [[row()], [row(), finish("suspended")], [row("workflow-resume")], [finish("paused")], [row()]]
    last = 1
    for rows in later:
        told = await store.append("r", last, rows)
        last += len(rows)
        expect(told is True, f"append() of {[r.type for r in rows]} says {told} though somebody asked")
    await expect_asked("r", True, "though the run has not ended")
    expect(await store.append("other", 1, [row()]) is False, "append() to another run says True")
    for status in ("success", "tripwire", "failed", "canceled"):
        await store.append(status, 0, [start()])
        await store.ask_to_cancel(status)
        told = await store.append(status, 1, [finish(status)])
        expect(told is False, f"append() says {told} with the row that ends the run ({status})")
        await expect_asked(status, False, f"after the end ({status})")
        expect(await store.ask_to_cancel(status) is True, "ask_to_cancel() of a run that has ended is not True")
        await expect_asked(status, False, f"though the run had ended ({status})")


@_listed(OF_ONE_STORE)
async def a_deleted_run_is_gone(store: RunStore) -> None:
    """delete() forgets the rows, the summary and what was asked, leaves other runs alone, and the id can be used."""
    large = "x" * 20_000
    for run_id in ("r", "other"):
        await store.append(run_id, 0, [start("old", parent={"run_id": "p"}), row(name=large)])
    await store.ask_to_cancel("r")
    expect(await store.delete("r") is True, "delete() of a run is not True")
    expect(await store.delete("r") is False, "delete() a second time is not False")
    expect(list(await store.read("r")) == [], "a deleted run has rows")
    expect([s.run_id for s in await store.runs()] == ["other"], "runs() lists a deleted run, or no longer the other")
    expect(await store.cancel_asked("r") is False, "a deleted run is asked to end")
    other = [r.data.get("name") for r in await store.read("other")]
    expect(other == [None, large], "delete() took something from another run")
    await expect_conflict(store, "r", 2, 0)
    expect(await store.append("r", 0, [start("new")]) is False, "what was asked of a deleted run is still there")
    found = await summary_of(store, "r")
    wanted = RunSummary("r", "new", "running", 1.0, 1.0, 1)
    expect(found == wanted, f"a run begun anew is {found}, not {wanted}")


@_listed(OF_TWO_OPENED_STORES)
async def what_was_appended_is_there_when_opened_again(store: RunStore, again: RunStore) -> None:
    """Rows, summaries and requests are there for whoever opens the store a second time, as soon as they are made."""
    await store.append("r", 0, [start(), row(value=dict(VALUES))])
    await store.ask_to_cancel("r")
    found = [dict(r.data) for r in await again.read("r")]
    wanted: list[dict[str, Any]] = [{"workflow": "w"}, {"value": dict(VALUES)}]
    expect(same(found, wanted), "opened again, the store has other rows")
    expect(list(await again.runs()) == list(await store.runs()), "opened again, the store has other summaries")
    expect(await again.cancel_asked("r"), "opened again, the store has forgotten a request to cancel")
    expect(await again.append("r", 2, [row()]), "opened again, append() does not tell of a request to cancel")
    expect(len(await store.read("r")) == 3, "what was appended elsewhere is not there")
    await expect_conflict(store, "r", 2, 3)
    await again.delete("r")
    expect(list(await store.read("r")) == [], "a run that was deleted elsewhere is still there")


@_listed(OF_TWO_OPENED_STORES)
async def of_two_that_have_it_open_one_wins(store: RunStore, again: RunStore) -> None:
    """Of two that have the store open and append behind the same row at once, exactly one writes."""
    written: list[int] = []

    async def append(opened: RunStore, name: int, last: int) -> None:
        try:
            await opened.append("r", last, [row(name=name)])
        except JournalConflict:
            return
        written.append(name)

    for last in range(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(append, store, 2 * last, last)
            tasks.start_soon(append, again, 2 * last + 1, last)
        expect(
            len(written) == last + 1, f"behind row {last}, {len(written) - last} of two were told that they had written"
        )
    await expect_rows(again, "r", *written)
