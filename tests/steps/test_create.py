"""Making steps of functions and of what supports a step."""

from __future__ import annotations

import functools
import types
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from interlock.errors import DefinitionError
from interlock.schema import UNSET
from interlock.steps import RetryPolicy, Step, StepContext, SupportsStep, create_step, step

if TYPE_CHECKING:
    from decimal import Decimal

T = TypeVar("T")


def score_risk(ctx: StepContext[str]) -> int:
    """How risky it is.

    Between 0 and 100.
    """
    return len(ctx.input)


async def fetch(ctx: StepContext[int]) -> list[str]:
    return ["x"] * ctx.input


def soon(ctx: StepContext[int]) -> Awaitable[list[str]]:
    return fetch(ctx)


def coming(ctx: StepContext[int]) -> Coroutine[Any, Any, str]:
    raise NotImplementedError


def bare(ctx: Any) -> Any:
    return ctx


def generic(ctx: StepContext[T]) -> T:
    return ctx.input


def unreadable(ctx: StepContext[Decimal]) -> int:
    return int(ctx.input)


def nothing(ctx: StepContext[str]) -> None:
    del ctx


class Scorer:
    """A callable object."""

    def __call__(self, ctx: StepContext[str]) -> float:
        return 0.5


class Guard(SupportsStep):
    def __init__(self) -> None:
        self.made: Step[Any, Any] = create_step(score_risk, id="processor:guard", metadata={"team": "a"})

    def as_step(self) -> Step[Any, Any]:
        return self.made


@pytest.mark.parametrize(
    ("function", "id_", "given", "made"),
    [
        (score_risk, "score-risk", str, int),
        (fetch, "fetch", int, list[str]),
        (soon, "soon", int, list[str]),
        (coming, "coming", int, str),
        (bare, "bare", UNSET, Any),
        (generic, "generic", UNSET, UNSET),
        (unreadable, "unreadable", UNSET, UNSET),
        (nothing, "nothing", str, type(None)),
        (Scorer(), "scorer", str, float),
        (functools.partial(score_risk), "score-risk", UNSET, UNSET),
    ],
)
def test_id_and_schemas_come_from_name_and_annotations(
    function: Callable[[StepContext[Any]], Any], id_: str, given: object, made: object
) -> None:
    found = create_step(function)
    assert (found.id, found.input_schema, found.output_schema) == (id_, given, made)
    assert found.subject is function


def test_what_is_given_goes_before_what_is_found() -> None:
    made = create_step(
        score_risk, id="risk", input_schema=bytes, output_schema=None, description="Risk.", metadata={"a": 1}
    )
    assert (made.id, made.input_schema, made.output_schema) == ("risk", bytes, None)
    assert (made.description, made.metadata) == ("Risk.", {"a": 1})


def test_the_description_is_the_first_line_of_the_docstring() -> None:
    assert create_step(score_risk).description == "How risky it is."
    assert create_step(fetch).description is None


def test_the_decorator_makes_a_step_with_and_without_options() -> None:
    @step
    def plain(ctx: StepContext[str]) -> str:
        return ctx.input

    @step(id="other", output_schema=str, description="d")
    async def with_options(ctx: StepContext[str]) -> str:
        return ctx.input

    assert plain.id == "plain"
    assert (with_options.id, with_options.output_schema, with_options.description) == ("other", str, "d")


def test_a_subject_gives_the_one_step_that_stands_for_it() -> None:
    guard = Guard()
    assert create_step(guard) is guard.made
    assert create_step(guard) is create_step(guard)


def test_another_id_makes_a_second_step_of_the_same_subject() -> None:
    guard = Guard()
    second = create_step(guard, id="second", input_schema=bytes)
    assert (second.id, second.input_schema, second.output_schema) == ("second", bytes, int)
    assert second.metadata == {"team": "a"}
    assert second.subject is guard.made.subject
    assert (guard.made.id, guard.made.input_schema) == ("processor:guard", str)


@pytest.mark.parametrize("x", [pytest.param(10**5000, id="huge"), 3, None, "score", [score_risk], {}])
def test_what_can_be_no_step_is_refused(x: Any) -> None:
    with pytest.raises(DefinitionError, match="can be no step: pass a function, a processor, a tool"):
        create_step(x)


@pytest.mark.parametrize("kind", [Guard, Scorer])
def test_a_class_is_refused_with_the_hint_to_make_an_instance(kind: Any) -> None:
    with pytest.raises(DefinitionError, match=rf"an instance: {kind.__name__}\(…\)"):
        create_step(kind)


def test_a_lambda_needs_an_id() -> None:
    with pytest.raises(DefinitionError, match="a lambda has no name: give it one with create_step"):
        create_step(lambda ctx: ctx.input)
    assert create_step(lambda ctx: ctx.input, id="keep").id == "keep"


@pytest.mark.parametrize("id_", ["", "a b", "a/b", "a.b", 7])
@pytest.mark.parametrize("subject", [score_risk, Guard()])
def test_an_id_that_is_none_is_refused(subject: Any, id_: Any) -> None:
    with pytest.raises(DefinitionError, match="id"):
        create_step(subject, id=id_)


@pytest.mark.parametrize("subject", [score_risk, Guard()])
def test_a_schema_that_is_no_type_is_refused_and_both_are_told(subject: Any) -> None:
    with pytest.raises(DefinitionError) as caught:
        create_step(subject, input_schema="str", output_schema={"type": "object"})
    assert [fault.split(":")[0] for fault in caught.value.faults] == ["input_schema", "output_schema"]


async def fetches(ctx: StepContext[str]) -> str:
    return ctx.input


def test_what_is_said_of_a_step_stands_on_it() -> None:
    policy = RetryPolicy(attempts=3)
    made = create_step(
        fetches, retry=policy, timeout=2.5, state_schema=dict, resume_schema=bool, suspend_schema=str, id="fetch"
    )
    assert (made.id, made.retry, made.timeout, made.blocking) == ("fetch", policy, 2.5, False)
    assert (made.state_schema, made.resume_schema, made.suspend_schema) == (dict, bool, str)
    assert create_step(score_risk, blocking=True).blocking


def test_a_step_made_of_a_step_is_another_and_the_first_stays_as_it_was() -> None:
    first = create_step(fetches)
    second = create_step(first, id="second", timeout=1)
    assert (first.id, first.timeout) == ("fetches", None)
    assert (second.id, second.timeout, second.retry) == ("second", 1, None)
    assert create_step(first) is first


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"timeout": 0}, "timeout: a number of seconds above 0 is wanted, not 0"),
        ({"timeout": float("nan")}, "timeout"),
        ({"timeout": float("inf")}, "timeout"),
        ({"timeout": "long"}, "timeout"),
        ({"timeout": True}, "timeout"),
        ({"timeout": 10**400}, "timeout: a number of seconds above 0 is wanted, not 1000"),
        ({"timeout": -(10**5000)}, "timeout: a number of seconds above 0 is wanted, not <an int of 16610 bits>"),
        ({"retry": 10**5000}, "retry: a RetryPolicy is wanted"),
        ({"description": 5}, "description: a text is wanted, not 5"),
        ({"metadata": 5}, "metadata: a dict is wanted, not 5"),
        ({"metadata": [("a", 1)]}, "metadata: a dict is wanted"),
        ({"retry": 3}, r"retry: a RetryPolicy is wanted, RetryPolicy\(attempts=…\), not 3"),
        ({"blocking": True}, "blocking=True is for a function that is not async"),
        ({"resume_schema": "bool"}, "resume_schema: a schema is a type"),
    ],
)
def test_an_option_that_says_nothing_sensible_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        create_step(fetches, **options)


def test_an_option_that_is_none_is_named() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'retries'"):
        create_step(fetches, retries=3)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]


def test_a_class_that_is_made_beside_a_step_is_a_schema() -> None:
    class Parcel:
        pass

    @step
    def send(ctx: StepContext[Parcel]) -> list[Parcel]:
        return [ctx.input]

    assert send.input_schema is Parcel
    assert send.output_schema == list[Parcel]


def test_an_annotation_that_names_nothing_is_told_of(capsys: pytest.CaptureFixture[str]) -> None:
    def sends(ctx: StepContext[Any]) -> None:
        pass

    sends.__annotations__ = {"ctx": "StepContext[Nope]", "return": "Nope"}
    made = create_step(sends)
    assert (made.input_schema, made.output_schema) == (UNSET, UNSET)
    assert "annotations cannot be read" in capsys.readouterr().err


async def trickle(ctx: StepContext[int]) -> AsyncIterator[int]:
    yield ctx.input


def drip(ctx: StepContext[int]) -> Iterator[int]:
    yield ctx.input


class Dripper:
    def __call__(self, ctx: StepContext[int]) -> Iterator[int]:
        yield ctx.input

    def drip(self, ctx: StepContext[int]) -> Iterator[int]:
        yield ctx.input


@types.coroutine
def old_coroutine(ctx: StepContext[int]) -> Iterator[int]:
    yield ctx.input


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (trickle, "'trickle' is an async generator"),
        (drip, "'drip' is a generator"),
        (Dripper().drip, "'drip' is a generator"),
        (functools.partial(drip), "is a generator"),
        (Dripper(), "is a generator"),
    ],
)
def test_a_generator_function_is_refused_and_told_what_to_do(function: Any, told: str) -> None:
    makers: list[Callable[[Any], object]] = [create_step, step, lambda one: create_step(one, id="named")]
    for make in makers:
        with pytest.raises(DefinitionError, match=f"{told}: a step returns once") as caught:
            make(function)
        assert "ctx.write()" in str(caught.value)


def test_a_generator_that_was_made_a_coroutine_is_a_step() -> None:
    assert create_step(old_coroutine).id == "old-coroutine"
    assert create_step(functools.partial(old_coroutine)).id == "old-coroutine"


@pytest.mark.parametrize("blocking", ["yes", 1, 0, ""])
def test_whether_a_function_blocks_is_said_with_true_or_false(blocking: Any) -> None:
    with pytest.raises(DefinitionError, match=f"blocking is True or False, not {blocking!r}"):
        create_step(lambda ctx: ctx.input, id="plain", blocking=blocking)
