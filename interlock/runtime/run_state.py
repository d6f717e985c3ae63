"""A run's state: what its steps share, changed by deltas that are applied when a step has succeeded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, cast

from interlock.errors import StateConflict
from interlock.schema import UNSET, is_set
from interlock.steps import Turn

__all__ = ["Absolute", "Block", "RunState", "Site", "StateRules"]


class StateRules(Protocol):
    """What the state's schemas say; see :mod:`interlock.workflows.state_schema`."""

    def initial(self, given: Mapping[str, object] | None) -> dict[str, object]:
        """Where a state begins: what was given, and defaults."""
        ...

    def reduced(self, state: Mapping[str, object], name: str, delta: object) -> object:
        """The new value of a key for a delta."""
        ...

    def has_reducer(self, name: str) -> bool:
        """Whether deltas of a key add up."""
        ...

    def view(self, values: Mapping[str, object], schema: object) -> object:
        """The values as a schema has them."""
        ...


class Block:
    """What a step stands in: a block with arms, or a body that is run several times.

    Args:
        depth: Of a body: the place of its iteration in a turn's ``at``; None: a block with arms.
        at_once: Of a body, whether its iterations run at once.
        before: Of a graph, what each arm comes after, as bits; None: all arms run at once.
    """

    __slots__ = ("at_once", "before", "depth")

    def __init__(self, *, depth: int | None = None, at_once: bool = True, before: Sequence[int] | None = None) -> None:
        self.depth = depth
        self.at_once = at_once
        self.before = before

    def concurrent(self, one: int, other: int) -> bool:
        """Whether two different arms (or iterations) may run at the same time."""
        if self.before is not None:
            return not (self.before[one] >> other & 1 or self.before[other] >> one & 1)
        return self.at_once


Site = tuple[tuple[Block, int], ...]
"""The blocks around a step, from the outermost in, each with the arm it stands in."""


class Absolute:
    """A new value of a key, whatever its reducer.

    Args:
        value: The value.
    """

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


class RunState:
    """The state of one run.

    Args:
        rules: What its schemas say; None: there are none, and any key may be written.
        schema: How it shows itself to a step without a ``state_schema``.
        values: Where it begins.
    """

    def __init__(
        self, rules: StateRules | None = None, schema: object = UNSET, values: Mapping[str, object] | None = None
    ) -> None:
        self.values = cast("dict[str, object]", _copied(dict(values or {})))
        self._rules = rules
        self._schema = schema
        self._writers: dict[str, tuple[Turn, Site, object]] = {}
        self._before: tuple[Turn, dict[str, object]] | None = None
        self._in_turn: set[tuple[Block, tuple[int, ...]]] = set()

    def view(self, schema: object = UNSET) -> object:
        """A copy: as a schema has it, else the workflow's, else a dict."""
        if not is_set(schema):
            schema = self._schema
        return _copied(self.values) if self._rules is None else self._rules.view(self.values, schema)

    def settle(self) -> None:
        """Nothing that was written so far is at odds with what is written from now on."""
        self._writers.clear()
        self._in_turn.clear()
        self._before = None

    def apply(self, turn: Turn, site: Site, deltas: Sequence[tuple[str, object]]) -> dict[str, object]:
        """Apply what a step changed.

        Returns:
            The keys that changed, with their new values.

        Raises:
            StateConflict: A step that ran at the same time wrote the same key, and the key has no reducer.
            pydantic.ValidationError: A value does not fit the schema.
        """
        claimed = [name for name, _ in deltas if self._rules is None or not self._rules.has_reducer(name)]
        for name in claimed:
            self._check(name, turn, site)
        values = dict(self.values)
        changed: dict[str, object] = {}
        for name, delta in deltas:
            values[name] = changed[name] = self._reduced(values, name, delta)
        for name in claimed:
            self._writers[name] = (turn, site, None)
        self._before = (turn, self.values)
        self.values = values
        return changed

    def revert(self, turn: Turn) -> None:
        """Take back what a step has changed just now."""
        if self._before is not None and self._before[0] is turn:
            self.values = self._before[1]
            self._before = None

    def in_turn(self, block: Block, at: tuple[int, ...]) -> None:
        """Note that the iterations of a body run one after the other this time.

        Args:
            block: The body.
            at: The iterations around it.
        """
        self._in_turn.add((block, at))

    def restore(self, deltas: Sequence[tuple[str, object]]) -> None:
        """Apply changes that were made before the run was continued, in the order in which they were."""
        for name, delta in deltas:
            if isinstance(delta, Absolute):
                self.values[name] = delta.value
            else:
                self.values[name] = self._reduced(self.values, name, delta)

    def claim(self, turn: Turn, site: Site, deltas: Sequence[tuple[str, object]], *, settled: object = None) -> None:
        """Note that a step made such changes before the run was continued.

        Args:
            turn: The step's.
            site: Where it stands.
            deltas: The changes.
            settled: What it stands in that has ended as a whole: nothing in there is at odds with anything else there.

        Raises:
            StateConflict: A step that runs at the same time has written the same key since, and the key has no reducer.
        """
        for name, _ in deltas:
            if self._rules is None or not self._rules.has_reducer(name):
                self._check(name, turn, site, settled)
                self._writers[name] = (turn, site, settled)

    def _reduced(self, values: Mapping[str, object], name: str, delta: object) -> object:
        return _copied(delta) if self._rules is None else self._rules.reduced(values, name, delta)

    def _check(self, name: str, turn: Turn, site: Site, settled: object = None) -> None:
        if name not in self._writers:
            return
        other, place, other_settled = self._writers[name]
        past = other.notes is not None and other.notes.stale  # it belongs to an attempt that was over before
        past = past or (settled is not None and settled is other_settled)
        if other is not turn and not past and self._at_once(site, turn.at, place, other.at):
            raise StateConflict(name, (other.op.path, turn.op.path))

    def _at_once(self, one: Site, one_at: tuple[int, ...], other: Site, other_at: tuple[int, ...]) -> bool:
        """Whether two turns of steps may run at once: whether a block around both has them in different arms."""
        for (block, arm), (other_block, other_arm) in zip(one, other, strict=False):
            if block is not other_block:
                return False
            if block.depth is not None:
                arm, other_arm = one_at[block.depth], other_at[block.depth]
            if arm != other_arm:
                return block.concurrent(arm, other_arm) and (block, one_at[: block.depth]) not in self._in_turn
        return False


def _copied(value: object) -> object:
    from interlock.workflows.state_schema import copied

    return copied(value)
