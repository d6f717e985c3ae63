"""Language models: the interface, the providers, and a scripted model for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock.lazy import lazily
from interlock.models.base import LanguageModel, ModelRequest, ToolChoice, ToolSpec
from interlock.models.resolve import register_provider, resolve_model

if TYPE_CHECKING:
    from interlock.models.asking import ask_json, ask_text
    from interlock.models.echo import EchoModel
    from interlock.models.openai_chat import OpenAIChatModel
    from interlock.models.scripted import ScriptedModel
else:
    __getattr__ = lazily(
        __name__,
        {
            "EchoModel": "interlock.models.echo",
            "OpenAIChatModel": "interlock.models.openai_chat",
            "ScriptedModel": "interlock.models.scripted",
            "ask_json": "interlock.models.asking",
            "ask_text": "interlock.models.asking",
        },
    )

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
