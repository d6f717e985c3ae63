"""The rectangles that terminal drawings are put together from."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.workflows.blocks import (
    Block,
    beside,
    box,
    clipped,
    framed,
    junction,
    labelled,
    listed,
    looped,
    padded,
    stacked,
    width_of,
    worded,
    wrapped,
)

words = st.text(alphabet="abc日本e\u0301-:_ ", min_size=1, max_size=30).filter(str.strip)
boxes = words.map(lambda text: box([text.strip()]))
blocks: st.SearchStrategy[Block] = st.recursive(
    boxes,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map(stacked),
        st.lists(inner, min_size=1, max_size=4).map(beside),
        st.lists(st.one_of(inner, words.map(lambda text: [text.strip()])), min_size=1, max_size=4).map(listed),
        st.builds(framed, inner, words.map(str.strip), notes=st.lists(words.map(str.strip), max_size=2)),
        st.builds(labelled, inner, words.map(str.strip)),
        st.builds(looped, inner, words.map(str.strip)),
    ),
    max_leaves=8,
)


@given(blocks)
def test_every_line_of_a_block_is_as_wide_as_the_block(block: Block) -> None:
    assert {width_of(line) for line in block.lines} == {block.width}


@given(blocks)
def test_a_block_is_entered_and_left_at_its_axis(block: Block) -> None:
    assert _cell(block.lines[0], block.axis) in "▼┴┼│┘└├┤"
    assert _cell(block.lines[-1], block.axis) in "┬╪┼│┐┌├┤"


@given(blocks)
def test_what_leads_down_arrives_in_the_line_below(block: Block) -> None:
    for upper, lower in itertools.pairwise(block.lines):
        for column in range(block.width):
            if _cell(upper, column) in "│┬┼├┤┌┐╔╗║╪":
                assert _cell(lower, column) in "│▼┴┼├┤└┘║╚╝╪╰╯═ ─" or _cell(lower, column).isalpha()
            if _cell(upper, column) in "│┌┐┬┼╔╗║" and _cell(lower, column) == " ":
                pytest.fail(f"a line ends in nothing:\n{upper}\n{lower}")


def _cell(line: str, column: int) -> str:
    """The character that takes the cell at a column."""
    at = 0
    for char in line:
        at += width_of(char)
        if at > column:
            return char
    raise AssertionError(f"no cell {column} in {line!r}")


def test_a_wide_character_takes_two_cells_and_a_combining_one_none() -> None:
    assert [width_of(text) for text in ("ab", "日本", "e\u0301", "ｱ")] == [2, 4, 1, 1]
    assert padded("日", 5) == "日   "
    assert padded("日", 5, centred=True) == " 日  "
    assert box(["日本"]).lines == ("┌───▼──┐", "│ 日本 │", "└───┬──┘")


def test_lines_meet_in_the_character_of_their_directions() -> None:
    assert junction(up=True, down=True) == "│"
    assert junction(left=True, right=True) == "─"
    assert junction(down=True, right=True) == "┌"
    assert junction(up=True, left=True) == "┘"
    assert junction(up=True, down=True, left=True, right=True) == "┼"
    assert junction(up=True, left=True, right=True) == "┴"
    assert junction(up=True, down=True, left=True) == "┤"
    assert junction() == " "


def test_a_fork_is_entered_in_its_middle_arm() -> None:
    arms = beside([box([text]) for text in ("one", "two", "six")])
    assert arms.lines == (
        "   ┌────────┼────────┐   ",
        "┌──▼──┐  ┌──▼──┐  ┌──▼──┐",
        "│ one │  │ two │  │ six │",
        "└──┬──┘  └──┬──┘  └──┬──┘",
        "   └────────┼────────┘   ",
    )


def test_a_short_arm_is_led_down_to_the_join() -> None:
    tall = stacked([box(["a"]), box(["b"])])
    assert beside([box(["x"]), tall]).lines == (
        "  ┌───┴──┐  ",
        "┌─▼─┐  ┌─▼─┐",
        "│ x │  │ a │",
        "└─┬─┘  └─┬─┘",
        "  │      │  ",
        "  │    ┌─▼─┐",
        "  │    │ b │",
        "  │    └─┬─┘",
        "  └───┬──┘  ",
    )


def test_a_list_shows_fork_and_join_on_its_sides() -> None:
    assert listed([["one"], ["three", "lines"], box(["box"])]).lines == (
        "┌──────┴─────┐",
        "├──▶ one ────┤",
        "├──▶ three ──┤",
        "│    lines   │",
        "├────┐       │",
        "│ ┌──▼──┐    │",
        "│ │ box │    │",
        "│ └──┬──┘    │",
        "│    └───────┤",
        "└──────┬─────┘",
    )


def test_a_frame_carries_its_title_and_lets_the_way_through() -> None:
    assert framed(box(["step"]), "inner").lines == (
        "      ▼     ",
        "╔═ inner ══╗",
        "║     │    ║",
        "║ ┌───▼──┐ ║",
        "║ │ step │ ║",
        "║ └───┬──┘ ║",
        "╚═════╪════╝",
    )


def test_a_frame_is_as_wide_as_its_title_needs() -> None:
    assert framed(box(["s"]), "a longer title").lines == (
        "         ▼          ",
        "╔═ a longer title ═╗",
        "║        │         ║",
        "║      ┌─▼─┐       ║",
        "║      │ s │       ║",
        "║      └─┬─┘       ║",
        "╚════════╪═════════╝",
    )


def test_steps_in_one_box_share_their_borders() -> None:
    assert box(["a"], ["bb"]).lines == (
        "┌──▼─┐",
        "│ a  │",
        "├──▼─┤",
        "│ bb │",
        "└──┬─┘",
    )


@given(words, st.integers(2, 20))
def test_wrapped_lines_keep_to_the_width_and_lose_nothing(text: str, width: int) -> None:
    lines = wrapped(text.strip(), width)
    assert all(width_of(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_a_label_breaks_after_its_colon_first() -> None:
    assert wrapped("processor:prompt-injection-detector", 26) == ["processor:", "prompt-injection-detector"]
    assert wrapped("processor:prompt-injection-detector", 18) == ["processor:", "prompt-injection-", "detector"]


@given(words, st.integers(2, 20))
def test_a_clipped_text_keeps_to_the_width(text: str, width: int) -> None:
    assert width_of(clipped(text, width)) <= width
    assert clipped("abc", 3) == "abc"
    assert clipped("abcd", 3) == "ab…"


def test_a_text_beside_the_way_in_leaves_the_way_whole() -> None:
    assert labelled(box(["step"]), "is_long").lines == (
        "    │ is_long",
        "┌───▼──┐     ",
        "│ step │     ",
        "└───┬──┘     ",
    )


def test_a_way_back_leads_from_below_to_above() -> None:
    assert looped(box(["step"]), "while x").lines == (
        "    ├◀──────────┐",
        "┌───▼──┐        │",
        "│ step │        │",
        "└───┬──┘        │",
        "    ├─ while x ─┘",
    )


def test_notes_stand_below_the_title_of_a_frame() -> None:
    assert framed(box(["step"]), "inner", notes=["a reason"]).lines == (
        "      ▼     ",
        "╔═ inner ══╗",
        "║ a reason ║",
        "║     │    ║",
        "║ ┌───▼──┐ ║",
        "║ │ step │ ║",
        "║ └───┬──┘ ║",
        "╚═════╪════╝",
    )


@given(words, st.integers(2, 20))
def test_lines_of_words_keep_to_the_width_and_lose_nothing(text: str, width: int) -> None:
    lines = worded(text, width)
    assert all(width_of(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_prose_breaks_between_words() -> None:
    assert worded("failed: no such-thing here", 14) == ["failed: no", "such-thing", "here"]
    assert worded("", 10) == [""]
