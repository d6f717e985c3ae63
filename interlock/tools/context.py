"""What a running tool may know of the run it is part of, and what it may do there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from interlock.context import RequestContext
from interlock.errors import InterlockError
from interlock.messages import Chunk, ChunkBase, JSONValue, Message, ToolOutput, Usage
from interlock.messages.json_text import plain_json
from interlock.messages.outbox import Outbox, written_chunk

__all__ = ["ToolContext"]


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Handed to a tool whose function has a parameter annotated ``ToolContext``; never part of the tool's schema.

    Attributes:
        run_id: The agent's run.
        tool_call_id: This call.
        step_number: The step of the loop that made the call, from 0.
        messages: The conversation so far, without system messages.
        request_context: What the caller handed over.
        tool_name: This tool.
        resume_data: What somebody has answered to the tool's question; None: nothing was asked yet.
        outbox: Where what the tool writes is put; None outside an agent, where no client reads along.
        asks: What notes a question and unwinds the tool; None where nobody can answer.
    """

    run_id: str
    tool_call_id: str
    step_number: int
    messages: Sequence[Message]
    request_context: RequestContext
    tool_name: str = ""
    outbox: Outbox | None = field(default=None, repr=False, compare=False)
    resume_data: object = None
    asks: Callable[[JSONValue], NoReturn] | None = field(default=None, repr=False, compare=False)

    def write(
        self,
        name: str,
        data: object = None,
        *,
        transient: bool = False,
        id: str | None = None,  # noqa: A002
        message_id: str | None = None,
    ) -> None:
        """Send the client a data chunk while the tool runs, ``data-<name>`` on the wire. It passes the same guards.

        Args:
            name: What it is, for the client: letters, digits, ``.``, ``_`` and ``-``.
            data: The value, as JSON has it.
            transient: Whether it is shown only, and not stored as a part of the message.
            id: A later one of this name and id takes its place in the message.
            message_id: The message it belongs to; None: the answer.

        Raises:
            ValueError: The name is none, or something in the data has no JSON form.
        """
        chunk = written_chunk(name, data, transient=transient, id=id, message_id=message_id)
        if self.outbox is not None:
            self.outbox.put(chunk)

    def stream(self, output: Chunk | JSONValue) -> None:
        """Send the client a piece of what the tool makes, as a ``tool-output`` chunk; it is not stored.

        Args:
            output: A value, as JSON has it; or a chunk of something else that streams, such as another agent.

        Raises:
            ValueError: Something in it has no JSON form.
        """
        plain = output if isinstance(output, ChunkBase) else plain_json(output, f"what tool {self.tool_name!r} streams")
        if self.outbox is not None:
            self.outbox.put(ToolOutput(self.tool_call_id, self.tool_name, plain))

    def suspend(self, payload: JSONValue = None) -> NoReturn:
        """Ask something and wait for the answer, for as long as it takes: the run is suspended.

        It raises, so nothing behind it runs. When somebody resumes the run with ``data``, the tool runs again from its
        start, and finds that in ``resume_data``.

        Args:
            payload: What is asked, as JSON has it.

        Raises:
            ValueError: Something in it has no JSON form.
            InterlockError: Nobody can answer where the tool runs.
        """
        asked = plain_json(payload, f"what tool {self.tool_name!r} asks")
        if self.asks is None:
            raise InterlockError(
                f"tool {self.tool_name!r} cannot wait for an answer here: it runs in no agent or workflow"
            )
        self.asks(asked)

    async def delivered(self) -> None:
        """Wait until what was sent has been taken, so that a slow reader slows the tool."""
        if self.outbox is not None:
            await self.outbox.taken()

    def add_usage(self, usage: Usage) -> None:
        """Count tokens that the tool has spent to the step that called it."""
        if self.outbox is not None:
            self.outbox.spent += usage
