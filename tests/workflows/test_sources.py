"""Where the keys of a mapping come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.context import RequestContext
from interlock.errors import DefinitionError
from interlock.steps import Step, StepContext, StepRun, SupportsStep, Turn, create_step
from interlock.verdict import CheckRecord, Latch
from interlock.workflows import (
    MapNode,
    Source,
    create_workflow,
    from_input,
    from_request_context,
    from_run_input,
    from_state,
    from_step,
    template,
    value,
)


def named(id: str) -> Step[Any, Any]:  # noqa: A002
    return create_step(lambda ctx: ctx.input, id=id)


SCORE, JUDGE = named("score"), named("processor:judge")


class Thing(SupportsStep):
    def as_step(self) -> Step[Any, Any]:
        return SCORE


@dataclass
class Host:
    """Runs nothing, and keeps a state."""

    state: dict[str, object] = field(default_factory=dict[str, object])

    def state_view(self, turn: Turn, run: StepRun) -> dict[str, object]:
        return self.state

    def written(self, turn: Turn, name: str, value: object) -> None:
        raise AssertionError

    def checked(self, turn: Turn, checks: Sequence[CheckRecord]) -> None:
        raise AssertionError


@dataclass
class Place:
    step_id: str = "map"
    path: str = "map"
    step: Step[Any, Any] | None = None


def context(given: object = None, **outputs: object) -> StepContext[Any]:
    """What a map is given where these steps have run."""
    run = StepRun(
        "run_1", {"start": [0]}, RequestContext(user={"name": "eva"}), Latch(), host=Host({"count": 0, "names": ["a"]})
    )
    steps = {step.id: step for step in (SCORE, JUDGE)}
    run.outputs.update({steps[id_.replace("_", ":")]: output for id_, output in outputs.items()})
    return StepContext(given, run, Turn(Place()))


@pytest.mark.parametrize(
    ("source", "read", "label"),
    [
        (from_input(), {"x": [False]}, "input"),
        (from_input("x[0]"), False, "input.x[0]"),
        (from_run_input("start[0]"), 0, "run_input.start[0]"),
        (from_state("count"), 0, "state.count"),
        (from_state(), {"count": 0, "names": ["a"]}, "state"),
        (from_request_context("user.name"), "eva", "request_context.user.name"),
        (from_step(SCORE, "risk"), 0.0, "score.risk"),
        (from_step(SCORE), {"risk": 0.0}, "score"),
        (from_step(Thing(), "."), {"risk": 0.0}, "score"),
        (from_step([JUDGE, SCORE], "risk"), 0.0, "processor:judge | score.risk"),
        (value(""), "", "''"),
        (value(None), None, "None"),
        (value([1]), [1], "list"),
        pytest.param(value(16**5000), 16**5000, "0x1" + "0" * 5000, id="huge"),
    ],
)
def test_a_source_reads_one_value_and_has_a_label(source: Source, read: object, label: str) -> None:
    assert source.read(context({"x": [False]}, score={"risk": 0.0})) == read
    assert source.label == label
    assert repr(source) == f"<Source {label}>"


def test_the_first_step_that_has_run_is_read_even_if_it_gave_nothing() -> None:
    both = from_step([JUDGE, SCORE])
    assert both.steps == (JUDGE, SCORE)
    assert both.read(context(score=1)) == 1
    assert both.read(context(processor_judge=None, score=1)) is None
    with pytest.raises(LookupError, match="neither 'processor:judge' nor 'score' has run"):
        both.read(context())
    with pytest.raises(LookupError, match=r"score\.risk: step 'score' has not run in this run"):
        from_step(SCORE, "risk").read(context())


def test_a_path_that_leads_nowhere_is_told_with_its_source() -> None:
    with pytest.raises(LookupError, match=r"^score\.a\.b: score\.a has no key 'b': there is dict with 'c'$"):
        from_step(SCORE, "a.b").read(context(score={"a": {"c": 1}}))
    with pytest.raises(LookupError, match=r"^request_context\.tier: request_context has no key 'tier'"):
        from_request_context("tier").read(context())
    with pytest.raises(LookupError, match=r"^state\.names\[1\]: state\.names has no item \[1\]: there is list of 1$"):
        from_state("names[1]").read(context())


def test_each_run_gets_a_copy_of_a_value() -> None:
    given: dict[str, list[int]] = {"a": []}
    source = value(given)
    first: Any = source.read(context())
    first["a"].append(1)
    assert source.read(context()) == {"a": []}
    assert given == {"a": []}


@pytest.mark.parametrize("wrong", ["score", pytest.param(10**5000, id="huge"), 3, None, Thing, len])
def test_what_is_no_step_cannot_be_read(wrong: Any) -> None:
    with pytest.raises(DefinitionError, match="from_step takes the step object that stands in the workflow, not "):
        from_step(wrong)
    with pytest.raises(DefinitionError, match="from_step takes the step object"):
        from_step([SCORE, wrong])


def test_a_source_without_a_step_and_a_value_that_is_a_source_are_refused() -> None:
    with pytest.raises(DefinitionError, match=r"from_step\(\[\]\) names no step"):
        from_step([])
    for wrong in (from_input("x"), SCORE):
        with pytest.raises(DefinitionError, match=r"value\(\) is for what is always the same"):
            value(wrong)
    for make in (from_input, from_run_input, from_state, from_request_context):
        with pytest.raises(DefinitionError, match=r"'a\.\.b' is no path"):
            make("a..b")
    with pytest.raises(DefinitionError, match=r"'a\.\.b' is no path"):
        from_step(SCORE, "a..b")


def mapped(sources: dict[str, Source | SupportsStep]) -> MapNode:
    """The node of a map behind both steps."""
    *_, node = create_workflow(id="w").then(SCORE).then(JUDGE).map(sources).commit().plan.nodes
    assert isinstance(node, MapNode)
    return node


def test_a_map_of_sources_reads_them_into_a_dict_in_their_order() -> None:
    node = mapped({"b": value(0), "a": from_input("x"), "s": SCORE, "t": template("${score} ${input.x}")})
    read = node.function(context({"x": ""}, score=[]))
    assert read == {"b": 0, "a": "", "s": [], "t": "[] "}
    assert list(read) == ["b", "a", "s", "t"]
    assert node.sources is not None
    assert {key: source.label for key, source in node.sources.items()} == {
        "b": "0",
        "a": "input.x",
        "s": "score",
        "t": '"${score} ${input.x}"',
    }
    assert [source.steps for source in node.sources.values()] == [(), (), (SCORE,), (SCORE,)]


class Model(pydantic.BaseModel):
    at: date = date(2030, 1, 2)


@dataclass
class Data:
    odd: Any = 1


def written(text: str, given: object = None, **outputs: object) -> object:
    """What a template says in a map."""
    return mapped({"t": template(text)}).function(context(given, **outputs))["t"]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("ann", "ann"),
        ("", ""),
        (0, "0"),
        (False, "False"),
        (None, "None"),
        (1.5, "1.5"),
        (date(2030, 1, 2), "2030-01-02"),
        ([1, "ü", None], '[1,"ü",null]'),
        ({"a": True}, '{"a":true}'),
        (Model(), '{"at":"2030-01-02"}'),
        (Data(), '{"odd":1}'),
        (Data(Data), f'{{"odd":"{Data}"}}'),
        ((1, 2), "[1,2]"),
    ],
)
def test_values_stand_in_a_text_as_text_or_json(given: object, text: str) -> None:
    assert written("<${input.x}>", {"x": given}) == f"<{text}>"


def test_a_template_reads_every_root_and_every_step_before() -> None:
    text = "${input}|${ run_input.start[0] }|${state.names[0]}|${request_context.user.name}"
    text += "|${score.a}|${processor:judge[0]}"
    assert written(text, "x", score={"a": "b"}, processor_judge=["j"]) == "x|0|a|eva|b|j"


@pytest.mark.parametrize(
    ("text", "said"),
    [("", ""), ("plain", "plain"), ("$5 {x} }", "$5 {x} }"), ("$${input}", "${input}"), ("$$", "$$"), ("a$${", "a${")],
)
def test_a_text_without_holes_stays_as_it_is(text: str, said: str) -> None:
    assert written(text) == said


@given(st.text())
def test_any_text_can_be_written_with_its_holes_escaped(text: str) -> None:
    assert template(text.replace("${", "$${")).read(context()) == text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a ${input", r"\$\{input has no \}; write \$\$\{ for \$\{ itself"),
        ("${}", r"\$\{\} names nothing"),
        ("${ }", r"names nothing"),
        ("${.x}", r"names nothing"),
        ("${input.}", r"names nothing"),
        ("${input..x}", r"'\.x' is no path"),
        ("${a[x]}", r"'\[x\]' is no path"),
        (3, r"template\(\) takes a text, not 3"),
    ],
)
def test_a_hole_that_names_nothing_is_told(text: Any, told: str) -> None:
    with pytest.raises(DefinitionError, match=told):
        template(text)


def test_a_template_names_its_steps_until_a_workflow_ties_them() -> None:
    source = template("${score.x} ${a.b} ${score}")
    assert source.names == ("score", "a")
    assert source.steps == ()
    with pytest.raises(LookupError, match=r"score, a are tied to steps by a workflow's commit\(\)"):
        source.read(context(score=1))


def test_one_template_may_stand_in_several_workflows() -> None:
    text, other = template("${score}"), named("score")
    first = create_workflow(id="one").then(SCORE).map({"t": text}).commit().plan.nodes[-1]
    second = create_workflow(id="two").then(other).map({"t": text}).commit().plan.nodes[-1]
    for node, step in ((first, SCORE), (second, other)):
        assert isinstance(node, MapNode)
        assert node.sources is not None
        assert node.sources["t"].steps == (step,)
