"""What is told of a run while it is under way: to whoever reads along, and to its journal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from interlock.workflows.outcome import Outcome

__all__ = ["Event", "EventType"]

EventType = Literal[
    "workflow-start",
    "workflow-resume",
    "workflow-recover",
    "step-start",
    "step-output",
    "step-retry",
    "step-result",
    "step-suspended",
    "branch-chosen",
    "foreach-progress",
    "loop-progress",
    "state-changed",
    "sleep",
    "workflow-finish",
]


@dataclass(slots=True)
class Event:
    """One thing that happened in a run. (Not frozen: making one would take three times as long.)

    What ``data`` holds, by ``type``:

    ========================  ==========================================================================================
    ``workflow-start``        ``workflow``, ``input``, ``state``, ``request_context``, ``fingerprint``; ``parent`` of a
                              run that was forked from another
    ``workflow-resume``       ``token``, ``resume_data``
    ``workflow-recover``      ``fingerprint``
    ``step-start``            ``input``, ``kind``
    ``step-output``           ``name`` and ``value``, as the step wrote them
    ``step-retry``            ``attempt`` (the one that failed), ``error``, ``delay`` in seconds
    ``step-result``           ``status``, ``duration``, ``attempts``; ``output`` or ``error``; ``chosen`` of a block,
                              ``verdict`` of a processor, ``checks`` of an agent, ``state`` (what the step changed)
    ``step-suspended``        ``token``, ``label``, ``payload``
    ``branch-chosen``         ``chosen``: the ids of the arms, ``()`` where none was
    ``foreach-progress``      ``done``, ``total``
    ``loop-progress``         ``iteration``, ``again``
    ``state-changed``         ``state``: the new values of the keys that changed
    ``sleep``                 ``until``: seconds since the epoch
    ``workflow-finish``       ``outcome``
    ========================  ==========================================================================================

    Args:
        seq: Its number in the run, from 1; each event's is greater than the one's before.
        type: What happened.
        run_id: The run.
        time: Seconds since the epoch.
        path: The step's path; empty where it is about the whole workflow.
        at: The iterations of the loops and lists around the step, from the outermost in, each from 1.
        data: What there is to know.
    """

    seq: int
    type: EventType
    run_id: str
    time: float
    path: str = ""
    at: tuple[int, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def step_id(self) -> str:
        """The step's id."""
        return self.path.rpartition("/")[2]

    @property
    def iteration(self) -> int:
        """The innermost iteration, from 1."""
        return self.at[-1] if self.at else 1

    @property
    def outcome(self) -> Outcome[Any]:
        """Of the last event, how the run ended.

        Raises:
            AttributeError: It is another event.
        """
        if "outcome" not in self.data:
            raise AttributeError(f"a {self.type} event has no outcome; the last event, workflow-finish, has")
        outcome: Outcome[Any] = self.data["outcome"]
        return outcome
