"""A result raises only where it is asked to."""

from __future__ import annotations

import pytest

from interlock import AgentResult, MessageList, Phase, Tripwire
from interlock.errors import BlockedError
from interlock.messages import Usage


def result(tripwire: Tripwire | None = None) -> AgentResult:
    """A result made by hand."""
    return AgentResult(
        "run", "tripwire" if tripwire else "success", "", "stop", Usage(), (), MessageList(), (), tripwire=tripwire
    )


def test_raise_if_blocked_does_nothing_for_a_run_that_was_not_blocked() -> None:
    result().raise_if_blocked()


def test_raise_if_blocked_names_processor_phase_and_reason_and_carries_the_result() -> None:
    blocked = result(Tripwire("a card number", "pii-detector", Phase.INPUT))
    with pytest.raises(BlockedError, match="'pii-detector' in phase 'input': a card number") as raised:
        blocked.raise_if_blocked()
    assert raised.value.tripwire is blocked.tripwire
    assert raised.value.result is blocked
