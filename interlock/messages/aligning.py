"""Which part of a changed message was which part of the message it came from.

A part that was handed out and edited carries the mark of the part it is a copy of. Parts made from scratch carry none;
they are matched by what they say and by what they are, and where that leaves a choice, the choice is called a guess.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from interlock.messages.parts import Part, PartBase, ReasoningPart, TextPart, ToolInvocationPart, same_part

__all__ = ["Alignment", "align"]


@dataclass(slots=True)
class Alignment:
    """Where the parts of a changed message come from.

    Args:
        sources: For each part, the place of the old part it was; None where it is new.
        guessed: Old parts of which it is not certain what became of them.
        dropped: Parts that a merge is not to use.
    """

    sources: list[int | None]
    guessed: set[int] = field(default_factory=set[int])
    dropped: set[int] = field(default_factory=set[int])


def align(old: Sequence[Part], new: Sequence[Part]) -> Alignment:
    """Match the parts of a message with those it had before."""
    found = _by_mark(old, new)
    taken = {source for source in found.sources if source is not None}
    left = [at for at in range(len(old)) if at not in taken]
    fresh = [at for at, source in enumerate(found.sources) if source is None]
    if left and fresh:
        _by_content(old, new, left, fresh, found)
    return found


def _by_mark(old: Sequence[Part], new: Sequence[Part]) -> Alignment:
    places: dict[object, int] = {id(part): at for at, part in enumerate(old)}
    places.update({mark: at for at, part in enumerate(old) if (mark := _mark(part)) is not None})
    found = Alignment([])
    seen: set[int] = set()
    for part in new:
        at = places.get(id(part), places.get(_mark(part)))
        if at is not None and (at in seen or type(part) is not type(old[at])):
            found.guessed.add(at)  # one part was made into two
            at = None
        if at is not None:
            seen.add(at)
        found.sources.append(at)
    return found


def _mark(part: PartBase) -> object:
    return getattr(part, "_origin", None)


def _by_content(
    old: Sequence[Part], new: Sequence[Part], left: Sequence[int], fresh: Sequence[int], found: Alignment
) -> None:
    """Match equal parts first, then parts of one kind if there is one of either side, or as many on both."""
    rest, unmatched = list(left), list(fresh)
    for at in fresh:
        twin = next((source for source in rest if same_part(old[source], new[at])), None)
        if twin is not None:
            found.sources[at] = twin
            rest.remove(twin)
            unmatched.remove(at)
    for kind in dict.fromkeys(_kind(old[source]) for source in rest):
        sources = [source for source in rest if _kind(old[source]) == kind]
        targets = [at for at in unmatched if _kind(new[at]) == kind]
        if len(sources) == len(targets):
            found.sources = [
                sources[targets.index(at)] if at in targets else source for at, source in enumerate(found.sources)
            ]
        if targets and not len(sources) == len(targets) == 1:
            found.guessed.update(sources)
    texts = [at for at in unmatched if isinstance(new[at], TextPart | ReasoningPart) and found.sources[at] is None]
    if texts:
        found.guessed.update(source for source in rest if source not in found.sources)


def _kind(part: Part) -> Hashable:
    return (part.type, part.tool_call_id) if isinstance(part, ToolInvocationPart) else part.type
