"""Objects made of answers: of the text as the guards left it, piece by piece and whole."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from pydantic import BaseModel

from interlock import Agent, Processor
from interlock.errors import DefinitionError, InvalidProcessorReturn, OutputMismatch
from interlock.messages import Chunk, ErrorChunk, Finish, ObjectChunk, TextDelta
from interlock.models import LanguageModel
from interlock.processors import InputStepContext, OutputResultContext, OutputStreamContext, StepChanges
from interlock.runtime.objects import PartialObject
from interlock.testing import ScriptedModel

pytestmark = pytest.mark.anyio


class Trip(BaseModel):
    to: str
    days: int


PIECES = ['{"to": "Ro', 'me", ', '"days": ', "3", "}"]


def agent(model: LanguageModel | None = None, **more: object) -> Agent:
    return Agent(model=model or ScriptedModel([PIECES]), **more)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


async def read(of: Agent, schema: object = Trip, **options: object) -> tuple[Sequence[Chunk], object]:
    """The chunks of a run and its output."""
    async with of.stream("hello", output_schema=schema, **options) as stream:  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        chunks = [chunk async for chunk in stream]
        return chunks, (await stream.result()).output


async def test_the_answer_becomes_the_object_and_the_model_is_told_what_is_wanted() -> None:
    model = ScriptedModel([PIECES])
    result = await agent(model).generate("hello", output_schema=Trip)
    assert result.output == Trip(to="Rome", days=3)
    assert model.requests[0].output_schema == Trip.model_json_schema()


async def test_what_is_there_of_it_is_streamed_as_it_changes_and_the_whole_before_the_end() -> None:
    chunks, output = await read(agent())
    objects = [(c.object, c.final) for c in chunks if isinstance(c, ObjectChunk)]
    assert objects == [
        ({}, False),
        ({"to": "Rome"}, False),
        ({"to": "Rome", "days": 3}, False),
        ({"to": "Rome", "days": 3}, True),
    ]
    assert [c.type for c in chunks[-2:]] == ["object", "finish"]
    assert output == Trip(to="Rome", days=3)
    at = [n for n, c in enumerate(chunks) if isinstance(c, ObjectChunk)]
    assert isinstance(chunks[at[1] - 1], TextDelta)


class Masks(Processor):
    """Writes ``[X]`` in place of Rome, in the stream and at the end."""

    id = "masks"

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.rest = ""

    def process_output_stream(self, ctx: OutputStreamContext) -> Chunk | None:
        self.seen.add(ctx.chunk.type)
        if not isinstance(ctx.chunk, TextDelta):
            return ctx.chunk
        self.rest += ctx.chunk.text
        if '"Ro' in self.rest and "Rome" not in self.rest:
            return None
        text, self.rest = self.rest.replace("Rome", "[X]"), ""
        return ctx.chunk.replace(text=text)


async def test_objects_are_made_of_the_text_that_the_guards_let_pass_and_of_no_other() -> None:
    masks = Masks()
    chunks, output = await read(agent(output_processors=[masks]))
    objects = [c.object for c in chunks if isinstance(c, ObjectChunk)]
    assert "Ro" not in str(objects)
    assert objects[-1] == {"to": "[X]", "days": 3}
    assert output == Trip(to="[X]", days=3)
    assert "object" not in masks.seen


async def test_what_output_result_makes_of_the_answer_is_what_the_object_is_made_of() -> None:
    class Longer(Processor):
        id = "longer"

        def process_output_result(self, ctx: OutputResultContext) -> None:
            ctx.messages[-1].parts[0].text = '{"to": "Rome", "days": 4}'  # type: ignore[union-attr]  # pyright: ignore[reportAttributeAccessIssue]

    _, output = await read(agent(output_processors=[Longer()]))
    assert output == Trip(to="Rome", days=4)


async def test_an_answer_that_does_not_fit_fails_the_run_and_says_what_does_not() -> None:
    model = ScriptedModel(['{"to": "Rome"}'] * 2)
    with pytest.raises(OutputMismatch, match="'Trip': days: Field required"):
        await agent(model).generate("hello", output_schema=Trip)
    chunks, output = await read(agent(model))
    assert isinstance(chunks[-1], ErrorChunk)
    assert not any(isinstance(c, Finish) or (isinstance(c, ObjectChunk) and c.final) for c in chunks)
    assert output is None


async def test_after_a_tripwire_there_is_no_object() -> None:
    class Stops(Processor):
        id = "stops"

        def process_output_result(self, ctx: OutputResultContext) -> None:
            ctx.abort("no")

    chunks, output = await read(agent(output_processors=[Stops()]))
    assert output is None
    assert not any(isinstance(c, ObjectChunk) and c.final for c in chunks)


async def test_of_several_steps_the_last_ones_text_is_the_answer() -> None:
    def look() -> str:
        """Look."""
        return "seen"

    model = ScriptedModel([["let me see", ScriptedModel.tool_call("look", {})], PIECES])
    _, output = await read(agent(model, tools=[look]))
    assert output == Trip(to="Rome", days=3)


async def test_what_an_earlier_step_said_is_not_taken_for_the_answer_of_one_that_said_nothing() -> None:
    def look() -> str:
        """Look."""
        return "seen"

    model = ScriptedModel([[*PIECES, ScriptedModel.tool_call("look", {})], []])
    with pytest.raises(OutputMismatch):
        await agent(model, tools=[look]).generate("hello", output_schema=Trip)


async def test_a_json_schema_gives_json_values() -> None:
    _, output = await read(agent(), {"type": "object", "required": ["days"]})
    assert output == {"to": "Rome", "days": 3}


async def test_a_processor_may_ask_for_something_else_or_for_nothing() -> None:
    class Other(Processor):
        id = "other"

        def __init__(self, schema: object) -> None:
            super().__init__()
            self.schema = schema

        def process_input_step(self, ctx: InputStepContext) -> StepChanges:
            assert ctx.output_schema is Trip
            return StepChanges(output_schema=self.schema)

    _, output = await read(agent(input_processors=[Other(dict[str, str | int])]))
    assert output == {"to": "Rome", "days": 3}
    chunks, output = await read(agent(input_processors=[Other(None)]))
    assert output is None
    assert not any(isinstance(c, ObjectChunk) for c in chunks)
    with pytest.raises(InvalidProcessorReturn, match="output_schema"):
        await agent(input_processors=[Other("Trip")]).generate("hello", output_schema=Trip)


async def test_what_is_no_schema_is_refused_before_anything_runs() -> None:
    with pytest.raises(DefinitionError, match=r"there is no type 'text'"):
        agent().stream("hello", output_schema={"type": "text"})


@pytest.mark.parametrize("release", ["step", "run"])
async def test_objects_of_a_rejected_answer_are_held_back_with_its_text(release: str) -> None:
    asked = 0

    class Once(Processor):
        id = "once"

        def process_output_result(self, ctx: OutputResultContext) -> None:
            nonlocal asked
            asked += 1
            if asked == 1:
                ctx.abort("again", retry=True)

    model = ScriptedModel(['{"to": "Oslo", "days": 1}', PIECES])
    of = agent(model, output_processors=[Once()], max_processor_retries=1)
    chunks, output = await read(of, release=release)
    assert output == Trip(to="Rome", days=3)
    if release == "run":
        assert "Oslo" not in str([c.object for c in chunks if isinstance(c, ObjectChunk)])


def test_a_long_text_is_not_read_again_with_every_delta() -> None:
    partial = PartialObject()
    partial.add('{"text": [')
    made = sum(partial.add(f"{n}, ") is not None for n in range(20_000))
    assert 500 < made < 2_500
