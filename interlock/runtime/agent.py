"""An agent: a model, instructions, tools, and the processors around them. It holds configuration; the loop runs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import TYPE_CHECKING, Any, Unpack, cast

import anyio
import sniffio

from interlock.context import RequestContext
from interlock.errors import DefinitionError, InterlockError
from interlock.ids import fault_in_id
from interlock.models import LanguageModel, resolve_model
from interlock.runtime.agent_step import AgentStep, Asked
from interlock.runtime.call_check import as_tools, check_options
from interlock.runtime.keeping import checked_memory, composed_lists
from interlock.runtime.options import CallOptions, Conversation, ProcessorList
from interlock.runtime.result import AgentResult
from interlock.runtime.shelf import Answer, Shelf
from interlock.steps import Step, SupportsStep
from interlock.storage import RunStore
from interlock.tools import SupportsTool, Tool

if TYPE_CHECKING:
    from interlock.memory import Memory
    from interlock.runtime.stream import AgentStream

__all__ = ["Agent"]


class Agent(SupportsStep[Asked, str]):
    """A language model in a loop with tools, and a graph of processors around it.

    Args:
        id: Its id; default: ``"agent"``.
        model: A model, or ``"provider/name"``; ``"embedded/echo"`` needs no key.
        instructions: The system message; or a function of the request context that gives it.
        tools: What the model may call: tools, typed functions, or other agents.
        input_processors: Processors and workflows that see what goes to the model.
        output_processors: Those that see what comes from it.
        error_processors: Those that see failed model calls.
        max_processor_retries: How often steps are done again at most in one run. Default: not at all for verdicts with
            ``retry=True``, ten times for failed model calls that a handler can recover from.
        max_steps: Model calls at most in one run; steps that are done again do not count.
        model_settings: ``temperature``, ``max_tokens``, …
        run_store: Where a run that waits for an approval is kept, so that another process can go on with it. Default:
            in this process only.
        memory: What it remembers of its conversations, thread by thread; see :class:`interlock.memory.Memory`.
        description: For people.

        Each of the three lists may be a function of the request context, called once per run.

    Attributes:
        composed: The lists that are no functions, as they run.
        shelf: Its runs that wait for an approval.
        per_run: The names of the lists that are functions.

    Raises:
        DefinitionError: A list, the model or a tool is none; all faults of a list at once.

    It can stand in a workflow: there it takes a text or messages, and gives the text of its answer.

    Example:
        >>> agent = Agent(id="parrot", model="embedded/echo")
        >>> agent.generate_sync("hello there").text
        'hello there'
    """

    def __init__(
        self,
        *,
        id: str = "agent",  # noqa: A002
        model: LanguageModel | str,
        instructions: str | Callable[[RequestContext], str] | None = None,
        tools: Sequence[Tool | SupportsTool | Callable[..., object]] = (),
        input_processors: ProcessorList = (),
        output_processors: ProcessorList = (),
        error_processors: ProcessorList = (),
        max_processor_retries: int | None = None,
        max_steps: int = 5,
        model_settings: Mapping[str, Any] | None = None,
        run_store: RunStore | None = None,
        memory: Memory | None = None,
        description: str | None = None,
    ) -> None:
        fault = fault_in_id(id)
        if fault is not None:
            raise DefinitionError(fault, subject="agent")
        self.id = id
        self.model = resolve_model(model)
        if not isinstance(cast("object", instructions), str | NoneType) and not callable(instructions):
            raise DefinitionError(
                f"instructions are a text or a function of the request context, not {type(instructions).__name__}",
                subject=f"agent {id!r}",
            )
        self.instructions = instructions
        self.tools = as_tools(tools)
        check_options(
            self,
            {
                "max_steps": max_steps,
                "max_processor_retries": max_processor_retries,
                "model_settings": model_settings,
            },
        )
        if run_store is not None and (
            isinstance(run_store, type) or not isinstance(cast("object", run_store), RunStore)
        ):
            raise DefinitionError(
                f"run_store is a store such as MemoryRunStore(), not {run_store!r}", subject=f"agent {id!r}"
            )
        self.model_settings = dict(model_settings or {})
        self.description = description
        self.max_steps = max_steps
        self.max_processor_retries = max_processor_retries
        self.processor_lists: Mapping[str, ProcessorList] = {
            "input": input_processors,
            "output": output_processors,
            "error": error_processors,
        }
        fixed = {name: entries for name, entries in self.processor_lists.items() if not callable(entries)}
        self.memory = checked_memory(memory, id)
        self.composed = composed_lists(fixed, self.memory)
        self.per_run = [name for name in self.processor_lists if name not in fixed]
        self._step = AgentStep(self)
        self.shelf = Shelf(id, run_store)

    def as_step(self) -> Step[Asked, str]:
        """The step that stands for this agent in a workflow."""
        return self._step

    def as_tool(self, *, name: str | None = None, description: str | None = None) -> Tool:
        """The tool by which another agent asks this one: it takes a text, and gives the text of the answer.

        Args:
            name: What the model calls it by; default: the agent's id.
            description: What the model is told of it; default: the agent's own.

        Raises:
            DefinitionError: The name is none.
        """
        from interlock.runtime.agent_tool import agent_tool

        return agent_tool(self, name=name, description=description)

    async def generate(self, asked: Conversation, /, **options: Unpack[CallOptions]) -> AgentResult:
        """Run to the end and give the result. A tripwire does not raise: see ``result.tripwire``.

        Args:
            asked: A text, a message, a conversation, or messages.
            **options: See :class:`CallOptions`.

        Raises:
            InterlockError: The run failed; the error has the result so far as ``.result``. So has what a model raises
                that is none of the library's errors, which comes out as it is.
            DefinitionError: The call is wrong.
        """
        return await _whole(self.stream(asked, **options))

    def stream(self, asked: Conversation, /, **options: Unpack[CallOptions]) -> AgentStream:
        """Run and read along: ``async with agent.stream(…) as stream: async for chunk in stream: …``.

        Args:
            asked: A text, a message, a conversation, or messages.
            **options: See :class:`CallOptions`.

        Raises:
            DefinitionError: The call is wrong.
        """
        given = cast("CallOptions", {name: value for name, value in options.items() if value is not None})
        check_options(self, given)
        from interlock.runtime.opening import open_run
        from interlock.runtime.stream import AgentStream

        return AgentStream(lambda tool_tasks: open_run(self, asked, given, tool_tasks))

    async def resume(
        self,
        run_id: str,
        *,
        approve: bool | None = None,
        reason: str | None = None,
        tool_call_id: str | None = None,
        data: object = None,
    ) -> AgentResult:
        """Answer a run that waits, and take it to its end: ``result.status`` was ``"suspended"``.

        Args:
            run_id: The run.
            approve: Whether its tools may run; to be said for calls that wait for an approval.
            reason: Why not; the model is told.
            tool_call_id: The call that is meant, where several wait; None: all of them.
            data: What a tool that has called ``ctx.suspend`` finds in ``ctx.resume_data``.

        Raises:
            NothingSuspended: No such run waits, or it does not wait for that call, or not for such an answer.
            UnknownRun: The agent's ``run_store`` has none of that id.
            AlreadyResumed: Somebody else goes on with it.
            DefinitionError: The answer is none, such as ``approve="no"``.
            InterlockError: As in :meth:`generate`.
        """
        stream = self.resume_stream(run_id, approve=approve, reason=reason, tool_call_id=tool_call_id, data=data)
        return await _whole(stream)

    def resume_stream(
        self,
        run_id: str,
        *,
        approve: bool | None = None,
        reason: str | None = None,
        tool_call_id: str | None = None,
        data: object = None,
    ) -> AgentStream:
        """The same, to be read along: ``async with agent.resume_stream(…) as stream: …``.

        Raises:
            NothingSuspended, UnknownRun, AlreadyResumed: On entering it: as in :meth:`resume`.
            DefinitionError: The answer is none.
        """
        from interlock.runtime.opening import reopened_run
        from interlock.runtime.stream import AgentStream

        answer = Answer(approve, reason, tool_call_id, data)
        return AgentStream(lambda tool_tasks: reopened_run(self, run_id, answer, tool_tasks))

    def generate_sync(self, asked: Conversation, /, **options: Unpack[CallOptions]) -> AgentResult:
        """:meth:`generate` for scripts, in an event loop of its own.

        Raises:
            InterlockError: It was called inside a running event loop, or the run failed.
        """
        try:
            library = sniffio.current_async_library()
        except sniffio.AsyncLibraryNotFoundError:
            library = None
        if library is not None:
            raise InterlockError(f"generate_sync was called inside a running {library} loop: await generate(…) there")

        async def run() -> AgentResult:
            return await self.generate(asked, **options)

        return anyio.run(run)

    def to_mermaid(self, *, run: AgentResult | None = None) -> str:
        """The ten points as a Mermaid flowchart, each with the graph that runs there.

        Args:
            run: A run of the agent; what each processor decided in it is drawn over the graph, and why it ended so.
        """
        from interlock.runtime.draw_agent import agent_mermaid

        return agent_mermaid(self, run)

    def to_text(self, *, run: AgentResult | None = None) -> str:
        """The same drawn with lines, for a terminal."""
        from interlock.runtime.draw_agent import agent_text

        return agent_text(self, run)

    def to_json(self, *, run: AgentResult | None = None) -> dict[str, Any]:
        """The same as a JSON object."""
        from interlock.runtime.draw_agent import agent_json

        return agent_json(self, run)

    def to_svg(self, *, run: AgentResult | None = None) -> str:
        """The same as an SVG picture that stands alone."""
        from interlock.runtime.draw_agent import agent_svg

        return agent_svg(self, run)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """How a notebook shows it: the picture, and the drawing with lines where only text can be shown."""
        return {"image/svg+xml": self.to_svg(), "text/plain": self.to_text()}

    def __repr__(self) -> str:
        return f"<Agent {self.id!r}: {self.model.id}, {len(self.tools)} tools>"


async def _whole(opened: AgentStream) -> AgentResult:
    async with opened as stream:
        result = await stream.result()
    if result.error is not None:
        vars(result.error)["result"] = result
        raise result.error
    return result
