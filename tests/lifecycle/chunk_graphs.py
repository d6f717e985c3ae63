"""Random graphs of processors at the per-chunk point: what they do by the rules, and the workflows that do it.

The reference runs a graph on one text by recursion: no plan, no tasks, nothing made beforehand, nothing shared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import anyio.lowlevel
from hypothesis import strategies as st

from interlock import Phase, Processor, StepContext, Workflow
from interlock.messages import Chunk, TextDelta
from interlock.processors import OutputStreamContext
from interlock.steps import FunctionStep
from interlock.workflows.outcome import StepError
from tests.lifecycle.acting import flow, picking

__all__ = ["NODES", "STOPPING", "Fails", "Made", "Node", "reference", "texts_of"]

Rule = Callable[[str], list[str]]
RULES: dict[str, Rule] = {
    "same": lambda text: [text],
    "drop": lambda text: [],
    "drop a": lambda text: [] if text.startswith("a") else [text],
    "shout": lambda text: [text.upper()],
    "star": lambda text: [f"*{text}"],
    "split": lambda text: list(text),
    "twice": lambda text: [text, text],
}
TESTS: dict[str, Callable[[str], bool]] = {
    "all": lambda text: True,
    "none": lambda text: False,
    "begins with a": lambda text: text.startswith("a"),
    "has b": lambda text: "b" in text.lower(),
    "short": lambda text: len(text) < 3,
}
MOST = 5
"""How often a loop goes round at most."""


class Fails(Exception):
    """The graph fails."""


@dataclass(frozen=True)
class Node:
    """A part of a graph.

    Attributes:
        kind: What it is, one of the cases of :func:`reference_of_one`.
        rule: What a leaf does.
        turns: How long it takes, or its function; 0: it is a ``def``.
        below: The parts below.
        pick: Which of them goes on, where one is picked; how it stops.
        tests: Conditions: by name in ``TESTS``.
        needs: For a graph, which parts each needs: earlier ones.
        all: Whether every branch whose condition holds runs, or whether a loop goes on while its condition holds.
        limit: How many branches run at once; 0: all.
    """

    kind: str
    rule: str = "same"
    turns: int = 0
    below: tuple[Node, ...] = ()
    pick: int = 0
    tests: tuple[str, ...] = ()
    needs: tuple[tuple[int, ...], ...] = ()
    all: bool = False
    limit: int = 0


def reference(node: Node, texts: Sequence[str]) -> list[str]:
    """What a graph makes of texts that come one after the other."""
    return [out for text in texts for out in reference_of_one(node, text)]


def reference_of_one(node: Node, text: str) -> list[str]:
    """What a graph makes of one text."""
    below = node.below
    match node.kind:
        case "leaf":
            return RULES[node.rule](text)
        case "fails":
            if TESTS[node.tests[0]](text):
                raise Fails
            return [text]
        case "chain":
            return _chain(below, text)
        case "ends":  # the first part, then a step that may end the workflow, then the others
            return [
                out
                for one in reference_of_one(below[0], text)
                for out in ([f"{one}!"] if TESTS[node.tests[0]](one) else _chain(below[1:], one))
            ]
        case "ends in a block":  # a step beside the first part may end the workflow, and then the others do not run
            if TESTS[node.tests[0]](text):
                return [f"{text}!"]
            return [out for one in reference_of_one(below[0], text) for out in _chain(below[1:], one)]
        case "map":
            return [reference_of_one(one, text) for one in below][node.pick]
        case "merge":
            outs = [reference_of_one(one, text) for one in below]
            return [] if [] in outs else next((out for out in outs if out != [text]), [text])
        case "last":  # all at once; of several the last, by a function
            return [reference_of_one(one, text) for one in below][-1]
        case "first to end":  # as many alike as there are parts, and some that fail
            return reference_of_one(below[0], text)
        case "collect":  # the first that did not fail; where all did, the text
            for one in below:
                try:
                    return reference_of_one(one, text)
                except Fails:
                    continue
            return [text]
        case "branch":
            holds = [reference_of_one(one, text) for one, test in _chosen(node, text) if test]
            return holds[-1] if holds else [text]
        case "loop":
            return _loop(node, text)
        case "graph":
            return _graph(node, text)
        case _:
            raise AssertionError(node.kind)


def may_fail(node: Node) -> bool:
    """Whether something in a graph fails for some text."""
    return node.kind in ("fails", "loop") or any(may_fail(one) for one in node.below)


def _chain(nodes: Sequence[Node], text: str) -> list[str]:
    texts = [text]
    for node in nodes:
        texts = reference(node, texts)
    return texts


def _chosen(node: Node, text: str) -> list[tuple[Node, bool]]:
    """The branches with whether each is taken; the last of them is taken where no other is."""
    taken: list[tuple[Node, bool]] = []
    for one, test in zip(node.below[:-1], node.tests, strict=True):
        seen = any(holds for _, holds in taken)
        taken.append((one, TESTS[test](text) and (node.all or not seen)))
    return [*taken, (node.below[-1], not any(holds for _, holds in taken))]


def _loop(node: Node, text: str, number: int = 1) -> list[str]:
    done: list[str] = []
    for out in reference_of_one(node.below[0], text):
        again = TESTS[node.tests[0]](out) is node.all
        if again and number == MOST:
            raise Fails
        done += _loop(node, out, number + 1) if again else [out]
    return done


def _graph(node: Node, text: str) -> list[str]:
    outs: list[list[str]] = []
    for one, needs in zip(node.below, node.needs, strict=True):
        match len(needs):
            case 0:
                outs.append(reference_of_one(one, text))
            case 1:
                outs.append(reference(one, outs[needs[0]]))
            case _:  # a function that goes on with the last
                outs.append(outs[needs[-1]])
    needed = {need for needs in node.needs for need in needs}
    return next(outs[number] for number in range(len(outs)) if number not in needed)


TURNS = st.integers(0, 2)
LIMIT = st.integers(0, 3)
TEST = st.sampled_from(list(TESTS))
ONE_TEST = st.tuples(TEST)
ALWAYS = st.just(("all",))
STOPS = st.builds(Node, st.just("stops"), tests=ONE_TEST, turns=TURNS, pick=st.integers(0, 2))
LEAF = st.builds(Node, st.just("leaf"), rule=st.sampled_from(list(RULES)), turns=TURNS)
QUIET = st.builds(Node, st.just("leaf"), turns=TURNS)
FAILS = st.builds(Node, st.just("fails"), tests=ONE_TEST, turns=TURNS)
BROKEN = st.builds(Node, st.just("fails"), tests=ALWAYS, turns=TURNS)
Nodes = st.SearchStrategy[Node]


def around(children: Nodes) -> Nodes:
    """Chains, blocks, branches, loops and graphs of such parts."""
    several = st.lists(children, min_size=1, max_size=3).map(tuple)
    mixed = st.lists(children | FAILS, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Node, st.just("chain"), below=several),
        st.builds(Node, st.just("ends"), below=several, tests=ONE_TEST, turns=TURNS),
        st.builds(Node, st.just("ends in a block"), below=several, tests=ONE_TEST, turns=TURNS),
        several.flatmap(_map),
        st.builds(_merge, children, st.lists(QUIET, max_size=2), st.booleans(), LIMIT),
        st.builds(Node, st.just("last"), below=several, turns=TURNS),
        st.builds(_first_to_end, children, st.lists(BROKEN, max_size=2), st.integers(0, 2), LIMIT),
        st.builds(Node, st.just("collect"), below=mixed, limit=LIMIT),
        several.flatmap(lambda below: _branch(below, children)),
        st.builds(Node, st.just("loop"), below=st.tuples(children), tests=ONE_TEST, all=st.booleans(), turns=TURNS),
        st.lists(children, min_size=1, max_size=4).map(tuple).flatmap(_graph_of),
    )


def _map(below: tuple[Node, ...]) -> Nodes:
    pick = st.integers(0, len(below) - 1)
    return st.builds(Node, st.just("map"), below=st.just(below), pick=pick, limit=LIMIT, turns=TURNS)


def _merge(one: Node, others: list[Node], first: bool, limit: int) -> Node:
    return Node("merge", below=(one, *others) if first else (*others, one), limit=limit)


def _first_to_end(one: Node, broken: list[Node], pick: int, limit: int) -> Node:
    return Node("first to end", below=(one, *broken), pick=pick, limit=limit)


def _branch(below: tuple[Node, ...], children: Nodes) -> Nodes:
    tests = st.lists(TEST, min_size=len(below), max_size=len(below)).map(tuple)
    whole = children.map(lambda otherwise: (*below, otherwise))
    return st.builds(Node, st.just("branch"), below=whole, tests=tests, all=st.booleans(), turns=TURNS)


def _graph_of(below: tuple[Node, ...]) -> Nodes:
    needs = [
        st.lists(st.integers(0, number - 1), unique=True, max_size=3).map(tuple) if number else st.just(())
        for number in range(len(below))
    ]
    return st.builds(Node, st.just("graph"), below=st.just(below), needs=st.tuples(*needs))


NODES = st.recursive(LEAF | FAILS, around, max_leaves=6)
"""Graphs."""

STOPPING = st.recursive(LEAF | FAILS | STOPS, around, max_leaves=6)
"""Graphs of which parts may also block, swallow that, or have the run cancelled."""


class OnlyThere(FunctionStep[Any, Any]):
    """A function step that acts at the per-chunk point and at no other."""

    def acts_in(self, phase: Phase) -> bool:
        return phase is Phase.OUTPUT_STREAM


class Look(Processor):
    """Looks at chunks, and nowhere else; counts how often it was asked."""

    def __init__(self, name: str, act: Callable[[OutputStreamContext], object]) -> None:
        super().__init__(id=name)
        self.act = act
        self.calls = 0

    def process_output_stream(self, ctx: OutputStreamContext) -> Any:
        self.calls += 1
        return self.act(ctx)


class PatientLook(Look):
    """The same as a coroutine, which lets others run first."""

    def __init__(self, name: str, act: Callable[[OutputStreamContext], object], turns: int) -> None:
        super().__init__(name, act)
        self.turns = turns

    async def process_output_stream(self, ctx: OutputStreamContext) -> Any:
        self.calls += 1
        for _ in range(self.turns):
            await anyio.lowlevel.checkpoint()
        return self.act(ctx)


class Made:
    """A graph as a workflow of processors, whose names begin alike.

    Attributes:
        workflow: The workflow.
        looks: Its processors.
        blocked: Whether one has blocked.
        cancel: Called by those that have the run cancelled.
    """

    def __init__(self, node: Node, name: str = "part") -> None:
        self.name = name
        self.count = 0
        self.looks: list[Look] = []
        self.blocked = False
        self.cancel: Callable[[], object] = lambda: None
        self.workflow = self._workflow(node)

    def _name(self) -> str:
        self.count += 1
        return f"{self.name}-{self.count}"

    def _leaf(self, act: Callable[[OutputStreamContext], object], turns: int) -> Processor:
        made = PatientLook(self._name(), act, turns) if turns else Look(self._name(), act)
        self.looks.append(made)
        return made

    def _workflow(self, node: Node) -> Workflow[Any, Any]:
        builder = flow(self._name())
        below = [self._workflow(one) for one in node.below]
        limit = node.limit or None
        match node.kind:
            case "leaf":
                return builder.then(self._leaf(obeying(RULES[node.rule]), node.turns)).commit()
            case "fails":
                return builder.then(self._leaf(failing(TESTS[node.tests[0]]), node.turns)).commit()
            case "stops":
                return builder.then(self._leaf(self._stopping(node), node.turns)).commit()
            case "chain":
                for one in below:
                    builder = builder.sleep(0).then(one)
                return builder.commit()
            case "ends":
                builder = builder.then(below[0]).then(OnlyThere("ender", ending(node)))
                for one in below[1:]:
                    builder = builder.then(one)
                return builder.commit()
            case "ends in a block":
                at_once = replace(node, turns=0) if may_fail(node.below[0]) else node  # else whichever is first counts
                arms = [OnlyThere("ender", ending(at_once)), below[0]]
                builder = builder.parallel(arms).map(slowly(picking(below[0].id), node.turns))
                for one in below[1:]:
                    builder = builder.then(one)
                return builder.commit()
            case "map":
                block = builder.parallel(below, concurrency=limit)
                return block.map(slowly(picking(below[node.pick].id), node.turns)).commit()
            case "merge":
                return builder.parallel(below, concurrency=limit).merge().commit()
            case "last":
                block = builder.parallel(below)
                if not node.turns:
                    return block.merge(with_=last_of).commit()
                return block.sleep_until(0).map(slowly(lambda ctx: last_of(ctx.input), node.turns)).commit()
            case "first to end":
                alike = [self._workflow(node.below[0]) for _ in range(node.pick)]
                arms = [*alike, *below[1:], below[0]]
                return builder.parallel(arms, join="any", concurrency=limit).map(the_only).commit()
            case "collect":
                made = builder.parallel(below, on_error="collect", concurrency=limit)
                return made.map(the_first_that_did_not_fail).commit()
            case "branch":
                tests = [slowly(asking(TESTS[test], False), node.turns) for test in node.tests]
                pairs = list(zip(tests, below[:-1], strict=True))
                made = builder.branch(pairs, otherwise=below[-1], mode="all" if node.all else "first")
                return made.merge(with_=last_of).commit()
            case "loop":
                test = slowly(asking(TESTS[node.tests[0]], not node.all), node.turns)
                loop = builder.do_while if node.all else builder.do_until
                return loop(below[0], test, max_iterations=MOST).commit()
            case "graph":
                return self._graph(node, below)
            case _:
                raise AssertionError(node.kind)

    def _stopping(self, node: Node) -> Callable[[OutputStreamContext], object]:
        """A hook that blocks a text that passes the test, or has the run cancelled."""
        test = TESTS[node.tests[0]]

        def act(ctx: OutputStreamContext) -> object:
            if isinstance(ctx.chunk, TextDelta) and test(ctx.chunk.text):
                if node.pick == 2:
                    self.cancel()
                    return ctx.chunk
                self.blocked = True
                try:
                    ctx.abort("no")
                except BaseException:
                    if node.pick == 0:
                        raise
            return ctx.chunk

        return act

    def _graph(self, node: Node, below: Sequence[Workflow[Any, Any]]) -> Workflow[Any, Any]:
        steps: list[Any] = []
        for one, needs in zip(below, node.needs, strict=True):
            many = len(needs) > 1
            steps.append(OnlyThere(self._name(), lambda ctx: last_of(ctx.input)) if many else one)
        needed = {need for needs in node.needs for need in needs}
        sinks = [number for number in range(len(steps)) if number not in needed]
        graph = {step: [steps[need] for need in needs] for step, needs in zip(steps, node.needs, strict=True)}
        made = flow(self._name()).dag(graph)
        if len(sinks) == 1:
            return made.commit()
        return made.map(lambda ctx: next(iter(ctx.input.values()))).commit()


def obeying(rule: Rule) -> Callable[[OutputStreamContext], object]:
    """A hook that follows a rule."""

    def act(ctx: OutputStreamContext) -> object:
        chunk = ctx.chunk
        if not isinstance(chunk, TextDelta):
            return chunk
        texts = rule(chunk.text)
        if texts == [chunk.text]:
            return chunk
        made = [chunk.replace(text=text) for text in texts]
        return made[0] if len(made) == 1 else made or None

    return act


def failing(test: Callable[[str], bool]) -> Callable[[OutputStreamContext], object]:
    """A hook that fails where a text passes a test."""

    def act(ctx: OutputStreamContext) -> object:
        if isinstance(ctx.chunk, TextDelta) and test(ctx.chunk.text):
            raise Fails
        return ctx.chunk

    return act


def asking(test: Callable[[str], bool], otherwise: bool) -> Callable[[StepContext[Any]], bool]:
    """A condition, and what it says of what is no text."""

    def condition(ctx: StepContext[Any]) -> bool:
        chunk = ctx.input.chunk
        return test(chunk.text) if isinstance(chunk, TextDelta) else otherwise

    return condition


def ending(node: Node) -> Callable[[StepContext[Any]], Any]:
    """A function step that ends its workflow with another text, where one passes the test."""
    test = TESTS[node.tests[0]]

    def step(ctx: StepContext[Any]) -> Any:
        chunk = ctx.input.chunk
        if isinstance(chunk, TextDelta) and test(chunk.text):
            ctx.input.out = (chunk.replace(text=f"{chunk.text}!"),)
            ctx.bail(ctx.input)
        return ctx.input

    return slowly(step, node.turns)


def slowly(function: Callable[[Any], Any], turns: int) -> Callable[[Any], Any]:
    """The same as a coroutine function that lets others run first; with 0 turns, itself."""
    if not turns:
        return function

    async def waits(ctx: Any) -> Any:
        for _ in range(turns):
            await anyio.lowlevel.checkpoint()
        return function(ctx)

    return waits


def last_of(outputs: Mapping[str, Any]) -> Any:
    """For ``merge(with_=…)``: the last branch's."""
    return list(outputs.values())[-1]


def the_only(ctx: StepContext[Any]) -> Any:
    """For ``map``: the output of the one branch there is."""
    (only,) = ctx.input.values()
    return only


def the_first_that_did_not_fail(ctx: StepContext[Any]) -> Any:
    """For ``map``: the first output that is no failure, else what came into the workflow."""
    return next((value for value in ctx.input.values() if not isinstance(value, StepError)), ctx.run_input)


def texts_of(chunks: Sequence[Chunk]) -> list[str]:
    """The texts among chunks."""
    return [chunk.text for chunk in chunks if isinstance(chunk, TextDelta)]
