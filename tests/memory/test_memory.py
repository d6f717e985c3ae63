"""The memory of an agent: what may be said of it."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.errors import DefinitionError
from interlock.memory import InMemoryMessageStore, Memory


def test_a_memory_has_a_store_of_its_own_unless_it_is_given_one() -> None:
    assert isinstance(Memory().store, InMemoryMessageStore)
    assert Memory().store is not Memory().store
    store = InMemoryMessageStore()
    memory = Memory(store, last_messages=None)
    assert memory.store is store
    assert memory.last_messages is None
    assert Memory().last_messages == 10
    assert repr(memory) == "Memory(<InMemoryMessageStore of 0 threads>, last_messages=None)"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"store": object()}, "store is a MessageStore, with load, save, delete and threads, not object"),
        ({"store": InMemoryMessageStore}, r"store is the class InMemoryMessageStore: pass an instance"),
        ({"last_messages": -1}, "last_messages is a whole number from 0, or None for all, not -1"),
        ({"last_messages": True}, "last_messages is a whole number from 0, or None for all, not True"),
        ({"last_messages": 2.5}, r"not 2\.5"),
    ],
)
def test_what_makes_no_memory_is_told(options: dict[str, Any], said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        Memory(**options)


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(DefinitionError) as told:
        Memory(object(), last_messages=-1)  # type: ignore[arg-type]  # what is tested
    assert len(told.value.faults) == 2
