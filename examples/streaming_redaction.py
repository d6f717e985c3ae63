"""An answer that is redacted while it streams, in chunks of one character. It needs no key and no network.

    python examples/streaming_redaction.py

The model's answer holds an e-mail address, a card number and a key. Two guards look at it: the detector of personal
data that comes along, and one for keys that is written here. They hold back what might yet become a match, and nothing
else; what the client is given is what they make of the whole answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio

from interlock import Agent
from interlock.messages import TextDelta
from interlock.processors import OutputStreamContext, PIIDetector, TextGuard
from interlock.runtime import AgentResult
from interlock.testing import ScriptedModel

SECRETS = ("ann@example.com", "4111 1111 1111 1111", "sk-live-51H8aJx7Yq2mN4pR")
ANSWER = (
    f"Of course. We have {SECRETS[0]} on file, and the card {SECRETS[1]}, which is valid. "
    f"Our own access is {SECRETS[2]}; please keep it to yourself."
)
BARS = " ▁▂▃▄▅▆▇█"


class PersonalData(PIIDetector):
    """The detector that comes along, with a gauge: how many characters it holds back right now."""

    held = 0

    def process_output_stream(self, ctx: OutputStreamContext) -> Any:
        """As it does, with a look at what it keeps."""
        out = super().process_output_stream(ctx)
        self.held = ctx.held.held
        return out


class Keys(TextGuard):
    """Takes out keys that begin as ours do; with the same gauge."""

    id = "key-guard"
    patterns = (r"\bsk-[a-z]{1,8}-[A-Za-z0-9]{12,32}\b",)
    held = 0

    def process_output_stream(self, ctx: OutputStreamContext) -> Any:
        """As any guard on text does, with a look at what it keeps."""
        out = super().process_output_stream(ctx)
        self.held = ctx.held.held
        return out


async def stream(answer: str) -> tuple[str, list[int], AgentResult]:
    """Stream an answer through the guards, character by character.

    Args:
        answer: What the model says.

    Returns:
        What the client was given, how many characters were held back after each that came, and the result.
    """
    personal, keys = PersonalData(), Keys(replacement="[KEY]")
    held: list[int] = []

    def looked() -> None:
        held.append(personal.held + keys.held)

    model = ScriptedModel([[item for character in answer for item in (character, looked)]])
    agent = Agent(id="support", model=model, output_processors=[personal, keys])
    shown = ""
    async with agent.stream("What do you know about me?") as chunks:
        async for chunk in chunks:
            if isinstance(chunk, TextDelta):
                shown += chunk.text
        return shown, held, await chunks.result()


def plot(answer: str, held: Sequence[int], width: int = 76) -> str:
    """The characters held back over time, a column for each character that came, above the answer itself."""
    top = max(held, default=0) or 1
    lines: list[str] = []
    for begin in range(0, len(answer), width):
        part = held[begin : begin + width]
        lines.append("".join(BARS[-(-count * (len(BARS) - 1) // top)] for count in part))
        lines.append(answer[begin : begin + width])
    return "\n".join(f"  {line}" for line in lines) + f"\n  (a full column: {top} characters)"


def main() -> int:
    """Show it; gives the exit code: 1 where something has leaked."""
    shown, held, result = anyio.run(stream, ANSWER)
    print(f"The client was given\n  {shown}\n")
    print(f"Held back while the answer came, one character at a time\n{plot(ANSWER, held)}\n")
    for check in result.checks:
        print(f"  {check.phase:14} {check.processor_id:14} {check.verdict}")
    leaked = [secret for secret in SECRETS if secret in shown or secret in str(result.messages.to_json())]
    print(f"\nleaked: {', '.join(leaked) or 'nothing'}")
    return 1 if leaked else 0


if __name__ == "__main__":
    raise SystemExit(main())
