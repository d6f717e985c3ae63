"""Parallel guards may edit: each branch on a fork of its own, and what continues is what map picked or merge joined."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from interlock import Agent, Completed, Failed, Message, Phase, Processor, StepContext, TextEdit, create_step, step
from interlock.errors import MergeConflict
from interlock.messages import PromptMessage, TextPart
from interlock.processors import (
    Deny,
    InputContext,
    InputStepContext,
    StepChanges,
    ToolCallChanges,
    ToolCallContext,
    ToolResultChanges,
    ToolResultContext,
)
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Act, Everywhere, Patient, aborting, flow, model_that_calls, picking

pytestmark = pytest.mark.anyio

TURNS = [(0, 0, 0), (3, 1, 2), (1, 2, 3), (2, 0, 1), (0, 2, 0)]
"""How long each of three branches lets the others go first; 0: it is a ``def``."""


class Redact(Processor):
    """Replaces a word."""

    def __init__(self, word: str, turns: int = 0) -> None:
        super().__init__(id=f"redact-{word}")
        self.word = word
        self.turns = turns

    async def process_input(self, ctx: InputContext) -> None:
        for _ in range(self.turns):
            await anyio.lowlevel.checkpoint()
        for message in ctx.messages:
            at = message.text.find(self.word)
            if at >= 0:
                ctx.message_list.edit_text(message.id, 0, TextEdit(at, at + len(self.word), "[X]"))


def guard(name: str, act: Act, phase: Phase = Phase.INPUT, *, turns: int = 0) -> Everywhere:
    """A processor that does something at one phase."""
    return Patient(name, {phase: act}, turns=turns) if turns else Everywhere(name, {phase: act})


async def prompt_of(*entries: Any, text: str = "my card and my mail") -> str:
    """What the model is shown of a text behind these input processors."""
    model = ScriptedModel(["ok"])
    await Agent(model=model, input_processors=entries).generate(text)
    return model.received()


@pytest.mark.parametrize("turns", TURNS)
async def test_a_merge_keeps_every_redaction_whoever_ended_last(turns: tuple[int, int, int]) -> None:
    block = flow().parallel([Redact("card", turns[0]), Redact("mail", turns[1]), Redact("none", turns[2])])
    assert await prompt_of(block.merge().commit()) == "my [X] and my [X]"


@pytest.mark.parametrize("turns", TURNS)
async def test_a_map_continues_with_the_branch_it_picked_and_nothing_else(turns: tuple[int, int, int]) -> None:
    """In the framework this is modelled on, all branches share one list, and the last to end wins."""
    block = flow().parallel([Redact("card", turns[0]), Redact("mail", turns[1]), Redact("none", turns[2])])
    assert await prompt_of(block.map(picking("redact-card")).commit()) == "my [X] and my mail"
    assert await prompt_of(block.map(picking("redact-mail")).commit()) == "my card and my [X]"
    assert await prompt_of(block.map(picking("redact-none")).commit()) == "my card and my mail"


@pytest.mark.parametrize("turns", TURNS)
async def test_a_branch_does_not_see_what_a_sibling_edits(turns: tuple[int, int, int]) -> None:
    seen: list[str] = []

    def look_and_edit(ctx: InputContext) -> None:
        seen.append(ctx.messages[0].text)
        ctx.messages[0].parts[0] = TextPart("edited")

    names = ["a", "b", "c"]
    block = flow().parallel([guard(n, look_and_edit, turns=t) for n, t in zip(names, turns, strict=True)])
    assert await prompt_of(block.map(picking("c")).commit()) == "edited"
    assert seen == ["my card and my mail"] * 3


async def test_the_step_behind_a_block_sees_what_continued() -> None:
    seen: list[str] = []
    look = guard("look", lambda ctx: seen.append(ctx.messages[0].text))
    block = flow().parallel([Redact("card", 2), Redact("mail")]).merge().then(look).commit()
    await prompt_of(block)
    assert seen == ["my [X] and my [X]"]


async def test_removed_messages_stay_removed_and_added_ones_are_added() -> None:
    def add(ctx: InputContext) -> None:
        ctx.message_list.add(Message.user("added"))

    def remove(ctx: InputContext) -> None:
        ctx.message_list.remove(ctx.messages[0].id)

    block = flow().parallel([guard("add", add), guard("remove", remove, turns=1)]).merge().commit()
    assert await prompt_of(block) == "added"


async def test_two_rewrites_of_one_text_are_a_conflict_naming_both_unless_one_is_preferred() -> None:
    def rewrite(word: str) -> Act:
        def act(ctx: InputContext) -> None:
            ctx.message_list.edit_text(ctx.messages[0].id, 0, TextEdit(3, 7, word, kind="rewrite"))

        return act

    block = flow().parallel([guard("a", rewrite("rabbit")), guard("b", rewrite("hare"), turns=1)])
    outcome = await block.merge().commit().run(InputContext("my card"))
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, MergeConflict)
    assert outcome.error.branches == ("processor:a", "processor:b")
    assert await prompt_of(block.merge(prefer="processor:b").commit(), text="my card") == "my hare"


async def test_a_nested_workflow_and_a_function_step_are_branches_like_any() -> None:
    @step
    def add_hint(ctx: StepContext[Any]) -> Any:
        ctx.input.message_list.add_system("a hint")
        return ctx.input

    nested = flow("nested").then(Redact("card", 1)).then(Redact("and")).commit()
    block = flow().parallel([nested, Redact("mail", 2), add_hint]).merge().commit()
    assert await prompt_of(block) == "a hint\nmy [X] [X] my [X]"


async def test_one_processor_may_stand_in_a_block_twice_under_two_step_ids() -> None:
    shared = Redact("card")
    block = flow().parallel([create_step(shared), create_step(shared, id="again")]).merge().commit()
    assert await prompt_of(block) == "my [X] and my mail"


@pytest.mark.parametrize("order", [(0, 3), (3, 0), (2, 2)])
async def test_a_block_in_any_branch_stops_the_run_whatever_the_others_edited(order: tuple[int, int]) -> None:
    model = ScriptedModel(["ok"])
    block = flow().parallel([Redact("card", order[0]), guard("guard", aborting("no"), turns=order[1])])
    result = await Agent(model=model, input_processors=[block.map(picking("redact-card")).commit()]).generate("my card")
    assert result.status == "tripwire"
    assert model.calls == 0


@pytest.mark.parametrize("turns", [(0, 0), (2, 1), (1, 2)])
async def test_settings_of_a_step_are_joined_field_by_field(turns: tuple[int, int]) -> None:
    def cool(ctx: InputStepContext) -> StepChanges:
        return StepChanges(model_settings={**ctx.model_settings, "temperature": 0.0})

    def none(ctx: InputStepContext) -> StepChanges:
        return StepChanges(tool_choice="none")

    block = flow().parallel(
        [guard("a", cool, Phase.INPUT_STEP, turns=turns[0]), guard("b", none, Phase.INPUT_STEP, turns=turns[1])]
    )
    model = ScriptedModel(["ok", "ok"])
    agent = Agent(model=model, model_settings={"top_p": 0.5})
    await agent.generate("hello", input_processors=[block.merge().commit()])
    assert model.requests[0].settings == {"top_p": 0.5, "temperature": 0.0}
    assert model.requests[0].tool_choice == "none"
    await agent.generate("hello", input_processors=[block.map(picking("b")).commit()])
    assert model.requests[1].settings == {"top_p": 0.5}
    assert model.requests[1].tool_choice == "none"


async def test_settings_edited_in_place_stay_in_the_branch() -> None:
    def edit(ctx: InputStepContext) -> None:
        ctx.model_settings["temperature"] = 2.0
        ctx.tools.clear()

    block = (
        flow().parallel([guard("a", edit, Phase.INPUT_STEP), guard("b", lambda ctx: None)]).map(picking("b")).commit()
    )
    model = ScriptedModel(["ok"])
    agent = Agent(model=model, model_settings={"top_p": 0.5}, tools=[describe])
    await agent.generate("hello", input_processors=[block])
    assert model.requests[0].settings == {"top_p": 0.5}
    assert [tool.name for tool in model.requests[0].tools] == ["describe"]
    assert agent.model_settings == {"top_p": 0.5}


def describe(n: int = 0) -> str:
    """A tool."""
    return f"secret {n}"


async def test_two_values_of_one_setting_are_a_conflict_unless_one_is_preferred() -> None:
    block = flow().parallel(
        [
            guard("a", lambda ctx: StepChanges(tool_choice="none"), Phase.INPUT_STEP),
            guard("b", lambda ctx: StepChanges(tool_choice="required"), Phase.INPUT_STEP),
        ]
    )
    with pytest.raises(MergeConflict, match=r"'processor:a' and 'processor:b' changed 'tool_choice'"):
        await Agent(model="embedded/echo", input_processors=[block.merge().commit()]).generate("hello")
    model = ScriptedModel(["ok"])
    await Agent(model=model, input_processors=[block.merge(prefer="processor:a").commit()]).generate("hello")
    assert model.requests[0].tool_choice == "none"


async def test_two_words_in_one_setting_are_no_text_to_be_joined() -> None:
    def effort(word: str) -> Act:
        return lambda ctx: StepChanges(model_settings={**ctx.model_settings, "effort": word})

    arms = [guard("a", effort("low"), Phase.INPUT_STEP), guard("b", effort("lowest"), Phase.INPUT_STEP)]
    agent = Agent(model="embedded/echo", model_settings={"effort": "high"})
    with pytest.raises(MergeConflict, match="effort"):
        await agent.generate("hello", input_processors=[flow().parallel(arms).merge().commit()])


@pytest.mark.parametrize("turns", [(0, 0), (2, 1)])
async def test_prompts_are_joined_part_by_part(turns: tuple[int, int]) -> None:
    def replace(old: str, new: str) -> Act:
        def act(ctx: Any) -> list[PromptMessage]:
            return [PromptMessage(m.role, [TextPart(m.text.replace(old, new))]) for m in ctx.prompt]

        return act

    block = flow().parallel(
        [
            guard("a", replace("card", "[X]"), Phase.LLM_REQUEST, turns=turns[0]),
            guard("b", replace("mail", "[Y]"), Phase.LLM_REQUEST, turns=turns[1]),
        ]
    )
    assert await prompt_of(block.merge().commit()) == "my [X] and my [Y]"
    assert await prompt_of(block.map(picking("b")).commit()) == "my card and my [Y]"


async def test_a_call_that_any_branch_denied_is_denied_and_arguments_are_joined() -> None:
    def deny(ctx: ToolCallContext) -> Deny:
        return Deny("not today")

    def change(ctx: ToolCallContext) -> ToolCallChanges:
        return ToolCallChanges(args={"n": 2})

    model = ScriptedModel([ScriptedModel.tool_call("describe", {"n": 1}), "ok"] * 2)
    agent = Agent(model=model, tools=[describe])
    arms = [guard("a", change, Phase.TOOL_CALL), guard("b", deny, Phase.TOOL_CALL, turns=1)]
    denied = await agent.generate("hello", input_processors=[flow().parallel(arms).merge().commit()])
    assert [r.type for r in denied.steps[0].tool_results] == ["tool-error"]
    changed = await agent.generate("hello", input_processors=[flow().parallel(arms).map(picking("a")).commit()])
    assert [getattr(r, "result", None) for r in changed.steps[0].tool_results] == ["secret 2"]


async def test_results_of_tools_are_joined_and_do_not_leak_from_the_branch_that_was_left() -> None:
    def mask(ctx: ToolResultContext) -> ToolResultChanges:
        return ToolResultChanges(result=str(ctx.result).replace("secret", "[X]"))

    arms = [guard("a", mask, Phase.TOOL_RESULT, turns=2), guard("b", lambda ctx: None, Phase.TOOL_RESULT)]
    for block in (flow().parallel(arms).merge(), flow().parallel(arms).map(picking("a"))):
        model = model_that_calls("describe")
        await Agent(model=model, tools=[describe], input_processors=[block.commit()]).generate("hello")
        assert "[X] 0" in model.received(1)
        assert "secret" not in model.received(1)


async def test_effects_act_at_once_whichever_branch_continues() -> None:
    told: list[str] = []

    def act(ctx: InputContext) -> None:
        ctx.warn("mind")
        ctx.request_context["seen"] = True

    noisy = guard("noisy", act)
    noisy.on_violation = lambda violation: told.append(violation.message)
    block = flow().parallel([noisy, Redact("card")]).map(picking("redact-card")).commit()
    outcome = await block.run(InputContext("my card"))
    assert isinstance(outcome, Completed)
    assert isinstance(outcome.output, InputContext)
    assert outcome.output.request_context["seen"] is True
    assert told == ["mind"]
