"""The body again and again, as a condition says."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import cast

from interlock.errors import RunError
from interlock.runtime.chunk_chain import ChunkChain
from interlock.runtime.chunk_stages.call import Call
from interlock.runtime.chunk_stages.scope import Round, Scope
from interlock.runtime.chunk_stages.values import Value, Values, as_tuple
from interlock.runtime.chunk_stages.woven import Hooked, Work, WovenStage
from interlock.runtime.strand import is_awaitable
from interlock.workflows import LoopNode

__all__ = ["LoopStage"]


class LoopStage(WovenStage):
    """The body at least once; then the condition is asked about each chunk that it gave.

    A chunk that the body drops is out of the loop. Where the body makes several of one, each goes on by itself: the
    condition is asked about it, and it goes round as often as that says, before the next one does.

    Args:
        path: Where it stands.
        scope: The workflow it stands in.
        node: How often it goes round at most, and what the condition's answer means.
        body: The body.
        condition: The condition.
        round: Where its number is told to functions in the body.
    """

    def __init__(
        self,
        path: str,
        scope: Scope,
        node: LoopNode,
        body: ChunkChain,
        condition: Call,
        round: Round,  # noqa: A002
    ) -> None:
        super().__init__(path, scope.execution)
        self._body = body
        self._condition = condition
        self._round = round
        self._until = node.until
        self._most = node.max_iterations

    def chains(self) -> Sequence[ChunkChain]:
        """The body."""
        return (self._body,)

    def work(self, value: Value) -> Work:
        """Go round."""
        done: list[Value] = []
        left: list[tuple[int, Value]] = []
        number = 1
        while True:
            self._round.number = number
            out = self._body.push(value)
            flow = (yield cast("Awaitable[object]", out)) if is_awaitable(out) else out
            left += [(number, one) for one in reversed(as_tuple(cast("Values", flow)))]
            while True:
                if not left:
                    return done[0] if len(done) == 1 else tuple(done)
                number, value = left.pop()
                self._round.number = number
                answer = self._condition.answer(value)
                if answer.__class__ is Hooked:
                    answer = yield from self._condition.waited(cast("Hooked", answer))
                if bool(answer) is not self._until:
                    break
                done.append(value)
            if number >= self._most:
                raise RunError(
                    f"{self.path!r} went round {number} times and its condition would have it go on; where that is "
                    "meant, raise max_iterations"
                )
            number += 1
            self._body.also(1)
