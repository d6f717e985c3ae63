"""What the records of a run say: who decided what, whether it was kept, and who was not asked."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from interlock import Agent, AgentResult, Blocked, Completed, Phase, create_step
from interlock.messages import TextDelta
from interlock.processors import InputContext, OutputStreamContext
from interlock.processors.compose import ProcessorLike
from interlock.testing import ScriptedModel
from interlock.verdict import CheckRecord
from tests.lifecycle.acting import Act, Everywhere, Patient, aborting, flow, model_that_calls, picking

pytestmark = pytest.mark.anyio


def at(phase: Phase, result: AgentResult) -> list[tuple[str, str]]:
    """Who decided what at a phase."""
    return [(check.processor_id, check.verdict) for check in result.checks if check.phase is phase]


def one(result: AgentResult, name: str, phase: Phase = Phase.INPUT) -> CheckRecord:
    """A processor's record at a phase."""
    (found,) = [check for check in result.checks if check.processor_id == name and check.phase is phase]
    return found


def guard(name: str, act: Act | None = None, phase: Phase = Phase.INPUT, *, turns: int = 0) -> Everywhere:
    """A processor that does something at one phase."""
    acts = {} if act is None else {phase: act}
    return Patient(name, acts, turns=turns) if turns else Everywhere(name, acts)


def edit(ctx: Any) -> None:
    """Changes the first message."""
    ctx.messages[0].parts[0].text = "changed"


async def asked(*entries: ProcessorLike) -> AgentResult:
    """The result of a run with these input processors."""
    return await Agent(model="embedded/echo", input_processors=entries).generate("hello")


async def test_each_processor_says_what_it_decided_in_the_order_of_the_list() -> None:
    result = await asked(
        guard("quiet", turns=3),
        guard("editor", edit),
        guard("warner", lambda ctx: ctx.warn("mind", detail=1)),
        guard("last"),
    )
    assert at(Phase.INPUT, result) == [
        ("quiet", "passed"),
        ("editor", "changed"),
        ("warner", "warned"),
        ("last", "passed"),
    ]
    assert one(result, "warner").reason == "mind"
    assert all(check.list == "input" for check in result.checks if check.phase is Phase.INPUT)


async def test_records_come_in_the_order_in_which_the_points_ran_and_chunks_as_one_record_at_the_end() -> None:
    everywhere = Everywhere()
    model = model_that_calls("none")
    agent = Agent(model=model, input_processors=[everywhere], output_processors=[everywhere])
    result = await agent.generate("hello")
    assert [(str(check.phase), check.step_number) for check in result.checks] == [
        ("input", None),
        ("input_step", 0),
        ("llm_request", 0),
        ("llm_response", 0),
        ("output_step", 0),
        ("tool_call", 0),
        ("input_step", 1),
        ("llm_request", 1),
        ("llm_response", 1),
        ("output_step", 1),
        ("output_result", None),
        ("output_stream", None),
    ]


async def test_a_nested_processor_is_told_apart_by_its_path() -> None:
    inner = flow("inner").parallel([guard("a"), guard("b")]).merge().commit()
    result = await asked(flow("outer").then(inner).then(guard("c")).commit(), create_step(guard("d"), id="named"))
    assert [c.path for c in result.checks if c.phase is Phase.INPUT] == [
        "outer/inner/processor:a",
        "outer/inner/processor:b",
        "outer/processor:c",
        "named",
    ]


async def test_a_change_that_a_map_left_behind_is_not_kept() -> None:
    block = flow().parallel([guard("a", edit), guard("b"), guard("c", edit, turns=1)]).map(picking("b")).commit()
    result = await asked(block)
    assert [(c.processor_id, c.verdict, c.kept) for c in result.checks if c.phase is Phase.INPUT] == [
        ("a", "changed", False),
        ("b", "passed", True),
        ("c", "changed", False),
    ]
    assert result.text == "hello"


async def test_a_change_that_a_map_took_or_a_merge_joined_is_kept() -> None:
    taken = flow("taken").parallel([guard("a", edit), guard("b")]).map(picking("a")).commit()
    result = await asked(taken)
    assert one(result, "a").kept
    merged = flow("merged").parallel([guard("a", edit), guard("b")]).merge().commit()
    assert one(await asked(merged), "a").kept


async def test_a_change_in_a_branch_of_several_steps_is_left_behind_with_it() -> None:
    arm = flow("arm").then(guard("a", edit)).then(guard("b")).commit()
    result = await asked(flow().parallel([arm, guard("c")]).map(picking("c")).commit())
    assert not one(result, "a").kept
    assert one(result, "b").kept


async def test_a_map_that_makes_something_of_its_own_leaves_nothing_behind() -> None:
    block = flow().parallel([guard("a", edit), guard("b")]).map(lambda ctx: ctx.input["processor:a"].fork()).commit()
    assert one(await asked(block), "a").kept


async def test_whoever_stands_behind_a_block_was_not_asked() -> None:
    result = await asked(guard("first"), guard("guard", aborting("no")), guard("behind"))
    assert at(Phase.INPUT, result) == [("first", "passed"), ("guard", "blocked"), ("behind", "not-checked")]
    assert one(result, "behind").reason == "'guard' blocked first"


async def test_a_sibling_that_was_cancelled_was_not_asked() -> None:
    async def waits(ctx: Any) -> None:
        await anyio.sleep_forever()

    block = (
        flow().parallel([guard("a", waits, turns=1), guard("b", aborting("no"), turns=1), guard("c")]).merge().commit()
    )
    result = await asked(block)
    assert at(Phase.INPUT, result) == [("a", "not-checked"), ("b", "blocked"), ("c", "passed")]


async def test_whoever_stands_behind_a_failure_was_not_asked_and_the_one_who_failed_did_not_check() -> None:
    def broken(ctx: Any) -> None:
        raise OSError("broken")

    agent = Agent(model="embedded/echo", input_processors=[guard("a"), guard("b", broken), guard("c")])
    async with agent.stream("hello") as stream:
        result = await stream.result()
    assert [(c.processor_id, c.verdict, c.reason) for c in result.checks] == [
        ("a", "passed", None),
        ("b", "not-checked", "failed: OSError"),
        ("c", "not-checked", "the run failed first"),
    ]


STREAM = Phase.OUTPUT_STREAM


async def streamed(*entries: ProcessorLike) -> AgentResult:
    """The result of a run with these output processors."""
    agent = Agent(model=ScriptedModel([["one", "two"]]), output_processors=entries)
    async with agent.stream("hello") as stream:
        return await stream.result()


def changes(word: str) -> Act:
    """Changes one text."""

    def act(ctx: OutputStreamContext) -> object:
        return ctx.chunk.replace(text="changed") if ctx.chunk == TextDelta(word) else ctx.chunk

    return act


async def test_chunks_are_one_record_in_which_the_gravest_counts() -> None:
    def warns(ctx: OutputStreamContext) -> object:
        if ctx.chunk == TextDelta("two"):
            ctx.warn("mind two")
        return changes("one")(ctx)

    result = await streamed(guard("a"), guard("b", changes("one"), STREAM), guard("c", warns, STREAM))
    found = [(c.processor_id, c.verdict, c.reason, c.runs) for c in result.checks if c.phase is STREAM]
    assert found == [("a", "passed", None, 6), ("b", "changed", None, 6), ("c", "warned", "mind two", 6)]


async def test_a_warning_that_comes_with_every_chunk_is_told_once() -> None:
    def warns(ctx: OutputStreamContext) -> object:
        ctx.warn("mind")
        return ctx.chunk

    assert one(await streamed(guard("a", warns, STREAM)), "a", STREAM).reason == "mind"


@pytest.mark.parametrize("turns", [0, 1])
async def test_a_blocked_chunk_was_not_looked_at_by_those_behind(turns: int) -> None:
    result = await streamed(
        guard("first", phase=STREAM, turns=turns),
        guard("guard", aborting("no"), STREAM, turns=turns),
        guard("behind", phase=STREAM, turns=turns),
    )
    assert at(STREAM, result) == [("first", "passed"), ("guard", "blocked"), ("behind", "not-checked")]
    assert one(result, "behind", STREAM).reason == "'guard' blocked first"


@pytest.mark.parametrize("turns", [(3, 1), (0, 1), (3, 0), (0, 0)])
async def test_a_blocked_chunk_was_not_looked_at_by_siblings_that_had_not_ended(turns: tuple[int, int]) -> None:
    """A sibling that is ``def`` and stands before the guard has looked; one that waits or stands behind has not."""
    slow, quick = turns
    block = (
        flow()
        .parallel(
            [
                guard("before", phase=STREAM, turns=slow),
                guard("guard", aborting("no"), STREAM, turns=quick),
                guard("after", phase=STREAM, turns=slow),
            ]
        )
        .merge()
        .commit()
    )
    result = await streamed(block, guard("behind"))
    assert dict(at(STREAM, result)) == {
        "before": "not-checked" if slow else "passed",
        "guard": "blocked",
        "after": "not-checked" if slow or not quick else "passed",
        "behind": "not-checked",
    }


async def test_a_failure_in_the_stream_says_who_did_not_check() -> None:
    def broken(ctx: OutputStreamContext) -> object:
        raise OSError("broken")

    result = await streamed(guard("a"), guard("b", broken, STREAM), guard("c"))
    found = [(c.processor_id, c.verdict, c.reason) for c in result.checks if c.phase is STREAM]
    assert found == [
        ("a", "passed", None),
        ("b", "not-checked", "failed: OSError"),
        ("c", "not-checked", "the run failed first"),
    ]


async def test_a_changed_chunk_that_a_map_left_behind_is_not_kept() -> None:
    def arms() -> list[Everywhere]:
        return [guard("a", changes("one"), STREAM), guard("b")]

    left = await streamed(flow().parallel(arms()).map(picking("b")).commit())
    assert (one(left, "a", STREAM).verdict, one(left, "a", STREAM).kept) == ("changed", False)
    taken = await streamed(flow().parallel(arms()).map(picking("a")).commit())
    assert one(taken, "a", STREAM).kept
    own = await streamed(flow().parallel(arms()).map(lambda ctx: ctx.input["processor:a"].fork()).commit())
    assert one(own, "a", STREAM).kept


async def test_a_workflow_that_runs_by_itself_has_records_too() -> None:
    block = flow().parallel([guard("a", edit), guard("b")]).merge().then(guard("c", aborting("no"))).commit()
    outcome = await block.run(InputContext("hello"))
    assert isinstance(outcome, Blocked)
    assert [(c.processor_id, c.verdict) for c in outcome.checks] == [
        ("a", "changed"),
        ("b", "passed"),
        ("c", "blocked"),
    ]
    whole = await flow().then(guard("a", edit)).commit().run(InputContext("hello"))
    assert isinstance(whole, Completed)
    assert [(c.processor_id, c.verdict) for c in whole.checks] == [("a", "changed")]
