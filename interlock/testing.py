"""Helpers for testing agents, processors and workflows without a network."""

from interlock.models import ScriptedModel

__all__ = ["ScriptedModel"]
