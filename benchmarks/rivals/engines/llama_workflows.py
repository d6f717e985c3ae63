"""LlamaIndex Workflows: steps that take an event and give another, wired by the types they are annotated with."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from benchmarks.hand import AT_ONCE, INPUT, Run, item
from benchmarks.rivals.adapter import Adapter, Built, foreign

__all__ = ["ADAPTER"]


def _event(name: str) -> Any:
    return type(name, (foreign("workflows.events").Event,), {"__annotations__": {"value": int}, "__module__": __name__})


def _add(kind: Any, name: str, function: Any, takes: Any, gives: Any, **options: Any) -> None:
    """Make a step of a function; its types are what wires it."""
    function.__name__ = function.__qualname__ = name
    function.__annotations__ = {"event": takes, "return": gives}
    foreign("workflows").step(workflow=kind, **options)(function)


def _chain(length: int) -> Built:
    lib, events = foreign("workflows"), foreign("workflows.events")

    def function(gives: Any) -> Any:
        async def increment(event: Any) -> Any:
            if gives is events.StopEvent:
                return gives(result=event.value + 1)
            return gives(value=event.value + 1)

        return increment

    between = [_event(f"Value{number}") for number in range(1, length)]
    wired = [events.StartEvent, *between, events.StopEvent]

    def make() -> Any:
        kind = type("Chain", (lib.Workflow,), {})
        for number, (takes, gives) in enumerate(pairwise(wired)):
            _add(kind, f"step_{number}", function(gives), takes, gives)
        return kind(timeout=None)

    async def drive(workflow: Any) -> int:
        return int(await workflow.run(value=0))

    return Built(make, drive)


def _spread(function: Any, values: Sequence[int], at_once: int) -> Run:
    """One step that sends an event for each value, one that works on them, one that waits for them all."""
    lib, events = foreign("workflows"), foreign("workflows.events")
    given, done = _event("Given"), _event("Done")
    kind = type("Spread", (lib.Workflow,), {})

    async def spread(event: Any) -> Any:
        return [given(value=value) for value in event.numbers]

    async def work(event: Any) -> Any:
        return done(value=await function(event.value))

    async def join(event: Any) -> Any:
        return events.StopEvent(result=sum(one.value for one in event))

    _add(kind, "spread", spread, events.StartEvent, foreign("builtins").list[given])
    _add(kind, "work", work, given, done, num_workers=at_once)
    _add(kind, "join", join, foreign("builtins").list[done], events.StopEvent)
    workflow = kind(timeout=None)

    async def run() -> int:
        return int(await workflow.run(numbers=list(values)))

    return run


def _fan_out(width: int, sleep: float) -> Run:
    async def branch(number: int) -> int:
        if sleep:
            await asyncio.sleep(sleep)
        return INPUT + number

    return _spread(branch, range(width), width)


def _map(length: int) -> Run:
    async def one(value: int) -> int:
        return item(value)

    return _spread(one, range(length), AT_ONCE)


ADAPTER = Adapter(
    chain=_chain,
    fan_out=_fan_out,
    map=_map,
    cannot={"dag": "a step is woken by types of events, so 1,000 nodes would need as many types, and joins by hand"},
    notes={
        "fan-out": "one step given as many events, with as many workers",
        "map": "`num_workers=32`",
        "": "no time-out",
    },
    distributions=("llama-index-workflows",),
)
