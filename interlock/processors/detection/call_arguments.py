"""The arguments of the calls of a step: what tells of a call later repeats them."""

from __future__ import annotations

from typing import NamedTuple, Self

from interlock.messages import JSONValue, ToolCallApproval, ToolCallSuspended, ToolError, ToolResult

__all__ = ["CallArguments", "Repeats"]

Repeats = ToolResult | ToolError | ToolCallApproval | ToolCallSuspended
"""What tells of a call, and repeats its arguments."""


class _Passed(NamedTuple):
    came: JSONValue
    gone: JSONValue


class CallArguments:
    """What a guard has made of the arguments of each call.

    Example:
        >>> calls = CallArguments()
        >>> calls.note("1", {"to": "TICKET-1"}, {"to": "[TICKET]"})
        >>> calls.repeated(ToolResult("1", "mail", {"to": "TICKET-1"}, "sent")).args
        {'to': '[TICKET]'}
        >>> calls.repeated(ToolResult("2", "mail", {}, "sent")) is None
        True
    """

    __slots__ = ("_passed",)

    def __init__(self) -> None:
        self._passed: dict[str, _Passed] = {}

    def note(self, call: str, came: JSONValue, gone: JSONValue) -> None:
        """Note what has become of the arguments of a call."""
        self._passed[call] = _Passed(came, gone)

    def repeated(self, chunk: Repeats) -> Repeats | None:
        """The chunk with the arguments as they went on before; None: these have not been seen."""
        passed = self._passed.get(chunk.tool_call_id)
        if passed is None:
            return None
        if chunk.args == passed.gone:
            return chunk
        return chunk.replace(args=passed.gone) if chunk.args == passed.came else None

    def __deepcopy__(self, memo: object) -> Self:
        """Values of JSON are not changed, so they are not copied."""
        del memo
        made = type(self)()
        made._passed = self._passed.copy()
        return made
