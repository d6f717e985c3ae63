"""How the tests of models ask them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import httpx

from interlock.messages.chunks import Chunk, TextDelta
from interlock.messages.parts import TextPart
from interlock.messages.prompt import PromptMessage
from interlock.models import LanguageModel, ModelRequest, OpenAIChatModel
from tests.models.loopback import LoopbackServer


def asking(text: str) -> ModelRequest:
    """A request in which the user says one thing."""
    return ModelRequest([PromptMessage("user", [TextPart(text)])])


async def chunks_of(model: LanguageModel, request: ModelRequest | None = None) -> list[Chunk]:
    """The whole answer."""
    async with model.stream(request or asking("Hello")) as stream:
        return [chunk async for chunk in stream]


def deltas(chunks: Sequence[Chunk]) -> list[str]:
    """The text, delta by delta."""
    return [chunk.text for chunk in chunks if isinstance(chunk, TextDelta)]


def model_at(
    server: LoopbackServer,
    *,
    api_key: str | None = "sk-test",
    provider: str = "openai",
    client: httpx.AsyncClient | None = None,
    timeout: float | None = None,
    headers: Mapping[str, str] | None = None,
) -> OpenAIChatModel:
    """The provider, asking this server."""
    return OpenAIChatModel(
        "m-1",
        base_url=server.url,
        api_key=api_key,
        provider=provider,
        client=client,
        timeout=timeout,
        headers=headers,
    )
