"""What a language model is to the rest of the library: one request in, one stream of chunks out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Literal

from interlock.messages.chunks import Chunk
from interlock.messages.parts import JSONValue
from interlock.messages.prompt import Prompt

__all__ = ["LanguageModel", "ModelRequest", "ToolChoice", "ToolSpec"]

ToolChoice = Literal["auto", "none", "required"] | str
"""``"auto"``, ``"none"``, ``"required"``, or the name of the tool that must be called."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model is told of it.

    Args:
        name: Its name.
        description: What it is for.
        parameters: JSON schema of its arguments, an object.
    """

    name: str
    description: str
    parameters: Mapping[str, JSONValue]


@dataclass(slots=True)
class ModelRequest:
    """One model call.

    Args:
        prompt: The conversation.
        tools: What the model may call.
        tool_choice: Whether and what it must call.
        settings: ``temperature``, ``max_tokens``, ``top_p``, ``stop``, ``seed``, …; a provider passes on what it knows.
        provider_options: For one provider alone, by its name: ``{"openai": {…}}``.
        output_schema: JSON schema of what the answer's text is to be; None: any text.
    """

    prompt: Prompt
    tools: Sequence[ToolSpec] = ()
    tool_choice: ToolChoice = "auto"
    settings: Mapping[str, JSONValue] = field(default_factory=dict[str, JSONValue])
    provider_options: Mapping[str, JSONValue] = field(default_factory=dict[str, JSONValue])
    output_schema: Mapping[str, JSONValue] | None = None


class LanguageModel(ABC):
    """A model that can be asked. Implementations are safe to use from several runs at once.

    Attributes:
        provider: ``"openai"``, ``"scripted"``, …
        name: The model's own name.
    """

    provider: str
    name: str

    @property
    def id(self) -> str:
        """``provider/name``."""
        return f"{self.provider}/{self.name}"

    @abstractmethod
    def stream(self, request: ModelRequest) -> AbstractAsyncContextManager[AsyncIterator[Chunk]]:
        """Ask. Leaving the context closes the connection, at any point, and waits until it is closed.

        The chunks are those of :mod:`interlock.messages.chunks`: text, reasoning and tool calls, and last exactly one
        ``step-finish``. Tool calls come whole as ``tool-call``, after their deltas.

        Raises:
            ModelError: The provider refused or broke off; raised on entering or while iterating, with a status and
                body where there was an answer.
        """
        ...

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}>"
