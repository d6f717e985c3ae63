"""Reading the text, writing the answer, and saying the rest on standard error."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from typing import Final, TextIO

from interlock.cli.ending import WrongCall

__all__ = ["AnswerOutput", "read_text", "say", "visible"]

_CONTROLS: Final = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"}


def visible(text: str) -> str:
    r"""The text with its control characters written out, so that it cannot steer a terminal.

    Line feeds and tabs stay. Escaped are the other C0 and C1 controls and DEL (ECMA-48, 5.2 and 5.3): they move the
    cursor, change colours and titles, or fill the clipboard.

    Example:
        >>> print(visible("\x1b[2Jgone?"))
        \x1b[2Jgone?
    """
    return text.translate(_CONTROLS)


class AnswerOutput:
    """Standard output, which holds the answer, and below it what was asked for beside it.

    On a terminal control characters are written out; into a file or pipe the answer goes as it is. Every write is
    flushed, so that a reader sees it as it comes.

    Args:
        stream: Where to write; None where standard output is closed.

    Attributes:
        stream: Where it is written.
        error: Why nothing more can be written; None while all is well.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self.error: OSError | None = None
        self.stream = stream
        self._on_terminal = stream is not None and stream.isatty()
        self._held = ""
        self._at_line_start = True
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # a character that the encoding lacks is written out rather than an error
            reconfigure(errors="backslashreplace")

    def write(self, text: str) -> bool:
        """Write some of the answer.

        Returns:
            Whether more can be written.
        """
        shown = self._shown(text) if self._on_terminal else text
        if shown:
            self._at_line_start = shown.endswith("\n")
            self._put(shown)
        return self.error is None

    def write_own(self, text: str) -> None:
        """Write something that is no answer but our own, as it is."""
        self._put(text)

    def end_line(self) -> bool:
        """Go to the start of a line unless that is where we are."""
        return self._at_line_start or self.write("\n")

    @property
    def pipe_is_closed(self) -> bool:
        """Whether whoever read has gone (``| head``)."""
        return self.error is not None and self.error.errno in (errno.EPIPE, errno.EINVAL)  # EINVAL: Windows

    def _shown(self, text: str) -> str:
        """What a terminal is given. A carriage return waits for what follows: before a line feed it means nothing."""
        text = self._held + text
        self._held = "\r" if text.endswith("\r") else ""
        return visible(text.removesuffix("\r").replace("\r\n", "\n"))

    def _put(self, text: str) -> None:
        if self.stream is None or self.error is not None:
            return
        try:
            self.stream.write(text)
            self.stream.flush()
        except OSError as error:
            self.error = error
            _turn_to_nowhere(self.stream)


def _turn_to_nowhere(stream: TextIO) -> None:
    """Let what is still buffered go nowhere, or Python complains about it when it exits."""
    with contextlib.suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def say(text: str) -> None:
    """Write lines to standard error; where nobody listens, the exit code has to do."""
    if sys.stderr is not None:  # it is None where it was closed
        with contextlib.suppress(OSError):
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()


def read_text(argument: str | None) -> str:
    """The text that was meant: the argument; without one, or for ``-``, standard input without its last line end.

    Raises:
        WrongCall: There is none, or it is not UTF-8.
    """
    if argument is None or argument == "-":
        return _from_standard_input()
    try:
        argument.encode()
    except UnicodeEncodeError:  # bytes that are no text arrive as lone surrogates
        raise WrongCall("TEXT is not UTF-8; pass it in that encoding") from None
    return argument


def _from_standard_input() -> str:
    if sys.stdin is None:
        raise WrongCall("there is no text: pass it as second argument; standard input is closed")
    if sys.stdin.isatty():
        say("interlock: type the text; end it with Ctrl-D on a line of its own (Windows: Ctrl-Z, Enter)")
    try:
        text = sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise WrongCall(f"standard input is not UTF-8 (byte {error.start}); pass it in that encoding") from None
    if not text:
        raise WrongCall("there is no text: standard input is empty. Pass the text as second argument, or pipe it in")
    return text.removesuffix("\n").removesuffix("\r")
