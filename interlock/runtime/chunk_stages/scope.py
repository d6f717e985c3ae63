"""What the functions of one workflow on a chunk's path share, chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from interlock.processors.stream_context import OutputStreamContext
from interlock.runtime.chunk_stages.hook import HookStage
from interlock.runtime.chunk_stages.values import Keyed, Value
from interlock.runtime.execution import Execution
from interlock.steps import Step, StepRun

__all__ = ["Mark", "NestedEnd", "Outputs", "Round", "Scope", "ScopeStage"]


class Round:
    """How often a loop has gone round with the chunk that is in it."""

    __slots__ = ("number",)

    def __init__(self) -> None:
        self.number = 1


class Outputs(dict[Step[Any, Any], object]):
    """What the steps of a workflow gave for one chunk; what processors gave is made up when somebody asks."""

    __slots__ = ("_targets", "hooks")

    def __init__(self) -> None:
        super().__init__()
        self.hooks: dict[Step[Any, Any], HookStage] = {}
        self._targets: list[Any] = []

    def note(self, step: Step[Any, Any], hook: HookStage) -> None:
        """Take a processor in."""
        self.hooks[step] = hook
        self._targets.append(hook.target)

    def __contains__(self, step: object) -> bool:
        return super().__contains__(step) or self._given(step) is not None

    def __missing__(self, step: Step[Any, Any]) -> object:
        given = self._given(step)
        if given is None:
            raise KeyError(step)
        return given

    def _given(self, step: object) -> OutputStreamContext | None:
        hook = self.hooks.get(step)  # type: ignore[call-overload]  # what is no step is no key
        return None if hook is None else hook.given()

    def clear(self) -> None:
        """Forget the chunk before."""
        super().clear()
        for target in self._targets:  # what HookStage.forget does, for all of them
            target.chunk = target.out = None


@dataclass(frozen=True, slots=True)
class Scope:
    """One workflow on a path.

    Attributes:
        run: What its functions share; used again for every chunk.
        execution: The run's.
        asks: Whether it has functions.
        outputs: What its steps gave.
        rounds: Of the loops around, from the outermost in.
    """

    run: StepRun
    execution: Execution
    asks: bool
    outputs: Outputs
    rounds: Sequence[Round] = field(default=())

    @staticmethod
    def of(execution: Execution, *, asks: bool) -> Scope:
        """A list's scope."""
        return Scope._with(execution.scope(None), execution, asks)

    def nested(self, step: Step[Any, Any], *, asks: bool) -> Scope:
        """The scope of a workflow in this one."""
        run = self.execution.nested_scope(self.run, step, None)
        return Scope._with(run, self.execution, asks, self.rounds)

    @staticmethod
    def _with(run: StepRun, execution: Execution, asks: bool, rounds: Sequence[Round] = ()) -> Scope:
        outputs = run.outputs = Outputs()
        return Scope(run, execution, asks, outputs, rounds)


class Mark:
    """A stage that lets everything pass, and keeps no record."""

    __slots__ = ("_context", "chunk")
    waits_in_hook = False

    def __init__(self, context: OutputStreamContext) -> None:
        self._context = context
        self.chunk: Any = context.chunk

    def row(self) -> tuple[Callable[[Any], object], Any]:
        """What is done when a chunk comes, and this stage."""
        return self._passed, self

    def _passed(self, _: object) -> object:
        raise NotImplementedError

    def _shown(self) -> object:
        """What came, as a function sees it."""
        value = self.chunk
        if value.__class__ is Keyed:
            shown: Mapping[str, Any] = value.shown()
            return shown
        context = self._context
        context.chunk = value
        context.out = (value,)
        return context

    def settle(self, chunk: Value, out: Value) -> Value:
        """What came."""
        return out

    def failed(self, error: BaseException) -> BaseException:
        """It does not fail."""
        return error

    def also(self, runs: int) -> None:
        """It keeps no record."""

    def missed(self, error: BaseException) -> None:
        """It keeps no record."""

    def abandon(self, error: BaseException) -> None:
        """It waits for nothing."""


class ScopeStage(Mark):
    """Where a chunk comes into a workflow that has functions: what those share begins anew."""

    __slots__ = ("_run",)

    def __init__(self, scope: Scope, context: OutputStreamContext) -> None:
        super().__init__(context)
        self._run = scope.run

    def _passed(self, _: object) -> object:
        run = self._run
        run.bailed = None
        run.outputs.clear()
        run.run_input = self._shown()
        return self.chunk


class NestedEnd(Mark):
    """Where a chunk comes out of a nested workflow: functions of the one around may ask for it."""

    __slots__ = ("_outputs", "_step")

    def __init__(self, step: Step[Any, Any], scope: Scope, context: OutputStreamContext) -> None:
        super().__init__(context)
        self._step = step
        self._outputs = scope.outputs

    def _passed(self, _: object) -> object:
        self._outputs[self._step] = self._shown()
        return self.chunk
