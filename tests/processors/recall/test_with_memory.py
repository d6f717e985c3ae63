"""What a memory puts around an agent's own processors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from interlock import Agent, Phase, create_step
from interlock.errors import DefinitionError
from interlock.memory import InMemoryMessageStore, Memory
from interlock.processors import MessageHistory
from interlock.processors.compose import ProcessorLike
from interlock.processors.recall.with_memory import with_memory
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Everywhere, flow


def mine() -> MessageHistory:
    return MessageHistory(store=InMemoryMessageStore())


def test_history_comes_before_the_users_own_processors() -> None:
    memory, own = Memory(last_messages=7), Everywhere("own")
    lists = with_memory(memory, {"input": [own], "output": [own]})
    history, second = lists["input"]
    assert isinstance(history, MessageHistory)
    assert second is own
    assert lists["output"] == [own]


def test_a_list_that_is_not_there_is_not_made() -> None:
    assert with_memory(Memory(), {"output": ()}) == {"output": ()}


def placed(own: MessageHistory, how: str) -> Sequence[ProcessorLike]:
    """An input list in which it stands."""
    match how:
        case "alone":
            return [own]
        case "last":
            return (Everywhere("own"), own)
        case "step":
            return [create_step(own)]
        case "workflow":
            return [flow().then(Everywhere("own")).then(own).commit()]
        case _:
            return [flow("outer").then(flow("inner").then(own).commit()).commit()]


@pytest.mark.parametrize("how", ["alone", "last", "step", "workflow", "deep"])
def test_a_users_processor_of_that_id_replaces_it(how: str) -> None:
    given = placed(mine(), how)
    assert with_memory(Memory(), {"input": given})["input"] is given


def test_one_of_another_id_does_not() -> None:
    other = MessageHistory(store=InMemoryMessageStore(), id="archive")
    assert len(with_memory(Memory(), {"input": [other]})["input"]) == 2


@pytest.mark.parametrize("wrong", [["text"], "text", 3, [Everywhere], [Everywhere("")]])
def test_what_is_no_list_of_processors_is_told_as_ever(wrong: Any) -> None:
    with pytest.raises(DefinitionError, match="input_processors"):
        Agent(model="embedded/echo", input_processors=wrong, memory=Memory())


@pytest.mark.anyio
async def test_memory_stays_around_the_lists_of_a_call_and_those_that_are_functions() -> None:
    memory = Memory()
    agent = Agent(model=ScriptedModel(lambda _: "ok"), memory=memory, output_processors=lambda _: [Everywhere("out")])
    await agent.generate("one", thread="t")
    own = Everywhere("call")
    result = await agent.generate("two", thread="t", input_processors=[own])
    assert result.messages.texts() == ["one", "ok", "two", "ok"]
    assert "call:input" in own.log
    by_function = Agent(model=ScriptedModel(lambda _: "ok"), memory=memory, input_processors=lambda _: [own])
    assert len((await by_function.generate("three", thread="t")).messages) == 6
    assert len(await memory.store.load("t")) == 6


def test_the_picture_of_an_agent_shows_it() -> None:
    agent = Agent(model="embedded/echo", memory=Memory())
    assert agent.composed.acts(Phase.INPUT)
    assert "message-history" in agent.to_mermaid()
