"""How often a step is tried again, and when."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from interlock.errors import DefinitionError, RecordedError

__all__ = ["RetryPolicy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often a step is tried again after a failure, and how long it waits in between.

    Stopping on purpose (``abort``, ``suspend``, ``bail``), a cancellation, and an input that does not fit its schema
    are never tried again. A time-out is.

    Args:
        attempts: How often in all, the first time included; at least 1.
        delay: Seconds before the second attempt.
        backoff: What each further wait is multiplied by.
        jitter: The part of a wait, from 0 to 1, by which it may be longer or shorter at random.
        max_delay: Seconds that no wait is longer than.
        retry_on: The kind of error (or a tuple of kinds) that is tried again, or a function that is asked.

    Raises:
        DefinitionError: A figure is out of its range.

    Example:
        >>> policy = RetryPolicy(attempts=4, delay=1.0, backoff=2.0, max_delay=3.0)
        >>> [policy.wait_after(attempt) for attempt in (1, 2, 3)]
        [1.0, 2.0, 3.0]
        >>> policy.allows(3, ValueError()), policy.allows(4, ValueError())
        (True, False)
    """

    attempts: int = 1
    delay: float = 0.0
    backoff: float = 1.0
    jitter: float = 0.0
    max_delay: float = math.inf
    retry_on: type[Exception] | tuple[type[Exception], ...] | Callable[[Exception], bool] = Exception

    def __post_init__(self) -> None:
        faults: list[str] = []
        if not isinstance(cast("object", self.attempts), int) or isinstance(self.attempts, bool) or self.attempts < 1:
            faults.append(f"attempts must be a whole number, at least 1, not {self.attempts!r}")
        for name, low, high in (
            ("delay", 0.0, math.inf),
            ("backoff", 0.0, math.inf),
            ("jitter", 0.0, 1.0),
            ("max_delay", 0.0, math.inf),
        ):
            value: object = getattr(self, name)
            if not isinstance(value, int | float) or not low <= value <= high:
                faults.append(f"{name} must be a number from {low:g} to {high:g}, not {value!r}")
        if not _is_filter(self.retry_on):
            faults.append(
                f"retry_on must be a kind of Exception, a tuple of them, or a function, not {self.retry_on!r}"
            )
        if faults:
            raise DefinitionError(faults, subject="RetryPolicy")

    def allows(self, attempt: int, error: Exception) -> bool:
        """Whether there is another attempt after that one failed with that error.

        Args:
            attempt: The one that failed, from 1.
            error: What the step raised; where that was before the run went on from its journal, what that tells of it.
        """
        if attempt >= self.attempts:
            return False
        wanted = self.retry_on
        if isinstance(wanted, tuple) or isinstance(wanted, type):  # noqa: SIM101  (pyright narrows these)
            if isinstance(error, RecordedError):  # raised before the run went on from its journal
                kinds = cast("tuple[type[Exception], ...]", wanted if isinstance(wanted, tuple) else (wanted,))
                return any(error.was(kind) or kind in (Exception, RecordedError) for kind in kinds)
            return isinstance(error, wanted)
        return bool(wanted(error))

    def wait_after(self, attempt: int) -> float:
        """Seconds to wait after that attempt failed."""
        try:
            wait = self.delay * self.backoff ** (attempt - 1)
        except OverflowError:
            wait = self.max_delay
        wait = min(wait, self.max_delay)
        if self.jitter:
            wait = min(wait * random.uniform(1 - self.jitter, 1 + self.jitter), self.max_delay)
        return wait


def _is_filter(value: object) -> bool:
    if isinstance(value, tuple):
        return all(isinstance(one, type) and issubclass(one, Exception) for one in cast("tuple[object, ...]", value))
    if isinstance(value, type):
        return issubclass(value, Exception)
    return callable(value)
