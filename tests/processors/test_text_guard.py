"""``TextGuard``: one way of saying what is found; alike at every point, whole and in the stream."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, cast, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock import Agent, Phase, create_workflow, tool
from interlock.errors import DefinitionError, StepFailed
from interlock.messages import (
    Chunk,
    Message,
    ReasoningDelta,
    ReasoningEnd,
    StepFinish,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolCallDelta,
    ToolCallStart,
)
from interlock.processors import (
    InputContext,
    ModerationProcessor,
    OutputStreamContext,
    PIIDetector,
    ProcessorStepSchema,
    PromptInjectionDetector,
    TextGuard,
)
from interlock.processors.lanes.matcher import Match
from interlock.processors.text_guard import TextStrategy
from interlock.testing import ScriptedModel
from interlock.verdict import AbortSignal
from tests.lifecycle.acting import chunks_and_result

STRATEGIES: Sequence[TextStrategy] = get_args(TextStrategy)


class Tickets(TextGuard):
    """Finds tickets, by an expression."""

    id = "tickets"
    patterns = (r"T-[0-9]{1,4}",)


class Shouting(TextGuard):
    """Finds up to five capitals in a row, by a method of its own."""

    id = "shouting"
    longest_match = 5

    def find(self, text: str, start: int, /) -> Iterable[tuple[int, int]]:
        at = start
        while at < len(text):
            end = at
            while end < len(text) and end - at < 5 and "A" <= text[end] <= "Z":
                end += 1
            if end > at:
                yield at, end
            at = max(end, at + 1)


class Hasty(Shouting):
    """The same, and says what a match is made of."""

    id = "hasty"
    openers = alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


GUARDS = [Tickets, Shouting, Hasty]


def through(guard: TextGuard, chunks: Iterable[Chunk]) -> list[Chunk]:
    """What a guard lets pass of a stream, by itself."""
    ctx = OutputStreamContext(chunk=TextStart())
    out: list[Chunk] = []
    for chunk in chunks:
        ctx.chunk = chunk
        out += goes_on(guard, ctx)
    return out


def goes_on(guard: TextGuard, ctx: OutputStreamContext) -> list[Chunk]:
    given: Any = guard.process_output_stream(ctx)
    return list(cast("Sequence[Chunk]", given)) if isinstance(given, list | tuple) else [given]


def text_of(chunks: Iterable[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta))


def whole_text(guard: TextGuard, text: str) -> str:
    ctx = InputContext(text)
    guard.process_input(ctx)
    return ctx.messages[0].text


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(GUARDS), st.lists(st.text("T-19AB .", max_size=6), max_size=8))
def test_what_a_client_is_given_is_what_the_guard_makes_of_the_whole(kind: type[TextGuard], pieces: list[str]) -> None:
    guard = kind()
    text = "".join(pieces)
    chunks: list[Chunk] = [TextStart(), *(TextDelta(piece) for piece in pieces), TextEnd(), StepFinish()]
    expected = whole_text(guard, text) if text else ""
    ctx = OutputStreamContext(chunk=TextStart())
    out = ""
    for chunk in chunks:
        ctx.chunk = chunk
        out += text_of(goes_on(guard, ctx))
        assert expected.startswith(out)
        assert ctx.held.held <= guard.longest_hold
    assert out == expected


@pytest.mark.parametrize("kind", GUARDS)
@pytest.mark.parametrize("cut", [1, 2, 3, 100])
def test_a_block_lets_nothing_of_the_match_out(kind: type[TextGuard], cut: int) -> None:
    text = "we say T-12 and then"
    ctx = OutputStreamContext(chunk=TextStart())
    guard = kind(strategy="block")
    out = ""
    blocked = False
    for at in range(0, len(text), cut):
        ctx.chunk = TextDelta(text[at : at + cut])
        try:
            out += text_of(goes_on(guard, ctx))
        except AbortSignal:
            blocked = True
            break
    assert blocked
    assert "we say ".startswith(out)


def test_whoever_only_warns_holds_nothing_back() -> None:
    guard = Tickets(strategy="warn")
    chunks: list[Chunk] = [TextDelta(c) for c in "see T-12 now"]
    assert through(guard, chunks) == chunks


def test_a_chunk_that_is_not_changed_passes_as_the_same_object() -> None:
    chunk = TextDelta("nothing to see")
    assert through(Tickets(), [chunk])[0] is chunk


def test_a_text_is_flushed_where_its_part_ends_and_before_what_comes_then() -> None:
    ends: list[Chunk] = [TextEnd("a"), ToolCall("c", "look", {}), StepFinish()]
    for end in ends:
        assert through(Tickets(), [TextDelta("see T-", "a"), end]) == [
            TextDelta("see ", "a"),
            TextDelta("T-", "a"),
            end,
        ]


def test_texts_of_different_parts_do_not_join() -> None:
    chunks: list[Chunk] = [TextDelta("T", "a"), ReasoningDelta("-1", "a"), TextDelta("-", "b"), StepFinish()]
    out = through(Tickets(), chunks)
    assert [(c.text, c.id) for c in out if isinstance(c, TextDelta | ReasoningDelta)] == [
        ("-1", "a"),
        ("-", "b"),
        ("T", "a"),
    ]


def test_sealed_reasoning_that_would_have_to_be_changed_stops_the_run() -> None:
    with pytest.raises(AbortSignal, match="in a place that cannot be"):
        through(Tickets(), [ReasoningDelta("see T-1 "), ReasoningEnd(signature="sealed")])
    out = through(Tickets(), [ReasoningDelta("see T-1 "), ReasoningEnd()])
    assert "T-1" not in str(out)


def test_the_arguments_of_a_tool_stay_json_and_say_the_same_in_pieces_and_whole() -> None:
    args = {"to": "T-12 é", "n": 5, "list": ["T-1", "x"]}
    written = json.dumps(args)
    chunks: list[Chunk] = [ToolCallStart("c", "look"), *(ToolCallDelta("c", one) for one in written)]
    out = through(Tickets(), [*chunks, ToolCall("c", "look", args), StepFinish()])
    deltas = "".join(c.args_text for c in out if isinstance(c, ToolCallDelta))
    (call,) = [c for c in out if isinstance(c, ToolCall)]
    assert json.loads(deltas) == call.args == {"to": "[REDACTED] é", "n": 5, "list": ["[REDACTED]", "x"]}
    assert "T-1" not in deltas


def test_a_match_in_a_key_cannot_be_changed_and_stops_the_run() -> None:
    with pytest.raises(AbortSignal, match="in a place that cannot be"):
        through(Tickets(), [ToolCallDelta("c", '{"T-12 ": 1}')])
    with pytest.raises(AbortSignal, match="in a place that cannot be"):
        through(Tickets(), [ToolCall("c", "look", {"T-12": 1})])


@tool
def look(at: str) -> str:
    """Look at something."""
    return f"{at} says T-77"


def agent_with(guard: TextGuard, where: str) -> tuple[Agent, ScriptedModel]:
    model = ScriptedModel([["see ", "T", "-", "12 ", ScriptedModel.tool_call("look", {"at": "T-5"})], "It was T-123."])
    entries: dict[str, list[Any]] = {
        "list": [guard],
        "workflow": [
            create_workflow(id="w", input_schema=ProcessorStepSchema, output_schema=ProcessorStepSchema)
            .then(guard)
            .commit()
        ],
    }
    chosen = entries[where]
    return Agent(model=model, tools=[look], input_processors=chosen, output_processors=chosen), model


@pytest.mark.anyio
@pytest.mark.parametrize("where", ["list", "workflow"])
async def test_in_an_agent_nothing_gets_past_it(where: str) -> None:
    agent, model = agent_with(Tickets(), where)
    chunks, result = await chunks_and_result(agent, "about T-1")
    everything = str(chunks) + str(result.messages.to_json()) + model.received(0) + model.received(1)
    assert "T-" not in everything.replace("T-77 says", "")
    assert text_of(chunks) == result.text == "see [REDACTED] It was [REDACTED]."
    verdicts = {(check.phase, check.verdict) for check in result.checks}
    assert (Phase.OUTPUT_STREAM, "changed") in verdicts
    assert (Phase.INPUT, "changed") in verdicts
    assert (Phase.TOOL_RESULT, "changed") in verdicts


@pytest.mark.anyio
async def test_a_stream_that_is_only_cut_in_other_places_counts_as_passed() -> None:
    agent = Agent(model=ScriptedModel([["a T", " b T-", "x"]]), output_processors=[Tickets()])
    _, result = await chunks_and_result(agent)
    assert {check.verdict for check in result.checks} == {"passed"}
    assert result.text == "a T b T-x"


@pytest.mark.anyio
@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_streamed_and_generated_the_verdict_is_the_same(strategy: TextStrategy) -> None:
    def made() -> Agent:
        return Agent(model=ScriptedModel([["see T", "-12 ok"]]), output_processors=[Tickets(strategy=strategy)])

    _, streamed = await chunks_and_result(made())
    generated = await made().generate("hello")
    assert streamed.status == generated.status == ("tripwire" if strategy == "block" else "success")
    assert [(c.phase, c.verdict, c.reason) for c in streamed.checks] == [
        (c.phase, c.verdict, c.reason) for c in generated.checks
    ]
    if strategy != "block":
        assert streamed.text == generated.text


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_strategies_in_message_phases(strategy: TextStrategy) -> None:
    ctx = InputContext([Message.user("see T-12"), Message.user("clean")])
    guard = Tickets(strategy=strategy)
    if strategy == "block":
        with pytest.raises(AbortSignal) as raised:
            guard.process_input(ctx)
        assert raised.value.tripwire.metadata == {"kinds": ["tickets"], "count": 1}
        assert "T-12" not in str(raised.value.tripwire)
        return
    guard.process_input(ctx)
    expected = {"redact": ["see [REDACTED]", "clean"], "filter": ["clean"], "warn": ["see T-12", "clean"]}
    assert [message.text for message in ctx.messages] == expected[strategy]


def test_each_match_may_be_replaced_in_its_own_way_and_is_told() -> None:
    told: list[str] = []

    class Numbered(Tickets):
        def replace(self, match: Match, text: str, /) -> str:
            return f"<{len(text)}>"

    guard = Numbered(on_detection=lambda finding, ctx: told.append(f"{finding.kind}@{ctx.phase}"))
    assert whole_text(guard, "T-1 T-22") == "<3> <4>"
    assert told == ["tickets@input", "tickets@input"]


def test_patterns_have_names_where_they_are_a_mapping() -> None:
    guard = Tickets(strategy="block", patterns={"order": r"O-[0-9]{3}", "bill": r"B-[0-9]{3}"})
    with pytest.raises(AbortSignal) as raised:
        whole_text(guard, "O-123 and B-456")
    assert raised.value.tripwire.metadata == {"kinds": ["bill", "order"], "count": 2}


def test_it_acts_only_where_it_is_told_to() -> None:
    assert Tickets(phases=["input"]).phases == {Phase.INPUT}
    assert Tickets().phases == {
        Phase.INPUT,
        Phase.OUTPUT_STREAM,
        Phase.OUTPUT_STEP,
        Phase.TOOL_CALL,
        Phase.TOOL_RESULT,
        Phase.OUTPUT_RESULT,
    }


def test_what_cannot_work_is_refused() -> None:
    class Nothing(TextGuard):
        id = "nothing"

    class Endless(TextGuard):
        id = "endless"

        def find(self, text: str, start: int, /) -> Iterable[tuple[int, int]]:
            return ()

    with pytest.raises(DefinitionError, match="says not what is found"):
        Nothing()
    with pytest.raises(DefinitionError, match="set longest_match"):
        Endless()
    with pytest.raises(DefinitionError, match="matches of any length"):
        Tickets(patterns=["a+"])
    with pytest.raises(DefinitionError, match="no such phase: 'llm_request'"):
        Tickets(phases=["llm_request"])
    with pytest.raises(DefinitionError, match="strategy is one of"):
        Tickets(strategy="hide")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@pytest.mark.anyio
async def test_a_guard_that_breaks_its_own_word_fails_the_run_and_nothing_leaks() -> None:
    class Liar(TextGuard):
        id = "liar"
        longest_match = 2

        def find(self, text: str, start: int, /) -> Iterable[tuple[int, int]]:
            at = text.find("secret", start)
            return [(at, at + 6)] if at >= 0 else []

    agent = Agent(model=ScriptedModel([["a secret", " and more"]]), output_processors=[Liar()])
    chunks, result = await chunks_and_result(agent)
    assert isinstance(result.error, StepFailed)
    assert "longest_match is 2" in str(result.error)
    assert "secret" not in text_of(chunks)


@pytest.mark.parametrize(
    ("said", "options"),
    [
        ("a pattern is a text, .* not a Pattern", {"patterns": {"x": re.compile("a")}}),
        ("it uses look-around; .*write find", {"patterns": ["(?=a)b"]}),
        ("it uses a back-reference", {"patterns": [r"(a)\1"]}),
        (r"patterns is a list, \[pattern, …\], or a mapping", {"patterns": "a"}),
        ("replacement is a text, not 3", {"patterns": ["a"], "replacement": 3}),
        (r"scope is a Scope\(roles=…, parts=…\), not 'all'", {"patterns": ["a"], "scope": "all"}),
    ],
)
def test_what_is_no_option_is_refused_in_words(said: str, options: dict[str, Any]) -> None:
    class Told(TextGuard):
        """Whatever it is told."""

    with pytest.raises(DefinitionError, match=said):
        Told(id="any", **options)


def test_a_guard_on_text_has_an_id() -> None:
    class Nameless(TextGuard):
        patterns = ("a",)

    with pytest.raises(DefinitionError, match="it has no id"):
        Nameless()


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("found", "said"),
    [
        ("aa", "gave 'a', where a match is"),
        (None, "gave None"),
        ([("a", "b")], r"gave \('a', 'b'\), where a match is \(start, end\)"),
        ([{"a": 1}], "gave {'a': 1}"),
    ],
)
async def test_what_a_find_gives_that_is_no_match_is_told(found: Any, said: str) -> None:
    class Odd(TextGuard):
        id = "odd"
        longest_match = 3

        def find(self, text: str, start: int, /) -> Any:
            return found

    agent = Agent(model=ScriptedModel(["aaaa"]), output_processors=[Odd()])
    with pytest.raises(StepFailed, match=said):
        await agent.generate("hello")


@pytest.mark.anyio
async def test_a_find_that_waits_is_refused() -> None:
    class Waiting(TextGuard):
        id = "waiting"
        longest_match = 3

        async def find(self, text: str, start: int, /) -> Any:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
            return []

    agent = Agent(model=ScriptedModel(["aaaa"]), output_processors=[Waiting()])
    with pytest.raises(StepFailed, match=r"an async find\(\): it must be plain"):
        await agent.generate("hello")


async def told_later(*_: object) -> None:
    """Cannot be called by what does not wait."""


class CalledLater:
    """An object whose call is to be awaited."""

    async def __call__(self, *_: object) -> None: ...


@pytest.mark.parametrize("guard", [Tickets, PIIDetector, ModerationProcessor, PromptInjectionDetector])
@pytest.mark.parametrize("name", ["on_detection", "on_violation"])
@pytest.mark.parametrize(
    ("given", "said"),
    [(told_later, "cannot be awaited"), (CalledLater(), "cannot be awaited"), ("print", "is a function, not 'print'")],
)
def test_who_is_told_is_a_plain_function(guard: Any, name: str, given: object, said: str) -> None:
    with pytest.raises(DefinitionError, match=f"{guard.__name__}: {name} .*{said}"):
        guard(**{name: given})


def test_a_reading_that_there_is_not_is_refused() -> None:
    for reading in ("raw", "plain", "folded"):
        type("Reads", (Tickets,), {"reading": reading})()
    with pytest.raises(DefinitionError, match="Lower: reading is one of raw, plain, folded, not 'lower'"):
        type("Lower", (Tickets,), {"reading": "lower"})()


@pytest.mark.parametrize("pattern", ["a+", "(", "", "(?=a)b", 5])
def test_a_pattern_that_is_refused_is_said_to_be_the_guards(pattern: Any) -> None:
    with pytest.raises(DefinitionError, match=r"^Tickets, pattern of 'tickets': "):
        Tickets(patterns=[pattern])
    with pytest.raises(DefinitionError, match=r"^Tickets, pattern of 'secret': "):
        Tickets(patterns={"secret": pattern})
