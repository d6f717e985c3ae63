"""What there was to look at in a run: which roles and kinds of parts, in whatever became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from interlock.messages import (
    DataPart,
    FilePart,
    Message,
    MessageList,
    Part,
    ReasoningPart,
    SourcePart,
    TextPart,
    ToolInvocationPart,
)

__all__ = ["FEEDBACK", "Occurred", "Spot", "ToolProgress", "spots_of"]

Spot = tuple[str, str]
"""A role, and a kind of part."""

ToolProgress = Literal["started", "returned", "raised"]
"""How far a tool came that was run: no further than its beginning, or to an end of its own."""

FEEDBACK: Final = "processor-retry-feedback"
"""The tag of the system message in which the model is told why its answer was not accepted."""

_PARTS: Final[Mapping[type[Part], str]] = {
    TextPart: "text",
    ReasoningPart: "reasoning",
    FilePart: "file",
    DataPart: "data",
    SourcePart: "source",
}
_CAME: Final[Mapping[str, Spot]] = {
    "text-delta": ("assistant", "text"),
    "reasoning-delta": ("assistant", "reasoning"),
    "tool-call": ("assistant", "tool-arguments"),
    "tool-call-delta": ("assistant", "tool-arguments"),
    "tool-result": ("tool", "tool-result"),
    "tool-error": ("tool", "tool-result"),
    "file": ("assistant", "file"),
    "source": ("assistant", "source"),
    "data": ("assistant", "data"),
}


@dataclass(frozen=True, slots=True)
class Occurred:
    """What there was to look at in one run.

    Args:
        lists: The conversation as it was at several times, the one that was asked first. Only looked through when
            somebody wants to know.
        came: The types of the chunks that models and tools gave, accepted or not.
        tools: How far the tools came that were started, by call.
    """

    lists: tuple[MessageList, ...]
    came: frozenset[str] = frozenset()
    tools: Mapping[str, ToolProgress] = field(default_factory=dict[str, ToolProgress])

    def asked(self) -> Mapping[Spot, int]:
        """What the run began with, and how many parts of each."""
        return Counter(_in(self.lists[0])) if self.lists else {}

    def remembered(self) -> Mapping[Spot, int]:
        """What was remembered of earlier runs, and how many parts of each."""
        most = max(self.lists, key=lambda one: len(one.remembered), default=None)
        return {} if most is None else Counter(spots_of(most.remembered))

    def spots(self) -> Iterator[Spot]:
        """All there was, what came in first; some more than once."""
        for messages in self.lists:
            yield from _in(messages)
        yield from (spot for type_, spot in _CAME.items() if type_ in self.came)


def spots_of(messages: Iterable[Message]) -> Iterator[Spot]:
    """What messages hold, part by part.

    Args:
        messages: The messages.
    """
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolInvocationPart):
                yield message.role, "tool-arguments"
                if part.state != "call":
                    yield "tool", "tool-result"
            elif type(part) in _PARTS:
                yield message.role, _PARTS[type(part)]


def _in(messages: MessageList) -> Iterator[Spot]:
    for tag in (None, *messages.system_tags):
        if tag == FEEDBACK:
            continue  # the run's own words
        yield from spots_of(messages.system_messages(tag))
    yield from spots_of(messages.all)
