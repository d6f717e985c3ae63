"""Joining what several branches did to the parts of one message."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Final, cast

from interlock.errors import MergeConflict
from interlock.messages.aligning import Alignment, align
from interlock.messages.composing import changes_since
from interlock.messages.merge_order import merge_order
from interlock.messages.merge_text import merge_changes
from interlock.messages.merging_values import MISSING, merge_values
from interlock.messages.parts import JSONValue, Part, ReasoningPart, TextPart, same_state, value_fields
from interlock.messages.rewriting import History, apply_edits

__all__ = ["added_parts", "merge_parts"]

_TEXTS: Final = frozenset(
    {
        ("tool-invocation", "args"),
        ("tool-invocation", "result"),
        ("tool-invocation", "model_output"),
        ("tool-invocation", "error"),
        ("data", "data"),
        ("source", "title"),
        ("error", "message"),
    }
)
"""Fields whose strings are texts; those of the others are names."""

_REMOVABLE: Final = frozenset({"args", "result", "model_output"})
"""Fields of a tool call that a branch empties to take them away."""


def merge_parts(
    base: Sequence[Part], branches: Mapping[str, Sequence[Part]], prefer: str | None, what: str
) -> list[Part]:
    """The parts with what every branch did to them; they are new, or copies.

    Args:
        base: The parts before.
        branches: The parts in each branch that changed them, by the branch's name, in list order.
        prefer: The branch that wins where two contradict each other.
        what: Whose parts they are, for the error.

    Raises:
        MergeConflict: Two branches contradict each other, and ``prefer`` names neither.
    """
    aligned = {name: align(base, parts) for name, parts in branches.items()}
    for name in _guessing(base, branches, aligned, prefer, what):
        _give_way(branches[name], aligned[name])
    versions = _versions(base, branches, aligned)
    keys: dict[str, list[Hashable]] = {}
    new: dict[Hashable, Part] = {}
    for name, parts in branches.items():
        keys[name] = []
        for at, (part, source) in enumerate(zip(parts, aligned[name].sources, strict=True)):
            key: Hashable = (name, at) if source is None else source
            if source is None and at not in aligned[name].dropped:
                new[key] = part
            if source is not None or key in new:
                keys[name].append(key)
    order: list[Hashable] = merge_order(range(len(base)), keys, prefer, f"the parts of {what}")
    return [
        merge_part(base[key], versions[key], prefer, f"part {key} of {what}")
        if isinstance(key, int)
        else new[key].copy()
        for key in order
    ]


def added_parts(base: Sequence[Part], parts: Sequence[Part]) -> list[Part]:
    """The parts that were none of the old ones."""
    return [part for part, source in zip(parts, align(base, parts).sources, strict=True) if source is None]


def _versions(
    base: Sequence[Part], branches: Mapping[str, Sequence[Part]], aligned: Mapping[str, Alignment]
) -> list[dict[str, Part]]:
    """For each old part, what became of it in the branches that kept it."""
    versions: list[dict[str, Part]] = [{} for _ in base]
    for name, parts in branches.items():
        for part, source in zip(parts, aligned[name].sources, strict=True):
            if source is not None:
                versions[source][name] = part
    return versions


def _guessing(
    base: Sequence[Part],
    branches: Mapping[str, Sequence[Part]],
    aligned: Mapping[str, Alignment],
    prefer: str | None,
    what: str,
) -> list[str]:
    """The branches that must give way because it is a guess what they made of a part that the preferred one changed.

    What a branch made from scratch may hold the text of such a part as it was before the other branch changed it.
    """
    versions = _versions(base, branches, aligned)
    giving_way: list[str] = []
    for name, alignment in aligned.items():
        for at in sorted(alignment.guessed):
            unchanged = {other for other, part in versions[at].items() if same_state(part, base[at])}
            rivals = [other for other in branches if other != name and other not in unchanged]
            if rivals and prefer not in (name, *rivals):
                raise MergeConflict(f"part {at} of {what}", [name, *rivals])
            if rivals and prefer != name:
                giving_way.append(name)
    return list(dict.fromkeys(giving_way))


def _give_way(parts: Sequence[Part], alignment: Alignment) -> None:
    """Let go of all that is a guess: the old parts count as removed, and what was made of them is not used."""
    for at, part in enumerate(parts):
        source = alignment.sources[at]
        if source in alignment.guessed or (source is None and isinstance(part, TextPart | ReasoningPart)):
            alignment.sources[at] = None
            alignment.dropped.add(at)


def merge_part(base: Part, versions: Mapping[str, Part], prefer: str | None, what: str) -> Part:
    """One part of the versions of it, which are of its type."""
    changed = {name: part for name, part in versions.items() if not same_state(part, base)}
    if not changed:
        return base
    first = next(iter(changed.values()))
    if all(same_state(part, first) for part in changed.values()):
        return first.copy()
    made = base.copy()
    for name in value_fields(type(base)):
        if name == "text":
            _merge_text(
                cast("TextPart", base), cast("Mapping[str, TextPart]", changed), cast("TextPart", made), prefer, what
            )
        else:
            values = {branch: getattr(part, name) for branch, part in changed.items()}
            setattr(made, name, _merged_field(base, name, values, prefer, what))
    if isinstance(base, ReasoningPart) and isinstance(made, ReasoningPart) and made.text != base.text:
        made.signature = None
    return made


def _merge_text(
    base: TextPart | ReasoningPart,
    changed: Mapping[str, TextPart | ReasoningPart],
    made: TextPart | ReasoningPart,
    prefer: str | None,
    what: str,
) -> None:
    changes = {name: changes_since(base, part) for name, part in changed.items()}
    merged = merge_changes(base.text, changes, prefer, f"the text of {what}")
    made.text = apply_edits(base.text, merged)
    made.history = History(base.history, base.text, merged, made.text)


def _merged_field(base: Part, name: str, values: Mapping[str, JSONValue], prefer: str | None, what: str) -> JSONValue:
    old: JSONValue = getattr(base, name)
    if name in _REMOVABLE and old is not None:
        values = {branch: MISSING if value is None else value for branch, value in values.items()}
    texts = (base.type, name) in _TEXTS
    merged = merge_values(old, values, prefer, f"{name!r} of {what}", texts=texts)
    return None if merged is MISSING else merged
