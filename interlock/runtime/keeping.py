"""Memory in a run: whose lists it joins, and what is kept of a turn when the run has ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from interlock.errors import DefinitionError, StorageError
from interlock.messages import MessageList, Part, ToolInvocationPart
from interlock.processors.base import Processor
from interlock.processors.seat import RunFacts
from interlock.runtime.processor_lists import ProcessorLists

if TYPE_CHECKING:
    from interlock.memory import Memory
    from interlock.processors.compose import ProcessorLike

__all__ = ["check_thread", "checked_memory", "composed_lists", "keep_turn"]


def checked_memory(memory: Memory | None, agent_id: str) -> Memory | None:
    """An agent's memory.

    Raises:
        DefinitionError: It is none.
    """
    if memory is None:
        return None
    from interlock.memory import Memory

    if not isinstance(cast("object", memory), Memory):
        raise DefinitionError(f"memory is a Memory, such as Memory(), not {memory!r}", subject=f"agent {agent_id!r}")
    return memory


def composed_lists(lists: Mapping[str, Sequence[ProcessorLike]], memory: Memory | None) -> ProcessorLists:
    """An agent's or a call's lists, composed, with what the memory puts around them.

    Raises:
        DefinitionError: A list holds what is no processor, or two objects with one id.
    """
    if memory is None:
        return ProcessorLists(lists)
    from interlock.processors.recall.with_memory import with_memory

    return ProcessorLists(with_memory(memory, lists))


def check_thread(thread: str | None, lists: ProcessorLists, agent_id: str) -> None:
    """Refuse a thread that nobody would keep.

    Raises:
        DefinitionError: The call names one, and there is no memory.
    """
    if thread is None:
        return
    from interlock.processors.recall.keeps_turn import KeepsTurn

    if not any(isinstance(one, KeepsTurn) for one in lists.processors().values()):
        raise DefinitionError(
            f"the call names thread {thread!r}, but the agent has no memory: pass memory=Memory() to the agent, or put "
            "a MessageHistory into its lists",
            subject=f"call of agent {agent_id!r}",
        )


async def keep_turn(
    processors: Callable[[], Iterable[Processor]], facts: RunFacts, messages: MessageList, *, whole: bool
) -> None:
    """Have everybody who keeps turns keep this one. Without a thread nothing is kept.

    One that fails does not keep the others from it.

    Args:
        processors: Gives the run's processors.
        facts: The run.
        messages: The conversation as the run leaves it: after one that did not end well, what was accepted.
        whole: Whether the run has ended well. Otherwise the answer was not accepted as a whole, and only the tool calls
            of accepted steps are kept of it.

    Raises:
        StorageError: One has failed.
    """
    thread = facts.thread
    if thread is None:
        return
    from interlock.processors.recall.keeps_turn import KeepsTurn

    turn = messages.fork()
    if not whole:
        _take_words_out(turn)
    if not turn.input and not turn.response:
        return
    failed: StorageError | None = None
    for keeper in processors():
        if not isinstance(keeper, KeepsTurn):
            continue
        try:
            await keeper.keep(turn.fork(), thread=thread, resource=facts.resource)
        except StorageError as error:
            failed = failed or error
        except Exception as error:
            if failed is None:
                failed = StorageError(
                    f"run {facts.run_id!r}: {keeper.id!r} could not keep the turn in thread {thread!r}: "
                    f"{type(error).__name__}: {error}"
                )
                failed.__cause__ = error
    if failed is not None:
        raise failed


def _take_words_out(turn: MessageList) -> None:
    """Leave of what was answered the tool calls that have come to an end."""
    for message in list(turn.response):
        if message.role != "assistant":
            continue
        ended: list[Part] = [p for p in message.parts if isinstance(p, ToolInvocationPart) and p.state != "call"]
        if ended:
            message.parts = ended
        else:
            turn.remove(message.id)
