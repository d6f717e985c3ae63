"""Objects made of answers: what the text comes to while it comes in, and what the whole of it is."""

from __future__ import annotations

from io import StringIO
from typing import Final

from interlock.errors import OutputMismatch
from interlock.messages import ObjectChunk
from interlock.messages.parts import JSONValue, same_json
from interlock.runtime.agent_run import AgentRun

__all__ = ["PartialObject", "whole_object"]

ALWAYS_READ: Final = 4096
"""Characters up to which a text is read again with every delta; a longer one when it has grown by a 64th."""

_OF_NUMBERS: Final = "0123456789+-.eE"


def whole_object(run: AgentRun) -> ObjectChunk | None:
    """The object that the answer of a run has come to, as its guards left it; None where none was asked for.

    Raises:
        OutputMismatch: The answer does not fit.
    """
    schema = run.object_schema
    if schema is None or run.waiting is not None:
        return None
    try:
        run.output = schema.whole(run.step_text())
    except OutputMismatch as error:
        if run.finish_reason == "stop":
            raise
        faults = [*error.faults, f"the model ended with {run.finish_reason!r}"]
        raise OutputMismatch(error.schema, faults) from error
    return ObjectChunk(schema.as_json(run.output), final=True)


class PartialObject:
    """The object of an answer while its text comes in."""

    __slots__ = ("_last", "_read_at", "_size", "_written")

    def __init__(self) -> None:
        self._written = StringIO()
        self._size = 0
        self._read_at = 0
        self._last: JSONValue = None

    def add(self, text: str) -> ObjectChunk | None:
        """Some more of the text.

        Returns:
            What the object is by now, where that has changed.
        """
        from pydantic_core import from_json

        self._written.write(text)
        self._size += len(text)
        if self._size > ALWAYS_READ and self._size - self._read_at < self._size // 64:
            return None
        self._read_at = self._size
        try:
            whole_so_far = self._written.getvalue().rstrip(_OF_NUMBERS)  # digits at the end may not be all
            value: JSONValue = from_json(whole_so_far, allow_partial=True)
        except ValueError:  # no JSON, which the whole will tell
            return None
        if value is None or same_json(value, self._last):
            return None
        self._last = value
        return ObjectChunk(value)
