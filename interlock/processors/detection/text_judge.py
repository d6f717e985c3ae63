"""What guards of texts do with findings, once for all of them: redact, block, filter or warn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NoReturn, Protocol, assert_never, overload

from interlock.messages import TextEdit
from interlock.processors.changes import ToolResultChanges
from interlock.processors.contexts import InputContext, OutputResultContext, ToolResultContext
from interlock.processors.detection.finding import Detector, Finding, join_overlapping
from interlock.processors.detection.scope import EVERYTHING, Scope
from interlock.processors.detection.texts import MessageTexts, ResultTexts, Texts

__all__ = ["GuardContext", "OnDetection", "Rules", "Strategy", "TextJudge"]

GuardContext = InputContext | ToolResultContext | OutputResultContext
"""The points at which guards of texts stand."""

OnDetection = Callable[[Finding, GuardContext], object]
"""Called with each finding that counts, before anything is done about it."""

Strategy = Literal["redact", "block", "filter", "warn"]


class Rules(Protocol):
    """An offline detector."""

    def find(self, text: str, /) -> list[Finding]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TextJudge:
    """Reads the texts of a point, asks its detectors, and acts on what they find.

    Args:
        noun: What is looked for, for reasons: "personal data".
        rules: Asked first, text by text.
        strategy: ``redact`` edits the texts; ``block`` stops the run; ``filter`` takes out the message, or the string
            of a tool's result; ``warn`` reports and goes on.
        threshold: Findings with this score or more count.
        named: What kinds are called in metadata.
        detector: Asked once, about all the texts in which the rules found nothing that counts.
        scope: Which texts are read.
        replace: Makes the replacement of a redaction from a finding and its text; overlapping findings are joined.
        include_scores: Whether metadata carries the highest score of each kind.
        on_detection: Called with each finding that counts.
    """

    noun: str
    rules: Rules
    strategy: Strategy
    threshold: float
    named: Literal["kinds", "categories"] = "kinds"
    detector: Detector | None = None
    scope: Scope = EVERYTHING
    replace: Callable[[Finding, str], str] | None = None
    include_scores: bool = False
    on_detection: OnDetection | None = None

    @overload
    def judge(self, ctx: InputContext | OutputResultContext) -> Awaitable[None] | None: ...
    @overload
    def judge(self, ctx: ToolResultContext) -> Awaitable[ToolResultChanges | None] | ToolResultChanges | None: ...
    def judge(self, ctx: GuardContext) -> Awaitable[ToolResultChanges | None] | ToolResultChanges | None:
        """Look at a point of a run. With rules alone there is nothing to wait for, and no awaitable comes back."""
        texts = ResultTexts(ctx, self.scope) if isinstance(ctx, ToolResultContext) else MessageTexts(ctx, self.scope)
        if not texts.texts:
            ctx.not_checked("there is no text here that this guard reads")
            return None
        findings = [self._counting(self.rules.find(t.text)) for t in texts.texts]
        if self.detector is not None:
            return self._judge_further(self.detector, ctx, texts, findings)
        return self._act(ctx, texts, findings)

    async def _judge_further(
        self, detector: Detector, ctx: GuardContext, texts: Texts, findings: list[list[Finding]]
    ) -> ToolResultChanges | None:
        rest = [n for n, found in enumerate(findings) if not found and texts.texts[n].text.strip()]
        if rest:
            answer = await detector.detect([texts.texts[n].text for n in rest])
            if len(answer) != len(rest):
                raise ValueError(
                    f"{type(detector).__name__}.detect() was given {len(rest)} texts and answered for {len(answer)}; "
                    "it must return one list of findings for each"
                )
            for n, found in zip(rest, answer, strict=True):
                findings[n] = self._counting(found)
        return self._act(ctx, texts, findings)

    def _counting(self, findings: Sequence[Finding]) -> list[Finding]:
        counting = [f for f in findings if f.score >= self.threshold]
        return join_overlapping(counting) if self.replace is not None else counting

    def _act(self, ctx: GuardContext, texts: Texts, findings: Sequence[Sequence[Finding]]) -> ToolResultChanges | None:
        found = {n: these for n, these in enumerate(findings) if these}
        if self.on_detection is not None:
            for these in found.values():
                for finding in these:
                    self.on_detection(finding, ctx)
        if not found:
            return None
        match self.strategy:
            case "warn":
                ctx.warn(self._reason(found), self._metadata(found))
            case "block":
                self._block(ctx, found)
            case "filter":
                if not all(map(texts.can_drop, found)):
                    self._block(ctx, found, ", in a place that cannot be taken out")
                texts.drop(found)
            case "redact":
                if not all(texts.texts[n].can_change for n in found):
                    self._block(ctx, found, ", in a place that cannot be redacted")
                for n, these in found.items():
                    texts.edit(n, self._redactions(these, texts.texts[n].text))
            case _ as unknown:
                assert_never(unknown)
        return texts.finish()

    def _redactions(self, findings: Sequence[Finding], text: str) -> list[TextEdit]:
        replace = self.replace if self.replace is not None else _nothing
        return [TextEdit(f.start, f.end, replace(f, text[f.start : f.end])) for f in findings]

    def _block(self, ctx: GuardContext, found: Mapping[int, Sequence[Finding]], where: str = "") -> NoReturn:
        ctx.abort(self._reason(found) + where, metadata=self._metadata(found))

    def _reason(self, found: Mapping[int, Sequence[Finding]]) -> str:
        return f"{self.noun}: {', '.join(_scores(found))}"

    def _metadata(self, found: Mapping[int, Sequence[Finding]]) -> dict[str, object]:
        """Kinds and scores; never what was found."""
        scores = _scores(found)
        metadata: dict[str, object] = {self.named: list(scores), "count": sum(map(len, found.values()))}
        return {**metadata, "scores": scores} if self.include_scores else metadata


def _scores(found: Mapping[int, Sequence[Finding]]) -> dict[str, float]:
    """The highest score of each kind, the surest kind first."""
    scores: dict[str, float] = {}
    for finding in (f for these in found.values() for f in these):
        scores[finding.kind] = max(scores.get(finding.kind, 0.0), finding.score)
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))


def _nothing(_finding: Finding, _text: str) -> str:
    return ""
