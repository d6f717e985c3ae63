"""What every store of messages does. A further store is one more line of ``STORES``."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

import anyio
import pytest

from interlock import Message
from interlock.errors import ForeignThread
from interlock.memory import InMemoryMessageStore, MessageStore
from interlock.messages import ToolInvocationPart

pytestmark = pytest.mark.anyio

STORES: Final[list[Callable[[], MessageStore]]] = [InMemoryMessageStore]

given_a_store = pytest.mark.parametrize("make", STORES)


def user(text: str, id_: str | None = None) -> Message:
    return Message("user", text, id=id_ or text)


def texts(messages: object) -> list[str]:
    return [message.text for message in messages]  # type: ignore[attr-defined]


@given_a_store
async def test_a_thread_gives_its_newest_messages_in_the_order_in_which_they_came(
    make: Callable[[], MessageStore],
) -> None:
    store = make()
    assert list(await store.load("t", resource="ann")) == []
    await store.save("t", [user("a"), user("b")], resource="ann")
    await store.save("t", [user("c")], resource="ann")
    assert texts(await store.load("t", resource="ann")) == ["a", "b", "c"]
    assert texts(await store.load("t", resource="ann", last=2)) == ["b", "c"]
    assert texts(await store.load("t", resource="ann", last=9)) == ["a", "b", "c"]
    assert texts(await store.load("t", resource="ann", last=0)) == []


@given_a_store
async def test_a_message_whose_id_is_there_takes_that_ones_place(make: Callable[[], MessageStore]) -> None:
    store = make()
    await store.save("t", [user("a", "1"), user("b", "2")])
    for _ in range(2):
        await store.save("t", [user("A", "1"), user("c", "3")])
    assert texts(await store.load("t")) == ["A", "b", "c"]


@given_a_store
async def test_of_a_message_that_is_saved_twice_at_once_the_later_form_is_kept(
    make: Callable[[], MessageStore],
) -> None:
    store = make()
    await store.save("t", [user("a", "1"), user("b", "2"), user("A", "1")])
    assert texts(await store.load("t")) == ["A", "b"]


@given_a_store
async def test_what_is_kept_and_what_is_given_are_copies(make: Callable[[], MessageStore]) -> None:
    store = make()
    message = Message("assistant", [ToolInvocationPart("c1", "track", {"n": [1]}, state="result")], metadata={"a": [1]})

    def spoil(one: Message) -> None:
        part = one.parts[0]
        assert isinstance(part, ToolInvocationPart)
        part.args["n"].append(2)
        one.metadata["a"].append(2)
        one.parts.clear()

    await store.save("t", [message])
    spoil(message)
    spoil((await store.load("t"))[0])
    loaded = (await store.load("t"))[0]
    assert loaded.parts == [ToolInvocationPart("c1", "track", {"n": [1]}, state="result")]
    assert loaded.metadata == {"a": [1]}


@given_a_store
async def test_a_message_comes_back_with_all_it_says_about_itself(make: Callable[[], MessageStore]) -> None:
    store = make()
    message = Message(
        "assistant",
        "hello",
        id="m1",
        created_at=datetime(2024, 5, 1, 12, tzinfo=UTC),
        thread_id="t",
        resource_id="ann",
        metadata={"a": 1},
        provider_metadata={"openai": {"id": "x"}},
    )
    await store.save("t", [message], resource="ann")
    assert (await store.load("t", resource="ann"))[0] == message


@given_a_store
async def test_another_resource_is_refused_whatever_it_wants(make: Callable[[], MessageStore]) -> None:
    store = make()
    await store.save("t", [user("secret", "1")], resource="ann")
    await store.save("open", [user("nobody's", "1")])
    for thread, resource in (("t", "bob"), ("t", None), ("open", "bob")):
        with pytest.raises(ForeignThread):
            await store.load(thread, resource=resource)
        with pytest.raises(ForeignThread):
            await store.save(thread, [user("mine now", "1")], resource=resource)
        with pytest.raises(ForeignThread):
            await store.save(thread, [], resource=resource)
        with pytest.raises(ForeignThread):
            await store.delete(thread, resource=resource)
    assert texts(await store.load("t", resource="ann")) == ["secret"]
    assert texts(await store.load("open")) == ["nobody's"]


@given_a_store
async def test_messages_of_one_id_in_two_threads_are_two_messages(make: Callable[[], MessageStore]) -> None:
    store = make()
    await store.save("one", [user("a", "1")], resource="ann")
    await store.save("two", [user("b", "1")], resource="bob")
    assert texts(await store.load("one", resource="ann")) == ["a"]


@given_a_store
async def test_a_deleted_thread_is_gone_and_its_name_is_free(make: Callable[[], MessageStore]) -> None:
    store = make()
    assert not await store.delete("t", resource="ann")
    await store.save("t", [user("a")], resource="ann")
    assert await store.delete("t", resource="ann")
    assert list(await store.load("t", resource="bob")) == []
    await store.save("t", [user("b")], resource="bob")
    assert texts(await store.load("t", resource="bob")) == ["b"]


@given_a_store
async def test_a_resource_is_told_its_own_threads_the_newest_first(make: Callable[[], MessageStore]) -> None:
    store = make()
    before = datetime.now(UTC)
    for thread, resource in (("a", "ann"), ("b", "ann"), ("c", "bob"), ("d", None), ("a", "ann")):
        await store.save(thread, [Message.user(thread)], resource=resource)
    found = await store.threads("ann")
    assert [(one.thread, one.resource, one.messages) for one in found] == [("a", "ann", 2), ("b", "ann", 1)]
    assert before <= found[0].created_at <= found[1].created_at <= found[0].updated_at <= datetime.now(UTC)
    assert [one.thread for one in await store.threads()] == ["d"]
    assert list(await store.threads("eve")) == []


@given_a_store
async def test_saving_nothing_begins_no_thread(make: Callable[[], MessageStore]) -> None:
    store = make()
    await store.save("t", [], resource="ann")
    assert list(await store.threads("ann")) == []


@given_a_store
async def test_a_cancelled_save_has_written_nothing(make: Callable[[], MessageStore]) -> None:
    store = make()
    with anyio.CancelScope() as scope:
        scope.cancel()
        await store.save("t", [user("a")])
    assert scope.cancelled_caught
    assert list(await store.load("t")) == []


@given_a_store
async def test_a_store_is_a_message_store(make: Callable[[], MessageStore]) -> None:
    assert isinstance(make(), MessageStore)


def test_threads_with_event_loops_of_their_own_share_a_store_in_memory() -> None:
    store = InMemoryMessageStore()

    async def save(name: int) -> None:
        for number in range(50):
            await store.save("t", [user(f"{name}-{number}")])

    threads = [threading.Thread(target=anyio.run, args=(save, name)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = texts(anyio.run(store.load, "t"))
    for name in range(4):
        assert [text for text in kept if text.startswith(f"{name}-")] == [f"{name}-{number}" for number in range(50)]
    assert len(kept) == 200
    assert repr(store) == "<InMemoryMessageStore of 1 threads>"
