"""The store that ``--store`` names, and the run in it that ``RUN_ID`` means."""

from __future__ import annotations

import difflib
import shlex
from pathlib import Path
from typing import Final

from interlock.cli.ending import WrongCall
from interlock.errors import StorageError
from interlock.storage import RunSummary, SQLiteRunStore

__all__ = ["ALL", "command_line", "existing_store", "found_run", "new_store"]

ALL: Final = 2**62
"""More runs than any store has."""

_FEW: Final = 5


async def existing_store(file: Path) -> SQLiteRunStore:
    """The store in a file that is there. None is ever made.

    Raises:
        WrongCall: There is no such file, or it is no store.
    """
    _check(file)
    return await new_store(file)


async def new_store(file: Path) -> SQLiteRunStore:
    """The store in a file, which is made where there is none.

    Raises:
        WrongCall: The file cannot be opened, or is no store.
    """
    store = SQLiteRunStore(file)
    try:
        await store.runs(limit=0)
    except StorageError as error:
        raise WrongCall(str(error)) from None
    return store


async def found_run(store: SQLiteRunStore, meant: str) -> RunSummary:
    """The run of an id, or the only one whose id begins so.

    Raises:
        WrongCall: There is none, or there are several.
    """
    runs = await store.runs(limit=ALL)
    for run in runs:
        if run.run_id == meant:
            return run
    begin_so = [run for run in runs if run.run_id.startswith(meant)]
    if len(begin_so) == 1 and meant:
        return begin_so[0]
    if begin_so:
        first = ", ".join(run.run_id for run in begin_so[:_FEW]) + (", …" if len(begin_so) > _FEW else "")
        raise WrongCall(f"{len(begin_so)} runs begin with {meant!r}: {first}; write more of the id")
    near = difflib.get_close_matches(meant, [run.run_id for run in runs], n=1)
    hint = f"; did you mean {near[0]}?" if near else "."
    listed = command_line("runs", "list", "--store", store.path)
    raise WrongCall(f"there is no run {meant!r} in {store.path}{hint} Those there are: {listed}")


def _check(file: Path) -> None:
    """Refuse a file that opening would make a store of."""
    if not file.exists():
        raise WrongCall(
            f"there is no store {file}: name the file that was given to SQLiteRunStore(…), or to interlock run --store"
        )
    if file.is_file() and not file.stat().st_size:
        raise WrongCall(f"{file} is empty: no run has been kept in it")


def command_line(*words: str) -> str:
    """A call of this program as it would be typed.

    Example:
        >>> command_line("runs", "show", "run_1", "--store", "my runs.db")
        "interlock runs show run_1 --store 'my runs.db'"
    """
    return shlex.join(["interlock", *words])
