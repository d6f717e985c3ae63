"""One prompt of several: joined message by message, part by part; another shape is one branch's alone."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from interlock.errors import MergeConflict
from interlock.messages import PromptMessage, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from interlock.processors.merge_prompt import merge_prompts

Role = Literal["system", "user", "assistant", "tool"]


def said(text: str, role: Role = "user") -> PromptMessage:
    """A message of one text."""
    return PromptMessage(role, [TextPart(text)])


BASE = [said("Be kind.", "system"), said("my card and my mail"), said("no", "assistant")]


def merged(*prompts: list[PromptMessage], prefer: str | None = None) -> list[PromptMessage]:
    """What comes of several prompts made of the base."""
    return merge_prompts(BASE, {f"branch-{n}": prompt for n, prompt in enumerate(prompts)}, prefer)


def test_edits_of_different_messages_and_of_one_are_joined() -> None:
    one = [said("Be very kind.", "system"), said("my [X] and my mail"), BASE[2]]
    other = [BASE[0], said("my card and my [Y]"), said("yes", "assistant")]
    assert [m.text for m in merged(one, other)] == ["Be very kind.", "my [X] and my [Y]", "yes"]


def test_an_added_message_is_taken_over_from_one_branch_or_from_several_that_agree() -> None:
    longer = [*BASE, said("more")]
    assert [m.text for m in merged(longer)][-1] == "more"
    assert merged(longer, list(longer)) == longer


def test_another_shape_than_a_branch_that_edited_is_a_conflict_unless_preferred() -> None:
    longer = [*BASE, said("more")]
    edited = [said("Be very kind.", "system"), *BASE[1:]]
    with pytest.raises(MergeConflict, match="the prompt") as raised:
        merged(longer, edited)
    assert raised.value.branches == ("branch-0", "branch-1")
    assert merged(longer, edited, prefer="branch-0") == longer
    assert merged(longer, edited, prefer="branch-1") == edited


def test_parts_of_every_kind_are_joined_field_by_field() -> None:
    def prompt(**changes: Any) -> list[PromptMessage]:
        thought = ReasoningPart(changes.get("thought", "I think"), signature="sealed")
        call = ToolCallPart("1", "track", changes.get("args", {"n": 1, "m": 1}))
        result = ToolResultPart("1", "track", changes.get("output", "secret card"))
        return [PromptMessage("assistant", [thought, call]), PromptMessage("tool", [result])]

    made = merge_prompts(
        prompt(),
        {
            "a": prompt(args={"n": 2, "m": 1}, output="[X] card"),
            "b": prompt(args={"n": 1, "m": 2}, output="secret [Y]"),
        },
        None,
    )
    thought, call = made[0].parts
    (result,) = made[1].parts
    assert isinstance(thought, ReasoningPart)
    assert isinstance(call, ToolCallPart)
    assert isinstance(result, ToolResultPart)
    assert (thought.text, thought.signature) == ("I think", "sealed")
    assert call.args == {"n": 2, "m": 2}
    assert result.output == "[X] [Y]"


def test_two_values_of_one_field_are_a_conflict() -> None:
    def prompt(n: int) -> list[PromptMessage]:
        return [PromptMessage("assistant", [ToolCallPart("1", "track", {"n": n})])]

    with pytest.raises(MergeConflict):
        merge_prompts(prompt(1), {"a": prompt(2), "b": prompt(3)}, None)
    assert merge_prompts(prompt(1), {"a": prompt(2), "b": prompt(3)}, "b") == prompt(3)


def test_what_the_provider_wants_back_with_a_message_stays() -> None:
    base = [PromptMessage("user", [TextPart("a and b")], provider_metadata={"openai": {"name": "ann"}})]
    forks = {
        name: [PromptMessage("user", [TextPart(text)], {"openai": {"name": "ann"}})]
        for name, text in (("x", "# and b"), ("y", "a and #"))
    }
    (made,) = merge_prompts(base, forks, None)
    assert made.text == "# and #"
    assert made.provider_metadata == {"openai": {"name": "ann"}}
