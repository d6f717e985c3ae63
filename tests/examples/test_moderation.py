"""The demonstration shows what happens: nothing that should not reach the model does, and nothing is written down."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from examples.moderation import MESSAGES, PARCELS, RecordingModel, agent, main, moderation
from interlock import Completed, Phase
from interlock.messages import prompt_text
from interlock.processors import InputContext
from interlock.runtime import AgentResult

CLEAN, CARD, INJECTION, BOTH, TOOL = MESSAGES
MINE = "Write to ann@example.com, card 4111 1111 1111 1111"
SECRETS = ("ann@example.com", "4111")


def _run(text: str) -> tuple[AgentResult, list[str]]:
    """The result, and all text of each prompt that the model received."""
    model = RecordingModel(agent.model)
    result = agent.generate_sync(text, model=model)
    return result, [prompt_text(prompt) for prompt in model.prompts]


def _verdicts(result: AgentResult, phase: Phase) -> dict[str, str]:
    return {check.processor_id: check.verdict for check in result.checks if check.phase is phase}


def test_a_clean_message_reaches_the_model_as_it_is() -> None:
    result, (received,) = _run(CLEAN)
    assert CLEAN in received
    assert (result.status, result.text) == ("success", CLEAN)
    assert set(_verdicts(result, Phase.INPUT).values()) == {"passed"}
    assert len(_verdicts(result, Phase.INPUT)) == 3


@pytest.mark.parametrize("text", [CARD, MINE])
def test_the_model_receives_neither_card_nor_address(text: str) -> None:
    result, (received,) = _run(text)
    assert all(secret in text for secret in SECRETS)
    assert [secret for secret in SECRETS if secret in received or secret in result.text] == []
    assert (result.status, _verdicts(result, Phase.INPUT)["pii-detector"]) == ("success", "changed")


def test_without_the_pipeline_the_model_receives_both() -> None:
    model = RecordingModel(agent.model)
    agent.generate_sync(MINE, model=model, input_processors=[], output_processors=[])
    assert MINE in prompt_text(model.prompts[0])


@pytest.mark.parametrize("text", [INJECTION, BOTH])
def test_the_model_is_not_called_for_an_injection(text: str) -> None:
    result, received = _run(text)
    assert received == []
    assert result.tripwire is not None
    assert (result.tripwire.processor_id, result.tripwire.phase) == ("prompt-injection-detector", Phase.INPUT)
    assert (result.status, result.text) == ("tripwire", "")


def test_an_injection_beside_a_card_is_blocked_while_the_card_is_found_too() -> None:
    result, _ = _run(BOTH)
    verdicts = _verdicts(result, Phase.INPUT)
    assert (verdicts["pii-detector"], verdicts["prompt-injection-detector"]) == ("changed", "blocked")


def test_an_injection_in_a_tools_result_never_reaches_the_model() -> None:
    result, received = _run(TOOL)
    assert len(received) == 1  # the call that asked for the tool; the one that would have read its result never came
    assert "ignore all previous" not in received[0]
    assert any("ignore all previous" in note for note in PARCELS.values())
    assert result.tripwire is not None
    assert (result.tripwire.processor_id, result.tripwire.phase) == ("prompt-injection-detector", Phase.TOOL_RESULT)
    assert [call.tool_name for step in result.steps for call in step.tool_calls] == ["track_parcel"]


def test_a_harmless_result_of_the_tool_is_answered_with() -> None:
    result, received = _run('/tool track_parcel {"parcel_id": "LX-1"}')
    assert len(received) == 2
    assert result.text == f"LX-1: {PARCELS['LX-1']}"


@pytest.mark.anyio
async def test_the_pipeline_runs_by_itself() -> None:
    outcome = await moderation.run(InputContext(MINE))
    assert isinstance(outcome, Completed)
    assert [secret for secret in SECRETS if secret in outcome.output.messages[0].text] == []


def _sections(output: str) -> list[str]:
    """What is shown of each message, durations aside."""
    shown = re.sub(r" +[\d.]+ ms", " … ms", output)
    return re.split(r"\n── .* ───*\n", shown)[1:]


def _shown(capsys: pytest.CaptureFixture[str], *texts: str) -> list[str]:
    main(texts)
    return [section.rstrip("\n") for section in _sections(capsys.readouterr().out)]


def test_each_message_is_shown_as_it_is_when_it_comes_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    together = _shown(capsys, *MESSAGES)
    assert together == [_shown(capsys, text)[0] for text in MESSAGES]
    assert together[::-1] == _shown(capsys, *MESSAGES[::-1])
    assert len(set(together)) == len(MESSAGES)


def _script(*args: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    return subprocess.run(
        [sys.executable, "-W", "error", Path(__file__).parents[2] / "examples" / "moderation.py", *args],
        env={**environment, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )


def test_the_script_draws_the_graph_and_shows_five_messages() -> None:
    done = _script()
    assert (done.returncode, done.stderr) == (0, "")
    drawing = done.stdout[: done.stdout.index("── 1 of 5")]
    assert all(guard in drawing for guard in ("pii-detector", "prompt-injection-detector", "moderation", "map"))
    sections = _sections(done.stdout)
    answered = ["answer " in section for section in sections]
    blocked = ["BLOCKED " in section for section in sections]
    uncalled = ["nothing: the model was not called" in section for section in sections]
    assert answered == [True, True, False, False, False]
    assert blocked == [False, False, True, True, True]
    assert uncalled == [False, False, True, True, False]
    assert [secret for secret in SECRETS for section in sections if secret in section.partition("received")[2]] == []


def test_what_is_shown_fits_eighty_columns() -> None:
    shown = _script(*MESSAGES, '/tool track_parcel {"parcel_id": "LX-1"}').stdout.splitlines()
    drawing = shown.index(next(line for line in shown if line.startswith("── 1 of 6")))
    assert max(map(len, shown[drawing:])) <= 80
    assert max(map(len, shown[:drawing])) <= 100


def test_a_text_of_ones_own_takes_the_same_path() -> None:
    done = _script(MINE)
    assert (done.returncode, done.stderr) == (0, "")
    (section,) = _sections(done.stdout)
    before, _, after = section.partition("received")
    assert all(secret in before for secret in SECRETS)
    assert [secret for secret in SECRETS if secret in after] == []
    assert "pii-detector               changed" in after
    assert "answer      Write to a*n@*******.com, card **** **** **** 1111" in after
