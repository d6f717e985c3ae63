"""MessageHistory: what comes before a turn, and what of it is kept."""

from __future__ import annotations

from typing import Any, Final

import pytest

from interlock import Agent, Message, MessageList, create_step
from interlock.errors import DefinitionError, StorageError
from interlock.memory import InMemoryMessageStore
from interlock.messages import TextPart, ToolInvocationPart
from interlock.processors import InputContext, MessageHistory
from interlock.processors.seat import RunFacts
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import flow
from tests.lifecycle.valid_history import assert_valid_history

pytestmark = pytest.mark.anyio

STORE: Final = InMemoryMessageStore()


def said(role: Any, text: str, id_: str | None = None) -> Message:
    return Message(role, text, id=id_ or text)


async def history_of(*messages: Message, **options: Any) -> MessageHistory:
    """A history whose thread ``t`` holds these messages."""
    store = InMemoryMessageStore()
    await store.save("t", messages, resource="ann")
    return MessageHistory(store=store, **options)


async def recalled(history: MessageHistory, *turn: Message, thread: str | None = "t") -> MessageList:
    """The conversation once the history has looked at the turn."""
    messages = MessageList(turn)
    await history.process_input(InputContext(messages, run=RunFacts(thread=thread, resource="ann")))
    return messages


async def test_what_was_said_comes_before_the_turn_and_is_no_input() -> None:
    history = await history_of(said("user", "u1"), said("assistant", "a1"))
    messages = await recalled(history, said("user", "u2"), said("user", "u3"))
    assert messages.texts() == ["u1", "a1", "u2", "u3"]
    assert messages.remembered.texts() == ["u1", "a1"]
    assert messages.input.texts() == ["u2", "u3"]
    assert_valid_history(messages, begins_with_user=True)


async def test_no_more_than_the_last_messages_are_recalled() -> None:
    messages = [said(role, f"{role[0]}{n}") for n in range(8) for role in ("user", "assistant")]
    assert len(await recalled(await history_of(*messages), said("user", "now"))) == 11
    few = await recalled(await history_of(*messages, last_messages=3), said("user", "now"))
    assert few.texts() == ["u7", "a7", "now"]
    assert len(await recalled(await history_of(*messages, last_messages=None), said("user", "now"))) == 17
    assert (await recalled(await history_of(*messages, last_messages=0), said("user", "now"))).texts() == ["now"]


async def test_without_a_thread_nothing_is_recalled() -> None:
    history = await history_of(said("user", "u1"))
    assert (await recalled(history, said("user", "u2"), thread=None)).texts() == ["u2"]


async def test_a_message_that_the_call_brings_along_is_not_recalled_again_and_stands_where_it_stood() -> None:
    history = await history_of(said("user", "u1"), said("assistant", "a1"), said("user", "u2"), said("assistant", "a2"))
    messages = await recalled(
        history, said("user", "changed", "u1"), said("assistant", "a1"), said("user", "u2"), said("user", "u3")
    )
    assert messages.texts() == ["changed", "a1", "u2", "a2", "u3"]
    assert messages.remembered.texts() == ["a2"]


async def test_where_a_message_is_asked_again_nothing_that_came_after_it_is_recalled() -> None:
    history = await history_of(said("user", "u1"), said("assistant", "a1"), said("user", "u2"), said("assistant", "a2"))
    assert (await recalled(history, said("user", "u2"))).texts() == ["u1", "a1", "u2"]
    assert (await recalled(history, said("user", "u1"))).texts() == ["u1"]


async def test_what_is_recalled_can_be_changed_without_changing_what_is_stored() -> None:
    history = await history_of(said("user", "u1"))
    for _ in range(2):
        messages = await recalled(history, said("user", "u2"))
        assert messages.texts() == ["u1", "u2"]
        messages.remembered[0].parts[0].text = "changed"  # type: ignore[union-attr]
        assert messages.texts() == ["changed", "u2"]


async def test_system_messages_that_stand_in_a_store_do_not_become_the_agents() -> None:
    history = await history_of(said("user", "u1"), said("system", "Obey."), said("assistant", "a1"))
    messages = await recalled(history, said("user", "u2"))
    assert messages.texts() == ["u1", "a1", "u2"]
    assert messages.system_messages() == []


async def test_kept_are_the_turn_and_the_answer_and_nothing_else() -> None:
    store = InMemoryMessageStore()
    messages = MessageList([said("user", "u1")], source="memory")
    messages.add_system("You help.")
    messages.add(said("user", "background"), source="context")
    messages.add([said("user", "u2"), said("signal", "note")], source="input")
    messages.add(Message("signal", "only now", metadata={"transient": True}), source="input")
    half = ToolInvocationPart("c1", "track")
    whole = ToolInvocationPart("c2", "track", state="result", result="Leipzig")
    messages.add(Message("assistant", [half, whole, TextPart("Here.")], id="a2"), source="response")
    before = messages.to_json()

    await MessageHistory(store=store).keep(messages, thread="t", resource="ann")

    kept = await store.load("t", resource="ann")
    assert [(one.id, one.role, one.thread_id, one.resource_id) for one in kept] == [
        ("u2", "user", "t", "ann"),
        ("note", "signal", "t", "ann"),
        ("a2", "assistant", "t", "ann"),
    ]
    assert kept[2].parts == [whole, TextPart("Here.")]
    assert all(one.created_at == messages.get(one.id).created_at for one in kept)  # type: ignore[union-attr]
    assert messages.to_json() == before


async def test_keeping_a_turn_twice_is_keeping_it_once() -> None:
    store = InMemoryMessageStore()
    messages = MessageList("u1")
    messages.add("a1", source="response")
    for _ in range(2):
        await MessageHistory(store=store).keep(messages, thread="t", resource=None)
    assert [one.text for one in await store.load("t")] == ["u1", "a1"]


async def test_where_nothing_is_to_be_kept_the_store_is_not_asked() -> None:
    await MessageHistory(store=Broken()).keep(MessageList(Message.user("")), thread="t", resource=None)


class Broken(InMemoryMessageStore):
    async def save(self, *args: Any, **options: Any) -> None:
        raise OSError("disk full")


async def test_a_store_that_fails_is_a_storage_error_that_names_the_thread() -> None:
    with pytest.raises(StorageError, match=r"the store failed to save to thread 't': OSError: disk full") as told:
        await MessageHistory(store=Broken()).keep(MessageList("u1"), thread="t", resource=None)
    assert isinstance(told.value.__cause__, OSError)


@pytest.mark.parametrize(
    "options", [{"store": object()}, {"store": STORE, "last_messages": -1}, {"store": STORE, "last_messages": "3"}]
)
def test_what_makes_no_history_is_told(options: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError, match="MessageHistory"):
        MessageHistory(**options)


@pytest.mark.parametrize("shape", ["alone", "step", "workflow", "output"])
async def test_by_hand_it_does_the_same_wherever_it_stands(shape: str) -> None:
    store = InMemoryMessageStore()
    history = MessageHistory(store=store, id="mine")
    lists: dict[str, dict[str, Any]] = {
        "alone": {"input_processors": [history]},
        "step": {"input_processors": [create_step(history)]},
        "workflow": {"input_processors": [flow().then(history).commit()]},
        "output": {"output_processors": [history]},
    }
    model = ScriptedModel(["a1", "a2"])
    agent = Agent(model=model, **lists[shape])
    await agent.generate("u1", thread="t")
    result = await agent.generate("u2", thread="t")
    assert [one.text for one in await store.load("t")] == ["u1", "a1", "u2", "a2"]
    expected = ["u2", "a2"] if shape == "output" else ["u1", "a1", "u2", "a2"]
    assert result.messages.texts() == expected
