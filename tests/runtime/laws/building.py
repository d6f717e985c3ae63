"""Graphs as workflows of the library, and what their outcomes come to."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping
from typing import Any, cast

import anyio.lowlevel

from interlock import Blocked, Canceled, Completed, Failed, StepContext, Workflow, create_step, create_workflow
from interlock.errors import StepFailed
from interlock.steps import RetryPolicy
from interlock.workflows import Outcome, Paused, StepError, Suspended
from tests.runtime.laws.graphs import (
    FALSY,
    Act,
    Branch,
    Dag,
    Each,
    Graph,
    Loop,
    Map,
    Nap,
    Node,
    One,
    Parallel,
    Sub,
)

__all__ = ["Log", "answer_to", "built", "digest", "normal", "result_of", "where"]

Log = list[tuple[str, tuple[int, ...], str]]
"""What steps did: id, iterations, word."""


class Upset(Exception):
    """What steps raise."""


def normal(value: Any) -> Any:
    """A value as plain data that is equal to another's where the values are."""
    if isinstance(value, StepError):
        return ("failed", value.step_id, where(value.error))
    if isinstance(value, Mapping):
        return {key: normal(one) for key, one in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list):
        return [normal(one) for one in cast("list[Any]", value)]
    return value


def digest(*values: Any) -> int:
    """A number that tells values apart."""
    return zlib.crc32(repr([normal(one) for one in values]).encode()) % 1_000_000


def answer_to(payload: Any) -> int:
    """What a step that waits is answered."""
    return digest("answer", payload)


def where(error: BaseException | None) -> str:
    """The path of what failed."""
    if isinstance(error, StepFailed):
        return error.step_id
    found = re.search("'([^']+)'", str(error))
    return found[1] if found else repr(error)


def result_of(outcome: Outcome[Any] | Paused) -> tuple[Any, ...]:
    """What an outcome comes to."""
    match outcome:
        case Completed(output=output):
            return ("value", normal(output))
        case Failed(error=error):
            return ("fail", where(error))
        case Blocked(tripwire=tripwire):
            return ("abort", tripwire.processor_id)
        case Suspended():
            return ("suspended",)
        case Canceled():
            return ("canceled",)
        case _:
            return (type(outcome).__name__,)


Write = Callable[[StepContext[Any], str], object]
"""What a step does first: called with its context and id."""


def built(
    graph: Graph, log: Log | None = None, *, state_schema: Any = None, write: Write | None = None
) -> Workflow[Any, Any]:
    """The workflow."""
    made = _Building(log if log is not None else [], write)
    return made.workflow("whole", graph.nodes, graph.retry, state_schema)


def _retry(attempts: int | None) -> RetryPolicy | None:
    return None if attempts is None else RetryPolicy(attempts=attempts)


class _Building:
    def __init__(self, log: Log, write: Write | None) -> None:
        self._log = log
        self._write = write

    def workflow(self, id_: str, nodes: tuple[Node, ...], retry: int | None, state: Any = None) -> Workflow[Any, Any]:
        given = {} if state is None else {"state_schema": state}
        builder: Any = create_workflow(id=id_, retry=_retry(retry), **given)
        for node in nodes:
            builder = self._with(builder, node)
        return cast("Workflow[Any, Any]", builder.commit())

    def _with(self, builder: Any, node: Node) -> Any:
        match node:
            case Act() | Sub():
                return builder.then(self._one(node))
            case Parallel():
                builder = builder.parallel(
                    [self._one(arm) for arm in node.arms],
                    join="all" if node.join is None else node.join,
                    on_error=node.on_error,
                    concurrency=node.concurrency,
                )
                return self._merged(builder, node.merged)
            case Branch():
                pairs = [
                    (_condition(say, waits), [self._one(one) for one in arm])
                    for (say, waits), arm in zip(node.conditions, node.arms, strict=True)
                ]
                rest = None if node.otherwise is None else [self._one(one) for one in node.otherwise]
                return self._merged(builder.branch(pairs, otherwise=rest, mode=node.mode), node.merged)
            case Map():
                return builder.map(_map(node))
            case Each():
                return builder.map(_items(node.count)).foreach(
                    self._one(node.body), concurrency=_width(node), on_error=node.on_error
                )
            case Loop():
                method = builder.do_until if node.until else builder.do_while
                return method(self._one(node.body), _again(node), max_iterations=node.most)
            case Dag():
                made = [self._one(one) for one, _ in node.items]
                return builder.dag(
                    {one: [made[need] for need in needs] for one, (_, needs) in zip(made, node.items, strict=True)}
                )
            case Nap():
                return builder.sleep_until(0) if node.time == "until" else builder.sleep(_nap(node))

    def _merged(self, builder: Any, merged: bool) -> Any:
        return builder.merge(with_=_joined) if merged else builder

    def _one(self, one: One) -> Any:
        if isinstance(one, Sub):
            return create_step(self.workflow(one.id, one.nodes, one.retry), retry=_retry(one.attempts))
        return create_step(self._function(one), id=one.id, retry=_retry(one.attempts), blocking=one.kind == "thread")

    def _function(self, act: Act) -> Any:
        log, write = self._log, self._write

        def now(ctx: StepContext[Any]) -> Any:
            log.append((act.id, cast("Any", ctx).at, "began"))
            if write is not None:
                write(ctx, act.id)
            if ctx.attempt <= act.flaky:
                raise Upset(f"attempt {ctx.attempt}")
            match act.does:
                case "fail":
                    raise Upset("for good")
                case "falsy":
                    return FALSY[act.falsy]
                case "suspend" if ctx.resume_data is not None:
                    return digest(act.id, ctx.input, ctx.resume_data)
                case "give":
                    return digest(act.id, ctx.input)
                case _:
                    pass
            try:
                if act.does == "abort":
                    ctx.abort()
                if act.does == "bail":
                    ctx.bail(digest("bail", act.id, ctx.input))
                ctx.suspend(digest(act.id, ctx.input))
            except BaseException:
                if not act.swallows:
                    raise
            return "swallowed"

        async def later(ctx: StepContext[Any]) -> Any:
            log.append((act.id, cast("Any", ctx).at, "waits"))
            try:
                for _ in range(act.waits):
                    await anyio.lowlevel.checkpoint()
            except BaseException:
                log.append((act.id, cast("Any", ctx).at, "cancelled"))
                raise
            return now(ctx)

        return later if act.kind == "async" else now


def _joined(outputs: Mapping[str, Any]) -> int:
    return digest("merge", outputs)


def _condition(say: str, waits: bool) -> Any:
    def now(ctx: StepContext[Any]) -> bool:
        if say == "fail":
            raise Upset("condition")
        if say == "bail":
            ctx.bail(digest("bail", ctx.input))
        if say == "abort":
            ctx.abort()
        return say == "yes"

    async def later(ctx: StepContext[Any]) -> bool:
        await anyio.lowlevel.checkpoint()
        return now(ctx)

    return later if waits else now


def _map(node: Map) -> Any:
    def now(ctx: StepContext[Any]) -> Any:
        if node.fails:
            raise Upset("map")
        return digest("map", ctx.input)

    async def later(ctx: StepContext[Any]) -> Any:
        await anyio.lowlevel.checkpoint()
        return now(ctx)

    return later if node.waits else now


def _items(count: int) -> Any:
    def items(ctx: StepContext[Any]) -> Any:
        return "abc" if count < 0 else [digest(ctx.input, number) for number in range(count)]

    return items


def _width(node: Each) -> Any:
    if not node.asked:
        return node.concurrency

    async def width(ctx: StepContext[Any]) -> int:
        await anyio.lowlevel.checkpoint()
        return node.concurrency

    return width


def _again(node: Loop) -> Any:
    def now(ctx: StepContext[Any]) -> bool:
        if ctx.iteration >= node.times and node.fails:
            raise Upset("condition")
        return (ctx.iteration < node.times) is not node.until

    async def later(ctx: StepContext[Any]) -> bool:
        await anyio.lowlevel.checkpoint()
        return now(ctx)

    return later if node.waits else now


def _nap(node: Nap) -> Any:
    def now(ctx: StepContext[Any]) -> float:
        if node.time == "fail":
            raise Upset("nap")
        return 0

    async def later(ctx: StepContext[Any]) -> float:
        await anyio.lowlevel.checkpoint()
        return 0

    return {"number": 0, "def": now, "fail": now, "async": later}[node.time]
