"""The body again and again, as a condition says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ClassVar, cast

from interlock.errors import RunError
from interlock.runtime.entry import Entry
from interlock.runtime.operations.arms import abandon_noted, heard
from interlock.runtime.run_state import Site
from interlock.runtime.strand import Operation, Strand, advance, drive, is_awaitable
from interlock.steps import StepContext
from interlock.workflows import LoopNode

__all__ = ["LoopOp"]


class LoopOp(Operation):
    """The body at least once; then the condition is asked about what it gave."""

    __slots__ = ("_condition", "_most", "_until", "body")
    contains: ClassVar[bool] = True

    def __init__(self, node: LoopNode, path: str, body: Sequence[Operation], site: Site = ()) -> None:
        super().__init__(node.id, path, site)
        self.body = body
        self._condition: Callable[[StepContext[Any]], object] = node.condition
        self._until = node.until
        self._most = node.max_iterations

    @property
    def kind(self) -> str:  # type: ignore[override]
        """``"do-until"`` or ``"do-while"``."""
        return "do-until" if self._until else "do-while"

    def begin(self, strand: Strand) -> object:
        strand.enter(self)
        inner = strand.inner(self.body, strand.value)
        number = 1
        while True:
            inner.again(inner.value, (*strand.at, number))
            awaitable = advance(inner)
            if awaitable is not None:
                strand.note = [(inner, awaitable)]
                return self._waited(strand, inner, number, body=awaitable)
            answer = self._ask(strand, inner, number)
            if is_awaitable(answer):
                strand.note = answer
                return self._waited(strand, inner, number, condition=cast("Awaitable[object]", answer))
            if not self._again(strand, number, answer):
                return inner.value
            number += 1

    async def _waited(
        self,
        strand: Strand,
        inner: Strand,
        number: int,
        *,
        body: Awaitable[object] | None = None,
        condition: Awaitable[object] | None = None,
    ) -> Any:
        """The same from where it waits."""
        while True:
            if body is not None:
                await drive(inner, body)
            answer: object = condition if condition is not None else self._ask(strand, inner, number)
            if is_awaitable(answer):
                answer = await strand.execution.in_hook(cast("Awaitable[object]", answer))
            if not self._again(strand, number, answer):
                return inner.value
            number += 1
            inner.again(inner.value, (*strand.at, number))
            body, condition = advance(inner), None

    def _ask(self, strand: Strand, inner: Strand, number: int) -> object:
        """The condition's answer; the one it gave before, where it was asked before."""
        answers = strand.entry.noted().answers
        if number <= len(answers):
            return answers[number - 1] is not self._until
        turn = Entry(self, inner.value, (*strand.at, number))
        turn.notes = strand.entry.noted()
        return self._condition(StepContext(inner.value, strand.run, turn))

    def _again(self, strand: Strand, number: int, answer: object) -> bool:
        heard(strand)
        again = bool(answer) is not self._until
        answers = strand.entry.noted().answers
        if number > len(answers):
            answers.append(again)
            tape = strand.execution.tape
            if tape is not None:
                tape.loop_progress(strand.entry, number, again)
        if again and number >= self._most:
            raise RunError(
                f"{self.path!r} went round {number} times and its condition would have it go on; where that is meant, "
                "raise max_iterations"
            )
        return again

    def abandon(self, strand: Strand) -> None:
        abandon_noted(strand.note)

    def chains(self) -> Sequence[Sequence[Operation]]:
        return (self.body,)
