"""Laws of joining what branches make of one text that comes in pieces."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import event, given, settings
from hypothesis import strategies as st

from interlock.processors.lanes.edited_lane import EditedLane
from interlock.processors.lanes.lane import LaneKind, whole
from interlock.processors.lanes.lane_join import LaneJoin
from interlock.processors.lanes.matcher import Match, Matcher
from interlock.processors.lanes.pieces import Track, difference
from interlock.processors.stream_context import Piece
from tests.processors.lanes.strategies import MATCHERS, pieces_of

MANY = settings(max_examples=300, deadline=None)
BRANCHES = st.lists(st.lists(MATCHERS, min_size=1, max_size=2), min_size=1, max_size=3)
"""Branches, each a row of guards, each of which looks for several things."""


def replacing(branch: int, guard: int) -> str:
    return "*" * (branch + 1) + "#" * guard


class Guard:
    """One guard of a branch."""

    def __init__(self, matchers: Sequence[Matcher], mark: str) -> None:
        self.kind = LaneKind(matchers)
        self.mark = mark
        self.lane = EditedLane(self.kind.lane(), self.replace)

    def replace(self, match: Match, text: str) -> str:
        return self.mark


class Branch:
    """A row of guards that a text goes through."""

    def __init__(self, rows: Sequence[Sequence[Matcher]], number: int) -> None:
        self.guards = [Guard(matchers, replacing(number, n)) for n, matchers in enumerate(rows)]
        self.track = Track(len(self.guards))

    def push(self, text: str, *, final: bool = False) -> tuple[str, list[Piece]]:
        told: list[list[Piece]] = []
        for guard in self.guards:
            gone = guard.lane.push(text)
            pieces = list(gone.pieces)
            text = gone.text
            if final:
                rest = guard.lane.end()
                text += rest.text
                pieces += rest.pieces
            told.append(pieces)
        return text, self.track.through(told)

    def whole(self, text: str) -> list[Piece]:
        """The pieces of the whole text."""
        fresh = Branch([], 0)
        fresh.guards = [_again(guard) for guard in self.guards]
        fresh.track = Track(len(self.guards))
        return fresh.push(text, final=True)[1]


def _again(guard: Guard) -> Guard:
    made = Guard.__new__(Guard)
    made.kind, made.mark = guard.kind, guard.mark
    made.lane = EditedLane(guard.kind.lane(), made.replace)
    return made


def text_of(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


@MANY
@given(st.lists(MATCHERS, min_size=1, max_size=3), pieces_of())
def test_a_row_of_guards_tells_what_became_of_each_range_of_the_text(
    rows: list[list[Matcher]], pieces: list[str]
) -> None:
    text = "".join(pieces)
    branch = Branch(rows, 0)
    told: list[Piece] = []
    out = ""
    for piece in pieces:
        gone, more = branch.push(piece)
        told, out = told + more, out + gone
    gone, more = branch.push("", final=True)
    told, out = told + more, out + gone
    assert text_of(told) == out
    at = 0
    for part in told:
        assert part.start == at
        assert part.end >= part.start
        if part.kept:
            assert part.text == text[part.start : part.end]
        at = part.end
    assert at == len(text)
    expected = text
    for guard in branch.guards:
        made, last = "", 0
        for match in whole(guard.kind, expected):
            made += expected[last : match.start] + (guard.mark if match.replacement is None else match.replacement)
            last = match.end
        expected = made + expected[last:]
    assert out == expected


def by_hand(text: str, branches: Sequence[Sequence[Piece]]) -> str:
    """The joined edits of a whole text, character by character."""
    edits = sorted(
        (one.start, -one.end, number, one.text)
        for number, told in enumerate(branches)
        for p in told
        for one in difference(p.start, text[p.start : p.end], p.text)  # an edit in its least form
        if not one.kept
    )
    gone = {n for start, end, _, _ in edits for n in range(start, -end)}
    put: dict[int, str] = {}
    covered = 0
    for start, end, _, replacement in edits:
        if start >= covered:
            put[start] = put.get(start, "") + replacement
        covered = max(covered, -end)
    made = ""
    for n in range(len(text) + 1):
        made += put.get(n, "")
        if n < len(text) and n not in gone:
            made += text[n]
    return made


@MANY
@given(BRANCHES, pieces_of(), st.data())
def test_branches_let_go_what_all_have_decided_and_join_their_edits(
    rows: list[list[list[Matcher]]], pieces: list[str], data: st.DataObject
) -> None:
    text = "".join(pieces)
    branches = [Branch(row, number) for number, row in enumerate(rows)]
    only = data.draw(st.sampled_from([None, *range(len(branches))]))
    join = LaneJoin(len(branches))
    out: list[Piece] = []
    expected = by_hand(text, [branch.whole(text) if only in (None, n) else [] for n, branch in enumerate(branches)])
    for number, piece in enumerate([*pieces, ""]):
        final = number == len(pieces)
        join.push(piece)
        holds: list[int] = []
        for n, branch in enumerate(branches):
            _, told = branch.push(piece, final=final)
            join.decided(n, told)
            holds.append(join._upto[n])
        out += join.let_go(only=only, final=final)
        assert join._at == min(holds)
        assert expected.startswith(text_of(out))
    assert text_of(out) == expected
    assert join.held == 0
    event("edited" if expected != text else "as it came")


@MANY
@given(st.text("ab", max_size=8), st.text("ab", max_size=8))
def test_a_difference_is_pieces_of_the_text(before: str, after: str) -> None:
    pieces = difference(3, before, after)
    assert text_of(pieces) == after
    assert "".join(before[p.start - 3 : p.end - 3] for p in pieces) == before
    assert all(not p.kept or p.text == before[p.start - 3 : p.end - 3] for p in pieces)


def test_what_is_put_in_goes_on_in_the_order_in_which_it_came_and_before_what_stands_there() -> None:
    for order in ((0, 1), (1, 0)):
        join = LaneJoin(2)
        join.push("a card!")
        join.decided(order[0], [Piece(0, 2, "a ", True), Piece(2, 2, "new ", False)])
        join.decided(order[1], [Piece(0, 2, "a ", True)])
        assert text_of(join.let_go()) == "a new "
        join.decided(order[0], [Piece(2, 2, "big ", False), Piece(2, 4, "ca", True), Piece(4, 4, "...", False)])
        join.decided(order[1], [Piece(2, 6, "*", False), Piece(6, 7, "!", True)])
        join.decided(order[0], [Piece(4, 7, "rd!", True)])
        assert text_of(join.let_go(final=True)) == "big *...!"


def test_what_is_put_in_behind_all_that_has_come_stands_there_for_all_editors() -> None:
    track = Track(2)
    assert track.through([[Piece(0, 3, "abc", True)], [Piece(0, 3, "abc", True)]]) == [Piece(0, 3, "abc", True)]
    assert track.through([[], [Piece(3, 3, "!", False)]]) == [Piece(3, 3, "!", False)]


def test_what_an_edit_puts_back_as_it_was_another_branch_may_still_remove() -> None:
    for order in ((0, 1), (1, 0)):
        join = LaneJoin(2)
        join.push("4123 4567")
        join.decided(order[0], [Piece(0, 9, "**** 4567", False)])
        join.decided(order[1], [Piece(0, 5, "4123 ", True), Piece(5, 9, "[PIN]", False)])
        assert text_of(join.let_go(final=True)) == "**** [PIN]"


@MANY
@given(BRANCHES, pieces_of())
def test_a_character_leaves_only_if_it_survives_in_every_branch(
    rows: list[list[list[Matcher]]], pieces: list[str]
) -> None:
    text = "".join(pieces)
    branches = [Branch(row, number) for number, row in enumerate(rows)]
    join = LaneJoin(len(branches))
    out: list[Piece] = []
    gone: set[int] = set()
    for number, piece in enumerate([*pieces, ""]):
        join.push(piece)
        for n, branch in enumerate(branches):
            _, told = branch.push(piece, final=number == len(pieces))
            gone |= {
                at
                for edit in told
                for one in difference(edit.start, text[edit.start : edit.end], edit.text)
                if not one.kept
                for at in range(one.start, one.end)
            }
            join.decided(n, told)
        out += join.let_go(final=number == len(pieces))
    assert {at for piece in out if piece.kept for at in range(piece.start, piece.end)} == set(range(len(text))) - gone
