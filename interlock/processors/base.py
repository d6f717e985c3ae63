"""What a processor is: a class with an id and one hook or more."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar, cast, get_args

from interlock.errors import DefinitionError
from interlock.ids import fault_in_id
from interlock.messages import Chunk, Message, MessageList, PromptMessage
from interlock.processors.changes import (
    Changes,
    Deny,
    RequestChanges,
    Retry,
    StepChanges,
    ToolCallChanges,
    ToolResultChanges,
)
from interlock.processors.contexts import (
    APIErrorContext,
    InputContext,
    InputStepContext,
    LLMRequestContext,
    LLMResponseContext,
    OutputResultContext,
    OutputStepContext,
    OutputStreamContext,
    PhaseContext,
    ToolCallContext,
    ToolResultContext,
)
from interlock.processors.hook_signature import fault_in_signature
from interlock.processors.listeners import fault_in_listener
from interlock.shown import shown
from interlock.steps import Step, SupportsStep
from interlock.steps.step import fault_in_timeout
from interlock.verdict import Phase, Violation

__all__ = ["HOOKS", "FailurePolicy", "Processor", "ProcessorStep"]

HOOKS: Mapping[Phase, str] = {phase: f"process_{phase}" for phase in Phase}
"""The hook of each phase."""

R = TypeVar("R")
Maybe: TypeAlias = R | Awaitable[R]
MessagesBack = MessageList | Sequence[Message] | Changes | None


FailurePolicy = Literal["fail", "block", "skip"]
"""What a processor's own failure means: the run fails; is stopped, as nobody could decide; goes on without it."""


class Processor(SupportsStep):
    """Sees, changes or stops what passes at one or more of the ten points of an agent's run.

    Derive from it, set ``id`` and write one hook or more, ``def`` or ``async def``. What each hook sees and may return
    is told by its context in :mod:`interlock.processors.contexts`.

    Args:
        id: Default: the class's ``id``.
        on_violation: Called with a :class:`Violation` on every abort and warning; may also be set as an attribute.

    Attributes:
        id: Unique in a list; letters, digits, hyphens by custom.
        name: For people; default: the class's name.
        description: For people; default: the docstring's first line.
        phases: The points it acts at.
        on_failure: What an exception, a time-out or a wrong return in one of its hooks means: ``"fail"`` (the run
            fails), ``"block"`` (a tripwire says that it could not decide) or ``"skip"`` (as if it had not run, and
            recorded as not checked). A step made of it may say otherwise.
        timeout: Seconds that a hook may take once it waits; None: any number.
        shadow: Whether its changes and aborts are recorded alone.
        blocking: Whether its hooks, which are no coroutine functions, run in a worker thread.
        processor_index: Its place in an agent's list, set when that is composed.
        process_data_parts: Whether it is asked about data chunks (``ctx.write``) in a stream.
        keep_parts: Whether ``ctx.parts`` is to hold all chunks of a step, and not only the last 256.

    Raises:
        DefinitionError: On defining a class that implements no hook, whose public ``process_…`` method is no hook, or
            whose hook cannot be called with a context. (Pass ``abstract=True`` in the class statement for a base class
            without hooks.)

    Example:
        >>> class Shout(Processor):
        ...     id = "shout"
        ...
        ...     def process_input(self, ctx: InputContext) -> None:
        ...         for message in ctx.messages:
        ...             if message.text.isupper():
        ...                 ctx.abort("please do not shout")
        >>> sorted(Shout().phases)
        [<Phase.INPUT: 'input'>]
    """

    id: str
    name: str
    description: str | None
    phases: ClassVar[frozenset[Phase]] = frozenset()
    keeps_lanes: ClassVar[bool] = False
    """Whether its stream hook holds text back, and tells in ``ctx.pieces`` what it let go."""
    on_failure: FailurePolicy = "fail"
    timeout: float | None = None
    shadow: bool = False
    blocking: bool = False
    on_violation: Callable[[Violation], object] | None = None
    processor_index: int | None = None
    process_data_parts: bool = False
    keep_parts: bool = False
    _step: ProcessorStep | None = None

    def __init_subclass__(cls, *, abstract: bool = False, **more: Any) -> None:
        super().__init_subclass__(**more)
        faults = [
            f"{name} is no hook; did you mean {_nearest(name)}?"
            for name, value in vars(cls).items()
            if name.startswith("process_") and callable(value) and name not in HOOKS.values()
        ]
        faults += [
            f"{name} is {shown(value)}, not a method (None: it has no such hook)"
            for name, value in vars(cls).items()
            if name in HOOKS.values() and value is not None and not callable(getattr(cls, name))
        ]
        hooks = [name for name in vars(cls) if name in HOOKS.values() and callable(getattr(cls, name))]
        faults += filter(None, (fault_in_signature(name, vars(cls)[name], cls) for name in hooks))
        if "phases" in vars(cls):
            faults.append("phases follows from its hooks; a guard on text is made with phases=…")
        faults += _options_of_the_constructor(cls)
        cls.phases = frozenset(
            phase for phase, hook in HOOKS.items() if getattr(cls, hook) not in (None, getattr(Processor, hook))
        )
        if not cls.phases and not abstract and not faults:
            faults.append(f"it implements no hook; write one of {', '.join(HOOKS.values())}")
        if faults:
            raise DefinitionError(faults, subject=f"processor class {cls.__name__}")
        if "name" not in vars(cls):
            cls.name = cls.__name__
        if "description" not in vars(cls):
            cls.description = (vars(cls).get("__doc__") or "").strip().partition("\n")[0] or None

    def __init__(
        self,
        *,
        id: str | None = None,  # noqa: A002
        on_violation: Callable[[Violation], object] | None = None,
    ) -> None:
        if id is not None:
            self.id = id
        if on_violation is not None:
            self.on_violation = on_violation
        if (fault := fault_in_listener("on_violation", self.on_violation)) is not None:
            raise DefinitionError(fault, subject=type(self).__name__)

    def as_step(self) -> Step[PhaseContext, PhaseContext]:
        """The step ``processor:<id>`` that stands for this processor.

        Raises:
            DefinitionError: It has no id, or one that is no id.
        """
        fault = fault_in_id(getattr(self, "id", None))
        if fault is not None:
            raise DefinitionError(f"{fault}; set id on the class or pass id=…", subject=type(self).__name__)
        if self._step is None or self._step.id != f"processor:{self.id}":
            self._step = ProcessorStep(self)
        return self._step

    def process_input(self, ctx: InputContext) -> Maybe[MessagesBack]:
        """Once, before the loop."""
        raise NotImplementedError

    def process_input_step(self, ctx: InputStepContext) -> Maybe[MessagesBack | StepChanges]:
        """Every step, before the prompt is made."""
        raise NotImplementedError

    def process_llm_request(self, ctx: LLMRequestContext) -> Maybe[Sequence[PromptMessage] | RequestChanges | None]:
        """Every step, after the prompt was made, before the model is called."""
        raise NotImplementedError

    def process_api_error(self, ctx: APIErrorContext) -> Maybe[Retry | None]:
        """After a model call that failed."""
        raise NotImplementedError

    def process_output_stream(self, ctx: OutputStreamContext) -> Maybe[Chunk | Sequence[Chunk] | None]:
        """Every chunk."""
        raise NotImplementedError

    def process_llm_response(self, ctx: LLMResponseContext) -> Maybe[None]:
        """Every step, when the stream is complete."""
        raise NotImplementedError

    def process_output_step(self, ctx: OutputStepContext) -> Maybe[MessagesBack]:
        """Every step, after the answer, before any tool."""
        raise NotImplementedError

    def process_tool_call(self, ctx: ToolCallContext) -> Maybe[ToolCallChanges | Deny | None]:
        """Before each tool."""
        raise NotImplementedError

    def process_tool_result(self, ctx: ToolResultContext) -> Maybe[ToolResultChanges | MessageList | None]:
        """After each tool that returned."""
        raise NotImplementedError

    def process_output_result(self, ctx: OutputResultContext) -> Maybe[MessagesBack]:
        """Once, after the loop."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {getattr(self, 'id', '(no id)')!r}>"


class ProcessorStep(Step[PhaseContext, PhaseContext]):
    """A processor as a step: a context in, the context out.

    Attributes:
        processor: The processor.
        on_failure, shadow: As the processor has them, or as :func:`interlock.create_step` was told.
    """

    kind: ClassVar[str] = "processor"
    on_failure: FailurePolicy = "fail"
    shadow: bool = False

    def __init__(self, processor: Processor) -> None:
        super().__init__(
            f"processor:{processor.id}",
            subject=processor,
            input_schema=PhaseContext,
            output_schema=PhaseContext,
            description=processor.description,
        )
        self.processor = processor
        self.timeout = processor.timeout
        self.on_failure = processor.on_failure
        self.shadow = processor.shadow
        self.blocking = processor.blocking
        faults = self.faults()
        if faults:
            raise DefinitionError(faults, subject=type(processor).__name__)

    def faults(self) -> list[str]:
        """What is wrong with how it is to be run."""
        found: list[str] = []
        if self.on_failure not in get_args(FailurePolicy):
            found.append(f"on_failure is one of {', '.join(get_args(FailurePolicy))}, not {self.on_failure!r}")
        if (fault := fault_in_timeout(self.timeout)) is not None:
            found.append(fault)
        found += [
            f"{name} is True or False, not {shown(value)}"
            for name, value in (("shadow", self.shadow), ("blocking", self.blocking))
            if not isinstance(cast("object", value), bool)
        ]
        hooks = [HOOKS[phase] for phase in self.processor.phases]
        waits = sorted(name for name in hooks if inspect.iscoroutinefunction(getattr(self.processor, name)))
        if self.blocking and waits:
            found.append(f"blocking=True is for hooks that are not async; {', '.join(waits)} is")
        return found

    @property
    def renaming(self) -> str:
        """How one like it is given another id, in code: the processor's own, which its state and verdicts go by."""
        made = type(self.processor)
        return f'{made.__name__}(id="…")' if "id" in inspect.signature(made).parameters else 'processor.id = "…"'

    def acts_in(self, phase: Phase) -> bool:
        """Whether the processor has that phase's hook."""
        return phase in self.processor.phases


def _options_of_the_constructor(cls: type[Processor]) -> list[str]:
    """Attributes of a class that its constructor does not read: it has an option of that name."""
    if "__init__" in vars(cls):
        return []
    declared = {name for base in cls.__mro__[1:] for name in vars(base).get("__annotations__", ())}
    unread = [
        name
        for name, value in vars(cls).items()
        if not name.startswith("_")
        and name not in declared
        and not (callable(value) or isinstance(value, property | classmethod | staticmethod))
        and (not hasattr(super(cls, cls), name) or isinstance(getattr(super(cls, cls), name), property))
    ]
    options = set(inspect.signature(cls.__init__).parameters) if unread else set[str]()
    return [
        f"{name} is an option of its constructor, not of the class: {cls.__name__}({name}={vars(cls)[name]!r}), or "
        "write __init__ and pass it on"
        for name in unread
        if name in options
    ]


def _nearest(name: str) -> str:
    return difflib.get_close_matches(name, HOOKS.values(), n=1, cutoff=0.0)[0]
