"""What an agent's memory puts around its own processors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from interlock.errors import DefinitionError
from interlock.memory import Memory
from interlock.processors.base import ProcessorStep
from interlock.processors.compose import ProcessorLike
from interlock.processors.recall.message_history import MessageHistory
from interlock.steps import supports_step
from interlock.workflows import WorkflowStep, acting_steps

__all__ = ["with_memory"]


def with_memory(memory: Memory, lists: Mapping[str, Sequence[ProcessorLike]]) -> dict[str, Sequence[ProcessorLike]]:
    """The lists with what the memory puts before the input processors. Storing is no hook's, so nothing comes behind.

    A processor of the same id that stands in the list, or in a workflow there, replaces the automatic one.

    Args:
        memory: The agent's.
        lists: By name; one that is not there stays away.
    """
    made = dict(lists)
    given = made.get("input")
    if given is not None and _is_list(given) and MessageHistory.id not in _ids(given):
        made["input"] = [MessageHistory(store=memory.store, last_messages=memory.last_messages), *given]
    return made


def _is_list(entries: object) -> bool:
    """Whether it is one; composing tells of it where it is none."""
    return isinstance(entries, Sequence) and not isinstance(entries, str)


def _ids(entries: Sequence[object]) -> set[str]:
    """The ids of a list's processors. What can be none is passed over: composing the list tells of it."""
    found: set[str] = set()
    for entry in entries:
        if isinstance(entry, type) or not supports_step(entry):
            continue
        try:
            step = entry.as_step()
        except DefinitionError:
            continue
        for one in acting_steps(step.workflow.plan) if isinstance(step, WorkflowStep) else (step,):
            if isinstance(one, ProcessorStep):
                found.add(one.processor.id)
    return found
