"""Guards that a block did not need, because enough others had ended: recorded as not having checked."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from interlock import Agent, Phase
from interlock.processors import InputContext
from tests.lifecycle.acting import Everywhere, Patient, flow
from tests.runtime.operations.acting import completed

pytestmark = pytest.mark.anyio


class Endless(Everywhere):
    """A guard that never comes to an end."""

    async def process_input(self, ctx: InputContext) -> Any:
        self.log.append(f"{self.id}:{ctx.phase}")
        await anyio.sleep_forever()


def verdicts(checks: Any) -> dict[str, tuple[str, str | None]]:
    """What each guard decided, and why."""
    return {one.processor_id: (one.verdict, one.reason) for one in checks if one.phase is Phase.INPUT}


async def run(guards: Any, **options: Any) -> Any:
    """The outcome of a block of guards."""
    block = flow().parallel(guards, **options).map(lambda ctx: next(iter(ctx.input.values()))).commit()
    with anyio.fail_after(5):
        return await block.run(InputContext("hello"))


def reasons(outcome: Any) -> dict[str, str]:
    """The verdicts alone; and every one that was cut off says by what."""
    found = verdicts(outcome.checks)
    for verdict, reason in found.values():
        assert (verdict == "not-checked") is (reason is not None and "ended before it" in reason)
    return {name: verdict for name, (verdict, _) in found.items()}


async def test_one_that_was_cut_off_while_it_looked_has_not_checked() -> None:
    outcome = await run([Endless("slow"), Patient("quick", turns=2)], join="any")
    completed(outcome)
    assert reasons(outcome) == {"slow": "not-checked", "quick": "passed"}


async def test_one_that_did_not_begin_has_not_checked_either() -> None:
    late = Everywhere("late")
    outcome = await run([Everywhere("quick"), late], join="any")
    assert reasons(outcome) == {"quick": "passed", "late": "not-checked"}
    assert late.log == []


async def test_where_some_are_enough_each_of_the_others_is_told_also_those_in_workflows() -> None:
    inner = flow("inner").then(Patient("in-one", turns=1)).then(Endless("in-two")).then(Everywhere("in-three")).commit()
    outcome = await run([inner, Patient("a", turns=4), Endless("slow"), Patient("b", turns=5)], join=2)
    assert reasons(outcome) == {
        "in-one": "passed",
        "in-two": "not-checked",
        "in-three": "not-checked",
        "a": "passed",
        "slow": "not-checked",
        "b": "passed",
    }


async def test_an_agents_result_tells_them_too() -> None:
    block = flow().parallel([Endless("slow"), Patient("quick", turns=2)], join="any")
    guards = block.map(lambda ctx: next(iter(ctx.input.values()))).commit()
    with anyio.fail_after(5):
        result = await Agent(model="embedded/echo", input_processors=[guards]).generate("hello")
    assert result.text == "hello"
    told = verdicts(result.checks)
    assert told["quick"][0] == "passed"
    assert told["slow"][0] == "not-checked"
    assert "ended before it" in str(told["slow"][1])


async def test_where_all_are_needed_nobody_is_cut_off() -> None:
    outcome = await run([Patient("a", turns=4), Patient("b", turns=1)])
    assert reasons(outcome) == {"a": "passed", "b": "passed"}
