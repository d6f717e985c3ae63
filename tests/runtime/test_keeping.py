"""Memory in a run: what is kept of a turn, however the run ends, and what happens where keeping fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from interlock import Agent, Message, MessageList, Phase, tool
from interlock.errors import DefinitionError, ForeignThread, ModelError, NothingSuspended, StorageError
from interlock.memory import InMemoryMessageStore, Memory
from interlock.messages import ToolInvocationPart
from interlock.processors import KeepsTurn, Retry
from interlock.processors.seat import RunFacts
from interlock.runtime import MemoryRunStore
from interlock.runtime import ending as ending_module
from interlock.runtime.keeping import keep_turn
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Act, Everywhere, aborting, chunks_and_result

pytestmark = pytest.mark.anyio

call = ScriptedModel.tool_call


@tool
async def track(n: int = 0) -> str:
    """Where a parcel is."""
    return f"parcel {n}"


async def stored(memory: Memory, thread: str = "t", resource: str | None = "ann") -> list[tuple[str, object]]:
    """What a thread holds: roles, each with its text or the results of its tool calls."""
    found: list[tuple[str, object]] = []
    for message in await memory.store.load(thread, resource=resource):
        results = [part.result for part in message.parts if isinstance(part, ToolInvocationPart)]
        found.append((message.role, [message.text, *results] if results else message.text))
    return found


def agent_with(memory: Memory | None, script: Any, acts: dict[Phase, Act] | None = None, **options: Any) -> Agent:
    guard = Everywhere("guard", acts)
    return Agent(
        model=ScriptedModel(script),
        tools=[track],
        memory=memory,
        input_processors=[guard],
        output_processors=[guard],
        **options,
    )


def redact(ctx: Any) -> None:
    ctx.messages[0].parts[0].text = "[redacted]"


TWO_STEPS = [["I look. ", call("track", {"n": 1})], "It is in Leipzig."]


async def test_a_run_that_ends_well_leaves_the_turn_as_the_processors_left_it_and_the_answer() -> None:
    memory = Memory()

    def shorten(ctx: Any) -> None:
        ctx.messages[-1].parts[-1].text = "Leipzig."

    agent = agent_with(memory, TWO_STEPS, {Phase.INPUT: redact, Phase.OUTPUT_RESULT: shorten}, instructions="You help.")
    result = await agent.generate("my secret parcel", thread="t", resource="ann")
    kept = await memory.store.load("t", resource="ann")
    assert [message.text for message in kept] == ["[redacted]", "I look. Leipzig."]
    assert [part.type for part in kept[1].parts] == ["text", "tool-invocation", "step-start", "text"]
    assert [message.id for message in kept] == result.messages.all.ids()
    assert {(message.thread_id, message.resource_id) for message in kept} == {("t", "ann")}


async def test_what_is_stored_is_not_shared_with_the_result() -> None:
    memory = Memory()
    result = await agent_with(memory, ["hello"]).generate("hi", thread="t", resource="ann")
    result.messages[1].parts.clear()
    assert await stored(memory) == [("user", "hi"), ("assistant", "hello")]


@pytest.mark.parametrize("phase", [Phase.INPUT, Phase.INPUT_STEP, Phase.LLM_REQUEST])
async def test_a_turn_that_is_stopped_before_the_model_was_asked_leaves_nothing(phase: Phase) -> None:
    memory = Memory()
    result = await agent_with(memory, ["never"], {phase: aborting()}).generate("hi", thread="t", resource="ann")
    assert result.status == "tripwire"
    assert await stored(memory) == []
    assert list(await memory.store.threads("ann")) == []


@pytest.mark.parametrize("phase", [Phase.OUTPUT_STREAM, Phase.LLM_RESPONSE, Phase.OUTPUT_STEP, Phase.TOOL_CALL])
async def test_a_later_block_leaves_the_users_turn_and_never_the_blocked_answer(phase: Phase) -> None:
    memory = Memory()
    agent = agent_with(memory, TWO_STEPS, {Phase.INPUT: redact, phase: aborting()})
    chunks, result = await chunks_and_result(agent, "my secret", thread="t", resource="ann")
    assert result.status == "tripwire"
    assert chunks[-1].type == "tripwire"
    assert await stored(memory) == [("user", "[redacted]")]


@pytest.mark.parametrize("phase", [Phase.INPUT_STEP, Phase.OUTPUT_STREAM, Phase.OUTPUT_STEP, Phase.OUTPUT_RESULT])
async def test_a_block_in_a_later_step_leaves_the_tool_calls_of_the_accepted_ones(phase: Phase) -> None:
    memory = Memory()

    def second_step(ctx: Any) -> object:
        if ctx.message_list.response and phase is Phase.OUTPUT_RESULT:
            ctx.abort("no")
        if phase is not Phase.OUTPUT_RESULT and ctx.step_number == 1:
            return aborting()(ctx)
        return getattr(ctx, "chunk", None)

    await agent_with(memory, TWO_STEPS, {phase: second_step}).generate("hi", thread="t", resource="ann")
    assert await stored(memory) == [("user", "hi"), ("assistant", ["", "parcel 1"])]


@pytest.mark.parametrize("phase", [Phase.LLM_REQUEST, Phase.OUTPUT_STREAM, Phase.OUTPUT_STEP, Phase.OUTPUT_RESULT])
async def test_what_an_input_guard_took_out_of_a_tools_result_is_not_kept_where_a_later_guard_blocks(
    phase: Phase,
) -> None:
    memory = Memory()

    def take_out(ctx: Any) -> None:
        for message in ctx.messages:
            for part in message.parts:
                if isinstance(part, ToolInvocationPart) and part.state == "result":
                    part.result = "[redacted]"

    def second_step(ctx: Any) -> object:
        if phase is Phase.OUTPUT_RESULT or ctx.step_number == 1:
            return aborting()(ctx)
        return getattr(ctx, "chunk", None)

    acts: dict[Phase, Act] = {Phase.INPUT_STEP: take_out, phase: second_step}
    result = await agent_with(memory, TWO_STEPS, acts).generate("hi", thread="t", resource="ann")
    assert result.status == "tripwire"
    assert await stored(memory) == [("user", "hi"), ("assistant", ["", "[redacted]"])]
    assert "parcel" not in str(result.messages.to_json())


async def test_what_is_blocked_before_the_model_is_asked_again_leaves_nothing_whyever_it_is_asked_again() -> None:
    memory = Memory()

    def the_second_time(ctx: Any) -> None:
        if ctx.retry_count:
            ctx.abort("no")

    for script, when in ((["bad", "good"], Phase.OUTPUT_STEP), ([ModelError("gone"), "good"], Phase.API_ERROR)):
        again: Act = (lambda ctx: Retry()) if when is Phase.API_ERROR else aborting(retry=True)
        agent = agent_with(memory, script, {Phase.INPUT_STEP: the_second_time, when: again}, max_processor_retries=1)
        result = await agent.generate("hi", thread="t", resource="ann")
        assert (result.status, await stored(memory)) == ("tripwire", [])


async def test_a_failed_run_leaves_the_turn_and_the_tool_calls_of_accepted_steps() -> None:
    memory = Memory()
    agent = agent_with(memory, [*TWO_STEPS[:1], ["It is", ModelError("gone", status=400)]])
    with pytest.raises(ModelError):
        await agent.generate("hi", thread="t", resource="ann")
    assert await stored(memory) == [("user", "hi"), ("assistant", ["", "parcel 1"])]


async def test_an_answer_that_the_last_guards_failed_to_judge_is_not_kept() -> None:
    memory = Memory()

    def fail(ctx: Any) -> None:
        raise ValueError("undecided")

    with pytest.raises(Exception, match="undecided"):
        await agent_with(memory, ["secret"], {Phase.OUTPUT_RESULT: fail}).generate("hi", thread="t", resource="ann")
    assert await stored(memory) == [("user", "hi")]


async def test_a_canceled_run_leaves_the_turn_and_not_half_an_answer() -> None:
    memory = Memory()
    async with agent_with(memory, [["It ", "is ", "here"]]).stream("hi", thread="t", resource="ann") as stream:
        async for chunk in stream:
            if chunk.type == "text-delta":
                stream.cancel()
        assert (await stream.result()).status == "canceled"
    assert await stored(memory) == [("user", "hi")]


async def test_a_run_whose_task_is_cancelled_leaves_the_same() -> None:
    memory = Memory()
    with anyio.CancelScope() as scope:

        def cancel(ctx: Any) -> object:
            scope.cancel()
            return ctx.chunk

        agent = agent_with(memory, ["It is here"], {Phase.OUTPUT_STREAM: cancel})
        await agent.generate("hi", thread="t", resource="ann")
    assert scope.cancelled_caught
    assert await stored(memory) == [("user", "hi")]


async def test_rejected_answers_are_not_kept_and_neither_is_why() -> None:
    memory = Memory()

    def judge(ctx: Any) -> None:
        if ctx.text == "bad":
            ctx.abort("it is bad", retry=True)

    agent = agent_with(memory, ["bad", "good"], {Phase.OUTPUT_STEP: judge}, max_processor_retries=1)
    await agent.generate("hi", thread="t", resource="ann")
    assert await stored(memory) == [("user", "hi"), ("assistant", "good")]


async def test_signals_are_kept_where_they_stood_and_transient_ones_are_not() -> None:
    memory = Memory()

    def remind(ctx: Any) -> None:
        ctx.send_signal("Be brief.")
        ctx.send_signal("Only now.", transient=True)

    agent = agent_with(memory, ["one", "two"], {Phase.INPUT: remind})
    await agent.generate("hi", thread="t", resource="ann")
    assert await stored(memory) == [("user", "hi"), ("signal", "Be brief."), ("assistant", "one")]
    result = await agent.generate("and?", thread="t", resource="ann")
    roles = ["user", "signal", "assistant", "user", "signal", "signal", "assistant"]
    assert [message.role for message in result.messages] == roles


async def test_without_a_thread_nothing_is_recalled_or_kept() -> None:
    memory = Memory()
    agent = agent_with(memory, ["one", "two"])
    await agent.generate("hi", resource="ann")
    result = await agent.generate("again")
    assert result.messages.texts() == ["again", "two"]
    assert list(await memory.store.threads("ann")) == []
    assert list(await memory.store.threads()) == []


async def test_hooks_know_thread_and_resource() -> None:
    seen: list[tuple[str | None, str | None]] = []
    agent = agent_with(Memory(), ["one", "two"], {Phase.OUTPUT_RESULT: lambda c: seen.append((c.thread, c.resource))})
    await agent.generate("hi", thread="t", resource="ann")
    await agent.generate("hi")
    assert seen == [("t", "ann"), (None, None)]


async def test_a_thread_without_a_memory_is_an_error_that_says_so() -> None:
    with pytest.raises(DefinitionError, match=r"names thread 't', but the agent has no memory: pass memory=Memory\(\)"):
        await agent_with(None, ["never"]).generate("hi", thread="t")


@pytest.mark.parametrize("options", [{"thread": ""}, {"thread": 3}, {"resource": ""}, {"resource": b"x"}])
async def test_a_thread_or_resource_that_is_no_text_is_told(options: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError, match=f"{next(iter(options))} must be a text that is not empty"):
        await agent_with(Memory(), ["never"]).generate("hi", **options)


@pytest.mark.parametrize("memory", [InMemoryMessageStore(), Memory, True])
def test_what_is_no_memory_is_told(memory: Any) -> None:
    with pytest.raises(DefinitionError, match=r"agent 'agent': memory is a Memory, such as Memory\(\)"):
        Agent(model="embedded/echo", memory=memory)


async def test_another_resources_thread_fails_the_run_and_is_not_touched() -> None:
    memory = Memory()
    agent = agent_with(memory, ["secret", "never"])
    await agent.generate("hi", thread="t", resource="ann")
    with pytest.raises(ForeignThread):
        await agent.generate("tell me", thread="t", resource="bob")
    assert await stored(memory) == [("user", "hi"), ("assistant", "secret")]


class Unreadable(InMemoryMessageStore):
    async def load(self, thread: str, *, resource: str | None = None, last: int | None = None) -> Sequence[Message]:
        raise OSError("disk gone")


async def test_a_run_whose_thread_cannot_be_read_fails_before_the_model_is_asked() -> None:
    model = ScriptedModel(["never"])
    with pytest.raises(StorageError, match="failed to load thread 't': OSError: disk gone"):
        await Agent(model=model, memory=Memory(Unreadable())).generate("hi", thread="t")
    assert model.calls == 0


class Failing(InMemoryMessageStore):
    def __init__(self) -> None:
        super().__init__()
        self.tried = 0

    async def save(self, thread: str, messages: Sequence[Message], *, resource: str | None = None) -> None:
        self.tried += 1
        raise OSError("disk full")


async def test_a_store_that_fails_makes_a_run_fail_that_had_ended_well() -> None:
    chunks, result = await chunks_and_result(agent_with(Memory(Failing()), ["hello"]), "hi", thread="t")
    assert result.status == "failed"
    assert isinstance(result.error, StorageError)
    assert "thread 't': OSError: disk full" in str(result.error)
    assert chunks[-1].type == "error"


async def test_where_the_run_has_not_ended_well_a_failing_store_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    agent = agent_with(Memory(Failing()), ["hello"], {Phase.OUTPUT_STEP: aborting()})
    result = await agent.generate("hi", thread="t")
    assert result.status == "tripwire"
    assert result.error is None
    assert "a run's end could not be stored" in capsys.readouterr().err


class Hanging(InMemoryMessageStore):
    async def save(self, thread: str, messages: Sequence[Message], *, resource: str | None = None) -> None:
        await anyio.sleep_forever()


async def test_a_store_that_hangs_holds_a_run_up_only_so_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ending_module, "LONGEST_KEEPING", 0.01)
    agent = agent_with(Memory(Hanging()), ["hello"], {Phase.OUTPUT_STEP: aborting()})
    assert (await agent.generate("hi", thread="t")).status == "tripwire"
    assert "took more than 0.01 s" in capsys.readouterr().err


async def test_a_caller_that_is_cancelled_while_the_store_hangs_waits_only_so_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ending_module, "LONGEST_KEEPING", 0.01)
    saving = anyio.Event()

    class Slow(Hanging):
        async def save(self, thread: str, messages: Sequence[Message], *, resource: str | None = None) -> None:
            saving.set()
            await super().save(thread, messages, resource=resource)

    async with anyio.create_task_group() as group:

        async def run() -> None:
            await agent_with(Memory(Slow()), ["hello"]).generate("hi", thread="t")

        group.start_soon(run)
        await saving.wait()
        group.cancel_scope.cancel()
    assert "took more than 0.01 s" in capsys.readouterr().err


async def test_a_conversation_that_is_handed_on_is_neither_recalled_nor_kept_twice() -> None:
    memory = Memory()
    agent = agent_with(memory, ["one", "two"])
    messages = (await agent.generate("hi", thread="t", resource="ann")).messages
    messages.add("and?")
    result = await agent.generate(messages, thread="t", resource="ann")
    assert result.messages.texts() == ["hi", "one", "and?", "two"]
    assert [text for _, text in await stored(memory)] == ["hi", "one", "and?", "two"]


async def test_a_run_that_was_resumed_in_another_process_keeps_the_whole_turn() -> None:
    @tool(needs_approval=True)
    def refund(order: str) -> str:
        """Pay money back."""
        return f"paid for {order}"

    memory, runs = Memory(), MemoryRunStore()

    def agent(*script: Any) -> Agent:
        return Agent(model=ScriptedModel(script), tools=[refund], memory=memory, run_store=runs)

    waits = await agent(call("refund", {"order": "1"})).generate("money back", thread="t", resource="ann")
    assert waits.status == "suspended"
    assert await stored(memory) == []
    await agent("Done.").resume(waits.run_id, approve=True)
    assert await stored(memory) == [("user", "money back"), ("assistant", ["Done.", "paid for 1"])]


class Keeper(KeepsTurn):
    def __init__(self, id: str, error: Exception | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.error = error
        self.kept: list[list[str]] = []

    async def keep(self, messages: MessageList, *, thread: str, resource: str | None) -> None:
        self.kept.append(messages.texts())
        if self.error is not None:
            raise self.error


async def test_one_that_fails_does_not_keep_the_others_from_keeping() -> None:
    first, second, third = Keeper("a", KeyError("x")), Keeper("b", StorageError("later")), Keeper("c")
    facts = RunFacts("run-1", thread="t")
    with pytest.raises(StorageError, match=r"run 'run-1': 'a' could not keep the turn in thread 't': KeyError") as told:
        await keep_turn(lambda: [first, Everywhere(), second, third], facts, MessageList("hi"), whole=True)
    assert isinstance(told.value.__cause__, KeyError)
    assert first.kept == second.kept == third.kept == [["hi"]]


async def test_where_nothing_was_accepted_nobody_is_asked() -> None:
    keeper = Keeper("a")
    remembered = MessageList("before", source="memory")
    await keep_turn(lambda: [keeper], RunFacts(thread="t"), remembered, whole=True)
    assert keeper.kept == []


async def test_the_journal_of_a_run_is_told_its_end_where_the_turn_could_not_be_kept() -> None:
    @tool(needs_approval=True)
    def refund(order: str) -> str:
        """Pay money back."""
        return "paid"

    script: Any = [call("refund", {"order": "1"}), "Done."]
    agent = Agent(model=ScriptedModel(script), tools=[refund], memory=Memory(Failing()), run_store=MemoryRunStore())
    waits = await agent.generate("money back", thread="t")
    with pytest.raises(StorageError, match="disk full"):
        await agent.resume(waits.run_id, approve=True)
    with pytest.raises(NothingSuspended, match="it has ended: failed"):
        await agent.resume(waits.run_id, approve=True)
