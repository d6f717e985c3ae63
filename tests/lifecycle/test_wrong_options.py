"""Options that an agent or a call of it cannot take are refused, before anything runs, by name."""

from __future__ import annotations

from typing import Any

import pytest

from interlock import Agent, tool
from interlock.errors import DefinitionError
from interlock.runtime import MemoryRunStore

pytestmark = pytest.mark.anyio


@tool
def look() -> str:
    """Look."""
    return "seen"


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"active_tools": "look"}, "active_tools must be a list of tools' names such as .*, not 'look'"),
        ({"active_tools": 5}, "active_tools must be a list of tools' names such as .*, not 5"),
        ({"active_tools": [look]}, "active_tools must be a list of tools' names"),
        ({"tools": look}, "tools are a list of tools, functions and agents such as .*, not <Tool 'look'>"),
        ({"tools": "look"}, "tools are a list of tools"),
        ({"model_settings": [("seed", 1)]}, "model_settings must be a mapping"),
    ],
)
async def test_what_a_call_cannot_take_is_refused(option: dict[str, Any], said: str) -> None:
    agent = Agent(model="embedded/echo", tools=[look])
    with pytest.raises(DefinitionError, match=said):
        await agent.generate("hello", **option)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"tools": 5}, "tools are a list of tools"),
        ({"tools": look}, "tools are a list of tools"),
        ({"model_settings": 5}, "model_settings must be a mapping"),
        ({"run_store": "runs.db"}, "run_store is a store such as .*, not 'runs.db'"),
        ({"run_store": MemoryRunStore}, "run_store is a store such as"),
    ],
)
def test_what_an_agent_cannot_take_is_refused(option: dict[str, Any], said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        Agent(model="embedded/echo", **option)


@pytest.mark.parametrize("name", ["temperature", "top_p", "max_tokens", "seed", "max_retries"])
async def test_a_setting_of_the_model_is_pointed_to_where_it_belongs(name: str) -> None:
    agent = Agent(model="embedded/echo")
    with pytest.raises(DefinitionError, match=rf"no option '{name}': .* model_settings={{'{name}': 1}}$"):
        await agent.generate("hello", **{name: 1})  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
