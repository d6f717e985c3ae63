"""Calls that name no run, no store, or a run of another workflow; and a caller's context that is any mapping."""

from __future__ import annotations

import os
from collections import ChainMap
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import pytest

from interlock import RequestContext, StepContext, Workflow, create_step, create_workflow
from interlock.errors import DefinitionError, RunError
from interlock.runtime import LocalEngine, MemoryRunStore, RunStore, Suspended
from tests.runtime.operations.acting import completed

pytestmark = pytest.mark.anyio


def ask(ctx: StepContext[Any]) -> Any:
    if ctx.resume_data is None:
        ctx.suspend()
    context = cast("object", ctx.request_context)
    return [ctx.request_context.get("who"), isinstance(context, RequestContext)]


def asking(id: str = "asking") -> Workflow[Any, Any]:  # noqa: A002
    return create_workflow(id=id).then(create_step(ask)).commit()


@pytest.mark.parametrize("given", ["", 7, b"r", ("r",), object()])
async def test_a_runs_id_is_a_text_and_not_an_empty_one(given: Any) -> None:
    refused = "a run's id is a text, and not an empty one"
    for store in (None, MemoryRunStore()):
        with pytest.raises(DefinitionError, match=refused):
            asking().create_run(given, store=store)
    kept, workflow = MemoryRunStore(), asking()
    assert isinstance(await workflow.create_run("r", store=kept).start(1), Suspended)
    with pytest.raises(DefinitionError, match=refused):
        await workflow.recover(given, store=kept)
    with pytest.raises(DefinitionError, match=refused):
        await workflow.time_travel(given, "ask", store=kept)
    with pytest.raises(DefinitionError, match="new_run_id: " + refused):
        await workflow.time_travel("r", "ask", store=kept, new_run_id=given)
    assert [one.run_id for one in await kept.runs()] == ["r"]


@pytest.mark.parametrize("given", ["a b", "a/b", "né", "\n", "x" * 500, "0"])
async def test_any_other_text_will_do(given: str, kept: RunStore) -> None:
    run = asking().create_run(given, store=kept)
    assert run.run_id == given
    assert isinstance(await run.start(1), Suspended)
    assert [one.run_id for one in await kept.runs()] == [given]
    completed(await asking().create_run(given, store=kept).resume(1))


@pytest.mark.parametrize("given", ["runs.db", Path("runs.db"), {}, 0, False, MemoryRunStore])
async def test_what_is_no_store_is_refused_and_the_error_says_what_one_is(
    given: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    uses: tuple[Callable[[], Awaitable[object]], ...] = (
        lambda: asking().create_run("r", store=given).start(1),
        lambda: asking().recover("r", store=given),
        lambda: asking().time_travel("r", "ask", store=given),
    )
    for use in uses:
        with pytest.raises(DefinitionError) as caught:
            await use()
        assert 'SQLiteRunStore("runs.db")' in str(caught.value)
        assert repr(given) in str(caught.value)
    assert not os.listdir(tmp_path), "no file is made of it"


async def test_a_run_of_another_workflow_is_not_resumed_recovered_or_read_along(kept: RunStore) -> None:
    assert isinstance(await asking().create_run("r", store=kept).start(1), Suspended)
    before = list(await kept.read("r"))
    other = asking("other")
    refused = "run 'r' is one of workflow 'asking', not of 'other'"
    with pytest.raises(RunError, match=refused):
        await other.create_run("r", store=kept).resume(1)
    with pytest.raises(RunError, match=refused):
        async with other.create_run("r", store=kept).resume_stream(1):
            pytest.fail("nothing begins")
    for allowed in (False, True):
        with pytest.raises(RunError, match=refused):
            await other.recover("r", store=kept, allow_changed_graph=allowed)
    assert list(await kept.read("r")) == before
    completed(await asking().create_run("r", store=kept).resume(1))
    with pytest.raises(RunError, match=refused):
        await other.recover("r", store=kept)


MAPPINGS: list[Mapping[str, object]] = [
    {"who": "ann"},
    MappingProxyType({"who": "ann"}),
    ChainMap({"who": "ann"}, {"who": "bob"}),
    RequestContext(who="ann"),
]


@pytest.mark.parametrize("given", MAPPINGS, ids=lambda one: type(one).__name__)
async def test_any_mapping_will_do_as_the_request_context(given: Mapping[str, object], each: RunStore | None) -> None:
    run = asking().create_run("r", store=each)
    assert isinstance(await run.start(1, request_context=given), Suspended)
    again = run if each is None else asking().create_run("r", store=each, engine=LocalEngine())
    assert completed(await again.resume(1)) == ["ann", True]


@pytest.mark.parametrize("given", MAPPINGS, ids=lambda one: type(one).__name__)
async def test_wherever_one_can_be_given(given: Mapping[str, object], kept: RunStore) -> None:
    workflow = create_workflow(id="w").map(lambda ctx: ctx.request_context.get("who")).then(create_step(ask)).commit()

    def who(outcome: Any) -> Any:
        return cast("list[object]", completed(outcome))[0]

    async with workflow.create_run("a", store=kept).stream(1, request_context=given) as events:
        assert isinstance(await events.outcome(), Suspended)
    assert who(await workflow.create_run("a", store=kept).resume(1)) == "ann"
    await workflow.create_run("b", store=kept).start(1)
    assert who(await workflow.create_run("b", store=kept).resume(1, request_context=given)) == "ann"
    await workflow.create_run("c", store=kept).start(1, pause=True)
    assert isinstance(await workflow.recover("c", store=kept, request_context=given), Suspended)
    forked = await workflow.time_travel("a", "ask", store=kept, request_context=given, new_run_id="d")
    assert isinstance(forked, Suspended)
    assert who(await workflow.create_run("d", store=kept).resume(1)) == "ann"


async def test_a_context_is_handed_over_itself_and_another_mapping_is_left_alone() -> None:
    def writes(ctx: StepContext[Any]) -> Any:
        ctx.request_context["seen"] = True

    workflow = create_workflow(id="w").then(create_step(writes)).commit()
    own, other = RequestContext(), dict[str, object]()
    await workflow.run(1, request_context=own)
    await workflow.run(1, request_context=other)
    assert own["seen"] is True
    assert other == {}
