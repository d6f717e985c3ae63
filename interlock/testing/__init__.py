"""For tests: a model that answers from a script, a context to call a step's function with, what a guard on text must
hold to, and the rules that a store of one's own is checked against."""

from interlock.models import ScriptedModel
from interlock.testing.chunking import assert_chunking_invariant
from interlock.testing.run_stores import run_store_checks, run_store_conformance
from interlock.testing.steps import step_context
from interlock.testing.verdicts import assert_same_verdict_everywhere

__all__ = [
    "ScriptedModel",
    "assert_chunking_invariant",
    "assert_same_verdict_everywhere",
    "run_store_checks",
    "run_store_conformance",
    "step_context",
]
