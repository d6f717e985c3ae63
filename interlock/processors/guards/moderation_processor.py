"""Moderation: abuse, threats, self-harm, sexual and violent content, by word lists offline or by a model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Literal, cast

from interlock.messages import Chunk
from interlock.models import LanguageModel
from interlock.processors.base import Processor
from interlock.processors.contexts import InputContext, OutputResultContext, OutputStreamContext
from interlock.processors.detection.judged_stream import JudgedStream
from interlock.processors.detection.model_judge import ModelJudge
from interlock.processors.detection.moderation.categories import CATEGORIES, DESCRIPTIONS
from interlock.processors.detection.moderation.rules import PASSAGE, ModerationRules
from interlock.processors.detection.options import OFFLINE, WITH_A_MODEL, checked
from interlock.processors.detection.scope import EVERYTHING, Scope
from interlock.processors.detection.text_judge import OnDetection, TextJudge
from interlock.processors.detection.windows import WindowedRules
from interlock.verdict import Violation

__all__ = ["ModerationProcessor"]


class ModerationProcessor(Processor):
    """Stops content that a service does not want, in what users write and in the answer.

    Offline it reads graded word lists and turns of phrase: a baseline that catches plain abuse and misses irony, coded
    language and other languages than English. With ``model`` the rules run first and the model judges the rest, in one
    call for all texts.

    An answer is judged while it streams, sentence by sentence, each together with those before it: a sentence is let go
    when it has been judged. A model is asked once for each sentence then, and not again about the complete answer. What
    comes of tools is judged there too, before the client and the model are shown it.

    Args:
        categories: ``"hate"``, ``"hate/threatening"``, ``"harassment"``, ``"harassment/threatening"``, ``"self-harm"``,
            ``"self-harm/intent"``, ``"self-harm/instructions"``, ``"sexual"``, ``"sexual/minors"``, ``"violence"``,
            ``"violence/graphic"``; with a model also names of your own. Default: all of these.
        model: A model that judges, or its ``"provider/name"``. Default: none, rules alone.
        strategy: ``"block"`` stops the run; ``"filter"`` removes the message, of an answer the part, of a stream the
            sentence, of what a tool was given or returned the string; ``"warn"`` reports and goes on.
        threshold: Findings with this score or more count, from 0 to 1.
        include_scores: Whether metadata carries the score of each category.
        window: How many sentences a model sees together in a stream. (The rules see 600 characters at least.)
        scope: Which roles and part kinds are read. Default: all.
        on_detection: Called with each finding that counts and the context.
        id, on_violation: As in :class:`Processor`.

    Raises:
        DefinitionError: An option that is none, or a category of your own without a model.

    Example:
        >>> ctx = InputContext("You are a worthless piece of garbage.")
        >>> ModerationProcessor(strategy="filter").process_input(ctx)
        >>> len(ctx.messages)
        0
    """

    id = "moderation"
    keeps_lanes = True
    on_failure = "block"
    timeout = OFFLINE

    def __init__(
        self,
        *,
        categories: Collection[str] | None = None,
        model: LanguageModel | str | None = None,
        strategy: Literal["block", "warn", "filter"] = "block",
        threshold: float = 0.5,
        include_scores: bool = False,
        window: int = 5,
        scope: Scope | None = None,
        on_detection: OnDetection | None = None,
        id: str | None = None,  # noqa: A002
        on_violation: Callable[[Violation], object] | None = None,
    ) -> None:
        super().__init__(id=id, on_violation=on_violation)
        chosen = checked(
            type(self).__name__,
            strategy=strategy,
            strategies=("block", "warn", "filter"),
            threshold=threshold,
            scope=scope,
            on_detection=on_detection,
            kinds=categories,
            known=cast("tuple[str, ...]", CATEGORIES),
            named="category",
            any_name=model is not None,
        )
        if model is not None:
            self.timeout = WITH_A_MODEL
        self._window = window
        self._rules = WindowedRules(ModerationRules(chosen), window, reach=PASSAGE)
        self._judge = TextJudge(
            noun="moderation",
            named="categories",
            rules=self._rules,
            of_json=self._rules.of_json(),
            detector=None if model is None else _model_judge(model, chosen),
            strategy=strategy,
            threshold=threshold,
            scope=scope if scope is not None else EVERYTHING,
            include_scores=include_scores,
            on_detection=on_detection,
        )

    def process_input(self, ctx: InputContext) -> Awaitable[None] | None:
        """Look at the new input messages. Gives something to await only where a model judges."""
        return self._judge.judge(ctx)

    def process_output_stream(
        self, ctx: OutputStreamContext
    ) -> Awaitable[Chunk | Sequence[Chunk]] | Chunk | Sequence[Chunk]:
        """Look at the answer, sentence by sentence. Gives something to await only where a model judges."""
        stream = cast("JudgedStream | None", ctx.held)
        if stream is None:
            stream = ctx.held = JudgedStream(self._judge, self._rules, self._window)
        return stream.process(ctx)

    def process_output_result(self, ctx: OutputResultContext) -> Awaitable[None] | None:
        """Look at the response messages."""
        return self._judge.judge(ctx)


def _model_judge(model: LanguageModel | str, categories: Collection[str]) -> ModelJudge:
    described = cast("dict[str, str]", DESCRIPTIONS)
    return ModelJudge(
        model,
        task="Say which kinds of unwanted content each text holds.",
        kinds={c: described.get(c, "as the name says") for c in categories},
    )
