"""A processor that acts and does not say what it read may have read all there was: nobody is told that it did not."""

from __future__ import annotations

import pytest

from interlock import Agent, AgentResult, Processor
from interlock.cli.checks_table import coverage_table
from interlock.cli.table import rendered
from interlock.processors import InputContext, OutputResultContext, OutputStepContext, PIIDetector
from interlock.runtime.coverage import Coverage

pytestmark = pytest.mark.anyio


class AtStep(Processor):
    """Reads the answer, and does not say so."""

    id = "at-step"

    def process_output_step(self, ctx: OutputStepContext) -> None:
        assert ctx.text


class Stops(Processor):
    """Stops the run before others are asked."""

    id = "stops"

    def process_input(self, ctx: InputContext) -> None:
        ctx.looked_at("user", "text")
        ctx.abort("no")


class Idle(Processor):
    """Comes behind what stops."""

    id = "idle"

    def process_input(self, ctx: InputContext) -> None:
        raise AssertionError


async def answered(*processors: Processor) -> AgentResult:
    return await Agent(model="embedded/echo", output_processors=list(processors)).generate("hi")


async def test_who_acted_and_did_not_say_what_it_read_has_a_mark_of_its_own() -> None:
    coverage = (await answered(AtStep())).coverage()
    spot = ("assistant", "text")
    assert coverage.unsaid == {spot: ("at-step",)}
    assert not coverage.able.get(spot)
    told = str(coverage).splitlines()
    assert told[2] == "assistant  text  ?        not said"
    assert "? acted there and did not say what it read" in told[3]
    assert told[4] == "did not say what they read: at-step"


async def test_the_words_do_not_say_that_nobody_looked_at_what_somebody_may_have_read() -> None:
    told = (await answered(AtStep())).explain()
    assert "looked at by no guard: text of user\n" in told
    assert "no guard said that it read: text of assistant (at-step did not say what it reads)" in told


async def test_several_that_did_not_say_it_are_all_named() -> None:
    class AtEnd(Processor):
        id = "at-end"

        def process_output_result(self, ctx: OutputResultContext) -> None:
            """Says nothing."""

    told = (await answered(AtStep(), AtEnd())).explain()
    assert "text of assistant (at-step, at-end did not say what they read)" in told


async def test_who_said_it_elsewhere_has_read_nothing_more_where_another_did_not_say_it() -> None:
    coverage = (await answered(PIIDetector(), AtStep())).coverage()
    assert coverage.rows["assistant", "text"] == ("pii-detector",)
    assert "assistant  text  ●             ?" in str(coverage)


async def test_who_was_not_asked_after_all_is_not_said_to_have_acted() -> None:
    result = await Agent(model="embedded/echo", input_processors=[Stops(), Idle()]).generate("hi")
    coverage = result.coverage()
    assert (coverage.silent, coverage.unsaid, coverage.able["user", "text"]) == (("idle",), {}, ("idle",))
    assert "did not say" not in str(coverage)
    assert "?" not in str(coverage)


async def test_a_terminal_is_told_the_same() -> None:
    told = rendered(coverage_table((await answered(AtStep())).coverage()), None)
    assert "not said" in told
    assert "did not say what they read: at-step" in told


def test_where_there_is_no_room_for_marks_the_same_words_stand() -> None:
    many = [f"guard-with-a-name-{n}" for n in range(30)]
    rows = {("user", "text"): many, ("user", "file"): (), ("user", "data"): ()}
    told = str(Coverage(rows, many, ("quiet",), unsaid={("user", "file"): ("quiet",)})).splitlines()
    assert told[2:] == [
        "user  file  not said",
        "user  data  not checked",
        "did not say what they read: quiet",
    ]
