"""Parallel branches at the per-chunk point: how many are enough, what a failure means, how many run at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from interlock import Phase, Processor, Workflow, create_step, create_workflow
from interlock.errors import InvalidProcessorReturn, MergeConflict, RunError, StepFailed
from interlock.messages import Chunk, TextDelta, ToolCall
from interlock.processors import OutputStreamContext, ProcessorStepSchema
from interlock.steps import FunctionStep
from interlock.workflows import WorkflowBuilder
from interlock.workflows.outcome import StepError
from tests.lifecycle.acting import Everywhere, picking
from tests.runtime.chunk_acting import Act, Path, flow, guard, redact, shout, split, star, text_of

pytestmark = pytest.mark.anyio

X = TextDelta("x")


def broken(ctx: OutputStreamContext) -> object:
    raise OSError("broken")


class Elsewhere(FunctionStep[Any, Any]):
    """Acts at other points only."""

    def acts_in(self, phase: Phase) -> bool:
        return phase is not Phase.OUTPUT_STREAM


def keyed(name: str) -> WorkflowBuilder[Any, Any, Any]:
    """The beginning of a workflow of processors that may end with a block."""
    return create_workflow(id=name, input_schema=ProcessorStepSchema)


def told(path: Path) -> dict[str, tuple[str, str | None, int]]:
    """By processor: its verdict, the reason, how often it ran."""
    return {check.processor_id: (check.verdict, check.reason, check.runs) for check in path.checks()}


def seeing(seen: list[Any]) -> Any:
    """For ``map``: notes the keys, and goes on with the first output that is a context."""

    def look(ctx: Any) -> Any:
        seen.append({key: type(value).__name__ for key, value in ctx.input.items()})
        return next(value for value in ctx.input.values() if isinstance(value, OutputStreamContext))

    return look


@pytest.mark.parametrize("turns", [(0, 0, 0), (3, 0, 1), (3, 1, 2), (1, 4, 4)])
async def test_with_join_any_the_first_to_decide_goes_on_and_the_others_did_not_check(
    turns: tuple[int, int, int],
) -> None:
    names = ("a", "b", "c")
    guards = [guard(name, star if name == "b" else None, turns=t) for name, t in zip(names, turns, strict=True)]
    first = names[turns.index(min(turns))]
    seen: list[Any] = []
    path = Path(flow().parallel(guards, join="any").map(seeing(seen)).commit())
    assert await path.texts("x", "y") == (["*x", "*y"] if first == "b" else ["x", "y"])
    assert seen == [{f"processor:{first}": "OutputStreamContext"}] * 2
    for name, (verdict, reason, _) in told(path).items():
        if name == first:
            assert verdict == ("changed" if name == "b" else "passed")
        else:
            assert (verdict, reason) == ("not-checked", "enough other branches had ended")


async def test_those_that_are_not_needed_any_more_are_cancelled_and_ended_before_the_chunk_goes_on() -> None:
    ended: list[str] = []

    class Forever(Everywhere):
        async def process_output_stream(self, ctx: OutputStreamContext) -> Any:
            try:
                await anyio.sleep_forever()
            finally:
                ended.append(self.id)

    path = Path(flow().parallel([Forever("a"), guard("b", turns=1), Forever("c")], join="any").merge().commit())
    with anyio.fail_after(5):
        assert await path.feed(X) is X
    assert sorted(ended) == ["a", "c"]
    assert told(path)["a"] == ("not-checked", "enough other branches had ended", 1)


async def test_of_those_that_end_in_the_same_moment_only_as_many_go_on_as_are_wanted() -> None:
    seen: list[Any] = []
    path = Path(flow().parallel([guard(n, turns=1) for n in "abc"], join=2).map(seeing(seen)).commit())
    await path.feed(X)
    assert [len(keys) for keys in seen] == [2]


@pytest.mark.parametrize("turns", [0, 1])
async def test_a_failure_counts_only_once_too_few_are_left(turns: int) -> None:
    bad = [guard(f"bad-{n}", broken, turns=turns) for n in range(2)]
    path = Path(flow().parallel([*bad, guard("good", shout, turns=2)], join="any").merge().commit())
    assert await path.texts("x") == ["X"]
    path = Path(flow().parallel([*bad, guard("good", turns=2)], join=2).map(seeing([])).commit())
    with pytest.raises(StepFailed, match="processor:bad-"):
        await path.feed(X)
    assert told(path)["good"][:2] == ("not-checked", "the run failed first")


@pytest.mark.parametrize("turns", [0, 1, 3])
async def test_wait_all_lets_the_others_end_and_then_fails_with_the_first_failure(turns: int) -> None:
    log: list[str] = []
    guards = [guard("a", broken, turns=turns), guard("b", turns=2, log=log), guard("c", broken, turns=4)]
    path = Path(flow().parallel(guards, on_error="wait_all").merge().commit())
    with pytest.raises(StepFailed, match="processor:a"):
        await path.feed(X)
    assert log == ["b:output_stream"]
    assert {name: verdict for name, (verdict, _, _) in told(path).items()} == {
        "a": "not-checked",
        "b": "passed",
        "c": "not-checked",
    }


@pytest.mark.parametrize("turns", [0, 1])
async def test_collect_gives_a_map_the_failures_and_the_run_goes_on(turns: int) -> None:
    seen: list[Any] = []
    behind = guard("behind")
    bad = flow("bad").then(guard("changing", shout)).then(guard("broken", broken, turns=turns)).then(behind).commit()
    block = flow().parallel([bad, guard("good", star, turns=turns)], on_error="collect").map(seeing(seen)).commit()
    path = Path(block, guard("last"))
    assert await path.texts("x", "y") == ["*x", "*y"]
    assert seen == [{"bad": "StepError", "processor:good": "OutputStreamContext"}] * 2
    assert told(path) == {
        "changing": ("changed", None, 2),
        "broken": ("not-checked", "failed: OSError", 2),
        "behind": ("not-checked", "its branch failed first", 0),
        "good": ("changed", None, 2),
        "last": ("passed", None, 2),
    }
    assert {check.processor_id: check.kept for check in path.checks()}["changing"] is False


async def test_a_collected_failure_says_what_failed() -> None:
    found: list[StepError] = []

    def look(ctx: Any) -> Any:
        found.append(ctx.input["processor:a"])
        return ctx.input["processor:b"]

    await Path(flow().parallel([guard("a", broken), guard("b")], on_error="collect").map(look).commit()).feed(X)
    assert found[0].step_id == "processor:a"
    assert isinstance(found[0].error, StepFailed)
    assert isinstance(found[0].error.cause, OSError)


async def test_a_merge_of_a_collected_failure_fails_the_run_and_says_so() -> None:
    path = Path(flow().parallel([guard("a", broken), guard("b")], on_error="collect").merge().commit())
    with pytest.raises(RunError, match=r"merge' has nothing to join of 'processor:a', which failed: .*broken"):
        await path.feed(X)


@pytest.mark.parametrize("limit", [1, 2, 3])
async def test_so_many_run_at_once_and_no_more(limit: int) -> None:
    running: list[int] = [0]
    most: list[int] = []

    class Counts(Everywhere):
        async def process_output_stream(self, ctx: OutputStreamContext) -> Any:
            running[0] += 1
            most.append(running[0])
            await anyio.lowlevel.checkpoint()
            await anyio.lowlevel.checkpoint()
            running[0] -= 1
            return star(ctx) if self.id == "c3" else ctx.chunk

    guards = [Counts(f"c{n}") for n in range(5)]
    path = Path(flow().parallel(guards, concurrency=limit).merge().commit())
    assert await path.texts("x") == ["*x"]
    assert max(most) == limit
    assert len(most) == 5


@pytest.mark.parametrize("turns", [(0, 0), (1, 0), (1, 2)])
async def test_merge_with_is_given_each_branchs_context_and_gives_the_one_that_goes_on(turns: tuple[int, int]) -> None:
    seen: list[dict[str, tuple[str, list[str]]]] = []

    def longest(outputs: Mapping[str, OutputStreamContext]) -> OutputStreamContext:
        seen.append({key: (text_of(branch.chunk), [text_of(c) for c in branch.out]) for key, branch in outputs.items()})
        return max(outputs.values(), key=lambda branch: len(branch.out))

    block = flow().parallel([guard("a", star, turns=turns[0]), guard("b", split, turns=turns[1])])
    path = Path(block.merge(with_=longest).commit())
    assert await path.texts("xy") == ["x", "y"]
    assert seen == [{"processor:a": ("xy", ["*xy"]), "processor:b": ("xy", ["x", "y"])}]
    assert {check.processor_id: check.kept for check in path.checks()} == {"a": False, "b": True}


async def test_merge_with_may_be_a_coroutine_function_and_must_give_a_context() -> None:
    async def later(outputs: Mapping[str, Any]) -> Any:
        await anyio.lowlevel.checkpoint()
        return outputs["processor:a"]

    block = flow().parallel([guard("a", shout), guard("b")])
    assert await Path(block.merge(with_=later).commit()).texts("x") == ["X"]
    for wrong in (None, X, "text"):
        with pytest.raises(InvalidProcessorReturn, match="merge"):
            await Path(block.merge(with_=giving(wrong)).commit()).feed(X)

    def same(outputs: Mapping[str, Any]) -> Any:
        return outputs

    with pytest.raises(InvalidProcessorReturn, match="merge"):
        await Path(block.merge(with_=same).commit()).feed(X)


def giving(value: object) -> Callable[[Any], Any]:
    """A function that gives that."""
    return lambda _: value


async def test_a_merge_behind_options_joins_edits_and_finds_conflicts_as_any_merge_does() -> None:
    both = [guard("a", redact("one"), turns=1), guard("b", redact("two"))]
    assert await Path(flow().parallel(both, concurrency=1).merge().commit()).texts("one, two") == ["[X], [X]"]

    def twice_and(chunk: Chunk) -> Act:
        def act(ctx: OutputStreamContext) -> object:
            return [ctx.chunk, chunk]

        return act

    clash = [guard("a", twice_and(TextDelta("1"))), guard("b", twice_and(TextDelta("2")))]
    with pytest.raises(MergeConflict, match=r"processor:a.*processor:b"):
        await Path(flow().parallel(clash, concurrency=1).merge().commit()).feed(X)
    preferred = Path(flow().parallel(clash, concurrency=1).merge(prefer="processor:b").commit())
    assert await preferred.texts("x") == ["x", "2"]


async def test_each_branch_looks_at_a_copy_of_what_could_be_changed_in_place() -> None:
    def edits(ctx: OutputStreamContext) -> Any:
        if isinstance(ctx.chunk, ToolCall):
            ctx.chunk.args["path"] = "/elsewhere"
        return ctx.chunk

    call = ToolCall("1", "read", {"path": "/here"})
    guards = [guard("a", edits, turns=1), guard("b")]
    for block in (flow().parallel(guards, concurrency=1), flow().parallel(guards, on_error="collect")):
        out = await Path(block.map(picking("b")).commit()).feed(call)
        assert out is call
        assert call.args == {"path": "/here"}


async def test_a_keyed_output_may_wait_and_go_through_functions_before_it_is_one() -> None:
    """Nothing has to stand right behind a block; what stands there is given ``{id: output}``."""

    def swapped(ctx: Any) -> Any:
        first, second = ctx.input.values()
        first.out, second.out = second.out, first.out
        return first

    def same(ctx: Any) -> Any:
        return ctx.input["processor:a"]

    block = flow().parallel([guard("a", shout, turns=1), guard("b", star)]).sleep(0)
    twice = block.parallel([create_step(swapped, id="swapped"), create_step(same, id="same")])
    for pick, expected in (("swapped", "*x"), ("same", "X")):
        whole = twice.map(picking(pick)).commit()
        assert await Path(whole).texts("x") == [expected]


async def test_a_branch_that_ends_with_a_block_gives_its_keyed_output_under_its_key() -> None:
    inner = keyed("inner").parallel([guard("x", shout, turns=1), guard("y", star)]).commit()
    outer = flow().parallel([inner, guard("z")]).map(lambda ctx: ctx.input["inner"]["processor:y"]).commit()
    path = Path(outer, guard("last"))
    assert await path.texts("a", "b") == ["*a", "*b"]


async def test_a_keyed_output_that_comes_to_a_processor_is_a_failure_that_says_what_is_missing() -> None:
    made_one = Elsewhere("made-one", lambda ctx: next(iter(ctx.input.values())))
    outer = flow().parallel([guard("x"), guard("y", turns=1)]).then(made_one).then(guard("z")).commit()
    with pytest.raises(InvalidProcessorReturn, match=r"processor:z'.*needs \.map\(…\) or \.merge\(\) behind it"):
        await Path(outer).feed(X)


async def test_a_keyed_output_at_the_end_is_such_a_failure_too() -> None:
    made_one = Elsewhere("made-one", lambda ctx: next(iter(ctx.input.values())))
    path = Path(flow().parallel([guard("x"), guard("y", turns=1)]).then(made_one).commit())
    with pytest.raises(InvalidProcessorReturn, match=r"needs \.map\(…\) or \.merge\(\) behind it"):
        await path.feed(X)


def only_b(ctx: OutputStreamContext) -> object:
    if text_of(ctx.chunk) == "b":
        raise OSError("broken")
    return ctx.chunk


@pytest.mark.parametrize("turns", [0, 1])
async def test_chunks_that_were_split_off_and_come_behind_a_failure_are_not_counted(turns: int) -> None:
    bad = flow("bad").then(guard("split", split)).then(guard("fails", only_b, turns=turns)).then(guard("behind"))
    block = flow().parallel([bad.commit(), guard("good")], on_error="collect").map(picking("good")).commit()
    path = Path(block)
    assert await path.texts("abcd") == ["abcd"]
    assert {name: runs for name, (_, _, runs) in told(path).items()} == {"split": 1, "fails": 2, "behind": 1, "good": 1}


LATE: dict[str, Callable[[Processor], Workflow[Any, Any]]] = {
    "split": lambda late: flow("late").then(guard("split", split)).then(late).then(guard("behind")).commit(),
    "loop": lambda late: flow("late").do_until(late, lambda ctx: True).then(guard("behind")).commit(),
    "graph": lambda late: flow("late").dag({late: [], guard("behind"): [late]}).commit(),
    "block": lambda late: flow("late").parallel([late, guard("x")]).merge().then(guard("behind")).commit(),
    "options": lambda late: flow("late").parallel([late, guard("x")], concurrency=1).merge().commit(),
    "branch": lambda late: flow("late").branch([(lambda ctx: True, late)]).merge().then(guard("behind")).commit(),
    "condition": lambda late: flow("late").branch([(never, late)]).merge().commit(),
    "map": lambda late: flow("late").parallel([guard("x"), guard("y")]).map(never).then(late).commit(),
}


async def never(ctx: Any) -> Any:
    raise AssertionError("nobody waits for this")


@pytest.mark.parametrize("shape", LATE)
async def test_what_would_have_waited_is_dropped_where_a_sibling_that_need_not_wait_is_enough(shape: str) -> None:
    """Nothing is left that nobody awaits, and what was not asked is not counted."""
    block = flow().parallel([LATE[shape](guard("late", turns=1)), guard("quick")], join="any").merge().commit()
    path = Path(block)
    assert await path.texts("abc", "d") == ["abc", "d"]
    assert told(path)["late"] == ("not-checked", "enough other branches had ended", 0)
    assert told(path).get("behind", told(path)["late"]) == told(path)["late"]
