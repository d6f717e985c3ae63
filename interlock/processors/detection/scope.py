"""Which texts a guard reads."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, Literal, get_args

from interlock.errors import DefinitionError
from interlock.messages import Role

__all__ = ["EVERYTHING", "PartKind", "Scope"]

PartKind = Literal["text", "reasoning", "tool-arguments", "tool-result"]
"""What a text is part of. A tool's error is what came of the call, so it is a ``"tool-result"``."""

_ROLES: Final[frozenset[str]] = frozenset(get_args(Role))
_PARTS: Final[frozenset[str]] = frozenset(get_args(PartKind))


class Scope:
    """Roles and part kinds whose texts are read.

    Args:
        roles: Of messages (what a tool returned belongs to nobody and is always of a read role). Default: all.
        parts: Kinds of parts. Default: all.

    Raises:
        DefinitionError: A word that names no role or part kind.

    Example:
        >>> Scope(roles=["user"]).takes("assistant", "text")
        False
    """

    __slots__ = ("parts", "roles")

    def __init__(self, *, roles: Collection[Role] | None = None, parts: Collection[PartKind] | None = None) -> None:
        self.roles: frozenset[str] = _ROLES if roles is None else frozenset(roles)
        self.parts: frozenset[str] = _PARTS if parts is None else frozenset(parts)
        unknown = sorted((self.roles - _ROLES) | (self.parts - _PARTS))
        if unknown:
            raise DefinitionError(
                f"{', '.join(map(repr, unknown))}: no role ({', '.join(sorted(_ROLES))}) "
                f"or part kind ({', '.join(sorted(_PARTS))})",
                subject="scope",
            )

    def takes(self, role: Role | None, part: PartKind) -> bool:
        """Whether such a text is read; role None: it is in no message."""
        return part in self.parts and (role is None or role in self.roles)

    def __repr__(self) -> str:
        return f"Scope(roles={sorted(self.roles)}, parts={sorted(self.parts)})"


EVERYTHING: Final = Scope()
