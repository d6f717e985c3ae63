"""What several commands take: the agent or workflow, the store, the run."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["AgentTarget", "AsJson", "RunId", "RunStatus", "StoreFile", "Target", "WorkflowTarget"]

Target = Annotated[
    str,
    typer.Argument(
        metavar="FILE:NAME",
        help="A Python file, and the name of an Agent or a Workflow in it, as in agents.py:support.",
        show_default=False,
    ),
]

WorkflowTarget = Annotated[
    str,
    typer.Argument(
        metavar="FILE:NAME",
        help="A Python file, and the name of the run's Workflow in it, as in orders.py:refund.",
        show_default=False,
    ),
]

AgentTarget = Annotated[
    str,
    typer.Argument(
        metavar="FILE:NAME",
        help="A Python file, and the name of the run's Agent in it, as in agents.py:support.",
        show_default=False,
    ),
]

StoreFile = Annotated[
    Path,
    typer.Option(
        "--store", metavar="FILE", help="The file that the runs are kept in (an SQLiteRunStore).", show_default=False
    ),
]

RunId = Annotated[
    str,
    typer.Argument(metavar="RUN_ID", help="The run's id, or enough of its beginning.", show_default=False),
]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for a program.")]


class RunStatus(StrEnum):
    """How a run stands."""

    RUNNING = "running"
    SUCCESS = "success"
    TRIPWIRE = "tripwire"
    SUSPENDED = "suspended"
    FAILED = "failed"
    CANCELED = "canceled"
    PAUSED = "paused"
    DAMAGED = "damaged"
