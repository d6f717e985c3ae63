"""Mastra runs on node: ``mastra/measure.mjs`` drives it, and here stands only what is told of it."""

from __future__ import annotations

from benchmarks.rivals.adapter import Adapter

__all__ = ["ADAPTER"]

ADAPTER = Adapter(
    cannot={"dag": "blocks follow one another: no node waits for chosen others"},
    notes={
        "": "JavaScript, as is the work by hand beside it: a loop, `Promise.all`, workers on one counter",
        "build": "its `commit()` checks nothing",
    },
    distributions=("@mastra/core", "ai", "zod", "node"),
)
