"""Personal data: found by check digits and numbering plans, masked before a model or a client sees it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final, Literal, get_args

from interlock.errors import DefinitionError
from interlock.processors.detection.options import OFFLINE, checked
from interlock.processors.detection.pii.masking import Masking, PIIMethod
from interlock.processors.detection.pii.recogniser import KINDS, PIIKind
from interlock.processors.detection.pii.rules import recognisers
from interlock.processors.detection.scope import Scope
from interlock.processors.lanes.matcher import Match, Matcher
from interlock.processors.text_guard import OnDetection, Patterns, TextGuard
from interlock.verdict import Phase, Violation

__all__ = ["PIIDetector"]

_SCOPE: Final = Scope(parts=["text", "reasoning", "tool-result"])


class PIIDetector(TextGuard):
    """Finds personal data and takes it out, or stops the run.

    Acts on the input, on the answer while it streams and when a step of it is complete, on tool results and on the
    final answer. Tool arguments are left out unless ``scope`` takes them in: a masked address would be mailed to. A
    finding that cannot be redacted (in reasoning that a provider has signed, in what the system wrote, in the keys of a
    tool's result) stops the run.

    Args:
        kinds: ``"email"``, ``"phone"``, ``"credit-card"``, ``"ssn"``, ``"ip-address"``, ``"iban"``. Default: all.
        strategy: ``"redact"`` edits the text; ``"block"`` stops the run; ``"filter"`` removes the message, of a stream
            what was found, of a tool's result the string; ``"warn"`` reports and goes on.
        method: Of a redaction: ``"mask"`` leaves a recognisable shape, ``"hash"`` a name under a secret of this object,
            ``"placeholder"`` the kind, ``"remove"`` nothing.
        threshold: Findings with this score or more count, from 0 to 1.
        preserve_format: Masks keep length and separators.
        region: Two letters (``"DE"``): that country's national phone numbers count too. Default: international and
            United States forms, and numbers that are called phone numbers.
        scope: Which roles and part kinds are read. Default: all text, reasoning and tool results.
        phases: The points it acts at. Default: input, output_stream, output_step, tool_result and output_result, and
            tool_call where ``scope`` takes tool arguments.
        on_detection: Called with each finding that counts and the context.
        id, on_violation: As in :class:`Processor`.

    Raises:
        DefinitionError: An option that is none.

    Example:
        >>> from interlock.processors import InputContext
        >>> ctx = InputContext("I am ann@example.com, card 4111 1111 1111 1111")
        >>> PIIDetector().process_input(ctx)
        >>> ctx.messages[0].text
        'I am a*n@*******.com, card **** **** **** 1111'
    """

    id = "pii-detector"
    noun = "personal data"
    on_failure = "block"
    timeout = OFFLINE

    def __init__(
        self,
        *,
        kinds: Collection[PIIKind] | None = None,
        strategy: Literal["redact", "block", "warn", "filter"] = "redact",
        method: PIIMethod = "mask",
        threshold: float = 0.6,
        preserve_format: bool = True,
        region: str | None = None,
        scope: Scope | None = None,
        phases: Collection[Phase | str] | None = None,
        on_detection: OnDetection | None = None,
        id: str | None = None,  # noqa: A002
        on_violation: Callable[[Violation], object] | None = None,
    ) -> None:
        self._kinds = checked(
            type(self).__name__,
            strategy=strategy,
            strategies=("redact", "block", "warn", "filter"),
            threshold=threshold,
            scope=scope,
            on_detection=on_detection,
            kinds=kinds,
            known=KINDS,
        )
        if method not in get_args(PIIMethod):
            raise DefinitionError(
                f"method is one of {', '.join(get_args(PIIMethod))}, not {method!r}", subject=type(self).__name__
            )
        self._threshold = threshold
        self._region = region
        self._masking = Masking(method, preserve_format=preserve_format)
        scope = scope if scope is not None else _SCOPE
        if phases is None:
            phases = type(self).phases - (frozenset() if "tool-arguments" in scope.parts else {Phase.TOOL_CALL})
        super().__init__(
            strategy=strategy,
            scope=scope,
            phases=phases,
            on_detection=on_detection,
            id=id,
            on_violation=on_violation,
        )

    def matchers(self, patterns: Patterns, /) -> Sequence[Matcher]:
        """One recogniser a kind, and what ``patterns`` of a class of your own say."""
        own = super().matchers(patterns) if patterns else ()
        return [*recognisers(self._kinds, region=self._region, threshold=self._threshold), *own]

    def replace(self, match: Match, text: str, /) -> str:
        """By the method that was chosen."""
        return self._masking.replace(match.kind, text)
