"""What a run's rows say about it at one glance."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.storage import JournalRow, RunSummary, has_ended, summed_up

rows = st.builds(
    JournalRow,
    st.just(0),
    st.sampled_from(["workflow-start", "workflow-resume", "workflow-recover", "workflow-finish", "step-result"]),
    st.floats(0, 1e9),
    data=st.fixed_dictionaries(
        {}, optional={"status": st.sampled_from(["success", "suspended"]), "workflow": st.sampled_from(["a", "b"])}
    ),
)


@given(st.lists(rows, min_size=1), st.lists(rows, min_size=1))
def test_rows_are_summed_up_at_once_as_in_pieces(first: list[JournalRow], second: list[JournalRow]) -> None:
    in_pieces = summed_up("r", second, before=summed_up("r", first))
    assert in_pieces == summed_up("r", [*first, *second])


def test_a_parent_and_a_workflow_that_are_no_names_are_passed_over() -> None:
    odd = JournalRow(1, "workflow-start", 1.0, data={"workflow": 3, "parent": {"run_id": None}})
    assert summed_up("r", [odd]) == RunSummary("r", "", "running", 1.0, 1.0, 1)


def test_an_end_without_a_status_changes_none() -> None:
    assert summed_up("r", [JournalRow(1, "workflow-finish", 1.0)]).status == "running"


@pytest.mark.parametrize("status", ["success", "tripwire", "failed", "canceled"])
def test_these_statuses_are_ends(status: str) -> None:
    assert has_ended(status)


@pytest.mark.parametrize("status", ["running", "suspended", "paused", ""])
def test_these_statuses_are_no_ends(status: str) -> None:
    assert not has_ended(status)
