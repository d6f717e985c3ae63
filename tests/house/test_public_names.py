"""The names a user may import are exactly these. A name that comes or goes is a decision, made here too."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from typing import cast

import pytest

import interlock

NAMES: dict[str, tuple[str, ...]] = {
    "interlock": (
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
        "StepContext",
        "TextEdit",
        "TextPart",
        "Tool",
        "Tripwire",
        "Workflow",
        "create_step",
        "create_workflow",
        "step",
        "tool",
    ),
    "interlock.cli": ("app", "main"),
    "interlock.errors": (
        "AlreadyStarted",
        "BlockedError",
        "DefinitionError",
        "InterlockError",
        "InvalidProcessorReturn",
        "MergeConflict",
        "ModelError",
        "RunError",
        "StepFailed",
        "ToolError",
    ),
    "interlock.messages": (
        "Chunk",
        "ChunkBase",
        "DataPart",
        "EditKind",
        "ErrorChunk",
        "ErrorPart",
        "FileChunk",
        "FilePart",
        "Finish",
        "FinishReason",
        "JSONValue",
        "Message",
        "MessageList",
        "MessageView",
        "Part",
        "PartBase",
        "Prompt",
        "PromptMessage",
        "PromptPart",
        "ReasoningDelta",
        "ReasoningEnd",
        "ReasoningPart",
        "ReasoningStart",
        "Role",
        "Source",
        "SourceChunk",
        "SourcePart",
        "Start",
        "StepFinish",
        "StepStart",
        "StepStartPart",
        "TextDelta",
        "TextEdit",
        "TextEnd",
        "TextPart",
        "TextStart",
        "ToolCall",
        "ToolCallDelta",
        "ToolCallPart",
        "ToolCallStart",
        "ToolError",
        "ToolInvocationPart",
        "ToolResult",
        "ToolResultPart",
        "TripwireChunk",
        "Usage",
        "merge",
        "merge_values",
        "prompt_text",
        "prompt_to_openai",
    ),
    "interlock.models": (
        "EchoModel",
        "LanguageModel",
        "ModelRequest",
        "OpenAIChatModel",
        "ScriptedModel",
        "ToolChoice",
        "ToolSpec",
        "ask_json",
        "ask_text",
        "register_provider",
        "resolve_model",
    ),
    "interlock.processors": (
        "APIErrorContext",
        "CachedResponse",
        "Changes",
        "Deny",
        "Finding",
        "HOOKS",
        "InputContext",
        "InputStepContext",
        "LLMRequestContext",
        "LLMResponseContext",
        "ModerationProcessor",
        "OutputResultContext",
        "OutputStepContext",
        "OutputStreamContext",
        "PIIDetector",
        "PhaseContext",
        "Processor",
        "ProcessorStep",
        "ProcessorStepSchema",
        "PromptInjectionDetector",
        "RequestChanges",
        "RunResult",
        "Scope",
        "StepChanges",
        "StepResult",
        "ToolCallChanges",
        "ToolCallContext",
        "ToolResultChanges",
        "ToolResultContext",
        "UnicodeNormalizer",
    ),
    "interlock.runtime": (
        "Agent",
        "AgentResult",
        "AgentStream",
        "AlreadyStarted",
        "Blocked",
        "CallOptions",
        "Canceled",
        "Completed",
        "Conversation",
        "Failed",
        "LocalEngine",
        "Outcome",
        "PrepareStep",
        "ProcessorList",
    ),
    "interlock.steps": ("FunctionStep", "Step", "StepContext", "StepRun", "SupportsStep", "create_step", "step"),
    "interlock.testing": ("ScriptedModel",),
    "interlock.tools": ("Tool", "ToolContext", "tool"),
    "interlock.workflows": (
        "Blocked",
        "Canceled",
        "Completed",
        "Engine",
        "Failed",
        "MapNode",
        "MergeNode",
        "NestedNode",
        "Node",
        "Outcome",
        "ParallelNode",
        "Plan",
        "StepNode",
        "StepRecord",
        "Workflow",
        "WorkflowBuilder",
        "WorkflowRun",
        "WorkflowStep",
        "acting_steps",
        "create_workflow",
        "default_engine",
        "set_default_engine",
        "specialise",
    ),
}


@pytest.mark.parametrize("module", NAMES)
def test_a_module_exports_exactly_these_names(module: str) -> None:
    assert sorted(cast("list[str]", importlib.import_module(module).__all__)) == sorted(NAMES[module])


@pytest.mark.parametrize("module", NAMES)
def test_every_exported_name_is_there(module: str) -> None:
    found = importlib.import_module(module)
    assert [name for name in NAMES[module] if not hasattr(found, name)] == []


def test_every_room_lists_its_names_here() -> None:
    rooms = {info.name for info in pkgutil.iter_modules(interlock.__path__, "interlock.") if info.ispkg}
    assert rooms - set(NAMES) == set()


def test_a_star_import_brings_the_exported_names_and_nothing_else() -> None:
    code = "before = {*globals(), 'before'}\nfrom interlock import *\nprint(*sorted(set(globals()) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert tuple(done.stdout.split()) == tuple(sorted(NAMES["interlock"]))
