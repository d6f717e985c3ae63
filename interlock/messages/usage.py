"""What a model call cost and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["FinishReason", "Usage"]

FinishReason = Literal[
    "stop", "length", "tool-calls", "content-filter", "error", "other", "max-steps", "retry", "suspended"
]
"""Why an answer ended. "max-steps": the loop's limit; "other": a tripwire, or a reason the provider alone knows.

"retry": it was not accepted, and the model is asked again; "suspended": the run waits for somebody's answer.
"""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call, or of several added with ``+``.

    Args:
        input_tokens: Read by the model, cached ones included.
        output_tokens: Written by the model, reasoning included.
        reasoning_tokens: The part of the output that was reasoning.
        cached_input_tokens: The part of the input that came from the provider's cache.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cached_input_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.cached_input_tokens + other.cached_input_tokens,
        )
