"""Joining what several branches did to one text.

Edits that do not overlap are all made. Where they overlap, the one that starts first keeps its replacement and the
others only take away, so that **a character of the old text survives only if it survives in every branch**. But an
exact redaction keeps its replacement against an edit that was found by comparing, whichever starts first: what a branch
wrote in place may say the redacted text again in other letters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cmp_to_key

from interlock.errors import MergeConflict
from interlock.messages.edit_index import EditIndex
from interlock.messages.rewriting import Change, Range, apply_edits
from interlock.messages.seams import Joined, without_lost_words
from interlock.messages.taken import Edit, Taken

__all__ = ["merge_changes", "merge_text"]


def merge_text(base: str, branches: Mapping[str, Sequence[Change]], prefer: str | None, what: str) -> str:
    """The text with what every branch did to it.

    Where edits overlap, the first redaction that was recorded exactly keeps its replacement, then the first that was
    found by comparing, then the one rewrite; the others only take away. This departs on the safe side from "who starts
    first": a change found by comparing never takes the place of an exact redaction, unless its branch is preferred.
    And what is kept loses the words that another branch took away, whatever their case, width or accents. Where such a
    word comes together of what a change found by comparing put in and what stood beside it, the whole of it goes.

    Args:
        base: The text before.
        branches: The changes each branch made of it, by the branch's name, in list order.
        prefer: The branch that wins where two contradict each other.
        what: What the text is, for the error.

    Raises:
        MergeConflict: Two rewrites differ, or it cannot be told what a branch took away at a place that another
            branch changed; and ``prefer`` names neither branch.
    """
    return apply_edits(base, merge_changes(base, branches, prefer, what))


def merge_changes(
    base: str, branches: Mapping[str, Sequence[Change]], prefer: str | None, what: str
) -> tuple[Change, ...]:
    """As :func:`merge_text`, but the changes that lead there."""
    edits = _pooled(branches)
    edits += _out_of_doubt(edits, prefer, what)
    edits.sort(key=cmp_to_key(_order))
    taken = Taken(base, edits)
    joined = [_joined(group, taken, prefer, what) for group in _groups(edits)]
    return without_lost_words(base, joined, taken, what)


def _pooled(branches: Mapping[str, Sequence[Change]]) -> list[Edit]:
    """All edits, equal ones of several branches as one."""
    pool: list[Edit] = []
    known: dict[tuple[int, int, str], list[Edit]] = {}
    for name, changes in branches.items():
        for change in changes:
            equals = known.setdefault((change.start, change.end, change.replacement), [])
            twin = next((e for e in equals if name not in e.branches and not _apart(e.change, change)), None)
            if twin is None:
                edit = Edit(change, [name], len(pool))
                equals.append(edit)
                pool.append(edit)
            else:
                twin.branches.append(name)
                twin.change = replace(
                    twin.change,
                    kind="redaction" if change.kind == "redaction" else twin.change.kind,
                    derived=twin.change.derived and change.derived,
                )
    return pool


def _apart(one: Change, other: Change) -> bool:
    """Whether two changes speak of different places, though what is left of them may stand at the same point."""
    return _precedes(one, other) or _precedes(other, one)


def _precedes(one: Change, other: Change) -> bool:
    return one.span[1] <= other.span[0] and one.span != other.span


def _order(one: Edit, other: Edit) -> int:
    """By where they start; what is only put in first; then the longer; then list order."""
    put_in, other_put_in = one.start == one.end, other.start == other.end
    keys = (one.start, not put_in), (other.start, not other_put_in)
    if keys[0] != keys[1]:
        return -1 if keys[0] < keys[1] else 1
    if put_in and _apart(one.change, other.change):
        return -1 if _precedes(one.change, other.change) else 1
    if not put_in and one.end != other.end:
        return other.end - one.end
    return one.place - other.place


# Doubt


def _out_of_doubt(edits: Sequence[Edit], prefer: str | None, what: str) -> list[Edit]:
    """Edits that take away all that may have been taken away, where a branch is preferred; else a conflict.

    A doubt matters where other branches changed some of what is in doubt. Where they took away all of that, every
    reading comes to the same.
    """
    widened: list[Edit] = []
    index = EditIndex(edits)
    for edit in edits:
        doubt = edit.change.doubt
        places = {rival.place for part in doubt for rival in index.foreign(*part, edit.branches)}
        rivals = [edits[place] for place in sorted(places)]
        if not rivals or all(_covered(part, index.foreign(*part, edit.branches)) for part in doubt):
            continue
        names = list(dict.fromkeys([*edit.branches, *(name for rival in rivals for name in rival.branches)]))
        if prefer not in names:
            raise MergeConflict(what, names)
        for part in doubt:
            change = Change(*part, "", "redaction", part)
            widened.append(Edit(change, edit.branches, edit.place, silent=True))
        edit.silent = prefer not in edit.branches
    return widened


def _covered(doubt: Range, edits: Iterable[Edit]) -> bool:
    at, high = doubt
    for edit in sorted(edits, key=lambda e: e.start):
        if edit.start <= at < edit.end:
            at = edit.end
    return at >= high


# Overlaps


def _groups(edits: Sequence[Edit]) -> Iterator[list[Edit]]:
    """The edits in stretches that do not overlap one another."""
    group: list[Edit] = []
    reach = 0
    for edit in edits:
        if group and edit.start >= reach:
            yield group
            group = []
        group.append(edit)
        reach = max(reach, edit.end) if len(group) > 1 else edit.end
    if group:
        yield group


def _joined(group: Sequence[Edit], taken: Taken, prefer: str | None, what: str) -> Joined:
    """The change that comes of edits which overlap one another."""
    changes = [edit.change for edit in group]
    start, end = group[0].start, max(edit.end for edit in group)
    exact = _exact_redactions(group, prefer)
    rivals: tuple[str, ...] = ()
    compared = False
    if exact:
        said = "".join(taken.out_of(stretch[0]) for stretch in _groups(exact))
    else:
        winner = _winner(group, prefer, what)
        said = "" if winner is None else taken.out_of(winner)
        compared = winner is not None and winner.change.derived
        if compared and len(group) > 1 and prefer is None:
            rivals = tuple(dict.fromkeys(name for edit in group for name in edit.branches))
        if rivals and winner is not None and said != winner.change.replacement:
            raise MergeConflict(what, list(rivals))
    change = Change(
        start,
        end,
        said,
        "redaction" if any(change.kind == "redaction" for change in changes) else "rewrite",
        (min(start, *(change.span[0] for change in changes)), max(end, *(change.span[1] for change in changes))),
        any(change.derived for change in changes),
        tuple(doubt for change in changes for doubt in change.doubt),
    )
    seen = dict.fromkeys(tuple(edit.branches) for edit in group if edit.change.derived or edit.silent)
    return Joined(change, not compared, tuple(seen), rivals)


def _exact_redactions(group: Sequence[Edit], prefer: str | None) -> list[Edit]:
    """The redactions of the group that keep their replacements against what was found by comparing."""
    redactions = [edit for edit in group if edit.change.kind == "redaction" and not edit.silent]
    if any(edit.change.derived and prefer in edit.branches for edit in redactions):
        return []
    return [edit for edit in redactions if not edit.change.derived and edit.start < edit.end]


def _winner(group: Sequence[Edit], prefer: str | None, what: str) -> Edit | None:
    """The edit whose replacement stays: the first redaction, or else the one rewrite."""
    speaking = [edit for edit in group if not edit.silent]
    redactions = [edit for edit in speaking if edit.change.kind == "redaction"]
    if redactions:
        return redactions[0]
    if not speaking:
        return None
    if set(speaking[0].branches).intersection(*(edit.branches for edit in speaking)):
        return speaking[0]
    preferred = [edit for edit in speaking if prefer in edit.branches]
    if not preferred:
        raise MergeConflict(what, list(dict.fromkeys(name for edit in speaking for name in edit.branches)))
    return preferred[0]
