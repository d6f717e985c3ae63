"""What a guard took out of a stream is told, however the text was cut: also where a chunk leaves as it came."""

from __future__ import annotations

from typing import Any, Literal

import anyio
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from interlock import Agent, Phase
from interlock.processors import TextGuard
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Everywhere, flow


class Orders(TextGuard):
    id = "orders"
    patterns = (r"\bO-[0-9]{1,3}\b", "xx")


def placed(place: str, guard: TextGuard) -> Any:
    if place == "list":
        return guard
    return flow("block").parallel([guard, Everywhere("beside")]).merge().commit()


@pytest.mark.parametrize("place", ["list", "parallel"])
@pytest.mark.parametrize("strategy", ["redact", "filter"])
@given(text=st.lists(st.sampled_from(["O-12", "O-", "x", " ", "a", "7"]), min_size=1).map("".join), data=st.data())
def test_the_record_says_changed_if_and_only_if_something_was(
    place: str, strategy: Literal["redact", "filter"], text: str, data: st.DataObject
) -> None:
    places = sorted(data.draw(st.sets(st.integers(1, len(text) - 1)))) if len(text) > 1 else []
    cut = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
    guard = Orders(strategy=strategy, replacement="", phases=["output_stream"])
    agent = Agent(model=ScriptedModel([cut]), output_processors=[placed(place, guard)])
    result = anyio.run(agent.generate, "hello")
    (record,) = [check for check in result.checks if check.processor_id == "orders"]
    assert record.phase is Phase.OUTPUT_STREAM
    event("changed" if result.text != text else "passed")
    assert record.verdict == ("changed" if result.text != text else "passed")
