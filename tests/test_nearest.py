"""Names of other libraries lead to ours."""

from __future__ import annotations

from typing import Any

import pytest

from interlock import Failed, StepContext, create_step, create_workflow
from interlock.nearest import did_you_mean


@pytest.mark.parametrize(
    ("name", "meant"),
    [("doUntil", "do_until"), ("dowhile", "do_while"), ("forEach", "foreach"), ("parralel", "parallel")],
)
def test_a_builder_says_what_may_have_been_meant(name: str, meant: str) -> None:
    with pytest.raises(AttributeError, match=f"a workflow builder has no '{name}'; did you mean {meant}?"):
        getattr(create_workflow(id="w"), name)


@pytest.mark.parametrize(("name", "meant"), [("inputData", "input"), ("setState", "set_state"), ("runId", "run_id")])
def test_so_does_a_steps_context(name: str, meant: str) -> None:
    def asks(ctx: StepContext[Any]) -> object:
        return getattr(ctx, name)

    outcome = create_workflow(id="w").then(create_step(asks)).commit().run_sync(1)
    assert isinstance(outcome, Failed)
    assert f"step 'asks' failed: a step's context has no '{name}'; did you mean {meant}?: " in str(outcome.error)


def test_where_nothing_is_near_nothing_is_said() -> None:
    assert did_you_mean("publish", ["then", "parallel", "_published"]) == ""
