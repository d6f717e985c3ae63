"""Which messages of a thread are recalled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock import Message, MessageList
from interlock.errors import StorageError
from interlock.memory import InMemoryMessageStore
from interlock.memory.whole_turns import newest_turns
from interlock.messages import Part, StepStartPart, TextPart, ToolInvocationPart
from tests.lifecycle.valid_history import assert_valid_history

pytestmark = pytest.mark.anyio

ROLES = {"u": "user", "a": "assistant", "s": "signal"}


def thread_of(roles: str) -> list[Message]:
    """Messages of these roles, by their first letters; the text tells the place."""
    return [Message(ROLES[role], f"{role}{at}") for at, role in enumerate(roles)]  # type: ignore[arg-type]


async def recalled(roles: str, last: int | None) -> str:
    store = InMemoryMessageStore()
    await store.save("t", thread_of(roles))
    return " ".join(message.text for message in await newest_turns(store, "t", last=last))


@pytest.mark.parametrize(
    ("roles", "last", "expected"),
    [
        ("uaua", None, "u0 a1 u2 a3"),
        ("uaua", 4, "u0 a1 u2 a3"),
        ("uaua", 3, "u2 a3"),
        ("uaua", 2, "u2 a3"),
        ("uaua", 1, "u2 a3"),
        ("uau", 1, "u2"),
        ("uauaaa", 2, "u2 a3 a4 a5"),
        ("ausaa", 3, "u1 s2 a3 a4"),
        ("auau", 3, "u1 a2 u3"),
        ("sua", None, "u1 a2"),
        ("aas", None, ""),
        ("aaa", 1, ""),
        ("", None, ""),
        ("", 3, ""),
        ("uaua", 0, ""),
    ],
)
async def test_the_newest_turns_are_recalled_whole(roles: str, last: int | None, expected: str) -> None:
    assert await recalled(roles, last) == expected


@given(roles=st.text("uuaas", max_size=14), last=st.none() | st.integers(0, 15))
def test_what_is_recalled_ends_the_thread_begins_with_a_user_and_is_no_longer_than_it_may(
    roles: str, last: int | None
) -> None:
    found = anyio.run(recalled, roles, last).split()
    newest = roles.rfind("u")
    assert found == [f"{role}{at}" for at, role in enumerate(roles)][len(roles) - len(found) :]
    assert not found or found[0][0] == "u"
    assert bool(found) == (newest >= 0 and last != 0)
    turn = len(roles) - newest
    assert last is None or len(found) <= max(last, turn if newest >= 0 else 0)
    if found and last is not None and turn <= last:  # nothing that would fit is left out
        left_out = roles[max(len(roles) - last, 0) : len(roles) - len(found)]
        assert "u" not in left_out


def part(number: int, kind: str) -> list[Part]:
    match kind:
        case "text":
            return [TextPart(f"text {number}")]
        case "next":
            return [StepStartPart()]
        case _:
            return [ToolInvocationPart(f"call-{number}", "track", {}, state=kind, result="r", error="e")]  # type: ignore[arg-type]


@given(
    st.lists(
        st.one_of(
            st.just("user"),
            st.lists(st.sampled_from(["text", "next", "call", "result", "error"]), min_size=1, max_size=6),
        ),
        max_size=12,
    ),
    st.none() | st.integers(1, 13),
)
def test_after_any_cut_a_provider_accepts_what_is_recalled(kinds: Sequence[str | list[str]], last: int | None) -> None:
    said: list[Message] = []
    for number, kind in enumerate(kinds):
        if isinstance(kind, str):
            said.append(Message.user(f"user {number}"))
        else:
            parts = [one for at, name in enumerate(kind) for one in part(100 * number + at, name)]
            said.append(Message("assistant", parts))

    async def cut() -> list[Message]:
        store = InMemoryMessageStore()
        await store.save("t", said)
        return await newest_turns(store, "t", last=last)

    messages = MessageList(anyio.run(cut), source="memory")
    messages.add("And now?")
    assert_valid_history(messages, begins_with_user=True)


class Broken(InMemoryMessageStore):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    async def load(self, thread: str, **options: Any) -> Sequence[Message]:
        raise self.error


async def test_a_store_that_fails_is_named_with_the_thread() -> None:
    with pytest.raises(StorageError, match=r"the store failed to load thread 't': OSError: disk gone") as told:
        await newest_turns(Broken(OSError("disk gone")), "t")
    assert isinstance(told.value.__cause__, OSError)
    own = StorageError("as it says")
    with pytest.raises(StorageError) as told:
        await newest_turns(Broken(own), "t")
    assert told.value is own


class Generous(InMemoryMessageStore):
    """Gives all there is, however much is asked for."""

    async def load(self, thread: str, *, resource: str | None = None, last: int | None = None) -> Sequence[Message]:
        return await super().load(thread, resource=resource)


async def test_of_a_store_that_gives_more_than_it_was_asked_for_no_more_is_taken() -> None:
    store = Generous()
    await store.save("t", thread_of("uauaua"))
    assert [message.text for message in await newest_turns(store, "t", last=3)] == ["u4", "a5"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "for thread 't' the store gave a NoneType, not a list of messages"),
        (iter(()), "for thread 't' the store gave a tuple_iterator, not a list of messages"),
        ("text", "for thread 't' the store gave a str among the messages"),
        ([{"role": "user"}], "for thread 't' the store gave a dict among the messages"),
    ],
)
@pytest.mark.parametrize("last", [None, 3])
async def test_a_store_that_gives_no_messages_is_told_so(given: Any, said: str, last: int | None) -> None:
    class Odd(InMemoryMessageStore):
        async def load(self, thread: str, **options: Any) -> Sequence[Message]:
            return cast("Sequence[Message]", given)

    with pytest.raises(StorageError, match=said):
        await newest_turns(Odd(), "t", last=last)
