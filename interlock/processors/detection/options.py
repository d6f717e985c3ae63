"""Checks of what guards are built with: a wrong word is refused at once, with the words that will do."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from types import NoneType
from typing import Final, TypeVar, cast

from interlock.errors import DefinitionError
from interlock.processors.detection.scope import Scope
from interlock.processors.listeners import fault_in_listener
from interlock.shown import shown

__all__ = ["OFFLINE", "WITH_A_MODEL", "checked"]

OFFLINE: Final = 0.5
"""Seconds that a guard without a model may take."""

WITH_A_MODEL: Final = 30.0
"""Seconds that a guard may take which asks a model."""

K = TypeVar("K", bound=str)


def checked(
    subject: str,
    *,
    strategy: str,
    strategies: Sequence[str],
    threshold: float,
    kinds: Collection[K] | None,
    known: Sequence[K],
    named: str = "kind",
    any_name: bool = False,
    scope: Scope | None = None,
    on_detection: object = None,
) -> tuple[K, ...]:
    """The kinds that were asked for, in the order of ``known``.

    Args:
        subject: The guard, for the error.
        strategy, strategies: What was chosen, and what can be.
        threshold: From 0 to 1.
        kinds: What was asked for; None: all that are known.
        known: What can be asked for.
        named: What a kind is called in errors.
        any_name: Whether kinds that are not known will do.
        scope: What is read; None: the guard's own.
        on_detection: What is called with each finding; None: nothing.

    Raises:
        DefinitionError: All that is wrong.
    """
    faults: list[str] = []
    if strategy not in strategies:
        faults.append(f"strategy is one of {', '.join(strategies)}, not {strategy!r}")
    number = cast("object", threshold)
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0.0 <= threshold <= 1.0:
        faults.append(f"threshold is a number between 0 and 1; got {threshold!r}")
    if not isinstance(cast("object", scope), Scope | NoneType):
        faults.append(f"scope is a Scope(roles=…, parts=…), not {shown(scope)}")
    if (fault := fault_in_listener("on_detection", on_detection)) is not None:
        faults.append(fault)
    chosen: tuple[K, ...] = tuple(known)
    if kinds is not None:
        asked = cast("Collection[K]", (kinds,)) if isinstance(kinds, str) else kinds
        if not asked:
            faults.append(f"no {named} is left to look for")
        unknown = sorted(set(asked) - set(known))
        if unknown and not any_name:
            faults.append(f"no such {named}: {', '.join(map(repr, unknown))}; there are {', '.join(known)}")
        chosen = (*(k for k in known if k in asked), *unknown)
    if faults:
        raise DefinitionError(faults, subject=subject)
    return chosen
