"""Joining the prompts that several branches made of one."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, cast

from interlock.errors import MergeConflict
from interlock.messages import PromptMessage, PromptPart, merge_values

__all__ = ["merge_prompts"]

_WHAT = "the prompt"


def merge_prompts(
    base: Sequence[PromptMessage], changed: Mapping[str, Sequence[PromptMessage]], prefer: str | None
) -> list[PromptMessage]:
    """One prompt of several, message by message and part by part.

    Branches that keep the number and roles of the messages are joined; where one adds or removes messages, another may
    not have changed anything.

    Args:
        base: The prompt before the block.
        changed: By branch, in list order: prompts that differ from it.
        prefer: The branch that wins a conflict.

    Raises:
        MergeConflict: Two branches contradict each other, and none is preferred.
    """
    first = next(iter(changed.values()))
    if all(prompt == first for prompt in changed.values()):
        return list(first)
    shape = [(m.role, [type(p) for p in m.parts]) for m in base]
    if any([(m.role, [type(p) for p in m.parts]) for m in prompt] != shape for prompt in changed.values()):
        if prefer is not None and prefer in changed:
            return list(changed[prefer])
        raise MergeConflict(_WHAT, list(changed))
    return [
        PromptMessage(
            message.role,
            [
                _merged_part(part, {name: prompt[i].parts[j] for name, prompt in changed.items()}, prefer)
                for j, part in enumerate(message.parts)
            ],
            merge_values(
                message.provider_metadata,
                {name: prompt[i].provider_metadata for name, prompt in changed.items()},
                prefer,
                _WHAT,
                texts=False,
            ),
        )
        for i, message in enumerate(base)
    ]


def _merged_part(base: PromptPart, parts: Mapping[str, PromptPart], prefer: str | None) -> PromptPart:
    changed = {name: part for name, part in parts.items() if part != base}
    if not changed:
        return base
    fields = {
        f.name: merge_values(
            getattr(base, f.name), {name: getattr(part, f.name) for name, part in changed.items()}, prefer, _WHAT
        )
        for f in dataclasses.fields(base)
        if f.compare
    }
    return cast("PromptPart", dataclasses.replace(cast("Any", base), **fields))
