"""The order of a prompt: untagged system messages, tagged ones by the first use of their tag, the conversation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock import Agent, Message, MessageList, Processor
from interlock.messages.signals import put_signal, signal_message
from interlock.processors import Changes, InputContext, InputStepContext, StepChanges
from interlock.testing import ScriptedModel

TAGS = st.sampled_from([None, "a", "b", "c"])


@given(st.lists(st.tuples(TAGS, st.booleans()), max_size=12), st.integers(0, 2))
def test_system_messages_stand_first_by_tag_in_the_order_of_its_first_use(
    added: list[tuple[str | None, bool]], signals: int
) -> None:
    messages = MessageList(["hello"])
    for number in range(signals):
        put_signal(messages, signal_message(f"signal {number}"), "input")
    for number, (tag, as_message) in enumerate(added):
        text = f"{tag} {number}"
        messages.add_system(Message.system(text) if as_message else text, tag=tag)
    tags = list(dict.fromkeys(tag for tag, _ in added if tag is not None))
    wanted = [f"{tag} {n}" for wanted in (None, *tags) for n, (tag, _) in enumerate(added) if tag == wanted]
    prompt = messages.to_prompt()
    assert [m.text for m in prompt if m.role == "system"] == wanted
    assert [m.role for m in prompt] == ["system"] * len(wanted) + ["user"] * (1 + signals)
    assert [m["content"] for m in messages.to_openai()][: len(wanted)] == wanted


def test_a_tag_that_was_cleared_keeps_its_place() -> None:
    messages = MessageList(["hello"])
    messages.add_system("b1", tag="b")
    messages.add_system("a1", tag="a")
    messages.clear_system("b")
    messages.set_system(["b2", Message.system("b3")], tag="b")
    assert [m.text for m in messages.to_prompt()] == ["b2", "b3", "a1", "hello"]


class Texts(Processor):
    """Gives system messages as texts."""

    id = "texts"

    def process_input(self, ctx: InputContext) -> Changes:
        ctx.message_list.add_system("tagged", tag="t")
        return Changes(system_messages=[*ctx.system_messages, "from input"])

    def process_input_step(self, ctx: InputStepContext) -> StepChanges:
        return StepChanges(system_messages=[*(m.text for m in ctx.system_messages), "from input_step"])


@pytest.mark.anyio
async def test_a_text_is_taken_wherever_a_system_message_is_given() -> None:
    model = ScriptedModel(["ok"])
    await Agent(model=model, instructions="instructions", input_processors=[Texts()]).generate("hello")
    prompt = [(m.role, m.text) for m in model.requests[0].prompt]
    texts = ["instructions", "from input", "from input_step", "tagged"]
    assert prompt == [*(("system", text) for text in texts), ("user", "hello")]
