"""Rivals do the same work as Interlock, and what one of them cannot do is never left out in silence."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import pytest

from benchmarks import hand
from benchmarks.layered import layered
from benchmarks.rivals import install, workloads
from benchmarks.rivals.adapter import Adapter, Built, Unsupported
from benchmarks.rivals.engines import ENGINES
from benchmarks.rivals.fresh import measure_fresh, result_of_command
from benchmarks.rivals.one import result_of
from benchmarks.rivals.places import HERE
from benchmarks.rivals.workloads import WORKLOADS, Workload, workload

SMALL = {"chain": 10, "fan-out": 6, "sleep": 4, "map": 50, "dag": 100, "sequence": 5, "parallel": 5, "build": 10}
KINDS = {"chain": "chain", "sequence": "chain", "build": "chain", "map": "map", "dag": "dag"}


def test_every_engine_does_each_workload_or_says_why_not() -> None:
    for key, engine in ENGINES.items():
        adapter = engine.adapter()
        for work in WORKLOADS:
            written = engine.on_node or getattr(adapter, KINDS.get(work.key, "fan_out")) is not None
            assert written or adapter.cannot.get(work.key), f"{key} has nothing for {work.key}"
        assert set(adapter.cannot) <= {work.key for work in WORKLOADS}
        assert set(adapter.notes) <= {"", *(work.key for work in WORKLOADS)}


@pytest.mark.parametrize("work", [work for work in WORKLOADS if work.hand], ids=lambda work: work.key)
def test_the_work_by_hand_gives_the_right_answer(work: Workload) -> None:
    assert work.hand is not None

    async def answer() -> int:
        assert work.hand is not None
        return await work.hand(SMALL[work.key])()

    assert asyncio.run(answer()) == work.answer(SMALL[work.key])


@pytest.mark.parametrize("engine", ["interlock", "anyio"])
@pytest.mark.parametrize("work", WORKLOADS, ids=lambda work: work.key)
def test_an_engine_that_is_here_is_measured_on_each_workload(engine: str, work: Workload) -> None:
    adapter = ENGINES[engine].adapter()
    if work.key in adapter.cannot:
        return
    result = result_of(adapter, work, SMALL[work.key], 0.0)
    assert result["status"] == "measured", result
    assert cast("float", result["us"]) > 0
    assert ("ratio" in result) is (work.hand is not None)


def _chain_that_gives(give: Callable[[int], Awaitable[int]]) -> Adapter:
    return Adapter(chain=lambda length: Built(lambda: length, give))


async def _one_too_many(length: int) -> int:
    return length + 1


async def _breaks(length: int) -> int:
    raise OverflowError("it is too long")


async def _has_no_such_thing(length: int) -> int:
    raise Unsupported("it only goes in circles")


async def _is_not_installed(length: int) -> int:
    raise ModuleNotFoundError("No module named 'rival'")


@pytest.mark.parametrize(
    ("give", "status", "why"),
    [
        (_one_too_many, "wrong", "it gave 11 and not 10"),
        (_breaks, "failed", "OverflowError: it is too long"),
        (_has_no_such_thing, "unsupported", "it only goes in circles"),
        (_is_not_installed, "missing", "it is not installed here: No module named 'rival'"),
    ],
)
def test_what_is_not_measured_is_told_with_its_reason(
    give: Callable[[int], Awaitable[int]], status: str, why: str
) -> None:
    assert result_of(_chain_that_gives(give), workload("chain"), 10, 0.0) == {"status": status, "why": why}


async def _waits(length: int) -> int:
    await asyncio.sleep(0.02)
    return length


def test_processor_time_counts_unless_the_steps_wait() -> None:
    result = result_of(_chain_that_gives(_waits), workload("chain"), 10, 0.0)
    assert 0 < cast("float", result["us"]) * 10 < 20_000
    assert cast("float", result_of(ENGINES["anyio"].adapter(), workload("sleep"), 4, 0.0)["us"]) >= 10_000


def test_what_is_built_must_work_as_well() -> None:
    result = result_of(_chain_that_gives(_one_too_many), workload("build"), 10, 0.0)
    assert (result["status"], result["why"]) == ("wrong", "it gave 101 and not 100")


def test_what_an_engine_cannot_do_is_told_without_starting_it() -> None:
    assert measure_fresh("mastra", "dag", 10, 0.0)["status"] == "unsupported"


def _python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_the_last_line_that_a_case_prints_is_its_result(tmp_path: Path) -> None:
    code = 'print("a rival greets"); print(\'{"status": "measured", "us": 1.5}\')'
    assert result_of_command(_python(code), tmp_path) == {"status": "measured", "us": 1.5}


def test_a_case_that_does_not_end_is_ended(tmp_path: Path) -> None:
    result = result_of_command(_python("import threading; threading.Event().wait()"), tmp_path, limit=0.5)
    assert result == {"status": "timeout", "why": "there was no result after 0.5 s"}


def test_a_case_that_breaks_is_told_by_its_code_and_its_last_words(tmp_path: Path) -> None:
    result = result_of_command(_python("import sys; sys.exit('no more memory')"), tmp_path)
    assert result == {"status": "failed", "why": "it ended with code 1: no more memory"}


@pytest.mark.parametrize(("nodes", "edges"), [(1_000, 3_000), (100, 300), (40, 41)])
def test_a_layered_graph_has_the_edges_asked_for_and_no_cycle(nodes: int, edges: int) -> None:
    graph = layered(nodes, edges)
    assert list(graph) == list(range(nodes))
    assert sum(len(set(needs)) for needs in graph.values()) == edges
    assert all(need < node for node, needs in graph.items() for need in needs)


def test_every_engine_in_python_is_pinned() -> None:
    pinned = dict(re.findall(r"^([\w-]+)==([\w.]+)$", (HERE / "requirements.txt").read_text("utf-8"), re.MULTILINE))
    engines = [engine for key, engine in ENGINES.items() if key != "interlock" and not engine.on_node]
    assert [engine.title for engine in engines if engine.adapter().distributions[0] not in pinned] == []


def test_the_numbers_in_javascript_are_those_in_python() -> None:
    script = (HERE / "mastra" / "measure.mjs").read_text("utf-8")
    numbers = {name: int(value) for name, value in re.findall(r"^const ([A-Z_]+) = (\d+);", script, re.MULTILINE)}
    assert numbers["INPUT"] == hand.INPUT
    assert numbers["SLEEP"] == hand.SLEEP * 1_000
    assert numbers["AT_ONCE"] == hand.AT_ONCE
    assert numbers["BUILD_CHECK"] == workloads.BUILD_CHECK


def test_without_npm_mastra_is_left_out_and_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(name: str) -> None:
        return None

    monkeypatch.setattr("shutil.which", nowhere)
    assert install.install_mastra() == "there is no npm on this machine"


def test_where_pip_refuses_one_rival_the_others_are_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[list[str]] = []

    def run(command: list[str], *_: Any) -> str | None:
        asked.append(command)
        return "building it\nno wheel for this Python\n" if any(one.startswith("burr") for one in command) else None

    monkeypatch.setattr(install, "_run", run)
    monkeypatch.setattr(install, "install_mastra", lambda: None)
    assert install.main() == 0
    assert re.findall(r"burr==\S+ is left out: no wheel", capsys.readouterr().out)
    assert any(command[-1].startswith("dask==") for command in asked)
