"""``PrefillErrorHandler``: a provider that does not go on from an answer is asked to, once, by every agent."""

from __future__ import annotations

import pytest

from interlock import Agent, Message, Processor
from interlock.errors import ModelError
from interlock.memory import Memory
from interlock.processors import APIErrorContext, PrefillErrorHandler, Retry
from interlock.testing import ScriptedModel

pytestmark = pytest.mark.anyio

REFUSED = ModelError(
    "This model does not support assistant message prefill. The conversation must end with a user message.", status=400
)
SAID = [Message.user("Count to ten."), Message.assistant("One, two")]


async def test_every_agent_asks_again_with_a_reminder_that_is_not_remembered() -> None:
    model = ScriptedModel([REFUSED, "three"])
    memory = Memory()
    agent = Agent(model=model, memory=memory)
    result = await agent.generate(SAID, thread="t")
    assert result.text == "three"
    assert model.requests[0].prompt[-1].role == "assistant"
    assert model.requests[1].prompt[-1].role == "user"
    assert "continue" in model.received(1)
    kept = await memory.store.load("t")
    assert "continue" not in str([message.text for message in kept])


async def test_it_asks_again_once() -> None:
    model = ScriptedModel(lambda _: REFUSED)
    with pytest.raises(ModelError, match="prefill"):
        await Agent(model=model).generate(SAID)
    assert model.calls == 2


@pytest.mark.parametrize(
    "error",
    [
        ModelError("Expected last role User or Tool (or Assistant with prefix True)", status=400),
        ModelError("bad request", status=400, body='{"error": "the conversation must end with a user message"}'),
    ],
)
def test_it_knows_how_providers_say_so(error: ModelError) -> None:
    assert PrefillErrorHandler().process_api_error(APIErrorContext(SAID, error=error)) == Retry()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ModelError("the prompt is too long", status=400), SAID),
        (ModelError("prefill service is down", status=503), SAID),
        (ValueError("prefill"), SAID),
        (REFUSED, SAID[:1]),
    ],
)
def test_other_failures_are_left_alone(error: Exception, said: list[Message]) -> None:
    ctx = APIErrorContext(said, error=error)
    assert PrefillErrorHandler().process_api_error(ctx) is None
    assert len(ctx.messages) == len(said)


async def test_a_handler_of_ones_own_with_its_id_takes_its_place() -> None:
    class Own(Processor):
        id = "prefill-error-handler"

        def process_api_error(self, ctx: APIErrorContext) -> None:
            """Does nothing about it."""

    model = ScriptedModel([REFUSED, "three"])
    with pytest.raises(ModelError, match="prefill"):
        await Agent(model=model, error_processors=[Own()]).generate(SAID)
    assert model.calls == 1
