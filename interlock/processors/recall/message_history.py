"""The newest messages of a thread, shown to the model before the turn; and the turn, kept for the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from interlock.errors import DefinitionError, StorageError
from interlock.memory.memory import LAST_MESSAGES, faults_in_history
from interlock.memory.message_store import MessageStore
from interlock.memory.stored_form import stored_form
from interlock.memory.whole_turns import newest_turns
from interlock.messages import Message, MessageList, ToolInvocationPart
from interlock.processors.contexts import InputContext
from interlock.processors.recall.keeps_turn import KeepsTurn
from interlock.verdict import Violation

__all__ = ["MessageHistory"]


class MessageHistory(KeepsTurn):
    """Recalls what was said in the call's thread, and keeps what is said now.

    ``Agent(memory=Memory(…))`` puts it before the input processors. By hand it may stand anywhere; in the output list
    alone it keeps, and recalls nothing. Without a thread it does nothing.

    Remembered messages come before the turn, with the source ``"memory"``. A message that the call brings along itself
    is not recalled again; it takes the place of the remembered one. Where the call asks a message again that the thread
    has already, what came after that is not recalled.

    Kept are the user's turn, as the input processors left it, and the accepted answer; no system messages, no transient
    signals, no tool calls without a result. Where a run does not end well, its answer is not kept, only the tool calls
    of accepted steps with their results.

    Args:
        store: Where messages are kept.
        last_messages: How many are recalled at most; None: all, 0: none. Only whole turns are.
        id, on_violation: As in :class:`Processor`.

    Raises:
        DefinitionError: The store is none, or the figure.

    Example:
        >>> import anyio
        >>> from interlock.memory import InMemoryMessageStore
        >>> async def main() -> None:
        ...     history = MessageHistory(store=InMemoryMessageStore())
        ...     turn = MessageList("Where is my parcel?")
        ...     turn.add("In Leipzig.", source="response")
        ...     await history.keep(turn, thread="t1", resource="ann")
        ...     ctx = InputContext("And now?", run=RunFacts(thread="t1", resource="ann"))
        ...     await history.process_input(ctx)
        ...     print(ctx.message_list.texts(), len(ctx.messages))
        >>> from interlock.processors.seat import RunFacts
        >>> anyio.run(main)
        ['Where is my parcel?', 'In Leipzig.', 'And now?'] 1
    """

    id = "message-history"

    def __init__(
        self,
        *,
        store: MessageStore,
        last_messages: int | None = LAST_MESSAGES,
        id: str | None = None,  # noqa: A002
        on_violation: Callable[[Violation], object] | None = None,
    ) -> None:
        super().__init__(id=id, on_violation=on_violation)
        faults = faults_in_history(store, last_messages)
        if faults:
            raise DefinitionError(faults, subject=type(self).__name__)
        self._store = store
        self._last_messages = last_messages

    async def process_input(self, ctx: InputContext) -> None:
        """Put what is remembered before the turn."""
        if ctx.thread is None:
            return
        found = await newest_turns(self._store, ctx.thread, resource=ctx.resource, last=self._last_messages)
        remembered = [message for message in found if message.role != "system"]
        if remembered:
            _tell_calls_apart(remembered)
            _recall(remembered, ctx.message_list)

    async def keep(self, messages: MessageList, *, thread: str, resource: str | None) -> None:
        """Store the turn. Doing so twice is doing it once."""
        turn = messages.fork()
        kept = [
            form
            for message in turn.all
            if turn.source_of(message.id) in ("input", "response")
            and (form := stored_form(message, thread=thread, resource=resource)) is not None
        ]
        if not kept:
            return
        try:
            await self._store.save(thread, kept, resource=resource)
        except StorageError:
            raise
        except Exception as error:
            raise StorageError(
                f"the store failed to save to thread {thread!r}: {type(error).__name__}: {error}"
            ) from error


def _tell_calls_apart(messages: Sequence[Message]) -> None:
    """Give each tool call an id of its own: a model that counts anew in each run has not seen all of the thread."""
    used: set[str] = set()
    for message in messages:
        for part in message.parts:
            if not isinstance(part, ToolInvocationPart):
                continue
            given, number = part.tool_call_id, 1
            while part.tool_call_id in used:
                number += 1
                part.tool_call_id = f"{given}-{number}"
            used.add(part.tool_call_id)


def _recall(remembered: Sequence[Message], messages: MessageList) -> None:
    here = messages.all.ids()
    places = {message.id: at for at, message in enumerate(remembered)}
    before = remembered[: places.get(here[-1]) if here else None]
    known = {message.id for message in before}
    front = [messages.get(message.id) or message for message in before]
    turn = [message for message in messages.all if message.id not in known]
    messages.assign([*front, *turn], source="memory")
