"""Model calls that failed for something that passes: they are made again, after a while."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeGuard, cast

from interlock.errors import DefinitionError, ModelError
from interlock.processors.base import Processor
from interlock.processors.changes import Retry
from interlock.processors.contexts import APIErrorContext
from interlock.verdict import Violation

__all__ = ["StreamErrorRetryProcessor"]

_NEVER: Final = frozenset({400, 401, 403, 404, 405, 413, 422})
"""Refusals that say the same of the same request: a wrong key, a wrong model, what does not fit."""

_LONGEST: Final = 86_400.0

_DOUBLINGS: Final = 64
"""After so many of them any delay but none is longer than the longest; a float has no room for 1024."""


class StreamErrorRetryProcessor(Processor):
    """Has a step done again whose model call failed for something that passes.

    That is: the status 408, 409, 425, 429 or 5xx, a connection that broke off (in the middle of an answer, too), and
    what the provider itself calls an overload in the stream. Wrong keys and requests that do not fit are left alone.
    A provider's own client has tried again by then, as long as nothing of an answer had come (``max_retries`` in the
    model settings).

    Args:
        max_retries: How often one step is done again at most.
        delay: Seconds before the first time; then twice as long each time.
        max_delay: Seconds at most. Where the provider asks for a longer wait (Retry-After), its error stands.
        id, on_violation: As in :class:`Processor`.

    Raises:
        DefinitionError: A figure out of its range.

    Example:
        >>> ctx = APIErrorContext(error=ModelError("overloaded", status=529))
        >>> StreamErrorRetryProcessor(delay=0.5).process_api_error(ctx)
        Retry(delay=0.5)
        >>> StreamErrorRetryProcessor().process_api_error(APIErrorContext(error=ModelError("wrong key", status=401)))
    """

    id = "stream-error-retry"

    def __init__(
        self,
        *,
        max_retries: int = 1,
        delay: float = 0.5,
        max_delay: float = 30.0,
        id: str | None = None,  # noqa: A002
        on_violation: Callable[[Violation], object] | None = None,
    ) -> None:
        super().__init__(id=id, on_violation=on_violation)
        faults: list[str] = []
        if isinstance(max_retries, bool) or not isinstance(cast("object", max_retries), int) or max_retries < 0:
            faults.append(f"max_retries is a whole number from 0, not {max_retries!r}")
        for name, seconds in (("delay", delay), ("max_delay", max_delay)):
            if not _is_number(seconds) or not 0 <= seconds <= _LONGEST:
                faults.append(f"{name} is a number of seconds from 0 up to a day, not {seconds!r}")
        if faults:
            raise DefinitionError(faults, subject=type(self).__name__)
        self._max_retries = max_retries
        self._delay = delay
        self._max_delay = max_delay

    def process_api_error(self, ctx: APIErrorContext) -> Retry | None:
        """Look at what failed."""
        error = ctx.error
        if not isinstance(error, ModelError) or not error.retryable or error.status in _NEVER:
            return None
        tried = ctx.state.setdefault("tried", {})
        step = str(ctx.step_number)
        number = tried.get(step, 0) + 1
        if number > self._max_retries:
            return None
        wait = error.retry_after
        if not _is_number(wait) or not wait >= 0:  # nan neither
            wait = min(self._delay * 2.0 ** min(number - 1, _DOUBLINGS), self._max_delay)
        elif wait > self._max_delay:
            return None
        tried[step] = number
        return Retry(wait)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
