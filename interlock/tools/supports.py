"""What can be made a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from interlock.tools.tool import Tool

__all__ = ["SupportsTool"]


class SupportsTool(Protocol):
    """Something that says itself how a model calls it, such as an agent."""

    def as_tool(self) -> Tool:
        """The tool that stands for it."""
        ...
