"""Guard graphs for LLM agents.

A *processor* looks at, changes or stops what goes into and comes out of a language model. Processors are steps of a
*workflow*; an agent runs that graph at every point of its life. The shipped processors are in
:mod:`interlock.processors`, errors in :mod:`interlock.errors`, helpers for tests in :mod:`interlock.testing`.
"""

from typing import TYPE_CHECKING

from interlock.context import RequestContext
from interlock.lazy import lazily
from interlock.messages import Message, MessageList, TextEdit, TextPart
from interlock.processors import PhaseContext, Processor, ProcessorStepSchema
from interlock.runtime import Blocked, Canceled, Completed, Failed, Outcome, Suspended
from interlock.steps import RetryPolicy, StepContext, create_step, step
from interlock.tools import Tool, tool
from interlock.verdict import Phase, Tripwire
from interlock.workflows import Workflow, create_workflow

if TYPE_CHECKING:
    from interlock.runtime import Agent, AgentResult, AgentStream
else:
    __getattr__ = lazily(
        __name__,
        {
            "Agent": "interlock.runtime.agent",
            "AgentResult": "interlock.runtime.result",
            "AgentStream": "interlock.runtime.stream",
        },
    )

__all__ = [
    "Agent",
    "AgentResult",
    "AgentStream",
    "Blocked",
    "Canceled",
    "Completed",
    "Failed",
    "Message",
    "MessageList",
    "Outcome",
    "Phase",
    "PhaseContext",
    "Processor",
    "ProcessorStepSchema",
    "RequestContext",
    "RetryPolicy",
    "StepContext",
    "Suspended",
    "TextEdit",
    "TextPart",
    "Tool",
    "Tripwire",
    "Workflow",
    "create_step",
    "create_workflow",
    "step",
    "tool",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
