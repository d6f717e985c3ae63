"""Hamilton: functions named after what they give, in a module of source text, run by its asynchronous driver."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from benchmarks.hand import INPUT, Run
from benchmarks.layered import sinks
from benchmarks.rivals.adapter import Adapter, Built, foreign
from benchmarks.rivals.workloads import graph

__all__ = ["ADAPTER"]


def _module(name: str, source: str) -> ModuleType:
    """The functions of a text, as if they stood in a file."""
    module = ModuleType(name)
    sys.modules[name] = module
    exec(compile(source, name, "exec"), module.__dict__)
    return module


def _driver(module: ModuleType) -> Any:
    driver, base = foreign("hamilton.async_driver"), foreign("hamilton.base")
    return driver.AsyncDriver({}, module, result_builder=base.DictResult())


def _chain(length: int) -> Built:
    lines = ["async def step_0(given: int) -> int:\n    return given + 1"]
    for number in range(1, length):
        lines.append(f"async def step_{number}(step_{number - 1}: int) -> int:\n    return step_{number - 1} + 1")
    module = _module(f"chain_of_{length}", "\n".join(lines))
    last = f"step_{length - 1}"

    async def drive(driver: Any) -> int:
        return int((await driver.execute([last], inputs={"given": 0}))[last])

    return Built(lambda: _driver(module), drive)


def _fan_out(width: int, sleep: float) -> Run:
    pause = f"    await asyncio.sleep({sleep})\n" if sleep else ""
    lines = ["import asyncio"]
    lines += [f"async def branch_{n}(given: int) -> int:\n{pause}    return given + {n}" for n in range(width)]
    names = [f"branch_{number}" for number in range(width)]
    typed = ", ".join(f"{name}: int" for name in names)
    lines.append(f"def join({typed}) -> int:\n    return sum(({', '.join(names)},))")
    driver = _driver(_module(f"fan_out_of_{width}", "\n".join(lines)))

    async def run() -> int:
        return int((await driver.execute(["join"], inputs={"given": INPUT}))["join"])

    return run


def _dag(nodes: int) -> Run:
    needs = graph(nodes)
    lines = ["from benchmarks.layered import value_of"]
    for node in needs:
        names = [f"node_{need}" for need in needs[node]] or ["given"]
        typed = ", ".join(f"{name}: int" for name in names)
        lines.append(f"async def node_{node}({typed}) -> int:\n    return value_of({node}, ({', '.join(names)},))")
    driver = _driver(_module(f"graph_of_{nodes}", "\n".join(lines)))
    last = [f"node_{node}" for node in sinks(needs)]

    async def run() -> int:
        return sum((await driver.execute(last, inputs={"given": INPUT})).values())

    return run


ADAPTER = Adapter(
    chain=_chain,
    fan_out=_fan_out,
    dag=_dag,
    cannot={"map": "the asynchronous driver has no `Parallelizable` nodes"},
    notes={"build": "the module of functions is there already; the driver is built over it"},
    distributions=("sf-hamilton",),
)
