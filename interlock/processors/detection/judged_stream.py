"""The texts of one step of a stream as a judge sees them: sentence by sentence, each with those before it."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from interlock.messages import (
    Chunk,
    ChunkBase,
    ObjectChunk,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StepFinish,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolCallApproval,
    ToolCallDelta,
    ToolCallSuspended,
    ToolError,
    ToolOutput,
    ToolResult,
)
from interlock.messages.json_text import json_text
from interlock.processors.detection.call_arguments import CallArguments, Repeats
from interlock.processors.detection.finding import Detector, Finding
from interlock.processors.detection.scope import EVERYTHING, PartKind
from interlock.processors.detection.text_judge import TextJudge
from interlock.processors.detection.texts import GuardedText, JSONTexts
from interlock.processors.detection.windows import Window, WindowedRules
from interlock.processors.lanes.sentences import Sentence, Sentences
from interlock.processors.stream_context import LaneKey, OutputStreamContext, Piece

__all__ = ["JudgedStream"]

Passed = Chunk | Sequence[Chunk]

_Field = Literal["args", "result", "error", "payload", "output", "object"]

_OF_TOOL: Final[dict[str, _Field]] = {
    "tool-result": "result",
    "tool-error": "error",
    "tool-call-suspended": "payload",
    "tool-output": "output",
}
"""Where chunks hold what comes of a tool."""


class _Lane:
    """One text: what waits for its end of a sentence, and what the next sentence is seen with."""

    __slots__ = ("gone_on", "is_json", "of_detector", "of_rules", "sentences", "taken_out")

    def __init__(self, of_rules: Window, of_detector: Window, *, is_json: bool) -> None:
        self.sentences = Sentences()
        self.is_json = is_json
        self.of_rules = of_rules
        self.of_detector = of_detector
        self.gone_on: list[str] = []
        self.taken_out: list[Finding] = []


class _Due(NamedTuple):
    """A sentence whose verdict is due."""

    key: LaneKey
    lane: _Lane
    sentence: Sentence


@dataclass(slots=True)
class _Work:
    """What one chunk brings: sentences to judge, a whole call to judge, and what goes on after them."""

    due: Sequence[_Due] = ()
    ended: Sequence[_Lane] = ()
    is_sealed: bool = False
    call: ToolCall | None = None
    rest: tuple[Chunk, ...] = ()


class JudgedStream:
    """The lanes of one step. A sentence goes on when it has been judged.

    Args:
        judge: What judges, and acts.
        rules: Asked first, about each window.
        size: Sentences that a model sees together.
    """

    __slots__ = ("_arguments", "_begun", "_calls", "_holds", "_judge", "_lanes", "_of_json", "_rules", "_size")

    def __init__(self, judge: TextJudge, rules: WindowedRules, size: int) -> None:
        self._judge = judge
        self._rules = rules
        self._of_json = rules.of_json()
        self._size = size
        self._holds = judge.strategy != "warn"
        self._lanes: dict[LaneKey, _Lane] = {}
        self._calls: dict[str, list[str]] = {}  # what has been written of each
        self._arguments = CallArguments()
        self._begun: set[LaneKey] = set()  # texts whose end will be told

    @property
    def held(self) -> int:
        """How many characters are held back."""
        if not self._holds:
            return 0
        waits = sum(len(lane.sentences.open[1]) for lane in self._lanes.values())
        return waits + sum(len(text) for texts in self._calls.values() for text in texts)

    def fork(self) -> JudgedStream:
        """The same texts up to here, for a call that may yet fail."""
        return copy.deepcopy(self, {id(shared): shared for shared in (self._judge, self._rules, self._of_json)})

    def give_up(self, ctx: OutputStreamContext) -> list[Chunk]:
        """What is held back, as it came; from here on the texts begin anew."""
        given: list[Chunk] = []
        for key, lane in self._lanes.items() if self._holds else ():
            at, held = lane.sentences.open
            if held:
                given.append(_delta(key, held))
                if ctx.pieces is not None:
                    ctx.pieces.append((key, Piece(at, at + len(held), held, True)))
        given += [ToolCallDelta(call, "".join(texts)) for call, texts in self._calls.items()]
        self._lanes.clear()
        self._calls.clear()
        return given

    def process(self, ctx: OutputStreamContext) -> Passed | Awaitable[Passed]:
        """What goes on for a chunk; something to await only where a model has to judge."""
        ctx.edited = False
        match ctx.chunk:
            case ToolResult() | ToolError() | ToolCallApproval() | ToolCallSuspended():
                return self._told(ctx, ctx.chunk)
            case ToolOutput(output=value) if self._takes("tool-result") and not isinstance(value, ChunkBase):
                return self._whole(ctx, ctx.chunk, "output", "tool-result")
            case ObjectChunk(final=is_final) if ctx.inside and self._takes("text"):
                if is_final:  # of another agent's answer, of which the sentences have been judged as text
                    return self._whole(ctx, ctx.chunk, "object", "text")
                return () if self._holds else ctx.chunk
            case _:
                pass
        work = self._work(ctx)
        if work is None:
            return ctx.chunk
        detector = self._judge.detector
        if detector is not None and (work.due or work.ended or work.call is not None):
            return self._judged_further(ctx, work, detector)
        out: dict[LaneKey, list[str]] = {}
        for due in work.due:
            self._settle(ctx, due, self._by_rules(due), out)
        called = () if work.call is None else self._called(ctx, work.call)
        assert not isinstance(called, Awaitable), "rules alone wait for nothing"
        return self._passed(ctx, work, out, called)

    async def _judged_further(self, ctx: OutputStreamContext, work: _Work, detector: Detector) -> Passed:
        out: dict[LaneKey, list[str]] = {}
        for due in work.due:
            window = due.lane.of_detector.with_next(due.sentence.text)
            found = self._by_rules(due)
            if not found and due.sentence.text.strip():
                (found,) = await self._judge.ask(detector, [GuardedText(window, "text", is_json=due.lane.is_json)])
            self._settle(ctx, due, found, out, further=True)
        called = () if work.call is None else self._called(ctx, work.call)
        return self._passed(ctx, work, out, await called if isinstance(called, Awaitable) else called)

    def _by_rules(self, due: _Due) -> list[Finding]:
        rules = self._of_json if due.lane.is_json else self._rules
        return self._judge.counting(rules.rules.find(due.lane.of_rules.with_next(due.sentence.text)))

    def _settle(
        self,
        ctx: OutputStreamContext,
        due: _Due,
        found: Sequence[Finding],
        out: dict[LaneKey, list[str]],
        *,
        further: bool = False,
    ) -> None:
        """Act on a verdict, and note what goes on of the sentence."""
        key, lane, sentence = due
        kept = True
        if found:
            self._judge.tell(ctx, {0: found})
            if self._judge.strategy == "block":
                self._judge.block(ctx, {0: found})
            elif self._judge.strategy == "warn":
                self._judge.warn(ctx, {0: found})
            else:
                kept, ctx.edited = False, True
                lane.taken_out += found
            lane.of_rules.forget_last()
            if further:
                lane.of_detector.forget_last()
        text = sentence.text if kept else ""
        if further:
            lane.gone_on.append(text)
        if not self._holds:
            return
        out.setdefault(key, []).append(text)
        if ctx.pieces is not None:
            ctx.pieces.append((key, Piece(sentence.start, sentence.end, text, kept)))

    def _passed(
        self, ctx: OutputStreamContext, work: _Work, out: dict[LaneKey, list[str]], called: Sequence[Chunk]
    ) -> Passed:
        for lane in work.ended:
            if work.is_sealed and lane.taken_out:  # the provider takes it back only as it was
                self._judge.block(ctx, {0: lane.taken_out}, ", in a place that cannot be taken out")
            if lane.gone_on:
                self._judge.note_judged(ctx, "".join(lane.gone_on))
        deltas = [_delta(key, text) for key, texts in out.items() if (text := "".join(texts))]
        made = [*deltas, *called, *work.rest]
        return made[0] if len(made) == 1 else made

    # What a chunk brings

    def _work(self, ctx: OutputStreamContext) -> _Work | None:
        """None: the chunk goes on as it is."""
        chunk = ctx.chunk
        match chunk:
            case TextDelta(text=text, id=id_) if self._takes("text"):
                return self._came(ctx, ("text", id_), text)
            case ReasoningDelta(text=text, id=id_) if self._takes("reasoning"):
                return self._came(ctx, ("reasoning", id_), text)
            case TextStart(id=id_):
                self._begun.add(("text", id_))
                return None
            case ReasoningStart(id=id_):
                self._begun.add(("reasoning", id_))
                return None
            case TextEnd(id=id_):
                return self._ended([("text", id_)], chunk)
            case ReasoningEnd(id=id_, signature=signature):
                work = self._ended([("reasoning", id_)], chunk)
                work.is_sealed = signature is not None
                return work
            case ToolCallDelta(tool_call_id=call, args_text=text) if self._takes("tool-arguments") and self._holds:
                self._calls.setdefault(call, []).append(text)
                return _Work()
            case ToolCall():
                work = self._ended([key for key in self._lanes if key not in self._begun])
                if self._takes("tool-arguments"):
                    work.call = chunk
                else:
                    work.rest = (chunk,)
                return work
            case StepFinish():
                cut_off = [ToolCallDelta(call, "".join(texts)) for call, texts in self._calls.items()]
                self._calls.clear()
                return self._ended(list(self._lanes), *cut_off, chunk)
            case _:
                return None

    def _takes(self, part: PartKind) -> bool:
        return self._judge.scope.takes("assistant", part)

    def _came(self, ctx: OutputStreamContext, key: LaneKey, text: str) -> _Work:
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = _Lane(
                self._rules.window(), Window(self._size), is_json=key[0] == "text" and ctx.asks_for_object
            )
            ctx.looked_at("assistant", key[0])
        due = [_Due(key, lane, sentence) for sentence in lane.sentences.push(text)]
        return _Work(due, rest=() if self._holds else (ctx.chunk,))

    def _ended(self, keys: Sequence[LaneKey], *rest: Chunk) -> _Work:
        self._begun.difference_update(keys)
        ended = [(key, lane) for key in keys if (lane := self._lanes.pop(key, None)) is not None]
        due = [_Due(key, lane, sentence) for key, lane in ended for sentence in lane.sentences.end()]
        return _Work(due, [lane for _, lane in ended], rest=rest)

    # Tools

    def _told(self, ctx: OutputStreamContext, chunk: Repeats) -> Chunk | Awaitable[Chunk]:
        """Judge what tells of a call: its arguments, where these have not been judged, and what came of the tool."""
        fields: list[tuple[_Field, PartKind]] = []
        if self._takes("tool-arguments"):
            known = self._arguments.repeated(chunk)
            if known is None:
                fields.append(("args", "tool-arguments"))
            elif known is not chunk:
                ctx.edited, chunk = True, known
        if self._takes("tool-result") and chunk.type in _OF_TOOL:
            fields.append((_OF_TOOL[chunk.type], "tool-result"))
        if self._judge.detector is not None and fields:
            return self._told_further(ctx, chunk, fields)
        told: Chunk = chunk
        for name, part in fields:
            judged = self._whole(ctx, told, name, part)
            assert not isinstance(judged, Awaitable), "rules alone wait for nothing"
            told = judged
        return told

    async def _told_further(
        self, ctx: OutputStreamContext, chunk: Chunk, fields: Sequence[tuple[_Field, PartKind]]
    ) -> Chunk:
        for name, part in fields:
            judged = self._whole(ctx, chunk, name, part)
            chunk = await judged if isinstance(judged, Awaitable) else judged
        return chunk

    def _whole(self, ctx: OutputStreamContext, chunk: Chunk, name: _Field, part: PartKind) -> Chunk | Awaitable[Chunk]:
        """Judge a value string by string; what is emitted of a tool's result is what the message holds."""
        texts = JSONTexts(getattr(chunk, name), EVERYTHING, part)

        def finish() -> Chunk:
            if not texts.changed:
                return chunk
            ctx.edited = True
            return chunk.replace(**{name: texts.value})

        return self._judge.judge_texts(ctx, texts, finish) if texts.texts else finish()

    def _called(self, ctx: OutputStreamContext, call: ToolCall) -> list[Chunk] | Awaitable[list[Chunk]]:
        """Judge the arguments of a call; what was written of them has waited."""
        texts = JSONTexts(call.args, EVERYTHING, "tool-arguments")
        written = "".join(self._calls.pop(call.tool_call_id, ()))

        def finish() -> list[Chunk]:
            if not texts.changed:
                self._arguments.note(call.tool_call_id, call.args, call.args)
                return [ToolCallDelta(call.tool_call_id, written), call] if written else [call]
            ctx.edited = True
            edited = call.replace(args=texts.value)
            self._arguments.note(call.tool_call_id, call.args, edited.args)
            return [ToolCallDelta(call.tool_call_id, json_text(texts.value)), edited] if written else [edited]

        return self._judge.judge_texts(ctx, texts, finish) if texts.texts else finish()


def _delta(key: LaneKey, text: str) -> Chunk:
    return TextDelta(text, key[1]) if key[0] == "text" else ReasoningDelta(text, key[1])
