"""For tests: a model that answers from a script, a context to call a step's function with, and the rules that a store
of one's own is checked against."""

from interlock.models import ScriptedModel
from interlock.testing.run_stores import run_store_checks, run_store_conformance
from interlock.testing.steps import step_context

__all__ = ["ScriptedModel", "run_store_checks", "run_store_conformance", "step_context"]
