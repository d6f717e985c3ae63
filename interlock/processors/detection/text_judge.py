"""What guards of texts do with findings, once for all of them: redact, block, filter or warn."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NoReturn, TypeVar, assert_never, cast

from interlock.messages import TextEdit
from interlock.processors.changes import ToolResultChanges
from interlock.processors.contexts import InputContext, OutputResultContext, OutputStreamContext, ToolResultContext
from interlock.processors.detection.escapes import Spelled, together
from interlock.processors.detection.finding import Detector, Finding, Rules, join_overlapping
from interlock.processors.detection.scope import EVERYTHING, Scope
from interlock.processors.detection.texts import GuardedText, MessageTexts, ResultTexts, Texts
from interlock.verdict import NOTHING_TO_READ

__all__ = ["GuardContext", "OnDetection", "Strategy", "TextJudge"]

GuardContext = InputContext | OutputStreamContext | ToolResultContext | OutputResultContext
"""The points at which guards of texts stand."""

OnDetection = Callable[[Finding, GuardContext], object]
"""Called with each finding that counts, before anything is done about it."""

Strategy = Literal["redact", "block", "filter", "warn"]


R = TypeVar("R")

_JUDGED: Final = "judged"
"""Where a processor's state keeps the digests of what was judged in the stream."""

_SPEAKER: Final = {"text": "assistant", "reasoning": "assistant", "tool-arguments": "assistant", "tool-result": "tool"}
"""Whose a text is that stands in no message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextJudge:
    """Reads the texts of a point, asks its detectors, and acts on what they find.

    Args:
        noun: What is looked for, for reasons: "personal data".
        rules: Asked first, text by text.
        strategy: ``redact`` edits the texts; ``block`` stops the run; ``filter`` takes out the message, of an answer
            the part, or the string of a tool's result; ``warn`` reports and goes on.
        threshold: Findings with this score or more count.
        named: What kinds are called in metadata.
        detector: Asked once, about all the texts in which the rules found nothing that counts.
        of_json: Rules that are asked about texts that are JSON; default: as about others.
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
    of_json: Rules | None = None
    scope: Scope = EVERYTHING
    replace: Callable[[Finding, str], str] | None = None
    include_scores: bool = False
    on_detection: OnDetection | None = None

    def judge(self, ctx: InputContext | OutputResultContext) -> Awaitable[None] | None:
        """Look at messages. With rules alone there is nothing to wait for, and no awaitable comes back."""
        texts = MessageTexts(ctx, self.scope)
        return self.judge_texts(ctx, texts, lambda: None)

    def judge_result(self, ctx: ToolResultContext) -> Awaitable[ToolResultChanges | None] | ToolResultChanges | None:
        """Look at what a tool returned."""
        texts = ResultTexts(ctx, self.scope)
        return self.judge_texts(ctx, texts, texts.finish)

    def judge_texts(self, ctx: GuardContext, texts: Texts, finish: Callable[[], R]) -> Awaitable[R] | R:
        """Look at some texts, act on what is found there, make the changes, and give what ``finish`` says."""
        if not texts.texts:
            ctx.not_checked(NOTHING_TO_READ)
            return finish()
        for one in texts.texts:
            ctx.looked_at(one.role if one.role is not None else _SPEAKER[one.part], one.part)
        findings = [self.counting(self._rules_for(t).find(t.text)) for t in texts.texts]
        if self.detector is not None:
            return self._judge_further(self.detector, ctx, texts, findings, finish)
        self._act(ctx, texts, findings)
        return finish()

    async def _judge_further(
        self,
        detector: Detector,
        ctx: GuardContext,
        texts: Texts,
        findings: list[list[Finding]],
        finish: Callable[[], R],
    ) -> R:
        judged = set(cast("list[str]", ctx.state.get(_JUDGED, ())))
        rest = [
            n
            for n, found in enumerate(findings)
            if not found and (text := texts.texts[n].text).strip() and (not judged or _digest(text) not in judged)
        ]
        if rest:
            for n, found in zip(rest, await self.ask(detector, [texts.texts[n] for n in rest]), strict=True):
                findings[n] = found
                if isinstance(ctx, OutputStreamContext) and (not found or self.strategy == "warn"):
                    self.note_judged(ctx, texts.texts[n].text)  # it stands in the message as it is
        self._act(ctx, texts, findings)
        return finish()

    def note_judged(self, ctx: GuardContext, text: str) -> None:
        """Note that the detector has judged a text of this run, which need not be paid for again."""
        ctx.state.setdefault(_JUDGED, []).append(_digest(text))

    async def ask(self, detector: Detector, texts: Sequence[GuardedText]) -> list[list[Finding]]:
        """What the detector finds in each text and counts. It is shown those that are JSON spelled out as well.

        Raises:
            ValueError: It did not answer for each of them.
        """
        spelled = [Spelled.of(one.text) if one.is_json else None for one in texts]
        asked = [*(one.text for one in texts), *(one.text for one in spelled if one is not None)]
        answer = await detector.detect(asked)
        if len(answer) != len(asked):
            raise ValueError(
                f"{type(detector).__name__}.detect() was given {len(asked)} texts and answered for {len(answer)}; "
                "it must return one list of findings for each"
            )
        more = iter(answer[len(texts) :])
        found = [
            seen if one is None else together(seen, map(one.in_text, next(more)))
            for one, seen in zip(spelled, answer, strict=False)
        ]
        return [self.counting(one) for one in found]

    def _rules_for(self, text: GuardedText) -> Rules:
        return self.of_json if text.is_json and self.of_json is not None else self.rules

    def counting(self, findings: Sequence[Finding]) -> list[Finding]:
        """The findings that reach the threshold."""
        counting = [f for f in findings if f.score >= self.threshold]
        return join_overlapping(counting) if self.replace is not None else counting

    def tell(self, ctx: GuardContext, found: Mapping[int, Sequence[Finding]]) -> None:
        """Let ``on_detection`` hear of each finding."""
        if self.on_detection is not None:
            for these in found.values():
                for finding in these:
                    self.on_detection(finding, ctx)

    def _act(self, ctx: GuardContext, texts: Texts, findings: Sequence[Sequence[Finding]]) -> None:
        found = {n: these for n, these in enumerate(findings) if these}
        self.tell(ctx, found)
        if not found:
            return
        match self.strategy:
            case "warn":
                self.warn(ctx, found)
            case "block":
                self.block(ctx, found)
            case "filter":
                if not all(map(texts.can_drop, found)):
                    self.block(ctx, found, ", in a place that cannot be taken out")
                texts.drop(found)
            case "redact":
                if not all(texts.texts[n].can_change for n in found):
                    self.block(ctx, found, ", in a place that cannot be redacted")
                for n, these in found.items():
                    texts.edit(n, self._redactions(these, texts.texts[n].text))
            case _ as unknown:
                assert_never(unknown)
        texts.finish()

    def warn(self, ctx: GuardContext, found: Mapping[int, Sequence[Finding]]) -> None:
        """Report and go on."""
        ctx.warn(self._reason(found), self._metadata(found))

    def _redactions(self, findings: Sequence[Finding], text: str) -> list[TextEdit]:
        replace = self.replace if self.replace is not None else _nothing
        return [TextEdit(f.start, f.end, replace(f, text[f.start : f.end])) for f in findings]

    def block(self, ctx: GuardContext, found: Mapping[int, Sequence[Finding]], where: str = "") -> NoReturn:
        """Stop the run."""
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


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _nothing(_finding: Finding, _text: str) -> str:
    return ""
