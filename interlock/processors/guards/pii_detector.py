"""Personal data: found by check digits and numbering plans, masked before a model or a client sees it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import Final, Literal, get_args

from interlock.errors import DefinitionError
from interlock.processors.base import Processor
from interlock.processors.changes import ToolResultChanges
from interlock.processors.contexts import InputContext, OutputResultContext, ToolResultContext
from interlock.processors.detection.finding import Finding
from interlock.processors.detection.options import checked
from interlock.processors.detection.pii.masking import Masking, PIIMethod
from interlock.processors.detection.pii.recogniser import KINDS, PIIKind
from interlock.processors.detection.pii.rules import PIIRules
from interlock.processors.detection.scope import Scope
from interlock.processors.detection.text_judge import OnDetection, TextJudge
from interlock.verdict import Violation

__all__ = ["PIIDetector"]

_SCOPE: Final = Scope(parts=["text", "reasoning", "tool-result"])


class PIIDetector(Processor):
    """Finds personal data and takes it out, or stops the run.

    Acts on the input, on tool results and on the final answer. Tool arguments are left out unless ``scope`` takes them
    in: a masked address would be mailed to. A finding that cannot be redacted (in reasoning that a provider has signed,
    in what the system wrote, in the keys of a tool's result) stops the run.

    Args:
        kinds: ``"email"``, ``"phone"``, ``"credit-card"``, ``"ssn"``, ``"ip-address"``, ``"iban"``. Default: all.
        strategy: ``"redact"`` edits the text; ``"block"`` stops the run; ``"filter"`` removes the message, or the
            string of a tool's result; ``"warn"`` reports and goes on.
        method: Of a redaction: ``"mask"`` leaves a recognisable shape, ``"hash"`` a name under a secret of this object,
            ``"placeholder"`` the kind, ``"remove"`` nothing.
        threshold: Findings with this score or more count, from 0 to 1.
        preserve_format: Masks keep length and separators.
        region: Two letters (``"DE"``): that country's national phone numbers count too. Default: international and
            United States forms, and numbers that are called phone numbers.
        scope: Which roles and part kinds are read. Default: all text, reasoning and tool results.
        on_detection: Called with each finding that counts and the context.
        id, on_violation: As in :class:`Processor`.

    Raises:
        DefinitionError: An option that is none.

    Example:
        >>> ctx = InputContext("I am ann@example.com, card 4111 1111 1111 1111")
        >>> PIIDetector().process_input(ctx)
        >>> ctx.messages[0].text
        'I am a*n@*******.com, card **** **** **** 1111'
    """

    id = "pii-detector"

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
        on_detection: OnDetection | None = None,
        id: str | None = None,  # noqa: A002
        on_violation: Callable[[Violation], object] | None = None,
    ) -> None:
        super().__init__(id=id, on_violation=on_violation)
        chosen = checked(
            type(self).__name__,
            strategy=strategy,
            strategies=("redact", "block", "warn", "filter"),
            threshold=threshold,
            kinds=kinds,
            known=KINDS,
        )
        if method not in get_args(PIIMethod):
            raise DefinitionError(
                f"method is one of {', '.join(get_args(PIIMethod))}, not {method!r}", subject=type(self).__name__
            )
        masking = Masking(method, preserve_format=preserve_format)

        def replace(finding: Finding, text: str) -> str:
            return masking.replace(finding.kind, text)

        self._judge = TextJudge(
            noun="personal data",
            rules=PIIRules(chosen, region=region),
            strategy=strategy,
            threshold=threshold,
            scope=scope if scope is not None else _SCOPE,
            replace=replace,
            on_detection=on_detection,
        )

    def process_input(self, ctx: InputContext) -> Awaitable[None] | None:
        """Look at the new input messages."""
        return self._judge.judge(ctx)

    def process_tool_result(
        self, ctx: ToolResultContext
    ) -> Awaitable[ToolResultChanges | None] | ToolResultChanges | None:
        """Look at what a tool returned."""
        return self._judge.judge(ctx)

    def process_output_result(self, ctx: OutputResultContext) -> Awaitable[None] | None:
        """Look at the response messages."""
        return self._judge.judge(ctx)
