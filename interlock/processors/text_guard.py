"""A guard on text, at all points of a run and in the stream at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import NoneType
from typing import Any, ClassVar, Final, Literal, NamedTuple, TypeAlias, cast, get_args

from interlock.errors import DefinitionError
from interlock.messages import Chunk, TextEdit
from interlock.messages.rewriting import apply_edits
from interlock.processors.base import Processor
from interlock.processors.changes import ToolCallChanges, ToolResultChanges
from interlock.processors.contexts import (
    InputContext,
    OutputResultContext,
    OutputStepContext,
    OutputStreamContext,
    ToolCallContext,
    ToolResultContext,
)
from interlock.processors.detection.finding import Finding
from interlock.processors.detection.own_edits import OwnEdits
from interlock.processors.detection.scope import EVERYTHING, PartKind, Scope
from interlock.processors.detection.texts import CallTexts, JSONTexts, MessageTexts, ResultTexts, Texts
from interlock.processors.guarded_stream import GuardedStream
from interlock.processors.lanes.bounded_pattern import BoundedPattern
from interlock.processors.lanes.edited_lane import Edit, edits_of
from interlock.processors.lanes.json_lane import JSONLane
from interlock.processors.lanes.lane import LaneKind
from interlock.processors.lanes.matcher import Found, Match, Matcher, Reading
from interlock.processors.listeners import fault_in_listener
from interlock.shown import shown
from interlock.verdict import NOTHING_TO_READ, Phase, Violation

__all__ = ["GuardContext", "OnDetection", "Patterns", "TextGuard", "TextStrategy"]

TextStrategy = Literal["redact", "block", "filter", "warn"]
"""What is done about what is found: edit the text, stop the run, take out what it is in, or report it."""

GuardContext: TypeAlias = (
    InputContext | OutputStreamContext | OutputStepContext | ToolCallContext | ToolResultContext | OutputResultContext
)
"""The points at which guards of texts stand."""

OnDetection = Callable[[Finding, GuardContext], object]
"""Called with each finding that counts, before anything is done about it."""

Patterns = Sequence[str | Matcher] | Mapping[str, str]
"""Regular expressions with a bound, by their kind where it is a mapping; or matchers."""

_LATER: Final = (OutputStepContext, ToolCallContext, OutputResultContext)
"""Points at which a guard may meet what it has let go before."""

_REDACTED: Final = "[REDACTED]"
_CANNOT: Final = {
    "redact": ", in a place that cannot be redacted",
    "filter": ", in a place that cannot be taken out",
}


class TextGuard(Processor, abstract=True):
    """Finds something in texts, wherever they pass: in what users write, in the answer while it streams and when it is
    complete, in reasoning, in the arguments of tools and in what they return.

    Say what is found in one of two ways:

    - ``patterns``: regular expressions whose matches have a longest length (``{1,64}`` in place of ``+``);
    - a method ``find(text, start)``, with ``longest_match``, ``look_behind`` and ``look_ahead``. It must keep to the
      rules of :class:`interlock.processors.lanes.matcher.Matcher`. With ``openers`` and ``alphabet``, or a method
      ``open_at(text, start)``, nothing is held back where nothing can match.

    In a stream a text is let go as soon as nothing that comes later can change what is found in it: what a client is
    given, joined, is what the guard makes of the whole text, however that was cut into chunks.

    Args:
        strategy: ``"redact"`` edits the text; ``"block"`` stops the run; ``"filter"`` takes out the message (in a
            stream the match, in JSON the string); ``"warn"`` reports and goes on.
        patterns: In place of the class's own.
        replacement: What stands in the place of a match that is redacted.
        scope: Which roles and part kinds are read. Default: all.
        phases: The points it acts at. Default: input, output_stream, output_step, tool_call, tool_result and
            output_result.
        on_detection: Called with each finding and the context.
        id, on_violation: As in :class:`Processor`.

    Attributes:
        longest_match: Characters of the longest match.
        look_behind, look_ahead: Characters before and behind a match that it depends on.
        openers: The characters that a match can begin with.
        alphabet: All characters of a match; the first other one ends what could have become one.
        reading: Which reading of a text ``find`` and ``patterns`` are given: ``"raw"``, ``"plain"``, ``"folded"``.
        noun: What is looked for, for reasons.

    Raises:
        DefinitionError: Nothing says what is found, a pattern has no bound, or an option is none.

    Example:
        >>> class Tickets(TextGuard):
        ...     id = "tickets"
        ...     patterns = [r"\\bTICKET-[0-9]{1,8}\\b"]
        >>> ctx = InputContext("about TICKET-4711")
        >>> Tickets().process_input(ctx)
        >>> ctx.messages[0].text
        'about [REDACTED]'
    """

    keeps_lanes: ClassVar[bool] = True
    patterns: ClassVar[Patterns] = ()
    longest_match: int | None = None
    look_behind: int = 0
    look_ahead: int = 0
    openers: str | None = None
    alphabet: str | None = None
    reading: Reading = "raw"
    noun: str = "a match"

    def __init__(
        self,
        *,
        strategy: TextStrategy = "redact",
        patterns: Patterns | None = None,
        replacement: str = _REDACTED,
        scope: Scope | None = None,
        phases: Collection[Phase | str] | None = None,
        on_detection: OnDetection | None = None,
        id: str | None = None,  # noqa: A002
        on_violation: Callable[[Violation], object] | None = None,
    ) -> None:
        super().__init__(id=id, on_violation=on_violation)
        subject = type(self).__name__
        if strategy not in get_args(TextStrategy):
            raise DefinitionError(
                f"strategy is one of {', '.join(get_args(TextStrategy))}, not {strategy!r}", subject=subject
            )
        self._strategy: TextStrategy = strategy
        if not isinstance(cast("object", replacement), str):
            raise DefinitionError(f"replacement is a text, not {replacement!r}", subject=subject)
        if not isinstance(cast("object", scope), Scope | NoneType):
            raise DefinitionError(f"scope is a Scope(roles=…, parts=…), not {shown(scope)}", subject=subject)
        if (fault := fault_in_listener("on_detection", on_detection)) is not None:
            raise DefinitionError(fault, subject=subject)
        if self.reading not in get_args(Reading):
            raise DefinitionError(
                f"reading is one of {', '.join(get_args(Reading))}, not {shown(self.reading)}", subject=subject
            )
        self._replacement = replacement
        self._scope = scope if scope is not None else EVERYTHING
        self._on_detection = on_detection
        self._kind = LaneKind(self.matchers(self.patterns if patterns is None else patterns))
        if phases is not None:
            self.phases = _chosen(phases, type(self).phases, subject)  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]

    def find(self, text: str, start: int, /) -> Iterable[Found]:
        """What is found at or after ``start``, as ``(start, end)`` or matches; what stands before is context only."""
        raise NotImplementedError

    def open_at(self, text: str, start: int, /) -> int:
        """The least place from ``start`` on at which a match may yet begin, or change, when the text grows."""
        raise NotImplementedError

    def replace(self, match: Match, text: str, /) -> str:
        """What stands in the place of a match that is redacted.

        Args:
            match: What was found.
            text: Its text, as it came.
        """
        del match, text
        return self._replacement

    def matchers(self, patterns: Patterns, /) -> Sequence[Matcher]:
        """What is looked for.

        Args:
            patterns: The guard's.

        Raises:
            DefinitionError: Nothing is, or a pattern has no bound.
        """
        made: list[Matcher] = []
        if getattr(self, "id", None) is None and not isinstance(patterns, Mapping):
            raise DefinitionError("it has no id; set id on the class or pass id=…", subject=type(self).__name__)
        if isinstance(patterns, Mapping):
            made += [self._bounded(pattern, kind) for kind, pattern in patterns.items()]
        elif isinstance(patterns, str):
            raise DefinitionError(
                "patterns is a list, [pattern, …], or a mapping, {kind: pattern, …}", subject=type(self).__name__
            )
        else:
            made += [one if isinstance(one, Matcher) else self._bounded(one, self.id) for one in patterns]
        if type(self).find is not TextGuard.find:
            made.append(_Own(self))
        if not made:
            raise DefinitionError(
                "it says not what is found: set patterns, or write find()", subject=type(self).__name__
            )
        return made

    def _bounded(self, pattern: str, kind: str) -> BoundedPattern:
        try:
            return BoundedPattern(pattern, kind=kind, reading=self.reading)
        except DefinitionError as error:
            raise DefinitionError(error.faults, subject=f"{type(self).__name__}, pattern of {kind!r}") from error

    @property
    def strategy(self) -> TextStrategy:
        """What it does about what it finds."""
        return self._strategy

    def reads(self, part: str) -> bool:
        """Whether it reads what a model says in such a part."""
        return any(part == one and self._scope.takes("assistant", one) for one in get_args(PartKind))

    def first_match(self, text: str) -> int | None:
        """Where the first thing begins that it finds in a whole text; None: it finds nothing."""
        return next((edit.match.start for edit in edits_of(self._kind, text, self._replaced)), None)

    @property
    def longest_hold(self) -> int:
        """How many characters of a text may be held back in a stream."""
        return self._kind.longest_hold

    def process_input(self, ctx: InputContext) -> None:
        """Look at the new input messages."""
        self._look(ctx, MessageTexts(ctx, self._scope))

    def process_output_stream(self, ctx: OutputStreamContext) -> Chunk | Sequence[Chunk] | None:
        """Look at the stream, holding back what is not decided."""
        held = ctx.held
        if held is None:
            holds = self._strategy != "warn"
            held = ctx.held = GuardedStream(self._kind, self._replaced, self._scope, self, holds=holds)
        stream: GuardedStream = held
        return stream.process(ctx)

    def process_output_step(self, ctx: OutputStepContext) -> None:
        """Look at the answer of a step."""
        self._look(ctx, MessageTexts(ctx, self._scope, ctx.message_list.response))

    def process_tool_call(self, ctx: ToolCallContext) -> ToolCallChanges | None:
        """Look at the arguments of a tool call."""
        made = self._look(ctx, CallTexts(ctx, self._scope))
        return made if isinstance(made, ToolCallChanges) else None

    def process_tool_result(self, ctx: ToolResultContext) -> ToolResultChanges | None:
        """Look at what a tool returned."""
        made = self._look(ctx, ResultTexts(ctx, self._scope))
        return made if isinstance(made, ToolResultChanges) else None

    def process_output_result(self, ctx: OutputResultContext) -> None:
        """Look at the response messages."""
        self._look(ctx, MessageTexts(ctx, self._scope))

    # What is done about what was found

    def act(self, ctx: Any, edits: Sequence[Edit], *, can_change: bool = True) -> None:
        """Warn or stop the run; where it returns, edits are made."""
        if self._strategy == "block" and isinstance(ctx, OutputStreamContext):
            edits = edits[:1]  # how many more had come by then depends on how the text was cut
        if self._on_detection is not None:
            for match, _, _ in edits:
                finding = Finding(match.kind, match.start, match.end, match.score, match.explanation)
                self._on_detection(finding, ctx)
        if self._strategy == "warn":
            if edits:
                ctx.warn(self._reason(edits), _metadata(edits))
        elif self._strategy == "block" or not can_change:
            where = "" if can_change or self._strategy == "block" else _CANNOT[self._strategy]
            ctx.abort(self._reason(edits) + where, metadata=_metadata(edits))

    def whole(self, ctx: Any, value: object, part: PartKind, *, again: bool = False) -> object:
        """A whole value, edited; itself where nothing is.

        Args:
            ctx: The context.
            value: The value.
            part: What it is.
            again: Whether it may have passed already; then what was edited stays as it is.
        """
        texts = JSONTexts(value, EVERYTHING, part)
        # arguments are edited as what was written of them
        self._edit(ctx, texts, by_spans=part == "tool-arguments", again=again)
        if not texts.changed:
            return value
        ctx.edited = True
        return texts.value

    def _look(self, ctx: GuardContext, texts: Texts) -> ToolResultChanges | ToolCallChanges | None:
        if not texts.texts:
            ctx.not_checked(NOTHING_TO_READ)
            return None
        for one in texts.texts:
            role = one.role if one.role is not None else "tool" if one.part == "tool-result" else "assistant"
            ctx.looked_at(role, one.part)
        self._edit(ctx, texts, again=isinstance(ctx, _LATER))
        return texts.finish()

    def _edit(self, ctx: GuardContext, texts: Texts, *, by_spans: bool = False, again: bool = False) -> None:
        own = OwnEdits(ctx.state)
        made: dict[int, _Made] = {}
        for n, one in enumerate(texts.texts):
            if not (again and own.has(one.part, one.text)):
                edited = self._made_of(texts, n)
                if edited.edits:
                    made[n] = edited
        if not made:
            return
        can_change = all(self._can_change(texts, n) and not edited.fixed for n, edited in made.items())
        self.act(ctx, [edit for edited in made.values() for edit in edited.edits], can_change=can_change)
        if self._strategy == "filter" and not by_spans:
            texts.drop(made)
        elif self._strategy in ("filter", "redact"):
            for n, edited in made.items():
                texts.edit(n, edited.changes)
                if not isinstance(ctx, InputContext):
                    own.note(texts.texts[n].part, apply_edits(texts.texts[n].text, edited.changes))

    def _made_of(self, texts: Texts, n: int) -> _Made:
        one = texts.texts[n]
        if n not in texts.after:
            edits = edits_of(self._kind, one.text, self._replaced)
            return _Made(edits, [TextEdit(m.start, m.end, replacement) for m, _, replacement in edits], False)
        of_call = one.part == "tool-arguments"
        gone = JSONLane(self._kind, self._replaced, after=texts.after[n], of_call=of_call).whole(one.text)
        changes = [TextEdit(piece.start, piece.end, piece.text) for piece in gone.pieces if not piece.kept]
        return _Made(gone.edits, changes, bool(gone.fixed))

    def _can_change(self, texts: Texts, n: int) -> bool:
        return texts.can_drop(n) if self._strategy == "filter" else texts.texts[n].can_change

    def _replaced(self, match: Match, text: str) -> str:
        return self.replace(match, text) if self._strategy == "redact" else ""

    def _reason(self, edits: Sequence[Edit]) -> str:
        kinds = ", ".join(_scores(edits))
        return f"{self.noun}: {kinds}" if kinds else self.noun


class _Made(NamedTuple):
    """What was found in a text, what is to become of it, and whether some of it cannot be changed."""

    edits: Sequence[Edit]
    changes: Sequence[TextEdit]
    fixed: bool


class _Own(Matcher):
    """What a guard's own ``find`` finds."""

    def __init__(self, guard: TextGuard) -> None:
        if guard.longest_match is None or guard.longest_match < 1:
            raise DefinitionError(
                "it has find() and does not say how long a match can be: set longest_match (characters, from 1)",
                subject=type(guard).__name__,
            )
        self.kind = guard.id
        self.longest_match = guard.longest_match
        self.look_behind = guard.look_behind
        self.look_ahead = guard.look_ahead
        self.reading = guard.reading
        self._guard = guard
        self._has_open_at = type(guard).open_at is not TextGuard.open_at
        self._openers = None if guard.openers is None else frozenset(guard.openers)
        self._alphabet = None if guard.alphabet is None else frozenset(guard.alphabet)
        if (self._openers is None) != (self._alphabet is None):
            raise DefinitionError("openers and alphabet belong together: set both", subject=type(guard).__name__)

    def find(self, text: str, start: int, /) -> Iterable[Found]:
        """As the guard says."""
        return self._guard.find(text, start)

    def open_at(self, text: str, start: int, /) -> int:
        """As the guard says; from its alphabet; or from its longest match."""
        if self._has_open_at:
            return self._guard.open_at(text, start)
        least = super().open_at(text, start)
        if self._openers is None or self._alphabet is None or self.look_ahead:
            return least
        at = len(text)
        opens = at
        while at > least and text[at - 1] in self._alphabet:
            at -= 1
            if text[at] in self._openers:
                opens = at
        return opens


def _chosen(phases: Collection[Phase | str], known: Collection[Phase], subject: str) -> frozenset[Phase]:
    names = {str(phase): phase for phase in known}
    unknown = sorted(str(phase) for phase in phases if str(phase) not in names)
    if unknown or not phases:
        what = f"no such phase: {', '.join(map(repr, unknown))}" if unknown else "no phase is left"
        raise DefinitionError(f"{what}; it acts at {', '.join(sorted(names))}", subject=subject)
    return frozenset(names[str(phase)] for phase in phases)


def _scores(edits: Sequence[Edit]) -> dict[str, float]:
    """The highest score of each kind, the surest first."""
    scores: dict[str, float] = {}
    for match, _, _ in edits:
        scores[match.kind] = max(scores.get(match.kind, 0.0), match.score)
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))


def _metadata(edits: Sequence[Edit]) -> dict[str, object]:
    """Kinds; never what was found."""
    return {"kinds": list(_scores(edits)), "count": len(edits)}
