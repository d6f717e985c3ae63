"""``workflow.to_text()``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.workflows import (
    Failed,
    ParallelNode,
    Plan,
    StepNode,
    StepRecord,
    Workflow,
    create_workflow,
    draw_text,
)
from interlock.workflows.blocks import Block, box, width_of
from interlock.workflows.draw_text import TEXT_WIDTH, plan_block
from interlock.workflows.labels import printable
from tests.workflows.drawn import KINDS, examples, function_step, holds, named, outcomes, workflows

plain = st.integers(0, 10**5).map(lambda n: f"{'a-guard-of-some-length'[: n % 20]}{n}")


def drawing(text: str) -> str:
    """A drawing as it stands in a test: without the line breaks around it."""
    return text.strip("\n")


def guards(*ids: str) -> list[Any]:
    return [function_step(f"processor:{id_}") for id_ in ids]


def test_parallel_guards_stand_side_by_side_between_fork_and_join() -> None:
    workflow = (
        create_workflow(id="moderation", input_schema=str, output_schema=str)
        .parallel(guards("pii-detector", "prompt-injection-detector", "moderation"))
        .map(named)
        .commit()
    )
    assert workflow.to_text() == drawing(
        """
moderation: str → str

                                             input
                                               │
             ┌─────────────────────────────────┼─────────────────────────────────┐
┌────────────▼───────────┐  ┌──────────────────▼──────────────────┐  ┌───────────▼──────────┐
│ processor:pii-detector │  │ processor:prompt-injection-detector │  │ processor:moderation │
└────────────┬───────────┘  └──────────────────┬──────────────────┘  └───────────┬──────────┘
             └─────────────────────────────────┼─────────────────────────────────┘
                                               │
                                        ╭──────▼─────╮
                                        │ map: named │
                                        ╰──────┬─────╯
                                               ▼
                                             output
"""
    )


def test_a_nested_workflow_is_drawn_in_place_in_a_frame() -> None:
    arms = [function_step("l"), function_step("r")]
    innermost = create_workflow(id="innermost").parallel(arms).map(lambda ctx: 1).commit()
    middle = create_workflow(id="middle").then(innermost).commit()
    workflow = create_workflow(id="outer").then(function_step("first")).then(middle).commit()
    assert workflow.to_text() == drawing(
        """
outer: anything → anything

        input
          │
      ┌───▼───┐
      │ first │
      └───┬───┘
          ▼
╔═ middle ═════════╗
║         ▼        ║
║ ╔═ innermost ══╗ ║
║ ║       │      ║ ║
║ ║   ┌───┴──┐   ║ ║
║ ║ ┌─▼─┐  ┌─▼─┐ ║ ║
║ ║ │ l │  │ r │ ║ ║
║ ║ └─┬─┘  └─┬─┘ ║ ║
║ ║   └───┬──┘   ║ ║
║ ║       │      ║ ║
║ ║    ╭──▼──╮   ║ ║
║ ║    │ map │   ║ ║
║ ║    ╰──┬──╯   ║ ║
║ ╚═══════╪══════╝ ║
╚═════════╪════════╝
          ▼
        output
"""
    )


def test_arms_that_do_not_fit_side_by_side_stand_between_the_lines_of_fork_and_join() -> None:
    workflow = create_workflow(id="w").parallel(guards(*(f"guard-{n}" for n in range(12)))).map(named).commit()
    lines = workflow.to_text().splitlines()
    arms = [line.strip() for line in lines if "guard" in line]
    assert [re.fullmatch(r"├──▶ processor:guard-(\d+) ─+┤", arm) is not None for arm in arms] == [True] * 12
    assert re.fullmatch("┌─+┴─+┐", lines[4])
    assert re.fullmatch("└─+┬─+┘", lines[17])
    assert {len(line) for line in lines[4:18]} == {len(lines[4])}


def test_labels_are_broken_before_arms_are_put_under_one_another() -> None:
    arms = guards("a-rather-long-guard", "another-rather-long-guard", "a-third-rather-long-guard")
    text = create_workflow(id="w").parallel(arms).map(named).commit().to_text()
    assert re.search(r"│ +processor: +│ +│ +processor: +│ +│ +processor: +│", text)
    assert max(map(width_of, text.splitlines())) <= TEXT_WIDTH


def test_a_long_chain_is_one_box_with_rungs() -> None:
    builder: Any = create_workflow(id="w")
    for number in range(20):
        builder = builder.then(function_step(f"step-{number}"))
    lines = builder.commit().to_text().splitlines()
    assert lines[4:8] == ["┌────▼────┐", "│ step-0  │", "├────▼────┤", "│ step-1  │"]
    assert len(lines) == 2 + 2 + 41 + 2


def test_two_blocks_in_a_row_join_and_fork_again() -> None:
    workflow = create_workflow(id="w").parallel(guards("a", "b")).parallel(guards("c", "d")).commit()
    assert """
       └────────┬───────┘
                │
       ┌────────┴───────┐
""" in workflow.to_text()


def test_an_arm_that_does_nothing_is_dashed_and_says_so() -> None:
    plan = Plan("w", (ParallelNode("parallel", (Plan("x", ()), Plan("b", (StepNode(function_step("b")),)))),))
    assert plan_block(plan).lines[1:5] == (
        "┌╌╌╌╌╌╌╌╌╌╌▼╌╌╌╌╌╌╌╌╌╌┐  ┌─▼─┐",
        "╎          x          ╎  │ b │",
        "╎ (does nothing here) ╎  └─┬─┘",
        "└╌╌╌╌╌╌╌╌╌╌┬╌╌╌╌╌╌╌╌╌╌┘    │  ",
    )


def test_the_arms_of_a_branch_stand_each_below_its_condition_and_a_way_leads_past_them() -> None:
    a, b, c = (function_step(id_) for id_ in "abc")
    workflow = create_workflow(id="w").branch([(holds, [a, b]), (lambda ctx: True, c)]).map(named).commit()
    assert workflow.to_text() == drawing(
        """
w: anything → anything

           input
             │
        ╱────▼───╲
        │ branch │
        ╲────┬───╱
             │
  ┌──────────┼────┐
  │ holds    │ 2  │ none
┌─▼─┐      ┌─▼─┐  │
│ a │      │ c │  │
└─┬─┘      └─┬─┘  │
  │          │    │
┌─▼─┐        │    │
│ b │        │    │
└─┬─┘        │    │
  └──────────┼────┘
             │
      ╭──────▼─────╮
      │ map: named │
      ╰──────┬─────╯
             ▼
           output
"""
    )


def test_conditions_of_arms_that_do_not_fit_side_by_side_stand_before_them() -> None:
    arms = [(holds, function_step(f"a-long-step-id-{n}")) for n in range(9)]
    lines = create_workflow(id="w").branch(arms).commit().to_text().splitlines()
    assert "├──▶ holds: a-long-step-id-0 ──┤" in lines
    assert "├──▶ none ─────────────────────┤" in lines


def test_a_loop_shows_its_way_back_and_a_foreach_how_many_at_once() -> None:
    a, b = function_step("a"), function_step("b")
    assert create_workflow(id="w").do_while(a, holds).foreach(b, concurrency=4).sleep(5).commit().to_text() == drawing(
        """
w: anything → anything

               input
                 ▼
             ┏━ do-while ━━━━━━━━━━┓
             ┃   │                 ┃
             ┃   ├◀──────────────┐ ┃
             ┃ ┌─▼─┐             │ ┃
             ┃ │ a │             │ ┃
             ┃ └─┬─┘             │ ┃
             ┃   ├─ while holds ─┘ ┃
             ┗━━━┿━━━━━━━━━━━━━━━━━┛
                 ▼
┏━ foreach: each item, 4 at once ━┓
┃                │                ┃
┃              ┌─▼─┐              ┃
┃              │ b │              ┃
┃              └─┬─┘              ┃
┗━━━━━━━━━━━━━━━━┿━━━━━━━━━━━━━━━━┛
                 │
          ╭──────▼─────╮
          │ sleep: 5 s │
          ╰──────┬─────╯
                 ▼
               output
"""
    )


def test_a_dag_is_a_dotted_frame_with_wires() -> None:
    a, b, c = (function_step(id_) for id_ in "abc")
    assert create_workflow(id="w").dag({a: [], b: [a], c: [a]}).commit().to_text() == drawing(
        """
w: anything → anything

      input
        ▼
┌┄ dag ┄┄┄┄┄┄┄┄┄┐
┆       │       ┆
┆       │       ┆
┆       │       ┆
┆     ┌─▼─┐     ┆
┆     │ a │     ┆
┆     └─┬─┘     ┆
┆   ┌───┴───┐   ┆
┆ ┌─▼─┐   ┌─▼─┐ ┆
┆ │ b │   │ c │ ┆
┆ └─┬─┘   └─┬─┘ ┆
┆   └──┐ ┌──┘   ┆
┆      └┬┘      ┆
┆       │       ┆
└┄┄┄┄┄┄┄┼┄┄┄┄┄┄┄┘
        ▼
      output
"""
    )


def test_a_run_is_told_in_the_boxes_and_above_them() -> None:
    a, b, c, d = (function_step(id_) for id_ in "abcd")
    workflow = create_workflow(id="w").branch([(holds, a), (holds, b)]).parallel([c, d], join="any").map(named).commit()
    error = ValueError("no such customer")
    steps = [
        StepRecord("branch", "branch", "success", 1, duration=0.5, chosen=["a"]),
        StepRecord("a", "a", "success", 1, duration=0.25),
        StepRecord("parallel", "parallel", "failed", 1, duration=0.5, error=error),
        StepRecord("c", "c", "failed", 1, error=error, attempts=3, duration=1),
        StepRecord("d", "d", "canceled", 1),
    ]
    assert workflow.to_text(run=Failed(error, run_id="r1", duration=2, steps=steps)) == drawing(
        """
w: anything → anything
✗ failed in 2 s · run r1 · ValueError: no such customer

                     input
                       │
             ╱─────────▼─────────╲
             │      branch       │
             │ ✓ 500 ms · took a │
             ╲─────────┬─────────╱
                       │
         ┌─────────────┼────────┐
         │ holds       │ holds  │ none
   ┌─────▼────┐   ┌────▼────┐   │
   │    a     │   │    b    │   │
   │ ✓ 250 ms │   │ not run │   │
   └─────┬────┘   └────┬────┘   │
         └─────────────┼────────┘
                       │
                       │ parallel: join any · ✗ failed · 500 ms
                ┌──────┴────────────────┐
┌───────────────▼──────────────┐  ┌─────▼────┐
│              c               │  │    d     │
│ ✗ failed · 1 s · 3 attempts  │  │ canceled │
│ ValueError: no such customer │  └─────┬────┘
└───────────────┬──────────────┘        │
                └──────┬────────────────┘
                       │
                ╭──────▼─────╮
                │ map: named │
                │  not run   │
                ╰──────┬─────╯
                       ▼
                     output
"""
    )


@examples(1 / 4)
@given(workflows(nodes=3, arms=3).flatmap(lambda workflow: st.tuples(st.just(workflow), outcomes(workflow))))
def test_no_run_can_act_on_the_terminal_or_bend_a_line(drawn: tuple[Workflow[Any, Any], Any]) -> None:
    workflow, run = drawn
    text = workflow.to_text(run=run)
    assert all(line.replace("\u200d", "").isprintable() and line == line.rstrip() for line in text.splitlines())


def test_wide_characters_keep_the_boxes_straight() -> None:
    lines = create_workflow(id="w").parallel([function_step("日本語"), function_step("b")]).commit().to_text()
    box = [line for line in lines.splitlines() if ("▼" in line and "┌" in line) or "日本語" in line]
    assert len({width_of(line) for line in box}) == 1


def test_a_control_character_never_reaches_the_terminal() -> None:
    text = create_workflow(id="w\x1b[2J").then(function_step("\x1b[31m\u202e")).commit().to_text()
    assert "\x1b" not in text
    assert "\\x1b[31m\\u202e" in text


@examples(1 / 4)
@given(workflows())
def test_no_line_ends_in_blanks_and_nothing_is_left_out(workflow: Workflow[Any, Any]) -> None:
    text = workflow.to_text()
    assert all(line == line.rstrip() for line in text.splitlines())
    for node in workflow.to_networkx().nodes.values():
        label = printable(node["label"])
        if node["kind"] != "join" and width_of(label) <= 14 and not re.search(r"[-:_, ]", label):
            assert label in text


WITHOUT_DAGS = tuple(kind for kind in KINDS if kind != "dag")


@examples(1 / 4)
@given(workflows(ids=plain, descriptions=st.none(), nodes=4, arms=8, kinds=WITHOUT_DAGS))
def test_ordinary_workflows_keep_to_a_hundred_columns(workflow: Workflow[Any, Any]) -> None:
    assert max(map(width_of, workflow.to_text().splitlines())) <= TEXT_WIDTH


@pytest.mark.parametrize(
    ("above", "below"),
    [((26, 26, 32), (28, 24, 30)), ((38, 10, 34), (18, 12, 26, 22)), ((38, 34, 28), (32, 8, 22, 16))],
)
def test_blocks_whose_middles_lie_apart_keep_to_a_hundred_columns_together(
    above: tuple[int, ...], below: tuple[int, ...]
) -> None:
    arms = [
        [function_step(f"{'x-' * (width // 2 - 1)}{row}{n}") for n, width in enumerate(widths)]
        for row, widths in (("a", above), ("b", below))
    ]
    text = create_workflow(id="w").parallel(arms[0]).parallel(arms[1]).commit().to_text()
    assert max(map(width_of, text.splitlines())) <= TEXT_WIDTH


def test_the_work_of_laying_out_grows_with_the_nodes_and_not_with_the_ways_to_lay_them_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[object] = []

    def counted(*texts: Sequence[str], border: str) -> Block:
        drawn.append(texts)
        return box(*texts, border=border)

    monkeypatch.setattr(draw_text, "box", counted)
    workflow = create_workflow(id="w").then(function_step("s" * 30)).commit()
    for depth in range(9):
        arms = [workflow, function_step("x" * 30), function_step("y" * 30)]
        workflow = create_workflow(id=f"w{depth}").parallel(arms).map(named).commit()
    assert "s" * 14 in workflow.to_text()
    nodes = workflow.to_networkx().number_of_nodes()
    assert len(drawn) < 10 * nodes  # trying each way at each level would be more than 1,000 times


@pytest.mark.parametrize("room", [20, 40, 60, 100])
def test_a_drawing_keeps_to_the_room_it_is_given(room: int) -> None:
    workflow = (
        create_workflow(id="w").then(function_step("s")).parallel(guards("aaaa", "bbbb", "cccc", "dddd")).commit()
    )
    assert plan_block(workflow.plan, room).width <= room
