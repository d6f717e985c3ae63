"""The rules that a store of runs keeps, as checks. Whoever writes a store runs them against it.

All at once::

    async def test_my_store_keeps_the_rules() -> None:
        await run_store_conformance(MyStore)

or each as a test of its own::

    @pytest.mark.parametrize("check", run_store_checks, ids=lambda check: check.__name__)
    async def test_my_store_keeps_the_rule(check) -> None:
        await check(MyStore)
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Protocol, cast

from interlock.storage import RunStore
from interlock.testing import run_store_rules as rules

__all__ = ["MakeStore", "ReopenStore", "RunStoreCheck", "run_store_checks", "run_store_conformance"]

MakeStore = Callable[[], RunStore | Awaitable[RunStore]]
"""Gives an empty store, another at each call."""

ReopenStore = Callable[[RunStore], RunStore | Awaitable[RunStore]]
"""Gives a second store over what a store has kept, as another process would open it, while the first is still there."""


class RunStoreCheck(Protocol):
    """One rule. ``__name__`` and ``__doc__`` say which."""

    __name__: str

    async def __call__(self, make_store: MakeStore, *, reopen: ReopenStore | None = None) -> None:
        """Check it.

        Args:
            make_store: Gives an empty store.
            reopen: Opens what a store has kept a second time. Without it, rules about that are not checked.

        Raises:
            AssertionError: The store breaks the rule; the message says which, and how.
        """
        ...


def _check(rule: Callable[..., Awaitable[None]], *, opened_twice: bool = False) -> RunStoreCheck:
    @functools.wraps(rule)
    async def check(make_store: MakeStore, *, reopen: ReopenStore | None = None) -> None:
        if opened_twice and reopen is None:
            return
        stores = [await _awaited(make_store())]
        if opened_twice and reopen is not None:
            stores.append(await _awaited(reopen(stores[0])))
        try:
            await rule(*stores)
        except Exception as error:
            name, told = getattr(rule, "__name__", ""), inspect.getdoc(rule)
            raise AssertionError(f"{name}: {_what(error)}\nThe rule: {told}") from error

    return check


async def _awaited(given: RunStore | Awaitable[RunStore]) -> RunStore:
    store = await given if inspect.isawaitable(given) else given
    if not isinstance(cast("object", store), RunStore):
        raise AssertionError(f"{type(store).__name__} lacks a method of RunStore")
    return store


def _what(error: Exception) -> str:
    """What went wrong: the first that did, where a task group tells of several."""
    found: BaseException = error
    while isinstance(found, BaseExceptionGroup):
        found = cast("BaseExceptionGroup[BaseException]", found).exceptions[0]
    return str(found) if isinstance(found, rules.BrokenRule) else f"it raised {type(found).__name__}: {found}"


run_store_checks: tuple[RunStoreCheck, ...] = (
    *map(_check, rules.OF_ONE_STORE),
    *(_check(rule, opened_twice=True) for rule in rules.OF_TWO_OPENED_STORES),
)
"""Every rule as a check of its own, for a parametrised test."""


async def run_store_conformance(make_store: MakeStore, *, reopen: ReopenStore | None = None) -> None:
    """Check that a store of runs keeps all rules of :class:`~interlock.storage.RunStore`.

    Args:
        make_store: Gives an empty store, another at each call; it may be an ``async`` function.
        reopen: Opens what a store has kept a second time, as another process would. Leave it out for a store in memory.

    Raises:
        AssertionError: The store breaks rules; the message tells each, and how.

    Example:
        >>> import anyio
        >>> from interlock.storage import MemoryRunStore
        >>> from interlock.testing import run_store_conformance
        >>> anyio.run(run_store_conformance, MemoryRunStore)
    """
    broken: list[str] = []
    for check in run_store_checks:
        try:
            await check(make_store, reopen=reopen)
        except AssertionError as error:
            broken.append(str(error))
    if broken:
        raise AssertionError("\n\n".join(broken))
