"""The body on each item of a list: so many at once, the results in order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from types import CoroutineType
from typing import Any, ClassVar, cast

from interlock.errors import RunError
from interlock.runtime.operations.arms import (
    Gathering,
    Waiting,
    abandon_all,
    abandon_noted,
    halt,
    heard,
    run_all,
    stop_if_stopped,
)
from interlock.runtime.run_state import Site
from interlock.runtime.strand import Operation, Strand, advance, drive, drop_if_blocked, fail, is_awaitable, proceed
from interlock.steps import StepContext
from interlock.verdict import HaltSignal
from interlock.workflows import ForeachNode
from interlock.workflows.outcome import StepError

__all__ = ["ForeachOp"]


class ForeachOp(Operation):
    """A sliding window over a list: as many items as may run at once are begun, and each that ends begins the next.

    One that halts makes room for the next, unless they go one by one: then those behind it may count on its end.
    """

    __slots__ = ("_concurrency", "_on_error", "body", "body_id")
    kind: str = "foreach"
    contains: ClassVar[bool] = True

    def __init__(self, node: ForeachNode, path: str, body: Sequence[Operation], site: Site = ()) -> None:
        super().__init__(node.id, path, site)
        self.body = body
        self.body_id = node.body.id
        self._concurrency: int | Callable[[StepContext[Any]], Any] = node.concurrency
        self._on_error = node.on_error

    def begin(self, strand: Strand) -> object:
        entry = strand.enter(self)
        items: object = strand.value
        if not isinstance(items, list):
            raise RunError(f"{self.path!r} goes over a list, but a {type(items).__name__} flows there")
        if isinstance(self._concurrency, int):
            width: object = self._concurrency
        else:
            width = self._concurrency(StepContext[Any](items, strand.run, entry))
            if is_awaitable(width):
                strand.note = width
                return self._asked(strand, cast("Awaitable[object]", width))
            heard(strand)
        return self._begin(strand, width)

    async def _asked(self, strand: Strand, awaitable: Awaitable[object]) -> object:
        width = await strand.execution.in_hook(awaitable)
        heard(strand)
        result = self._begin(strand, width)
        return await cast("Awaitable[object]", result) if is_awaitable(result) else result

    def _begin(self, strand: Strand, width: object) -> object:
        if not isinstance(width, int) or isinstance(width, bool) or width < 1:
            raise RunError(f"{self.path!r}: concurrency must be a whole number, at least 1, not {width!r}")
        if width == 1 and not isinstance(self._concurrency, int):
            strand.execution.state_of(strand.run).in_turn(self.body[0].site[-1][0], strand.at)
        window = _Window(self, strand, width)
        waiting = window.start()
        if not waiting:
            return window.given()
        strand.note = [one for _, one in waiting]
        return self._rest(strand, window, waiting)

    async def _rest(self, strand: Strand, window: _Window, waiting: Sequence[tuple[int, Waiting]]) -> list[Any]:
        if len(waiting) == 1:
            await window.worker(*waiting[0])
        else:
            await run_all(strand, [window.worker(index, one) for index, one in waiting])
        return window.given()

    def abandon(self, strand: Strand) -> None:
        abandon_noted(strand.note)

    def chains(self) -> Sequence[Sequence[Operation]]:
        return (self.body,)

    @property
    def on_error(self) -> Any:
        """What a failed item means."""
        return self._on_error


class _Window:
    """One time round of a list."""

    __slots__ = (
        "_at",
        "_done",
        "_gathering",
        "_halted",
        "_items",
        "_op",
        "_outputs",
        "_strand",
        "_tape",
        "_total",
        "_width",
    )

    def __init__(self, op: ForeachOp, strand: Strand, width: int) -> None:
        items: list[Any] = strand.value
        self._op = op
        self._strand = strand
        self._width = width
        self._at = strand.at
        self._items: Iterator[tuple[int, Any]] = iter(enumerate(items))
        self._total = len(items)
        self._outputs: list[Any] = [None] * len(items)
        self._gathering = Gathering(len(items), None, op.on_error, lambda: op.cut_off(strand))
        self._halted: list[Strand] = []
        self._done = 0
        self._tape = strand.execution.tape

    def start(self) -> list[tuple[int, Waiting]]:
        """Begin items inline until so many wait, or there are no more."""
        waiting: list[tuple[int, Waiting]] = []
        one = self._one()
        try:
            for index, item in self._items:
                one.again(item, (*self._at, index + 1))
                try:
                    awaitable = advance(one)
                except HaltSignal:
                    self._halted.append(one)
                    if self._width == 1:
                        break
                    one = self._one()
                except Exception as error:
                    self._failed(index, one, error)
                else:
                    if awaitable is None:
                        self._ended(index, one)
                        continue
                    waiting.append((index, (one, awaitable)))
                    if len(waiting) == self._width:
                        break
                    one = self._one()
        except BaseException:
            abandon_all([one for _, one in waiting])
            raise
        return waiting

    async def worker(self, index: int, begun: Waiting) -> None:
        """Take an item to its end, then begin the next that nobody has begun, as long as there is one."""
        one, waits = begun
        awaitable: Awaitable[object] | None = waits
        outputs, at, tape = self._outputs, self._at, self._tape
        run, latch = self._strand.run, self._strand.execution.latch
        first = self._op.body[0]
        alone = not self._strand.execution.joins  # in the run's own task
        drop_if_blocked(one, waits)
        while True:
            try:
                if alone and awaitable is not None:  # pyright: ignore[reportUnnecessaryComparison]  (a later turn)
                    await drive(one, awaitable)
                    awaitable = None
                while awaitable is not None:  # the same, without a coroutine for each item
                    try:
                        result = await awaitable
                    except BaseException as error:
                        fail(one, one.ops[one.index], error)
                    awaitable = proceed(one, result)
                outputs[index] = one.value
                if tape is not None:
                    self._tell(one)
            except HaltSignal:
                self._halted.append(one)
                if self._width == 1:
                    stop_if_stopped(self._strand)
                    return
                one = self._one()
            except Exception as error:
                self._failed(index, one, error)
            if run.bailed is not None or latch.tripwire is not None:
                stop_if_stopped(self._strand)
            for index, item in self._items:
                one.value, one.at, one.index = item, (*at, index + 1), 0  # as again() does, without a call an item
                try:
                    if tape is not None or latch.tripwire is not None:
                        awaitable = advance(one)
                    else:
                        try:
                            given = first.begin(one)
                        except BaseException as error:
                            fail(one, first, error)
                        # It is a coroutine again in most lists that wait at all.
                        kind: object = type(given)
                        awaitable = given if kind is CoroutineType else advance(one, given)  # type: ignore[assignment]
                except HaltSignal:
                    self._halted.append(one)
                    if self._width == 1:
                        return
                    one = self._one()
                except Exception as error:
                    self._failed(index, one, error)
                else:
                    if awaitable is not None:
                        break
                    self._ended(index, one)
            else:
                return

    def given(self) -> list[Any]:
        """What the list gives, once all its items have ended."""
        if self._halted:
            halt(self._strand)
        self._gathering.settle()
        for index, error in self._gathering.failures.items():
            self._outputs[index] = StepError(self._op.body_id, error)
        return self._outputs

    def _one(self) -> Strand:
        return self._strand.inner(self._op.body, None)

    def _ended(self, index: int, one: Strand) -> None:
        self._outputs[index] = one.value
        self._tell(one)

    def _failed(self, index: int, one: Strand, error: Exception) -> None:
        self._gathering.take(index, error, ended_at=one.ended_at)
        self._tell(one)

    def _tell(self, one: Strand) -> None:
        self._done += 1
        if self._tape is not None and not one.entry.replayed:  # else it was told in an earlier leg
            self._tape.foreach_progress(self._strand.entry, self._done, self._total)
