"""Language models: the interface, the providers, and a scripted model for tests."""

from __future__ import annotations

from interlock.models.asking import ask_json, ask_text
from interlock.models.base import LanguageModel, ModelRequest, ToolChoice, ToolSpec
from interlock.models.echo import EchoModel
from interlock.models.openai_chat import OpenAIChatModel
from interlock.models.resolve import register_provider, resolve_model
from interlock.models.scripted import ScriptedModel

__all__ = [
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
]
