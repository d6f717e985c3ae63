"""Language models: the interface, the providers, and a scripted model for tests."""

from __future__ import annotations

from interlock.models.base import LanguageModel, ModelRequest, ToolChoice, ToolSpec
from interlock.models.echo import EchoModel
from interlock.models.resolve import register_provider, resolve_model
from interlock.models.scripted import ScriptedModel

__all__ = [
    "EchoModel",
    "LanguageModel",
    "ModelRequest",
    "ScriptedModel",
    "ToolChoice",
    "ToolSpec",
    "register_provider",
    "resolve_model",
]
