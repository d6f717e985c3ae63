"""From an agent and a call's options to a run that is about to begin."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import TYPE_CHECKING, Any, cast

from interlock.context import RequestContext
from interlock.errors import DefinitionError
from interlock.messages import Message, MessageList, Source
from interlock.models import resolve_model
from interlock.processors.base import Processor
from interlock.processors.compose import ProcessorLike
from interlock.processors.contexts import InputStepContext
from interlock.processors.seat import RunFacts
from interlock.runtime.agent_run import AgentRun, CallSettings
from interlock.runtime.call_check import as_tools
from interlock.runtime.keeping import check_thread, composed_lists
from interlock.runtime.options import CallOptions, Conversation, PrepareStep, ProcessorList
from interlock.runtime.points import Points
from interlock.runtime.processor_lists import ProcessorLists
from interlock.runtime.shelf import Answer
from interlock.runtime.tool_tasks import ToolTasks

if TYPE_CHECKING:
    from interlock.runtime.agent import Agent
    from interlock.runtime.agent_journal import Told

__all__ = ["open_run", "reopened_run"]

_LISTS = ("input", "output", "error")
_NO_DATA = (
    "model",
    "tools",
    "prepare_step",
    "output_schema",
    "input_processors",
    "output_processors",
    "error_processors",
)


async def open_run(agent: Agent, asked: Conversation, options: CallOptions, tool_tasks: ToolTasks) -> AgentRun:
    """Make the run: lists composed, the model resolved, the conversation begun.

    Args:
        agent: The agent.
        asked: What it is asked.
        options: The call's options.
        tool_tasks: Where tools will run.

    Raises:
        DefinitionError: A list, model, tool or message is none.
    """
    request_context = RequestContext.of(options.get("request_context"))
    thread, resource = options.get("thread"), options.get("resource")
    facts = RunFacts(agent_id=agent.id, request_context=request_context, thread=thread, resource=resource)
    lists = await _lists(agent, options, request_context)
    check_thread(thread, lists, agent.id)
    messages = _conversation(agent, asked, request_context)
    prepare = options.get("prepare_step")
    settings = CallSettings(
        model=resolve_model(options.get("model", agent.model)),
        tools=as_tools(options["tools"]) if "tools" in options else agent.tools,
        tool_choice=options.get("tool_choice", "auto"),
        active_tools=options.get("active_tools"),
        model_settings={**agent.model_settings, **options.get("model_settings", {})},
        provider_options=dict(options.get("provider_options", {})),
        max_steps=options.get("max_steps", agent.max_steps),
        max_retries=options.get("max_processor_retries", agent.max_processor_retries),
        release=options.get("release", "chunk"),
        output_schema=options.get("output_schema"),
        of_the_call=[name for name in _NO_DATA if name in options],
    )
    last = None if prepare is None else _PrepareStep(prepare)
    return AgentRun(
        facts, settings, messages, Points(lists, facts, messages, last_in_input_step=last), tool_tasks, agent.shelf
    )


async def reopened_run(agent: Agent, run_id: str, answer: Answer, tool_tasks: ToolTasks) -> AgentRun:
    """A run that was suspended, with the answer that it waited for.

    Raises:
        NothingSuspended: No such run of the agent waits, or not for that.
        RunError: It cannot be gone on with; it says why.
        StorageError: The store failed.
    """
    run = await agent.shelf.take(run_id, answer, lambda told, rows: _restored(agent, run_id, told, rows, tool_tasks))
    assert run.waiting is not None  # only runs that wait are taken
    run.waiting.decide(answer)
    run.go_on(tool_tasks)
    return run


async def _restored(agent: Agent, run_id: str, told: Told, rows: int, tool_tasks: ToolTasks) -> AgentRun:
    """A run as a store knows it."""
    from interlock.runtime.agent_journal import readable, restore

    with readable(run_id):
        context = RequestContext.of(told["request_context"])
        settings = CallSettings(model=agent.model, tools=agent.tools, **told["settings"])
        thread, resource = told.get("thread"), told.get("resource")
    facts = RunFacts(run_id, context, agent_id=agent.id, thread=thread, resource=resource)
    lists = await _lists(agent, {}, context)
    messages = MessageList()
    run = AgentRun(facts, settings, messages, Points(lists, facts, messages), tool_tasks, agent.shelf)
    with readable(run_id):
        restore(run, told)
    run.journal_rows = rows
    return run


class _PrepareStep(Processor):
    """The call's ``prepare_step`` as one more processor."""

    id = "prepare-step"

    def __init__(self, function: PrepareStep) -> None:
        super().__init__()
        self._function = function

    def process_input_step(self, ctx: InputStepContext) -> Any:
        return self._function(ctx)


async def _lists(agent: Agent, options: CallOptions, request_context: RequestContext) -> ProcessorLists:
    """The agent's lists as they were composed, unless the call brings its own or one is a function."""
    own: Mapping[str, ProcessorList] = agent.processor_lists
    given = {name: cast("ProcessorList", options.get(f"{name}_processors", own[name])) for name in _LISTS}
    if not agent.per_run and all(given[name] is own[name] for name in _LISTS):
        return agent.composed
    made = {name: await _entries(entries, request_context) for name, entries in given.items()}
    return composed_lists(made, agent.memory)


async def _entries(entries: ProcessorList, request_context: RequestContext) -> Sequence[ProcessorLike]:
    if not callable(entries):
        return entries
    made: Any = entries(request_context)
    return cast("Sequence[ProcessorLike]", await made if inspect.isawaitable(made) else made)


def _conversation(agent: Agent, asked: Conversation, request_context: RequestContext) -> MessageList:
    """The conversation of the run: instructions, then what was asked, as input."""
    messages = MessageList()
    instructions = agent.instructions
    text: Any = instructions(request_context) if callable(instructions) else instructions
    if not isinstance(text, str | NoneType):
        if inspect.iscoroutine(text):
            text.close()
        raise DefinitionError(
            f"the function given as instructions must return a text, not a {type(text).__name__} (it cannot be async)",
            subject=f"agent {agent.id!r}",
        )
    if text:
        messages.add_system(text)
    if isinstance(asked, MessageList):
        _carry_over(asked, messages)
    else:
        messages.add(_messages(asked), source="input")
    if not messages:
        raise DefinitionError("nothing is asked: pass a text or at least one message", subject=f"agent {agent.id!r}")
    return messages


def _carry_over(earlier: MessageList, messages: MessageList) -> None:
    """Go on with a conversation: what was answered, and all before it, is remembered; what came after is new."""
    for tag in (None, *earlier.system_tags):
        for system in earlier.system_messages(tag):
            messages.add_system(system.text, tag=tag)
    sources: list[Source] = [earlier.source_of(message.id) for message in earlier.all]
    answered = max((n for n, source in enumerate(sources) if source == "response"), default=-1)
    for number, message in enumerate(earlier.all):
        remembered = number <= answered and sources[number] != "context"
        messages.add(message, source="memory" if remembered else sources[number])


def _messages(asked: str | Message | Sequence[Message | Mapping[str, Any]]) -> Sequence[Message]:
    if isinstance(asked, str):
        return [Message.user(asked)]
    if isinstance(asked, Message):
        return [asked]
    if not isinstance(cast("object", asked), Sequence):
        raise DefinitionError(f"an agent is asked a text, a message or messages, not a {type(asked).__name__}")
    made: list[Message] = []
    for number, one in enumerate(cast("Sequence[object]", asked)):
        if isinstance(one, Message):
            made.append(one)
        elif not isinstance(one, Mapping):
            raise DefinitionError(
                f"message {number} is a {type(one).__name__}: pass a text, Message objects, or messages in OpenAI's "
                'form such as {"role": "user", "content": "…"}'
            )
    if len(made) == len(asked):
        return made
    if made:
        raise DefinitionError("messages are either all Message objects or all in OpenAI's form, not both")
    loaded = MessageList.from_openai([dict(cast("Mapping[str, Any]", one)) for one in asked])
    return [*loaded.system_messages(), *loaded.all]
