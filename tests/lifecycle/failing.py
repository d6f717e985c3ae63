"""Agents whose guards fail, take too long, or only shadow, for tests."""

from __future__ import annotations

from typing import Any, Literal

from interlock import Agent, AgentResult, Phase, Processor, create_step
from interlock.errors import ModelError
from interlock.messages import Chunk, TextPart
from interlock.processors import InputContext, OutputStreamContext
from interlock.testing import ScriptedModel
from interlock.verdict import CheckRecord
from tests.lifecycle.acting import Act, Everywhere, Patient, flow, model_that_calls, picking

Place = Literal["list", "workflow", "parallel", "nested"]
PLACES: tuple[Place, ...] = ("list", "workflow", "parallel", "nested")


def texts_only(fault: Act, phase: Phase) -> Act:
    """The fault; in the stream at a text only, and what else comes passes."""

    def act(ctx: Any) -> object:
        if phase is Phase.OUTPUT_STREAM and ctx.chunk.type != "text-delta":
            return ctx.chunk
        return fault(ctx)

    return act


class Shouting(Processor):
    """Makes text loud, at three points."""

    id = "shouting"

    def process_input(self, ctx: InputContext) -> None:
        for message in ctx.messages:
            for part in message.parts:
                if isinstance(part, TextPart):
                    part.text = part.text.upper()

    def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
        return ctx.chunk.replace(text=ctx.chunk.text.upper()) if ctx.chunk.type == "text-delta" else ctx.chunk


def placed(processor: Processor, place: Place, **options: Any) -> Any:
    """The processor's step, somewhere in a list; what stands beside it lets everything pass."""
    step = create_step(processor, **options)
    match place:
        case "list":
            return step
        case "workflow":
            return flow().then(step).commit()
        case "parallel":
            return flow().parallel([step, Patient(f"beside-{processor.id}", turns=2)]).merge().commit()
        case "nested":
            inner = flow("inner").parallel([Everywhere(f"by-{processor.id}"), step]).map(picking(processor.id)).commit()
            return flow("outer").then(inner).commit()


def agent_with(phase: Phase, entry: Any) -> Agent:
    """An agent whose run comes to the phase, and asks the entry there."""
    model = ScriptedModel([ModelError("gone"), "never"]) if phase is Phase.API_ERROR else model_that_calls("track")

    def track(n: int = 0) -> str:
        """Where a parcel is."""
        return "in Leipzig"

    return Agent(
        model=model, tools=[track], input_processors=[entry], output_processors=[entry], error_processors=[entry]
    )


def checks_of(result: AgentResult, processor_id: str, phase: Phase) -> list[CheckRecord]:
    return [check for check in result.checks if (check.processor_id, check.phase) == (processor_id, phase)]
