"""The demonstration of streaming: nothing leaks, and what is held back is let go again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import anyio

from examples.streaming_redaction import ANSWER, SECRETS, plot, stream

SCRIPT = Path(__file__).parents[2] / "examples" / "streaming_redaction.py"


def test_the_client_is_given_none_of_the_secrets_and_all_of_the_rest() -> None:
    shown, held, result = anyio.run(stream, ANSWER)
    assert all(secret in ANSWER for secret in SECRETS)
    assert [secret for secret in SECRETS if secret in shown] == []
    assert shown.startswith("Of course. We have a")
    assert shown.endswith("; please keep it to yourself.")
    assert result.text == shown
    assert len(held) == len(ANSWER)


def test_a_clean_answer_comes_through_and_little_is_held_back() -> None:
    shown, held, _ = anyio.run(stream, "We open at nine. You are welcome!")
    assert shown == "We open at nine. You are welcome!"
    assert max(held) < 10


def test_held_back_characters_are_let_go_where_nothing_can_match_any_more() -> None:
    _, held, _ = anyio.run(stream, ANSWER)
    behind = ANSWER.index(SECRETS[1]) + len(SECRETS[1]) + 3
    assert held[behind] <= 3 < held[behind - 4]


def test_the_plot_has_a_column_for_each_character() -> None:
    assert plot("abcd", [0, 1, 4, 0]) == "   ▂█ \n  abcd\n  (a full column: 4 characters)"


def test_the_script_says_that_nothing_leaked() -> None:
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("leaked: nothing\n")
