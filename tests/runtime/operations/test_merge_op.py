"""One value of several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from interlock import StepContext, create_step
from interlock.errors import StepFailed
from tests.runtime.operations.acting import Actor, completed, failed, flow, turns

pytestmark = pytest.mark.anyio


def joined(outputs: Mapping[str, Any]) -> str:
    """All of them."""
    return "+".join(f"{key}={value}" for key, value in outputs.items())


async def later(outputs: Mapping[str, Any]) -> str:
    """All of them, after a while."""
    await turns(1)
    return joined(outputs)


@pytest.mark.parametrize("with_", [joined, later])
async def test_a_function_makes_one_value_of_all_outputs_in_list_order(with_: Any) -> None:
    act = Actor()
    block = flow().parallel([act.gives("a", 1, waits=3), act.gives("b", 2)])
    assert completed(await block.merge(with_=with_).commit().run(0)) == "a=1+b=2"


async def test_of_one_output_that_is_the_value_and_the_function_is_not_asked() -> None:
    act = Actor()
    block = flow().parallel([act.gives("a", 1), act.gives("b", 2, waits=1)], join="any")
    assert completed(await block.merge(with_=joined).commit().run(0)) == 1


@pytest.mark.parametrize("value", [0, "", False, {}, [], None])
async def test_a_falsy_output_is_a_value(value: Any) -> None:
    def give(ctx: StepContext[Any]) -> Any:
        return value

    assert completed(await flow().parallel([create_step(give)]).merge().commit().run("x")) == value


async def test_of_no_arm_the_blocks_input_goes_on() -> None:
    block = flow().branch([(lambda ctx: False, Actor().gives("a"))])
    assert completed(await block.merge(with_=joined).commit().run("x")) == "x"


@pytest.mark.parametrize("waits", [False, True])
async def test_a_function_that_raises_fails_the_run_naming_the_merge(waits: bool) -> None:
    def now(outputs: Mapping[str, Any]) -> Any:
        raise OSError("broken")

    async def wait(outputs: Mapping[str, Any]) -> Any:
        await turns(1)
        now(outputs)

    act = Actor()
    block = flow().parallel([act.gives("a"), act.gives("b")]).merge(with_=wait if waits else now)
    error = failed(await block.commit().run(0))
    assert isinstance(error, StepFailed)
    assert error.step_id == "merge"


async def test_a_collected_failure_is_nothing_to_go_on_with_unless_a_function_says_so() -> None:
    act = Actor()
    block = flow().parallel([act.fails("a")], on_error="collect")
    assert "nothing to join of 'a', which failed" in str(failed(await block.merge().commit().run(0)))
    block = flow().parallel([act.fails("a"), act.gives("b", 2)], on_error="collect")
    assert completed(await block.merge(with_=lambda outputs: outputs["b"]).commit().run(0)) == 2
