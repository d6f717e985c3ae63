"""Chunks that need no waiting for, as a stream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable

from interlock.messages.chunks import Chunk

__all__ = ["ReadyChunks"]


class ReadyChunks(AsyncIterator[Chunk]):
    """Gives out chunks one by one. No asynchronous generator, so that it may be left at any point.

    Args:
        chunks: The chunks; taken from it only as they are asked for.
    """

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        self._chunks = iter(chunks)

    def __aiter__(self) -> ReadyChunks:
        return self

    async def __anext__(self) -> Chunk:
        for chunk in self._chunks:
            return chunk
        raise StopAsyncIteration
