"""A processor that is told what a run has left."""

from __future__ import annotations

import pytest

from interlock import Agent, MessageList
from interlock.errors import DefinitionError
from interlock.processors import InputContext, KeepsTurn
from interlock.testing import ScriptedModel

pytestmark = pytest.mark.anyio


class Diary(KeepsTurn):
    id = "diary"

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[tuple[list[str], str, str | None]] = []

    async def keep(self, messages: MessageList, *, thread: str, resource: str | None) -> None:
        self.kept.append((messages.texts(), thread, resource))
        messages.remove(messages.all.ids())


@pytest.mark.parametrize("name", ["input_processors", "output_processors", "error_processors"])
async def test_it_needs_no_hook_and_is_told_in_whichever_list_it_stands(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    diary, second = Diary(), Diary()
    second.id = "second"
    agent = Agent(model=ScriptedModel(["a1"]), **{name: [diary, second]})  # type: ignore[arg-type]
    result = await agent.generate("u1", thread="t", resource="ann")
    assert diary.kept == second.kept == [(["u1", "a1"], "t", "ann")]
    assert result.messages.texts() == ["u1", "a1"]
    assert "never acts" not in capsys.readouterr().err


async def test_one_object_in_two_lists_is_told_once() -> None:
    diary = Diary()
    agent = Agent(model=ScriptedModel(["a1"]), input_processors=[diary], output_processors=[diary])
    await agent.generate("u1", thread="t")
    assert len(diary.kept) == 1


def test_a_misspelt_hook_is_told_here_too() -> None:
    with pytest.raises(DefinitionError, match="did you mean process_input"):

        class Wrong(KeepsTurn):  # pyright: ignore[reportUnusedClass]  # defining it raises
            def process_inptu(self, ctx: InputContext) -> None: ...


async def test_the_base_keeps_nothing_itself() -> None:
    class Empty(KeepsTurn):
        id = "empty"

    with pytest.raises(NotImplementedError):
        await Empty().keep(MessageList("u1"), thread="t", resource=None)
