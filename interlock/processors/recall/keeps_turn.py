"""A processor that is told what a run has left, once it has ended, however it has ended."""

from __future__ import annotations

from typing import Any

from interlock.messages import MessageList
from interlock.processors.base import Processor

__all__ = ["KeepsTurn"]


class KeepsTurn(Processor, abstract=True):
    """Keeps what a run has left, in whichever list it stands. No hook could: after a tripwire, no further one runs.

    Derive from it and write ``keep``; hooks may be added, but need not be.

    Args:
        id, on_violation: As in :class:`Processor`.

    Example:
        >>> class Diary(KeepsTurn):
        ...     id = "diary"
        ...
        ...     async def keep(self, messages: MessageList, *, thread: str, resource: str | None) -> None:
        ...         print(thread, messages.texts())
        >>> import anyio
        >>> anyio.run(lambda: Diary().keep(MessageList("Hello"), thread="t1", resource=None))
        t1 ['Hello']
    """

    def __init_subclass__(cls, *, abstract: bool = True, **more: Any) -> None:
        super().__init_subclass__(abstract=abstract, **more)

    async def keep(self, messages: MessageList, *, thread: str, resource: str | None) -> None:
        """Keep what a run has left; called once the run has ended, where its call named a thread.

        It may be called twice for one run, where the first time failed or was interrupted.

        Args:
            messages: The conversation, a copy: ``input`` is the user's turn as the input processors left it,
                ``response`` the accepted answer. After a run that did not end well, the response is the tool calls of
                accepted steps with their results. A turn that was stopped before the model was asked is not there.
            thread: Where to keep it.
            resource: Whose thread that is.

        Raises:
            StorageError: It could not be kept; a run that had ended well fails then.
        """
        raise NotImplementedError
