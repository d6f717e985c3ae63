"""A tool as a step of a workflow: where its call needs an approval, the run waits for it."""

from __future__ import annotations

from typing import Any

import pytest

from interlock import Failed, Suspended, Tool, create_step, create_workflow, tool
from interlock.errors import StepFailed
from interlock.runtime import MemoryRunStore, RunStore
from tests.runtime.operations.acting import completed

pytestmark = pytest.mark.anyio

RAN: list[int] = []


@pytest.fixture(autouse=True)
def no_tool_has_run() -> None:
    RAN.clear()


def pay(amount: int) -> str:
    """Pay somebody."""
    RAN.append(amount)
    return f"paid {amount}"


def over_fifty(args: dict[str, Any], ctx: object) -> bool:
    return bool(args["amount"] > 50)


async def over_fifty_async(args: dict[str, Any], ctx: object) -> bool:
    return bool(args["amount"] > 50)


def run_of(made: Tool, *, stored: bool = False, named: bool = False) -> Any:
    """A run of a workflow of this tool alone."""
    store: RunStore | None = MemoryRunStore() if stored else None
    return (
        create_workflow(id="till")
        .then(create_step(made, id="pay-it") if named else made)
        .commit()
        .create_run(store=store)
    )


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("needs", [True, over_fifty, over_fifty_async])
async def test_the_run_waits_and_goes_on_once_somebody_has_approved(needs: Any, stored: bool, named: bool) -> None:
    run = run_of(tool(pay, needs_approval=needs), stored=stored, named=named)
    waits = await run.start({"amount": 80})
    assert isinstance(waits, Suspended)
    assert [one.payload for one in waits.suspensions] == [{"tool": "pay", "args": {"amount": 80}}]
    assert RAN == []
    assert completed(await run.resume(True)) == "paid 80"
    assert RAN == [80]


async def test_what_needs_none_does_not_wait() -> None:
    assert completed(await run_of(tool(pay, needs_approval=over_fifty)).start({"amount": 5})) == "paid 5"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (False, "the call was not approved"),
        ({"approve": False, "reason": "too much"}, "too much"),
        ("yes", "answered with True, False or .*, not 'yes'"),
        ({"approve": "yes"}, "answered with True, False or"),
        ({}, "answered with True, False or"),
    ],
)
async def test_without_an_approval_the_tool_does_not_run_and_the_step_fails(answer: object, said: str) -> None:
    asked: list[bool] = []

    def only_once(args: object, ctx: object) -> bool:
        asked.append(True)
        return len(asked) == 1

    run = run_of(tool(pay, needs_approval=only_once))
    assert isinstance(await run.start({"amount": 80}), Suspended)
    outcome = await run.resume(answer)
    assert isinstance(outcome, Failed)
    with pytest.raises(StepFailed, match=said):
        raise outcome.error
    assert RAN == []


async def test_where_nobody_can_tell_whether_it_is_needed_the_step_fails() -> None:
    outcome = await run_of(tool(pay, needs_approval=lambda args, ctx: None)).start({"amount": 80})
    assert isinstance(outcome, Failed)
    assert "needs_approval must give True or False, not None" in str(outcome.error)
    assert RAN == []
