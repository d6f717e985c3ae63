"""Answers that are objects: guards read the JSON they are, and the text they are, alike at every point."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, get_args

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_core import from_json

from interlock import Agent, Phase, Processor, create_step, create_workflow
from interlock.errors import OutputMismatch
from interlock.messages import Chunk, ObjectChunk, TextDelta, TextEnd, TextStart, ToolCall, ToolCallDelta, ToolOutput
from interlock.processors import (
    InputStepContext,
    OutputStreamContext,
    PIIDetector,
    ProcessorStepSchema,
    StepChanges,
    TextGuard,
)
from interlock.processors.lanes.bounded_pattern import BoundedPattern
from interlock.processors.lanes.edited_lane import EditedLane
from interlock.processors.lanes.json_lane import JSONLane
from interlock.processors.lanes.json_scan import JSONScan
from interlock.processors.lanes.lane import LaneKind
from interlock.processors.seat import RunFacts
from interlock.processors.text_guard import TextStrategy
from interlock.runtime.journal.context_values import context_of, parts_of
from interlock.testing import ScriptedModel

TICKET = re.compile(r"T-[0-9]{1,4}")
ANY: dict[str, Any] = {}  # a schema that everything fits
CARD = "4111 1111 1111 1111"
ESCAPED = '{"a": "\\u0034111 1111 1111 1111"}'
POINTS = (Phase.OUTPUT_STREAM, Phase.OUTPUT_STEP, Phase.OUTPUT_RESULT)


class Tickets(TextGuard):
    """Finds tickets."""

    id = "tickets"
    patterns = (TICKET.pattern,)


class Words(TextGuard):
    """Finds a word that no ticket is part of."""

    id = "words"
    patterns = ("x{1,3}",)


def pieces(text: str, size: int = 1) -> list[str]:
    return [text[n : n + size] for n in range(0, len(text), size)]


async def streamed(guards: Sequence[Any], cut: Sequence[str | Chunk], schema: object = ANY) -> tuple[list[Chunk], Any]:
    agent = Agent(model=ScriptedModel([list(cut)]), output_processors=guards)
    async with agent.stream("hello", output_schema=schema) as stream:
        return [chunk async for chunk in stream], await stream.result()


def side_by_side(*guards: TextGuard) -> Any:
    block = create_workflow(id="block", input_schema=ProcessorStepSchema, output_schema=ProcessorStepSchema)
    return block.parallel(list(guards)).merge().commit()


def strings_of(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for key, one in value.items() for text in (str(key), *strings_of(one))]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return [text for one in value for text in strings_of(one)] if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def shows(chunks: Sequence[Chunk], result: Any, what: re.Pattern[str]) -> bool:
    """Whether something stands anywhere, as it came or decoded."""
    said = "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta))
    decoded = [text for chunk in chunks if isinstance(chunk, ObjectChunk) for text in strings_of(chunk.object)]
    for n in range(len(said) + 1):
        try:
            decoded += strings_of(from_json(said[:n], allow_partial="trailing-strings"))
        except ValueError:
            continue
    return any(map(what.search, [said, result.text, *decoded, *strings_of(result.output)]))


@st.composite
def spelled(draw: st.DrawFn, value: object) -> str:
    """A JSON text of a value, some characters of its strings escaped."""
    if isinstance(value, str):
        escaped = draw(st.lists(st.booleans(), min_size=len(value), max_size=len(value)))
        text = ""
        for character, is_escaped in zip(value, escaped, strict=True):
            plain = json.dumps(character, ensure_ascii=False)[1:-1]
            units = character.encode("utf-16-be")
            codes = "".join(f"\\u{units[n]:02x}{units[n + 1]:02X}" for n in range(0, len(units), 2))
            text += codes if is_escaped else plain
        return f'"{text}"'
    space = draw(st.sampled_from(["", " ", "\n"]))
    if isinstance(value, list):
        items = [draw(spelled(one)) for one in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        return f"[{space}{f',{space}'.join(items)}]"
    if isinstance(value, dict):
        members = [f"{draw(spelled(key))}:{space}{draw(spelled(one))}" for key, one in value.items()]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        return f"{{{space}{f',{space}'.join(members)}}}"
    return json.dumps(value)


OF_STRINGS = ["T-12", "T-3", "T", "-", "1", "x", "é", "\n", '"', "\\", " ", "\U0001f600"]
TEXTS = st.lists(st.sampled_from(OF_STRINGS), min_size=1, max_size=7).map("".join)
VALUES = st.recursive(
    TEXTS | TEXTS | TEXTS | st.sampled_from(["", None, True, 12, -1.5e3, 1234567]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "é", 'b"']), inner, max_size=3),
    max_leaves=6,
)
CUTS = st.lists(st.integers(1, 6), min_size=1, max_size=12)
ANSWERS = VALUES.flatmap(lambda value: st.tuples(st.just(value), spelled(value)))


def cut_by(text: str, sizes: Sequence[int]) -> list[str]:
    cut, at = list[str](), 0
    while at < len(text):
        size = sizes[len(cut) % len(sizes)]
        cut.append(text[at : at + size])
        at += size
    return cut


def edited(value: Any) -> Any:
    """The value with the guard's edits on its strings."""
    if isinstance(value, str):
        return TICKET.sub("[REDACTED]", value)
    if isinstance(value, list):
        return [edited(one) for one in value]  # pyright: ignore[reportUnknownVariableType]
    return {key: edited(one) for key, one in value.items()} if isinstance(value, dict) else value  # pyright: ignore[reportUnknownVariableType]


@given(ANSWERS, CUTS, st.booleans(), st.sampled_from(POINTS))
@settings(max_examples=100)
def test_the_object_is_what_the_guard_makes_of_the_decoded_strings_however_the_answer_is_spelled_and_cut(
    answer: tuple[Any, str], sizes: Sequence[int], parallel: bool, point: Phase
) -> None:
    value, text = answer
    guard = Tickets(phases=[point])
    row = [side_by_side(guard, Words(strategy="warn"))] if parallel else [guard]
    chunks, result = anyio.run(streamed, row, cut_by(text, sizes))
    assert result.error is None
    assert result.output == edited(value)
    if edited(value) == value:
        assert result.text == text, "what is not edited stays byte for byte"
    if point is Phase.OUTPUT_STREAM:
        assert not shows(chunks, result, TICKET)


@given(ANSWERS, CUTS)
@settings(max_examples=50)
def test_a_guard_that_blocks_shows_nothing_and_blocks_alike_in_the_stream_and_at_the_end(
    answer: tuple[Any, str], sizes: Sequence[int]
) -> None:
    value, text = answer
    reasons = set[Any]()
    for point in POINTS:
        chunks, result = anyio.run(streamed, [Tickets(strategy="block", phases=[point])], cut_by(text, sizes))
        reasons.add(result.status)
        if point is Phase.OUTPUT_STREAM:
            assert not shows(chunks, result, TICKET)
    assert reasons == {"tripwire" if edited(value) != value else "success"}


@given(ANSWERS, CUTS, CUTS)
@settings(max_examples=60)
def test_parts_and_cuts_of_an_answer_make_no_difference_to_what_is_read(
    answer: tuple[Any, str], sizes: Sequence[int], others: Sequence[int]
) -> None:
    """Cut at random; and read in two parts, where no string that matters stands across their border."""
    _, text = answer
    kind = LaneKind([BoundedPattern(TICKET.pattern)])
    made = {lane_of(kind, cut_by(text, each)) for each in (sizes, others, [len(text)])}
    assert len(made) == 1
    first = JSONLane(kind, lambda _match, _text: "*")
    middle = len(text) // 2
    first.whole(text[:middle])
    second = JSONScan.of(text[middle:], first.scan)
    whole = JSONScan.of(text)
    assert second.is_plain == whole.is_plain is False


def lane_of(kind: LaneKind, cut: Sequence[str]) -> str:
    lane = JSONLane(kind, lambda _match, _text: "*")
    return "".join([lane.push(one).text for one in cut]) + lane.end().text


@given(
    st.lists(st.sampled_from(["T-1", "T-", "2", "tru", "e", "T-12", ", ", "`", "{", " is", "\\", "é"]), max_size=8),
    CUTS,
)
@settings(max_examples=100)
def test_what_is_no_json_is_read_as_any_text(words: Sequence[str], sizes: Sequence[int]) -> None:
    text = "so: " + "".join(words)
    kind = LaneKind([BoundedPattern(TICKET.pattern)])
    plain = EditedLane(kind.lane(), lambda _match, _text: "*")
    assert lane_of(kind, cut_by(text, sizes)) == plain.push(text).text + plain.end().text


@given(st.text(alphabet='{}[],:"1 -.eE\\u0034ntrfalsNI', max_size=14))
@settings(max_examples=300)
def test_no_string_that_a_parser_finds_is_missed(text: str) -> None:
    found = list[str]()

    class Hears:
        def opened(self, *, is_key: bool) -> None:
            del is_key
            found.append("")

        def came(self, text: str, starts: Sequence[int]) -> None:
            assert len(text) == len(starts)
            found[-1] += text

        def closed(self, end: int) -> None:
            del end

        def number(self, literal: str, start: int) -> None:
            del literal, start

    try:
        value: object = from_json(text, allow_partial=True)
    except ValueError:
        return
    JSONScan(Hears()).push(text)
    assert set(strings_of(value)) <= set(found)


@pytest.mark.parametrize("strategy", get_args(TextStrategy))
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("size", [1, 99])
def test_an_escaped_card_number_is_found_at_every_point(
    strategy: TextStrategy, point: Phase, parallel: bool, size: int
) -> None:
    told = list[object]()
    guard: Any = PIIDetector(strategy=strategy, phases=[point], on_violation=told.append)
    row = [side_by_side(guard, Words(strategy="warn"))] if parallel else [guard]
    chunks, result = anyio.run(streamed, row, pieces(ESCAPED, size))
    card = re.compile(CARD)
    match strategy:
        case "warn":
            assert result.output == {"a": CARD}
            assert len(told) == 1
        case "block":
            assert result.status == "tripwire"
        case "redact":
            assert result.output == {"a": "**** **** **** 1111"}
        case _:
            assert CARD not in str(result.output)
    if strategy != "warn" and point is Phase.OUTPUT_STREAM:
        assert not shows(chunks, result, card)


def test_a_number_that_is_redacted_becomes_a_string() -> None:
    for point in POINTS:
        _, result = anyio.run(streamed, [PIIDetector(phases=[point])], pieces('{"n": 4111111111111111, "m": 1}'))
        assert result.output == {"n": "************1111", "m": 1}


@pytest.mark.parametrize("point", POINTS)
def test_what_is_found_in_a_key_or_across_strings_cannot_be_edited_and_stops_the_run(point: Phase) -> None:
    class Across(TextGuard):
        id = "across"
        patterns = ('p": "q',)

    for guard, text in ((Tickets, '{"T-\\u0031": 1}'), (Tickets, '{"T-1": 1}'), (Across, '{"p": "q"}')):
        _, result = anyio.run(streamed, [guard(phases=[point])], pieces(text))
        assert (result.status, result.output) == ("tripwire", None)
        told = list[object]()
        warns = guard(strategy="warn", phases=[point], on_violation=told.append)
        _, result = anyio.run(streamed, [warns], pieces(text))
        assert result.status == "success"
        assert len(told) == 1, "what is read in two ways is told once"


def test_what_the_spelling_itself_shows_is_taken_out_and_the_answer_stays_json() -> None:
    class Digits(TextGuard):
        id = "digits"
        patterns = ("9[0-9]{3}",)

    for point in POINTS:
        _, result = anyio.run(streamed, [Digits(phases=[point])], pieces('{"a": "caf\\u00e9123 ok"}'))
        assert result.output == {"a": "caf[REDACTED] ok"}


def parts(*texts: str) -> list[Chunk]:
    """An answer in several parts."""
    return [one for n, t in enumerate(texts) for one in (TextStart(str(n)), TextDelta(t, str(n)), TextEnd(str(n)))]


def test_an_answer_that_comes_in_several_parts_is_read_as_one() -> None:
    answer = parts('{"a": "x', ' \\u0034111 1111 1111 1111", "b": "\\u0034111 1111 1111 1111"}')
    for point in POINTS:
        _, result = anyio.run(streamed, [PIIDetector(phases=[point])], answer)
        assert result.output == {"a": "x **** **** **** 1111", "b": "**** **** **** 1111"}
    _, result = anyio.run(streamed, [PIIDetector()], parts('{"a": "\\u0', '034"', ', "b": 1', "2}"))
    assert result.output == {"a": "4", "b": 12}


def test_an_escape_that_goes_through_two_parts_and_is_edited_leaves_no_object() -> None:
    for point in POINTS:
        answer = parts('{"a": "\\u0', '034111 1111 1111 1111"}')
        chunks, result = anyio.run(streamed, [PIIDetector(phases=[point])], answer)
        assert isinstance(result.error, OutputMismatch)
        assert result.output is None
        if point is Phase.OUTPUT_STREAM:
            assert not shows(chunks, result, re.compile(CARD))


class Asks(Processor):
    """Has the model asked for an object."""

    id = "asks"

    def process_input_step(self, ctx: InputStepContext) -> StepChanges:
        del ctx
        return StepChanges(output_schema=ANY)


@pytest.mark.anyio
async def test_objects_of_another_agent_pass_the_guards_of_the_one_that_asks() -> None:
    answer = ScriptedModel([pieces(ESCAPED)])
    inner = Agent(id="inner", description="Answers.", model=answer, input_processors=[Asks()])
    asking = ScriptedModel([ScriptedModel.tool_call("inner", {"prompt": "p"}), "done"])
    outer = Agent(id="outer", model=asking, tools=[inner], output_processors=[PIIDetector()])
    async with outer.stream("hello") as stream:
        told = [chunk.output async for chunk in stream if isinstance(chunk, ToolOutput)]
    objects = [one.object for one in told if isinstance(one, ObjectChunk)]
    assert objects[-1] == {"a": "**** **** **** 1111"}
    assert CARD not in str(objects)


def test_contexts_say_whether_the_answer_is_to_be_an_object_and_keep_saying_it_in_another_process() -> None:
    run = RunFacts()
    for asks in (False, True):
        run.asks_for_object = asks
        context = OutputStreamContext(chunk=TextDelta("a", "1"), run=run)
        assert context.asks_for_object is asks
        assert context_of(parts_of(context)).asks_for_object is asks


class Falls(TextGuard):
    """Finds tickets, and fails at the first exclamation mark it sees."""

    id = "falls"
    longest_match = 6
    fallen = False

    def find(self, text: str, start: int, /) -> Iterable[tuple[int, int]]:
        if "!" in text and not self.fallen:
            self.fallen = True
            raise RuntimeError("fell")
        return [found.span() for found in TICKET.finditer(text, start)]


def test_a_guard_that_goes_on_behind_a_failure_knows_where_in_the_answer_it_is() -> None:
    flow = create_workflow(id="row", input_schema=ProcessorStepSchema, output_schema=ProcessorStepSchema)
    row = flow.then(create_step(Falls(phases=[Phase.OUTPUT_STREAM]), on_failure="skip")).commit()
    cut = ['{"a": "x', "! y", ' \\u0054-1", "b": ', '"\\u0054-2"}']
    _, result = anyio.run(streamed, [row], cut)
    assert result.output == {"a": "x! y [REDACTED]", "b": "[REDACTED]"}


@pytest.mark.parametrize(
    ("cut", "shown"),
    [
        (['{"a": "x', "! y", ' \\u0054-1", "b": ', '"T-2"}'], '{"a": "x! y [REDACTED]", "b": "[REDACTED]"}'),
        (['{"a": "!x', ' \\u0054-1"}'], '{"a": "!x [REDACTED]"}'),
        (["so: longer", "! text", ' "\\u0054-1 T-1"'], 'so: longer! text "\\u0054-1 [REDACTED]"'),
    ],
)
def test_a_guard_that_goes_on_behind_a_failure_knows_where_in_the_arguments_it_is(
    cut: Sequence[str], shown: str
) -> None:
    flow = create_workflow(id="row", input_schema=ProcessorStepSchema, output_schema=ProcessorStepSchema)
    row = flow.then(create_step(Falls(phases=[Phase.OUTPUT_STREAM]), on_failure="skip")).commit()
    answer: list[Chunk] = [*(ToolCallDelta("1", piece) for piece in cut), ToolCall("1", "note", {})]
    chunks, _ = anyio.run(streamed, [row], answer, None)
    assert "".join(chunk.args_text for chunk in chunks if isinstance(chunk, ToolCallDelta)) == shown
