"""Workflows made at random, of every combinator, whose outcome does not depend on what is quicker than what.

Whole numbers flow. A :class:`World` notes which turn of which step was called, and is asked by steps that are not
always of the same mind.
"""

from __future__ import annotations

import operator
import re
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, cast

import anyio.lowlevel
from hypothesis import strategies as st
from pydantic import BaseModel

from interlock import StepContext, Workflow, create_step, create_workflow
from interlock.steps import RetryPolicy
from interlock.workflows.outcome import Completed, Failed, Outcome, StepError, Suspended, Suspension

__all__ = ["Graph", "State", "World", "answer_to", "built", "first_waiting", "graphs", "key_of", "told"]

Key = tuple[str, tuple[int, ...]]
_Function = Callable[[StepContext[Any]], Any]


class State(BaseModel):
    """The state of every such workflow. Its keys add up, so that the order does not show."""

    n: Annotated[int, operator.add] = 0
    seen: Annotated[list[str], operator.add] = []


@dataclass
class World:
    """What the steps of a workflow have to do with besides their input.

    Attributes:
        calls: How often each turn of a step was called.
        tempers: The turns that have had their bad moment.
        dice: What is random: gives a number for a turn.
    """

    calls: Counter[Key] = field(default_factory=Counter[Key])
    tempers: set[Key] = field(default_factory=set[Key])
    dice: Callable[[Key], int] = lambda key: 0


@dataclass(frozen=True)
class Node:
    """One node of a chain.

    Attributes:
        kind: ``"plain"``, ``"ask"``, …, ``"parallel"``, ….
        waits: Whether it gives way to others before it does anything.
        arms: The chains inside.
        options: What else there is to say.
    """

    kind: str
    waits: bool = False
    arms: tuple[tuple[Node, ...], ...] = ()
    options: tuple[tuple[str, Any], ...] = ()

    def __getitem__(self, name: str) -> Any:
        return dict(self.options)[name]


@dataclass(frozen=True)
class Graph:
    """A whole workflow.

    Attributes:
        chain: Its nodes.
    """

    chain: tuple[Node, ...]

    def kinds(self) -> Counter[str]:
        """How many nodes of each kind it has, at any depth."""
        found: Counter[str] = Counter()

        def count(chain: Sequence[Node]) -> None:
            for node in chain:
                found[node.kind] += 1
                for arm in node.arms:
                    count(arm)

        count(self.chain)
        return found


_ITERATION = re.compile(r"\biteration [0-9]+")
_LEAVES = ("plain", "plain", "state", "ask", "flaky", "write", "map", "sleep")
_ENDERS = ("fail", "bail", "abort")


@st.composite
def graphs(
    draw: st.DrawFn, *, leaves: Sequence[str] = _LEAVES, enders: Sequence[str] = _ENDERS, depth: int = 2
) -> Graph:
    """Graphs with at most one step that ends the run before its time.

    Args:
        draw: Hypothesis's.
        leaves: The kinds of steps there are.
        enders: The kinds of steps of which there is at most one.
        depth: How deep blocks are nested.
    """
    left = [draw(st.sampled_from([*enders, None]))] if enders else [None]

    def leaf(picky: bool) -> Node:
        kind = draw(st.sampled_from(leaves))
        if left[0] is not None and not (picky and left[0] != "fail") and draw(st.integers(0, 5)) == 0:
            kind, left[0] = left[0], None
        if picky and kind in ("state", "map"):
            kind = "plain"
        return Node(kind, draw(st.booleans()), options=(("tries", draw(st.integers(1, 3))),))

    def chain(depth: int, most: int, picky: bool) -> tuple[Node, ...]:
        return tuple(node(depth, picky) for _ in range(draw(st.integers(1, most))))

    def arms(depth: int, picky: bool, most: int = 3) -> tuple[tuple[Node, ...], ...]:
        return tuple(chain(depth, 2, picky) for _ in range(draw(st.integers(1, most))))

    def node(depth: int, picky: bool) -> Node:
        kinds = ["leaf", "leaf"]
        if depth:
            kinds += ["parallel", "branch", "foreach", "loop", "dag", "nested"]
        kind = draw(st.sampled_from(kinds))
        waits = draw(st.booleans())
        options: dict[str, Any] = {}
        match kind:
            case "leaf":
                return leaf(picky)
            case "parallel":
                count = draw(st.integers(1, 3))
                join: Any = draw(st.sampled_from(["all", "all", *range(1, count + 1)]))
                some: bool = join != "all" and join < count
                inside = tuple(chain(depth - 1, 2, picky or some) for _ in range(count))
                options = {
                    "join": join,
                    "on_error": draw(st.sampled_from(["fail_fast", "wait_all", "collect"]))
                    if not some
                    else "fail_fast",
                    "concurrency": draw(st.sampled_from([None, None, 1, 2])),
                }
            case "branch":
                inside = arms(depth - 1, picky)
                options = {
                    "mode": draw(st.sampled_from(["first", "all"])),
                    "holds": tuple(draw(st.booleans()) for _ in inside),
                    "otherwise": draw(st.booleans()),
                }
            case "foreach":
                inside = (chain(depth - 1, 2, picky),)
                options = {
                    "size": draw(st.integers(0, 3)),
                    "concurrency": draw(st.integers(1, 3)),
                    "on_error": draw(st.sampled_from(["fail_fast", "wait_all", "collect"])),
                }
            case "loop":
                inside = (chain(depth - 1, 2, picky),)
                options = {"times": draw(st.integers(1, 3)), "until": draw(st.booleans())}
            case "dag":
                inside = arms(depth - 1, picky, 4)
                options = {
                    "needs": tuple(
                        tuple(need for need in range(number) if draw(st.booleans())) for number in range(len(inside))
                    )
                }
            case _:
                inside = (chain(depth - 1, 3, picky),)
                options = {"tries": draw(st.sampled_from([1, 1, 2]))}
                if options["tries"] == 2 and not picky and draw(st.booleans()):  # a reason to try it again
                    inside = ((*inside[0], Node("moody", draw(st.booleans()), options=(("tries", 1),))),)
        return Node(kind, waits, inside, tuple(options.items()))

    return Graph(tuple(node(depth, False) for _ in range(draw(st.integers(1, 4)))))


def built(graph: Graph, world: World, *, id: str = "whole") -> Workflow[Any, Any]:  # noqa: A002
    """The workflow."""
    workflow: Workflow[Any, Any] = _Building(world).workflow(id, graph.chain, state_schema=State)
    return workflow


def key_of(ctx: StepContext[Any]) -> Key:
    """Which turn of which step this is."""
    return ctx.op.path, ctx.at


def answer_to(suspension: Suspension) -> int:
    """What a suspension is answered with, the same whenever it is."""
    return zlib.crc32(f"{suspension.path}{suspension.index}".encode()) % 50


def first_waiting(outcome: Suspended) -> Suspension:
    """The suspension that is answered first."""
    return min(outcome.suspensions, key=lambda one: (one.path, one.index or 0, one.token))


def told(outcome: Outcome[Any], *, with_state: bool = True) -> tuple[object, ...]:
    """What is to be the same, however often the run was broken off.

    Args:
        outcome: How it ended.
        with_state: Whether the state is sure, and which of the iterations that are at once fails first.
    """
    what: object = None
    match outcome:
        case Completed(output=output):
            what = output
        case Failed(error=error):
            what = str(error) if with_state else _ITERATION.sub("", str(error))
        case Suspended(suspensions=suspensions):
            what = sorted((one.path, one.index or 0, one.label, str(one.payload)) for one in suspensions)
        case _:
            what = getattr(outcome, "tripwire", None)
    state = outcome.state
    seen = (state.n, sorted(state.seen)) if isinstance(state, State) else state
    return outcome.status, what, seen if with_state else None


class _Building:
    def __init__(self, world: World) -> None:
        self._world = world
        self._count = 0

    def workflow(self, id: str, chain: Sequence[Node], *, total_first: bool = False, **options: Any) -> Any:  # noqa: A002
        builder: Any = create_workflow(id=id, **options)
        if total_first:
            builder = builder.map(_total)
        for node in chain:
            builder = self._with(builder, node)
        return builder.commit()

    def _id(self, kind: str) -> str:
        self._count += 1
        return f"{kind}{self._count}"

    def _arm(self, chain: Sequence[Node], *, total_first: bool = False) -> Any:
        first = chain[0]
        if len(chain) == 1 and not first.arms and first.kind not in ("map", "sleep") and not total_first:
            return self._step(first)
        return self.workflow(self._id("w"), chain, total_first=total_first)

    def _with(self, builder: Any, node: Node) -> Any:
        match node.kind:
            case "map":
                return builder.map(_given(lambda ctx: ctx.input + 1, node.waits))
            case "sleep":
                return builder.sleep(0.0)
            case "parallel":
                arms = [self._arm(arm) for arm in node.arms]
                made = builder.parallel(
                    arms, join=node["join"], on_error=node["on_error"], concurrency=node["concurrency"]
                )
                if node["join"] == "all":
                    return made.map(_total)
                return made.map(_count)
            case "branch":
                pairs = [
                    (_given(_says(holds), node.waits), self._arm(arm))
                    for arm, holds in zip(node.arms, node["holds"], strict=True)
                ]
                otherwise: Any = create_step(_says(3), id=self._id("otherwise")) if node["otherwise"] else None
                return builder.branch(pairs, otherwise=otherwise, mode=node["mode"]).map(_total)
            case "foreach":
                size = node["size"]
                return (
                    builder.map(_numbers(size))
                    .foreach(self._arm(node.arms[0]), concurrency=node["concurrency"], on_error=node["on_error"])
                    .map(_total)
                )
            case "loop":
                body, times, until = self._arm(node.arms[0]), node["times"], node["until"]
                condition = _given(lambda ctx: (ctx.iteration < times) is not until, node.waits)
                return builder.do_until(body, condition) if until else builder.do_while(body, condition)
            case "dag":
                steps = [self._arm(arm, total_first=True) for arm in node.arms]
                needs = node["needs"]
                return builder.dag(
                    {step: [steps[need] for need in needs[number]] for number, step in enumerate(steps)}
                ).map(_total)
            case "nested":
                inner = self.workflow(self._id("w"), node.arms[0])
                tries = node["tries"]
                return builder.then(inner if tries == 1 else create_step(inner, retry=RetryPolicy(attempts=tries)))
            case _:
                return builder.then(self._step(node))

    def _step(self, node: Node) -> Any:
        world, tries = self._world, node["tries"]
        kind = node.kind

        def act(ctx: StepContext[Any]) -> object:
            value: int = ctx.input
            match kind:
                case "ask":
                    if ctx.resume_data is None:
                        ctx.suspend({"seen": value}, label="ask")
                    return (value + ctx.resume_data) % 1000
                case "state":
                    ctx.set_state(n=1, seen=[ctx.step_id])
                case "flaky":
                    if ctx.attempt < tries:
                        raise ValueError(f"not at attempt {ctx.attempt}")
                case "moody":
                    key = key_of(ctx)
                    if key not in world.tempers:
                        world.tempers.add(key)
                        raise ValueError("in a bad mood")
                case "write":
                    ctx.write("note", [value])
                case "random":
                    return (value + world.dice(key_of(ctx))) % 1000
                case "fail":
                    raise ValueError("no luck")
                case "bail":
                    ctx.bail(777)
                case "abort":
                    ctx.abort("not allowed")
                case _:
                    pass
            return (value * 3 + 1) % 1000

        def counted(ctx: StepContext[Any]) -> object:
            world.calls[key_of(ctx)] += 1
            return act(ctx)

        async def waiting(ctx: StepContext[Any]) -> object:
            world.calls[key_of(ctx)] += 1
            await anyio.lowlevel.checkpoint()
            return act(ctx)

        retry = RetryPolicy(attempts=tries) if kind in ("flaky", "fail") else None
        return create_step(waiting if node.waits else counted, id=self._id(kind), retry=retry)


def _says(value: object) -> _Function:
    """A function that gives this."""
    return lambda ctx: value


def _numbers(size: int) -> _Function:
    """A function that gives so many numbers, from the one that flows on."""
    return lambda ctx: [ctx.input + number for number in range(size)]


def _count(ctx: StepContext[Any]) -> int:
    """How many there are of what flows."""
    return len(ctx.input)


def _given(function: _Function, waits: bool) -> _Function:
    """The function, or one that gives way first."""
    if not waits:
        return function

    async def waiting(ctx: StepContext[Any]) -> Any:
        await anyio.lowlevel.checkpoint()
        return function(ctx)

    return waiting


def _total(ctx: StepContext[Any]) -> int:
    """One number of what flows, whatever that is."""
    value: object = ctx.input
    if isinstance(value, Mapping):
        items: list[object] = list(cast("Mapping[str, object]", value).values())
    else:
        items = list(cast("list[object]", value)) if isinstance(value, list) else [value]
    return sum(7 if isinstance(item, StepError) else cast("int", item) for item in items) % 1000
