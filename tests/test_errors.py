"""What errors say: what happened, where, and what to do."""

from __future__ import annotations

import pytest

from interlock import errors
from interlock.errors import (
    AlreadyResumed,
    AlreadyStarted,
    BlockedError,
    DefinitionError,
    ForeignThread,
    GraphChanged,
    InterlockError,
    InvalidProcessorReturn,
    JournalConflict,
    MergeConflict,
    ModelError,
    NothingSuspended,
    OutputMismatch,
    RecordedError,
    RunBusy,
    RunError,
    StateConflict,
    StepFailed,
    StorageError,
    ToolError,
    UnknownRun,
    UnrecordableValue,
)
from interlock.verdict import Phase, Tripwire


def test_every_error_belongs_to_one_tree() -> None:
    kinds = [getattr(errors, name) for name in errors.__all__]
    assert all(issubclass(kind, InterlockError) for kind in kinds)
    assert {kind for kind in kinds if issubclass(kind, RunError)} == {
        RunError,
        StepFailed,
        InvalidProcessorReturn,
        MergeConflict,
        StateConflict,
        AlreadyStarted,
        AlreadyResumed,
        NothingSuspended,
        OutputMismatch,
        RunBusy,
        UnknownRun,
        GraphChanged,
        UnrecordableValue,
        RecordedError,
    }
    assert issubclass(JournalConflict, StorageError)
    assert issubclass(ForeignThread, StorageError)


def test_one_fault_is_told_in_one_line_and_several_are_numbered() -> None:
    assert str(DefinitionError("it is empty", subject="workflow 'w'")) == "workflow 'w': it is empty"
    several = DefinitionError(["it is empty", "it has no id"], subject="workflow 'w'")
    assert str(several) == "workflow 'w': 2 faults\n  1. it is empty\n  2. it has no id"
    assert several.faults == ("it is empty", "it has no id")


def test_a_failed_step_names_step_attempt_phase_and_cause() -> None:
    cause = ValueError("no such table")
    error = StepFailed("outer/inner", cause, attempt=2, phase="input")
    assert str(error) == "step 'outer/inner' in phase 'input' failed (attempt 2): ValueError: no such table"
    assert error.__cause__ is cause


def test_a_wrong_return_is_shown_by_its_type_and_never_by_its_content() -> None:
    error = InvalidProcessorReturn("pii", "input", "4111 1111 1111 1111", "None or messages", hint="Return messages.")
    assert str(error) == "'pii' returned str in phase 'input'; allowed there: None or messages. Return messages."
    assert "returned None" in str(InvalidProcessorReturn("pii", "input", None, "a context"))
    assert "returned interlock.verdict.Tripwire" in str(InvalidProcessorReturn("pii", "input", Tripwire("", ""), ""))


def test_a_conflict_names_the_branches_and_two_ways_out() -> None:
    text = str(MergeConflict("the temperature", ["cool", "hot"]))
    assert "'cool' and 'hot' changed the temperature" in text
    assert ".merge(prefer=…)" in text
    assert ".then()" in text


@pytest.mark.parametrize(
    ("status", "retryable"),
    [(None, False), (400, False), (401, False), (408, True), (429, True), (500, True), (529, True)],
)
def test_a_status_says_whether_the_same_call_may_succeed_later(status: int | None, retryable: bool) -> None:
    assert ModelError("x", status=status).retryable is retryable
    assert ModelError("x", status=status, retryable=not retryable).retryable is not retryable


def test_a_model_error_names_provider_and_status() -> None:
    assert str(ModelError("overloaded", provider="openai", status=529)) == "openai (status 529): overloaded"
    assert str(ModelError("overloaded")) == "overloaded"


def test_a_tool_error_names_the_tool() -> None:
    assert str(ToolError("track", "no such parcel")) == "tool 'track': no such parcel"


def test_a_blocked_error_says_who_where_and_why() -> None:
    where = BlockedError(Tripwire("a card", "cards", Phase.INPUT))
    assert str(where) == "blocked by 'cards' in phase 'input': a card"
    assert str(BlockedError(Tripwire("too risky", "score"))) == "blocked by 'score': too risky"


def test_a_second_start_says_how_to_make_another_run() -> None:
    assert "workflow.create_run()" in str(AlreadyStarted("run_1"))


def test_an_answer_that_does_not_fit_names_the_schema_and_all_that_does_not() -> None:
    error = OutputMismatch("Trip", ["days: is no integer", "the whole: lacks 'to'"])
    assert str(error) == (
        "the answer does not fit the output schema 'Trip': days: is no integer; the whole: lacks 'to'"
    )
    assert error.faults == ("days: is no integer", "the whole: lacks 'to'")
