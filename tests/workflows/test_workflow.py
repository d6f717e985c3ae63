"""A committed workflow asks its engine to run, and runs nothing itself."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.context import RequestContext
from interlock.errors import DefinitionError
from interlock.storage import RunStore
from interlock.workflows import (
    Completed,
    Outcome,
    Workflow,
    create_workflow,
    default_engine,
    engine,
    set_default_engine,
)


class Recording:
    """An engine that notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None]] = []

    def create_run(
        self, workflow: Workflow[Any, Any], run_id: str | None = None, *, store: RunStore | None = None
    ) -> Any:
        self.asked.append((workflow.id, run_id))
        return RecordedRun()


class RecordedRun:
    run_id = "run_1"

    async def start(
        self, value: Any, /, *, state: object = None, request_context: RequestContext | None = None
    ) -> Outcome[Any]:
        return Completed((value, request_context))

    def cancel(self) -> None:
        pass


@pytest.fixture
def workflow() -> Workflow[int, Any]:
    return create_workflow(id="w", input_schema=int).map(lambda ctx: ctx.input).commit()


def test_a_run_is_asked_of_the_engine_that_is_named(workflow: Workflow[int, Any]) -> None:
    engine: Any = Recording()
    workflow.create_run(engine=engine)
    workflow.create_run("mine", engine=engine)
    assert engine.asked == [("w", None), ("w", "mine")]


@pytest.mark.anyio
async def test_run_starts_a_fresh_run_of_the_default_engine(
    workflow: Workflow[int, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    recording: Any = Recording()
    request = RequestContext(user="ann")
    monkeypatch.setattr(engine, "_default", [])
    set_default_engine(recording)
    assert await workflow.run(7, request_context=request) == Completed((7, request))
    assert recording.asked == [("w", None)]


def test_without_an_engine_it_says_what_to_import(
    workflow: Workflow[int, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_default", [])
    monkeypatch.setattr(engine, "_maker", [])
    with pytest.raises(DefinitionError, match="import interlock, or call set_default_engine"):
        workflow.create_run()


def test_the_engine_set_last_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_default", [])
    one: Any = Recording()
    other: Any = Recording()
    set_default_engine(one)
    set_default_engine(other)
    assert default_engine() is other
