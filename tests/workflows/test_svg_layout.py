"""Where boxes, frames and wires go in a picture."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.steps import create_step
from interlock.workflows import (
    BranchNode,
    DagItem,
    DagNode,
    ForeachNode,
    LoopNode,
    NestedNode,
    Node,
    ParallelNode,
    Plan,
    StepNode,
    Workflow,
    create_workflow,
)
from interlock.workflows.forks import LABEL_SIZE
from interlock.workflows.graph import Graph, Vertex, chains_of
from interlock.workflows.graph_of import graph_of
from interlock.workflows.overlay import overlay_of
from interlock.workflows.pieces import Box, Frame, Label, Piece, Wire, placed
from interlock.workflows.svg_layout import FRAME_MARGIN, PAGE_WIDTH, chain_piece
from interlock.workflows.text_size import text_width
from tests.workflows.drawn import built, examples, function_step, holds, named, outcomes, workflows

SLACK = 0.01


class Area(NamedTuple):
    """A rectangle on the page."""

    left: float
    top: float
    right: float
    bottom: float

    def holds(self, other: Area) -> bool:
        return (
            self.left <= other.left + SLACK
            and self.top <= other.top + SLACK
            and self.right >= other.right - SLACK
            and self.bottom >= other.bottom - SLACK
        )

    def meets(self, other: Area) -> bool:
        """Whether the two have more than a border in common."""
        return (
            self.left < other.right - SLACK
            and other.left < self.right - SLACK
            and self.top < other.bottom - SLACK
            and other.top < self.bottom - SLACK
        )


class Page:
    """Everything in a picture by its place."""

    def __init__(self, piece: Piece) -> None:
        self.whole = Area(0, 0, piece.width, piece.height)
        self.boxes: dict[str, Area] = {}
        self.frames: dict[str, Area] = {}
        self.shapes: list[tuple[Area, Box]] = []
        self.labels: list[Area] = []
        self.ways: list[tuple[Wire, Sequence[tuple[float, float]]]] = []
        for x, y, shape in placed(piece):
            match shape:
                case Box():
                    assert shape.path not in self.boxes
                    self.boxes[shape.path] = Area(x, y, x + shape.width, y + shape.height)
                    self.shapes.append((self.boxes[shape.path], shape))
                case Frame():
                    assert shape.path not in self.frames
                    self.frames[shape.path] = Area(x, y, x + shape.width, y + shape.height)
                case Label():
                    self.labels.append(Area(x, y, x + text_width(shape.text, LABEL_SIZE), y + LABEL_SIZE))
                case Wire():
                    self.ways.append((shape, [(x + dx, y + dy) for dx, dy in shape.points]))

    def legs(self) -> list[Area]:
        """The straight legs of all wires, and the last of curved ones as the room they swing in."""
        return [
            Area(min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2))
            for _, points in self.ways
            for (x1, y1), (x2, y2) in itertools.pairwise(points)
        ]


def page(workflow: Workflow[Any, Any], run: Any = None) -> Page:
    graph = graph_of(workflow.plan)
    return Page(chain_piece(graph.chain, None if run is None else overlay_of(graph, run)))


def check(found: Page, graph: Graph) -> None:
    """What is true of every picture."""
    assert set(found.boxes) == {vertex.path for vertex in graph.vertices()}
    for area in (*found.boxes.values(), *found.frames.values(), *found.labels, *found.legs()):
        assert found.whole.holds(area)
    for one, other in itertools.combinations(found.boxes.values(), 2):
        assert not one.meets(other)
    for label in found.labels:
        assert not any(label.meets(box) for box in found.boxes.values())
    for cluster in graph.members():
        if not isinstance(cluster, Vertex) and cluster.path in found.frames:
            inside = {inner.path for chain in chains_of(cluster) for inner in Graph(chain, ()).members()}
            frame = found.frames[cluster.path]
            for path, area in (*found.boxes.items(), *found.frames.items()):
                if path in inside and path != cluster.path:
                    assert frame.holds(area)
                elif path != cluster.path:
                    assert area.holds(frame) or not frame.meets(area)
    for leg in found.legs():
        for path, box in found.boxes.items():
            thin = Area(box.left + 0.5, box.top + 0.5, box.right - 0.5, box.bottom - 0.5)
            assert not leg.meets(thin), path
            assert not thin.holds(leg), path
    for area, shape in found.shapes:
        assert all(text_width(line.text, line.size) <= area.right - area.left for line in shape.lines)


@examples(1 / 4)
@given(workflows())
def test_every_node_is_a_box_in_its_frames_clear_of_all_others_and_of_every_wire(workflow: Workflow[Any, Any]) -> None:
    check(page(workflow), graph_of(workflow.plan))


@examples(1 / 4)
@given(workflows(nodes=3, arms=3).flatmap(lambda workflow: st.tuples(st.just(workflow), outcomes(workflow))))
def test_so_it_is_with_a_run(drawn: tuple[Workflow[Any, Any], Any]) -> None:
    workflow, run = drawn
    check(page(workflow, run), graph_of(workflow.plan))


def large(seed: int) -> Workflow[Any, Any]:
    """A workflow of forty nodes, some with many arms, the same for the same seed."""
    chance = random.Random(seed)
    ids = (f"{'long-' * chance.randint(0, 4)}step-{number}" for number in itertools.count())

    def step() -> StepNode | NestedNode:
        if chance.random() < 0.2:
            inner = Plan("inner", tuple(StepNode(function_step(next(ids))) for _ in range(chance.randint(1, 20))))
            return NestedNode(create_step(Workflow[Any, Any](inner), id=next(ids)), inner)
        return StepNode(function_step(next(ids)))

    def plans(count: int) -> tuple[Plan, ...]:
        return tuple(Plan(made.id, (made,)) for made in (step() for _ in range(count)))

    def node() -> Node:
        match chance.choice(("step", "step", "parallel", "branch", "dag", "loop", "foreach")):
            case "parallel":
                return ParallelNode("parallel", plans(chance.randint(1, 30)))
            case "branch":
                arms = plans(chance.randint(1, 12))
                return BranchNode("branch", (holds,) * len(arms), arms)
            case "dag":
                held = enumerate(plans(chance.randint(1, 25)))
                return DagNode(
                    "dag", tuple(DagItem(p, tuple(m for m in range(n) if chance.random() < 0.1)) for n, p in held)
                )
            case "loop":
                return LoopNode("do-while", plans(1)[0], holds, until=True)
            case "foreach":
                return ForeachNode("foreach", plans(1)[0])
            case _:
                return step()

    return built(*(node() for _ in range(40)))


@examples(1 / 30)
@given(st.integers(0, 2**32))
def test_so_it_is_where_chains_are_folded_and_arms_stand_in_rows(seed: int) -> None:
    workflow = large(seed)
    check(page(workflow), graph_of(workflow.plan))


@examples(1 / 4)
@given(workflows())
def test_an_arrow_ends_at_the_top_of_a_box_or_a_frame_or_at_another_wire(workflow: Workflow[Any, Any]) -> None:
    found = page(workflow)
    for wire, points in found.ways:
        if wire.arrow and not wire.dashed:
            x, y = points[-1]
            areas = (*found.boxes.values(), *found.frames.values())
            assert any(area.left <= x <= area.right and abs(area.top - y) < SLACK for area in areas)


def chain(count: int) -> Workflow[Any, Any]:
    return Workflow(Plan("w", tuple(StepNode(function_step(f"step-{n}")) for n in range(count))))


@pytest.mark.parametrize("count", [5, 50, 300, 1000])
def test_a_long_chain_is_folded_so_that_it_is_no_wider_than_a_page(count: int) -> None:
    found = page(chain(count))
    assert found.whole.right <= PAGE_WIDTH
    if count > 50:
        assert found.whole.right > PAGE_WIDTH / 2
    assert found.whole.bottom < 12 * count + 1100


@pytest.mark.parametrize("count", [5, 50, 300])
def test_many_arms_stand_in_rows_so_that_they_are_no_wider_than_a_page(count: int) -> None:
    arms = [function_step(f"guard-{n}") for n in range(count)]
    found = page(create_workflow(id="w").parallel(arms).map(named).commit())
    assert found.whole.right <= PAGE_WIDTH + 60
    check(found, graph_of(create_workflow(id="w").parallel(arms).map(named).commit().plan))


def test_a_wide_dag_is_no_wider_than_a_page() -> None:
    steps = [function_step(f"s{n}") for n in range(60)]
    assert page(create_workflow(id="w").dag({step: [] for step in steps}).commit()).whole.right <= PAGE_WIDTH + 60


def test_a_loop_has_a_dashed_wire_back_on_its_right_with_its_condition() -> None:
    found = page(create_workflow(id="w").do_while(function_step("a"), holds).commit())
    [(wire, points)] = [(wire, points) for wire, points in found.ways if wire.dashed]
    assert wire.arrow
    assert max(x for x, _ in points) > found.boxes["a"].right
    assert points[0][1] > found.boxes["a"].bottom
    assert points[-1][1] < found.boxes["a"].top
    assert len(found.labels) == 1


A, B = function_step("a"), function_step("b")


@pytest.mark.parametrize(
    ("workflow", "frame", "last", "most"),
    [
        (create_workflow(id="w").dag({A: [], B: [A]}).commit(), "dag", "b", FRAME_MARGIN),
        (create_workflow(id="w").foreach(A).commit(), "foreach", "a", FRAME_MARGIN),
        (create_workflow(id="w").do_while(A, holds).commit(), "do-while", "a", FRAME_MARGIN + LABEL_SIZE + 12),
        (create_workflow(id="w").do_until(A, holds).commit(), "do-until", "a", FRAME_MARGIN + LABEL_SIZE + 12),
    ],
)
def test_no_room_is_left_below_what_is_last_in_a_frame_but_for_the_way_back(
    workflow: Workflow[Any, Any], frame: str, last: str, most: float
) -> None:
    found = page(workflow)
    assert found.frames[frame].bottom - found.boxes[last].bottom == pytest.approx(most)


def test_without_a_run_nothing_is_faint() -> None:
    found = page(create_workflow(id="w").branch([(holds, function_step("a"))]).map(named).commit())
    assert not any(wire.faint for wire, _ in found.ways)
    assert not any(box.faint for _, box in found.shapes)


def test_a_plan_of_nothing_but_an_idle_arm_is_drawn() -> None:
    workflow = built(ParallelNode("parallel", (Plan("x", ()),)))
    check(page(workflow), graph_of(workflow.plan))
