"""What the commands print and exit with, called in this process."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Interlock, Write


def test_the_answer_stands_alone_on_standard_output(interlock: Interlock, agents: Path) -> None:
    done = interlock("run", f"{agents}:agent", "hello there")
    assert (done.code, done.out, done.err) == (0, "hello there\n", "")


def test_what_continues_of_a_workflow_of_processors_is_printed(interlock: Interlock, agents: Path) -> None:
    assert interlock("run", f"{agents}:guard", "my secret").out == "my [X]\n"
    assert interlock("run", f"{agents}:other", "my secret").out == "my secret\n"


@pytest.mark.parametrize(
    ("stdin", "answer"),
    [
        (b"piped in\n", "piped in\n"),
        (b"no line end", "no line end\n"),
        (b"two\n\n", "two\n"),
        (b"from Windows\r\n", "from Windows\n"),
        ("\ufeffa mark, é".encode(), "a mark, é\n"),
    ],
)
@pytest.mark.parametrize("dash", [True, False])
def test_the_text_comes_from_standard_input(
    interlock: Interlock, agents: Path, stdin: bytes, answer: str, dash: bool
) -> None:
    done = interlock("run", f"{agents}:anything", *(["-"] if dash else []), stdin=stdin)
    assert (done.code, done.out, done.err) == (0, answer, "")


@pytest.mark.parametrize("stdin", [b"", b"\xff\xfe", None])
def test_without_a_text_the_call_is_wrong(interlock: Interlock, agents: Path, stdin: bytes | None) -> None:
    done = interlock("run", f"{agents}:agent", stdin=stdin)
    assert (done.code, done.out) == (2, "")
    assert "standard input is" in done.err
    assert "pass it in that encoding" in done.err or "Pass the text as second argument" in done.err


def test_a_text_that_begins_with_a_dash_follows_two_dashes(interlock: Interlock, agents: Path) -> None:
    assert interlock("run", f"{agents}:agent", "--", "-x").out == "-x\n"
    assert interlock("run", f"{agents}:agent", "-x").code == 2


def test_an_empty_text_is_a_text(interlock: Interlock, agents: Path) -> None:
    assert interlock("run", f"{agents}:loud", "").code == 0


@pytest.mark.parametrize(
    ("name", "text", "out", "why"),
    [
        ("agent", "bad", "", "blocked by 'watch' at input: a bad word"),
        ("agent", "so far leak", "so far\n", "blocked by 'watch' at output_stream: a leak"),
        ("guard", "bad", "", "blocked by 'watch' at input: a bad word"),
    ],
)
def test_a_tripwire_exits_with_3_and_says_who_where_and_why(
    interlock: Interlock, agents: Path, name: str, text: str, out: str, why: str
) -> None:
    done = interlock("run", f"{agents}:{name}", text)
    assert (done.code, done.out, done.err) == (3, out, f"interlock: {why}\n")


@pytest.mark.parametrize("name", ["agent", "guard"])
def test_a_failed_run_exits_with_1_and_says_what_was_raised_and_where(
    interlock: Interlock, agents: Path, name: str
) -> None:
    done = interlock("run", f"{agents}:{name}", "boom")
    assert (done.code, done.out) == (1, "")
    assert "processor:watch' in phase 'input' failed" in done.err
    assert "ValueError: no such luck" in done.err
    line = agents.read_text("utf-8").splitlines().index('            raise ValueError("no such luck")') + 1
    assert f"raised in {agents}, line {line}, in process_input" in done.err


def test_a_model_that_fails_fails_the_run(interlock: Interlock, agents: Path) -> None:
    done = interlock("run", f"{agents}:fails", "hello")
    assert (done.code, done.out) == (1, "")
    assert done.err == "interlock: failed: RuntimeError: the model fell over\n"


def test_the_checks_stand_below_the_answer_one_row_a_guard(interlock: Interlock, agents: Path) -> None:
    done = interlock("run", f"{agents}:guard", "my secret", "--checks")
    assert (done.code, done.err) == (0, "")
    answer, heading, *rows = done.out.splitlines()
    assert answer == "my [X]"
    assert heading.split() == ["point", "processor", "verdict", "kept", "time"]
    assert [row.split()[:3] for row in rows] == [["input", "redact", "changed"], ["input", "watch", "passed"]]
    assert rows[0].split()[3] == "yes"
    assert all(row.split()[-1] in ("µs", "ms") for row in rows)


def test_a_change_that_was_left_behind_is_not_kept(interlock: Interlock, agents: Path) -> None:
    done = interlock("run", f"{agents}:other", "my secret", "--checks")
    assert done.out.splitlines()[2].split()[:4] == ["input", "redact", "changed", "no"]


def test_the_checks_of_a_blocked_run_say_who_blocked_and_why(interlock: Interlock, agents: Path) -> None:
    done = interlock("run", f"{agents}:agent", "bad", "--checks")
    assert done.code == 3
    lines = done.out.splitlines()
    at = next(n for n, line in enumerate(lines) if line.split()[:2] == ["input", "watch"])
    row, reason = lines[at : at + 2]
    assert lines[-2].split() == ["user", "text", "not", "said"]
    assert row.split()[:3] == ["input", "watch", "blocked"]
    assert reason.strip() == "a bad word"
    assert done.err == "interlock: blocked by 'watch' at input: a bad word\n"


def test_the_checks_of_a_run_without_guards_say_so(interlock: Interlock, agents: Path) -> None:
    assert interlock("run", f"{agents}:loud", "hey", "--checks").out.endswith("\nNo guard was asked.\n")


def test_what_a_file_prints_goes_to_standard_error(interlock: Interlock, write: Write) -> None:
    path = write(
        "loud.py",
        """
        from interlock import StepContext, create_workflow, step
        print("loading")
        @step
        def same(ctx: StepContext[str]) -> str:
            print("running")
            return ctx.input
        flow = create_workflow(id="flow", input_schema=str).then(same).commit()
        """,
    )
    done = interlock("run", f"{path}:flow", "hey")
    assert (done.out, done.err) == ("hey\n", "loading\nrunning\n")


@pytest.mark.parametrize("name", ["agent", "guard"])
def test_a_graph_is_drawn_in_each_form(interlock: Interlock, agents: Path, name: str) -> None:
    forms = ("text", "mermaid", "json", "svg")
    text, mermaid, data, svg = (interlock("graph", f"{agents}:{name}", "--format", form) for form in forms)
    assert [done.code for done in (text, mermaid, data, svg)] == [0, 0, 0, 0]
    assert interlock("graph", f"{agents}:{name}").out == text.out
    assert mermaid.out.startswith(("flowchart", "---"))
    assert "redact" in text.out
    assert "redact" in mermaid.out
    assert svg.out.startswith("<svg")
    assert "redact" in svg.out
    assert "redact" in json.dumps(json.loads(data.out))


def test_an_agent_is_not_drawn_as_dot(interlock: Interlock, agents: Path) -> None:
    done = interlock("graph", f"{agents}:agent", "--format", "dot")
    assert (done.code, done.out) == (2, "")
    assert "an agent is drawn as text, mermaid, svg or json" in done.err


def test_a_graph_is_written_to_a_file(interlock: Interlock, agents: Path, tmp_path: Path) -> None:
    drawn = interlock("graph", f"{agents}:guard", "-f", "mermaid").out
    done = interlock("graph", f"{agents}:guard", "-f", "mermaid", "-o", tmp_path / "guard.mmd")
    assert (done.code, done.out) == (0, "")
    assert (tmp_path / "guard.mmd").read_text("utf-8") == drawn


def test_a_file_that_cannot_be_written_is_a_wrong_call(interlock: Interlock, agents: Path, tmp_path: Path) -> None:
    done = interlock("graph", f"{agents}:guard", "-o", tmp_path / "nowhere" / "guard.mmd")
    assert done.code == 2
    assert "cannot be written: No such file or directory" in done.err


def test_a_form_that_does_not_exist_is_a_wrong_call(interlock: Interlock, agents: Path) -> None:
    assert interlock("graph", f"{agents}:guard", "--format", "png").code == 2


@pytest.mark.parametrize(
    ("suffix", "begins"), [("svg", "<"), ("mmd", "flowchart"), ("dot", "digraph"), ("json", "{"), ("txt", "guards")]
)
def test_the_name_of_the_file_says_how_it_is_drawn(
    interlock: Interlock, agents: Path, tmp_path: Path, suffix: str, begins: str
) -> None:
    done = interlock("graph", f"{agents}:guard", "-o", tmp_path / f"guard.{suffix}")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert begins in (tmp_path / f"guard.{suffix}").read_text("utf-8").splitlines()[0]


def test_a_form_that_is_asked_for_counts_more_than_the_name_of_the_file(
    interlock: Interlock, agents: Path, tmp_path: Path
) -> None:
    interlock("graph", f"{agents}:guard", "-f", "json", "-o", tmp_path / "guard.svg")
    assert json.loads((tmp_path / "guard.svg").read_text("utf-8"))


@pytest.mark.parametrize("command", ["run", "graph"])
def test_a_wrong_call_exits_with_2_and_leaves_standard_output_empty(
    interlock: Interlock, agents: Path, command: str
) -> None:
    done = interlock(command, f"{agents}:nobody", *(["hey"] if command == "run" else []))
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("interlock: there is no 'nobody' in ")


def test_the_version_is_that_of_the_package(interlock: Interlock) -> None:
    done = interlock("--version")
    assert (done.code, done.out) == (0, f"interlock {importlib.metadata.version('interlock')}\n")


def test_the_help_names_every_command_and_the_exit_codes(interlock: Interlock) -> None:
    told = interlock("--help").out
    assert "run" in told
    assert "graph" in told
    assert "3 a guard blocked it" in interlock("run", "--help").out
