"""What stands on the nodes of a plan."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.workflows import (
    BranchNode,
    DagNode,
    ForeachNode,
    LoopNode,
    MapNode,
    MergeNode,
    Node,
    ParallelNode,
    Plan,
    SleepNode,
    from_input,
    value,
)
from interlock.workflows.node_labels import again_label, condition_label, duration_label, node_label
from tests.workflows.drawn import holds, named

ARM = Plan("x", ())


class Callable:
    """A callable without a name."""

    def __call__(self, ctx: object) -> Any:
        return ctx


@pytest.mark.parametrize(
    ("node", "label"),
    [
        (MapNode("map", named), "map: named"),
        (MapNode("map-2", lambda ctx: ctx), "map-2"),
        (MapNode("map", Callable()), "map"),
        (MapNode("map", named, {"question": from_input(), "k": value(1)}), "map: question, k"),
        (MapNode("map", named, {f"k{n}": value(n) for n in range(7)}), "map: k0, k1, k2, k3, 3 more"),
        (MapNode("map", named, {f"k{n}": value(n) for n in range(5)}), "map: k0, k1, k2, k3, k4"),
        (MergeNode("merge"), "merge"),
        (MergeNode("merge", prefer="a"), "merge, prefers a"),
        (MergeNode("merge", with_=dict), "merge: dict"),
        (MergeNode("merge", with_=lambda outputs: outputs), "merge"),
        (ParallelNode("parallel", (ARM, ARM)), "parallel"),
        (ParallelNode("parallel", (ARM, ARM), join=1), "parallel: join any"),
        (
            ParallelNode("parallel", (ARM,) * 3, 2, "collect", 2, True),
            "parallel: join 2 of 3, 2 at once, collect, share",
        ),
        (BranchNode("branch", (), ()), "branch"),
        (BranchNode("branch", (), (), mode="all"), "branch: all that hold"),
        (ForeachNode("foreach", ARM), "foreach: each item"),
        (ForeachNode("foreach", ARM, 4, "wait_all"), "foreach: each item, 4 at once, wait_all"),
        (ForeachNode("foreach", ARM, named), "foreach: each item, named at once"),
        (ForeachNode("foreach", ARM, lambda ctx: 4), "foreach: each item, some at once"),
        (LoopNode("do-while", ARM, holds, until=False), "do-while"),
        (LoopNode("do-while", ARM, holds, until=False, max_iterations=5), "do-while: at most 5 times"),
        (DagNode("dag", ()), "dag"),
        (SleepNode("sleep", 5), "sleep: 5 s"),
        (SleepNode("sleep", named), "sleep: named"),
        (SleepNode("sleep", lambda ctx: 5), "sleep"),
        (SleepNode("sleep-until", datetime(2026, 1, 2, 12, 0), until=True), "sleep-until: 2026-01-02 12:00"),
        (SleepNode("s", datetime(2026, 1, 2, 12, 0, 7, tzinfo=UTC), until=True), "s: 2026-01-02 12:00:07 UTC"),
        (
            SleepNode("s", datetime(2026, 1, 2, tzinfo=timezone(timedelta(hours=2))), until=True),
            "s: 2026-01-02 00:00 UTC+02:00",
        ),
        (SleepNode("sleep-until", 0, until=True), "sleep-until: 1970-01-01 00:00 UTC"),
        (SleepNode("sleep-until", 1e300, until=True), "sleep-until: 1e+300"),
    ],
)
def test_a_label_says_what_is_not_the_usual(node: Node, label: str) -> None:
    assert node_label(node) == label


def test_a_condition_is_told_by_its_name_or_else_by_its_place() -> None:
    assert condition_label(holds, 3) == "holds"
    assert condition_label(Callable(), 3) == "3"


def test_a_loop_says_when_it_goes_on_or_ends() -> None:
    assert again_label(LoopNode("l", ARM, holds, until=False)) == "while holds"
    assert again_label(LoopNode("l", ARM, holds, until=True)) == "until holds"
    assert again_label(LoopNode("l", ARM, lambda ctx: True, until=True)) == "until it holds"


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "0 s"),
        (0.001, "1 ms"),
        (0.9994, "999 ms"),
        (59.99, "60 s"),
        (60, "1 min"),
        (86400 * 400, "400 d"),
        (float("inf"), "inf s"),
        (float("nan"), "nan s"),
        (-1, "-1 s"),
    ],
)
def test_a_duration_is_told_in_the_unit_that_reads_best(seconds: float, told: str) -> None:
    assert duration_label(seconds) == told


@given(st.floats(1e-6, 86400 * 999))
def test_a_duration_is_told_in_few_digits_and_nearly_exactly(seconds: float) -> None:
    number, unit = duration_label(seconds).split()
    sizes = {"µs": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400}
    assert len(number) <= 4
    assert float(number) * sizes[unit] == pytest.approx(seconds, rel=0.01)
