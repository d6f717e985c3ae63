"""A function of the user's that is asked about chunks: a function step, a map, a condition, how long to sleep."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from interlock.processors.stream_context import OutputStreamContext
from interlock.runtime.chunk_stages.failures import failure_of
from interlock.runtime.chunk_stages.scope import Scope
from interlock.runtime.chunk_stages.values import Keyed, Value, Values, flow_of
from interlock.runtime.chunk_stages.woven import Hooked
from interlock.runtime.strand import is_awaitable
from interlock.steps import Step, StepContext, Turn
from interlock.verdict import AbortSignal, Signal

__all__ = ["Asked", "Call", "Function", "FunctionStage"]

Function = Callable[[StepContext[Any]], object]


@dataclass(frozen=True, slots=True)
class Asked:
    """Where a function stands."""

    step_id: str
    path: str
    step: Step[Any, Any] | None = None


class Call:
    """A function with the context and the turn that it is given again for every chunk.

    Args:
        function: The user's.
        asked: Where it stands.
        scope: What it shares with others.
        context: One of the path's run.

    Attributes:
        chunk: What it is asked about.
        attempt: Which attempt the next call is, from 1.
    """

    __slots__ = ("_context", "_function", "_scope", "_step_context", "_turn", "asked", "attempt", "chunk")

    def __init__(self, function: Function, asked: Asked, scope: Scope, context: OutputStreamContext) -> None:
        self._function = function
        self._scope = scope
        self._context = context
        self._step_context: StepContext[Any] = StepContext(context, scope.run, Turn(asked))
        self._turn: Turn = self._step_context
        self.asked = asked
        self.attempt = 1
        self.chunk: Any = context.chunk

    def called(self, _: object = None) -> object:
        """Ask it about :attr:`chunk`; gives what it returned."""
        value = self.chunk
        if value.__class__ is Keyed:
            return self.ask(StepContext(value.shown(), self._scope.run, Turn(self.asked)))
        context = self._context
        context.chunk = value
        context.out = (value,)
        return self.ask(self._step_context)

    @property
    def signal(self) -> Signal | None:
        """The signal that it has recorded in this turn."""
        notes = self._turn.notes
        return None if notes is None else notes.signal

    def ask(self, step_context: StepContext[Any]) -> object:
        """A turn of it, with this context."""
        self._turn = step_context
        step_context.notes = None
        if self._scope.rounds:
            step_context.at = tuple([one.number for one in self._scope.rounds])
        if self.attempt > 1:
            step_context.noted().attempts = self.attempt
        return self._function(step_context)

    def ended(self) -> None:
        """It has returned: what it noted on the way counts.

        Raises:
            Signal: It has ended its workflow, and gone on.
        """
        notes = self._turn.notes
        if notes is None:
            return
        if notes.signal is not None:
            raise notes.signal
        if notes.deltas:  # branches that write one key do so in the order in which they end
            self._scope.execution.state_of(self._scope.run).apply(self._turn, (), notes.deltas)

    def failed(self, error: BaseException) -> BaseException:
        """What its error becomes."""
        latch = self._scope.execution.latch
        told = failure_of(latch, self.asked.path, error, self._turn)
        self._turn.notes = None
        return told

    def answer(self, value: Value) -> object:
        """Ask it as a part of another stage's work: gives the answer, or something for :meth:`waited`.

        Raises:
            BaseException: What its failure becomes.
        """
        self.chunk = value
        try:
            answer = self.called()
            if is_awaitable(answer):
                return Hooked(cast("Any", answer), self._scope.execution)
            self._look()
        except BaseException as error:
            self._raise(error)
        return answer

    def waited(self, answer: Hooked) -> Generator[Any, object, object]:
        """The answer that it waits for.

        Raises:
            BaseException: What its failure becomes.
        """
        try:
            given = yield answer
            self._look()
        except GeneratorExit:
            raise
        except BaseException as error:
            self._raise(error)
        return given

    def _look(self) -> None:
        """See whether it has stopped something."""
        latch = self._scope.execution.latch
        if latch.tripwire is not None:
            raise AbortSignal(latch.tripwire)
        self.ended()

    def _raise(self, error: BaseException) -> NoReturn:
        told = self.failed(error)
        if told is error:
            raise error
        raise told from error


class FunctionStage(Call):
    """A function step or a map that stands by itself: a context in, a context out."""

    __slots__ = ("call",)
    waits_in_hook = True

    def __init__(self, function: Function, asked: Asked, scope: Scope, context: OutputStreamContext) -> None:
        super().__init__(function, asked, scope, context)
        self.call: Callable[[Any], object] = self.called

    def row(self) -> tuple[Callable[[Any], object], Any]:
        """The function behind its context, and this stage."""
        return self.call, self

    def settle(self, chunk: Value, out: object) -> Values:
        """What goes on: the ``out`` of the context it returned."""
        self.ended()
        flow = flow_of(out, self.asked.path)
        if isinstance(chunk, Keyed):
            chunk.picked(out)
        if self.asked.step is not None:
            self._scope.run.outputs[self.asked.step] = out
        return flow

    def also(self, runs: int) -> None:
        """A function keeps no record."""

    def missed(self, error: BaseException) -> None:
        """A function keeps no record."""

    def abandon(self, error: BaseException) -> None:
        """It waits for nothing but the function."""
