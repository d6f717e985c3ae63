"""What a caller hands to a run for its processors, tools and steps to read: who asks, for whom, with which limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import cast

__all__ = ["RequestContext"]


class RequestContext(MutableMapping[str, object]):
    """A mutable mapping that travels with one run. It is shared by everything in the run: writes act at once.

    Example:
        >>> request = RequestContext({"user": "ann"}, tier="gold")
        >>> request["user"], request.get("tier"), request.get("region", "eu")
        ('ann', 'gold', 'eu')
    """

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, object] | None = None, /, **more: object) -> None:
        self._values: dict[str, object] = {**values, **more} if values else more

    @classmethod
    def of(cls, values: Mapping[str, object] | None) -> RequestContext:
        """What a caller handed over: a context as it is, another mapping made one.

        Raises:
            TypeError: It is no mapping.
        """
        if values is None:
            made = cls.__new__(cls)
            made._values = {}
            return made
        if isinstance(values, RequestContext):
            return values
        if not isinstance(cast("object", values), Mapping):
            raise TypeError(f"request_context= is a mapping of names to values, not {values!r:.80}")
        return cls(values)

    def __getitem__(self, key: str) -> object:
        return self._values[key]

    def __setitem__(self, key: str, value: object) -> None:
        self._values[key] = value

    def __delitem__(self, key: str) -> None:
        del self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"RequestContext({', '.join(self._values)})"
