"""The drawing of a run ends where the run did: what stands behind a block in a point is drawn as not reached."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from interlock import Agent, AgentResult, Processor
from interlock.processors import InputContext, OutputStepContext
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Everywhere, flow

pytestmark = pytest.mark.anyio


class Stops(Processor):
    """Stops the run at once."""

    id = "stops"

    def process_input(self, ctx: InputContext) -> None:
        ctx.abort("no")


class Rejects(Processor):
    """Rejects so many answers."""

    id = "rejects"

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    def process_output_step(self, ctx: OutputStepContext) -> None:
        if ctx.retry_count < self.times:
            ctx.abort("no", retry=True)


async def ended(agent: Agent) -> AgentResult:
    async with agent.stream("hi") as stream:
        return await stream.result()


def picked(branch: Any) -> Any:
    """A workflow that goes on with what the one arm of a branch gave."""

    def only(ctx: Any) -> Any:
        return next(iter(ctx.input.values()))

    return branch.map(only).commit()


def nodes(drawn: Any) -> Iterator[dict[str, Any]]:
    """The nodes of a plan, nested ones included."""
    for node in drawn:
        yield node
        yield from nodes(node.get("nodes", []))
        for arm in node.get("arms", []):
            yield from nodes(arm["nodes"])


def point(agent: Agent, result: AgentResult, phase: str) -> tuple[dict[str, str | None], dict[tuple[str, str], bool]]:
    """The status of each node of a point by its path, and which edges were taken."""
    [plan] = [one["plan"] for one in agent.to_json(run=result)["sections"] if one["id"] == phase]
    statuses = {node["path"]: node["run"]["status"] if node.get("run") else None for node in nodes(plan["nodes"])}
    return statuses, {(edge[0], edge[1]): edge[2]["taken"] for edge in plan["edges"]}


async def test_what_stands_behind_a_block_in_a_point_is_not_run() -> None:
    behind = flow("behind").then(Everywhere("last")).map(lambda ctx: ctx.input).commit()
    guards = flow("guards").parallel([Everywhere("idle"), Stops()]).merge().then(behind).commit()
    agent = Agent(id="a", model="embedded/echo", input_processors=[guards])
    result = await ended(agent)
    statuses, taken = point(agent, result, "input")
    assert statuses["guards/processor:stops"] == "tripwire"
    assert [statuses[f"guards/{name}"] for name in ("merge", "behind", "behind/map")] == ["not-run"] * 3
    assert not any(went for (source, _), went in taken.items() if "stops" in source or "merge" in source)
    text = agent.to_text(run=result)
    assert text[text.index(" merge ") :].split("\n")[1].count("not run") == 1


async def test_the_ways_behind_a_block_are_faint() -> None:
    def solid(svg: str) -> int:
        return sum(line.count("M") for line in svg.splitlines() if line.startswith('<path class="wire"'))

    def picture(*guards: Processor) -> Agent:
        graph = flow("guards").parallel([*guards]).merge().commit()
        return Agent(id="a", model="embedded/echo", input_processors=[graph])

    stopped, went = picture(Everywhere("idle"), Stops()), picture(Everywhere("idle"), Everywhere("other"))
    svgs = [agent.to_svg(run=await ended(agent)) for agent in (stopped, went)]
    assert solid(svgs[0]) < solid(svgs[1])


@pytest.mark.parametrize(("times", "status"), [(1, None), (2, "not-run")])
async def test_a_point_that_was_come_through_in_another_attempt_has_been_come_through(
    times: int, status: str | None
) -> None:
    guards = flow("guards").then(Rejects(times)).map(lambda ctx: ctx.input).commit()
    agent = Agent(id="a", model=ScriptedModel(["a", "b"]), output_processors=[guards], max_processor_retries=1)
    result = await ended(agent)
    statuses, taken = point(agent, result, "output_step")
    assert statuses["guards/map"] == status
    assert taken == {("guards/processor:rejects", "guards/map"): status is None}


async def test_a_map_that_fails_is_marked_and_what_stands_behind_it_is_not_run() -> None:
    def fails(_: object) -> Any:
        raise ValueError("no")

    guards = flow("guards").then(Everywhere("first")).map(fails).map(lambda ctx: ctx.input).commit()
    agent = Agent(id="a", model="embedded/echo", input_processors=[guards])
    result = await ended(agent)
    statuses, taken = point(agent, result, "input")
    assert [statuses[f"guards/{name}"] for name in ("processor:first", "map", "map-2")] == [
        "success",
        "failed",
        "not-run",
    ]
    assert list(taken.values()) == [True, False]


async def test_a_guard_that_fails_has_not_gone_on() -> None:
    class Crashes(Processor):
        id = "crashes"

        def process_input(self, ctx: InputContext) -> None:
            raise ValueError("no")

    guards = flow("guards").then(Crashes()).map(lambda ctx: ctx.input).commit()
    agent = Agent(id="a", model="embedded/echo", input_processors=[guards])
    statuses, taken = point(agent, await ended(agent), "input")
    assert statuses == {"guards": None, "guards/processor:crashes": "failed", "guards/map": "not-run"}
    assert not any(taken.values())


async def test_what_stands_behind_a_branch_is_not_run_where_an_arm_of_it_blocked() -> None:
    async def drawn(*, stops: bool) -> str | None:
        def unsafe(_: object) -> bool:
            return stops

        guards = picked(flow("guards").branch([(unsafe, Stops())], otherwise=Everywhere("other")))
        agent = Agent(id="a", model="embedded/echo", input_processors=[guards, Stops(id="halts")])
        statuses, _ = point(agent, await ended(agent), "input")
        return statuses["guards/map"]

    assert await drawn(stops=True) == "not-run"
    assert await drawn(stops=False) is None


async def test_an_attempt_that_took_another_arm_has_come_through() -> None:
    def first(ctx: Any) -> bool:
        return not ctx.input.retry_count

    guards = picked(flow("guards").branch([(first, Rejects(1))], otherwise=Everywhere("other")))
    agent = Agent(id="a", model=ScriptedModel(["a", "b"]), output_processors=[guards], max_processor_retries=1)
    result = await ended(agent)
    assert result.status == "success"
    statuses, taken = point(agent, result, "output_step")
    assert statuses["guards/map"] is None
    assert all(taken.values())
