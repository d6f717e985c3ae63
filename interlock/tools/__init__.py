"""What a model may call."""

from interlock.tools.context import ToolContext
from interlock.tools.supports import SupportsTool
from interlock.tools.tool import Tool, tool

__all__ = ["SupportsTool", "Tool", "ToolContext", "tool"]
