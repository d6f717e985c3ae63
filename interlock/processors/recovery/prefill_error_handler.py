"""A provider that refuses to go on from an answer: it is asked to, in so many words."""

from __future__ import annotations

from typing import Final

from interlock.errors import ModelError
from interlock.processors.base import Processor
from interlock.processors.changes import Retry
from interlock.processors.contexts import APIErrorContext

__all__ = ["PrefillErrorHandler"]

_SAYS: Final = (
    "prefill",
    "must end with a user message",
    "must end with a user role",
    "last message must have role user",
    "last message must be from the user",
    "expected last role user",
)
"""How providers word it (Anthropic: "This model does not support assistant message prefill. The conversation must end
with a user message."; Mistral: "Expected last role User or Tool"), in small letters."""


class PrefillErrorHandler(Processor):
    """Where a provider refuses a prompt that ends with an assistant's turn, has it asked again with a reminder behind.

    Some providers continue an assistant's turn that a prompt ends with, some refuse it. To those that refuse, a signal
    says ``continue``; it is not stored. That is done once for each step. Every agent has this handler behind its own
    ones, unless one of the same id is among them.

    Args:
        id, on_violation: As in :class:`Processor`.

    Example:
        >>> from interlock.messages import Message
        >>> said = [Message.user("Count to ten."), Message.assistant("One, two")]
        >>> error = ModelError("The conversation must end with a user message.", status=400)
        >>> ctx = APIErrorContext(said, error=error)
        >>> PrefillErrorHandler().process_api_error(ctx)
        Retry(delay=0.0)
        >>> ctx.messages[-1].text
        'continue'
    """

    id = "prefill-error-handler"

    def process_api_error(self, ctx: APIErrorContext) -> Retry | None:
        """Look at what failed."""
        handled = ctx.state.setdefault("handled", [])
        if ctx.step_number in handled or not _refuses_prefill(ctx.error):
            return None
        if not ctx.messages or ctx.messages[-1].role != "assistant":
            return None
        handled.append(ctx.step_number)
        ctx.send_signal("continue", transient=True)
        return Retry()


def _refuses_prefill(error: Exception) -> bool:
    if not isinstance(error, ModelError) or error.status not in (None, 400, 422):
        return False
    said = f"{error.message} {error.body or ''}".lower()
    return any(words in said for words in _SAYS)
