"""What was read in a run by which guard, and what by none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from interlock.messages import (
    DataPart,
    FilePart,
    Message,
    ReasoningPart,
    SourcePart,
    TextPart,
    ToolInvocationPart,
)

if TYPE_CHECKING:
    from interlock.runtime.result import AgentResult

__all__ = ["Coverage", "coverage_of"]

Spot = tuple[str, str]
"""A role, and a kind of part."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which roles and kinds of parts of a run each guard has read.

    Attributes:
        rows: What there was in the conversation, and which guards have read it.
        guards: All processors that looked at anything, in running order.
        silent: Those that have not said what they read.

    Example:
        >>> print(Coverage({("user", "text"): ("pii-detector",), ("user", "file"): ()}, ("pii-detector",), ()))
        role  part  read by
        user  text  pii-detector
        user  file  not checked
    """

    rows: Mapping[Spot, Sequence[str]]
    guards: Sequence[str]
    silent: Sequence[str]

    @property
    def unchecked(self) -> Sequence[Spot]:
        """What no guard has said it read."""
        return [spot for spot, readers in self.rows.items() if not readers]

    def __str__(self) -> str:
        table = [("role", "part", "read by")]
        table += [(role, part, ", ".join(readers) or "not checked") for (role, part), readers in self.rows.items()]
        roles, parts = (max(len(line[n]) for line in table) for n in (0, 1))
        lines = [f"{role:{roles}}  {part:{parts}}  {readers}" for role, part, readers in table]
        if self.silent:
            lines.append(f"did not say what they read: {', '.join(self.silent)}")
        return "\n".join(lines)


def coverage_of(result: AgentResult) -> Coverage:
    """The coverage of a run.

    Args:
        result: The run's.
    """
    readers: dict[Spot, dict[str, None]] = {}
    for message in (*result.messages.system_messages(), *result.messages.input, *result.messages.response):
        for spot in _spots(message):
            readers.setdefault(spot, {})
    said: dict[str, bool] = {}
    for check in result.checks:
        said[check.processor_id] = said.get(check.processor_id, False) or bool(check.looked_at)
        for role, part in sorted(check.looked_at):
            spot = ("tool" if part == "tool-result" else role, part)  # in whichever message it stands
            readers.setdefault(spot, {})[check.processor_id] = None
    return Coverage(
        {spot: tuple(names) for spot, names in readers.items()},
        tuple(name for name, has_said in said.items() if has_said),
        tuple(name for name, has_said in said.items() if not has_said),
    )


def _spots(message: Message) -> Iterator[Spot]:
    """What a message holds."""
    for part in message.parts:
        match part:
            case TextPart():
                yield message.role, "text"
            case ReasoningPart():
                yield message.role, "reasoning"
            case ToolInvocationPart():
                yield message.role, "tool-arguments"
                if part.state != "call":
                    yield "tool", "tool-result"
            case FilePart():
                yield message.role, "file"
            case DataPart():
                yield message.role, "data"
            case SourcePart():
                yield message.role, "source"
            case _:
                pass
