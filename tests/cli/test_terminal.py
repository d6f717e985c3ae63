"""What is written where: a terminal cannot be steered, a file gets the answer as it is."""

from __future__ import annotations

import errno
import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.cli.terminal import AnswerOutput, visible


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


TEXTS = st.lists(st.text(st.sampled_from("ab\r\n\t\x1b\x00\x07\x9b\x7f[é漢"), max_size=4), max_size=8)


def _written(stream: io.StringIO, pieces: list[str]) -> str:
    output = AnswerOutput(stream)
    for piece in pieces:
        assert output.write(piece)
    return stream.getvalue()


@given(TEXTS)
def test_no_control_character_but_line_feed_and_tab_reaches_a_terminal(pieces: list[str]) -> None:
    written = _written(Terminal(), pieces)
    assert [c for c in written if unicodedata.category(c) == "Cc" and c not in "\n\t"] == []


@given(TEXTS)
def test_how_an_answer_is_cut_does_not_matter_to_a_terminal(pieces: list[str]) -> None:
    whole, cut = Terminal(), Terminal()
    for stream, given_pieces in ((whole, ["".join(pieces)]), (cut, pieces)):
        output = AnswerOutput(stream)
        for piece in given_pieces:
            output.write(piece)
        output.end_line()
    assert cut.getvalue() == whole.getvalue()


@given(TEXTS)
def test_a_file_or_pipe_gets_the_answer_as_it_is(pieces: list[str]) -> None:
    assert _written(io.StringIO(newline=""), pieces) == "".join(pieces)


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (["\x1b]0;title\x07"], "\\x1b]0;title\\x07"),
        (["a\r", "\nb"], "a\nb"),
        (["over\r", "written"], "over\\x0dwritten"),
        (["é 漢字 😀\tx\n"], "é 漢字 😀\tx\n"),
    ],
)
def test_a_terminal_is_shown_what_is_in_the_text(pieces: list[str], shown: str) -> None:
    assert _written(Terminal(), pieces) == shown


def test_visible_text_is_left_alone() -> None:
    assert visible("a\tb\n é 漢 \u200d \u202e") == "a\tb\n é 漢 \u200d \u202e"


@pytest.mark.parametrize(
    ("pieces", "written"), [([], ""), (["a"], "a\n"), (["a\n"], "a\n"), (["a", ""], "a\n"), (["\n"], "\n")]
)
def test_an_answer_ends_with_one_line_end(pieces: list[str], written: str) -> None:
    stream = io.StringIO()
    output = AnswerOutput(stream)
    for piece in pieces:
        output.write(piece)
    output.end_line()
    output.end_line()
    assert stream.getvalue() == written


class Broken(io.StringIO):
    """A stream that cannot be written."""

    def __init__(self, code: int) -> None:
        super().__init__()
        self.code = code
        self.tried = 0

    def write(self, text: str) -> int:
        self.tried += 1
        raise OSError(self.code, "no")


@pytest.mark.parametrize(("code", "pipe"), [(errno.EPIPE, True), (errno.ENOSPC, False)])
def test_what_cannot_be_written_is_tried_once(code: int, pipe: bool) -> None:
    stream = Broken(code)
    output = AnswerOutput(stream)
    assert not output.write("a")
    assert not output.write("b")
    assert (stream.tried, output.pipe_is_closed) == (1, pipe)


def test_a_character_that_the_encoding_lacks_is_written_out() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    AnswerOutput(stream).write("é \ud800")
    assert raw.getvalue() == b"\\xe9 \\ud800"


def test_without_a_standard_output_nothing_is_written() -> None:
    assert AnswerOutput(None).write("a")
