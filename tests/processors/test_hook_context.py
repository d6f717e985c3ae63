"""How a context forks and joins: content stays in its branch, effects act at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock import Tool, tool
from interlock.errors import MergeConflict
from interlock.messages import PromptMessage, TextPart, ToolCallPart
from interlock.processors import InputContext, InputStepContext, LLMRequestContext, ToolCallContext, ToolResultContext
from interlock.processors.seat import RunFacts, Seat
from interlock.testing import ScriptedModel

MODEL, OTHER = ScriptedModel([]), ScriptedModel([], name="other")


Change = Callable[[Any], object]
"""Something done to a context."""


def settings(**more: Any) -> InputStepContext:
    """A context with settings."""
    return InputStepContext("hello", model=MODEL, model_settings={"top_p": 0.5, "stop": ["a", "b"]}, **more)


@tool
def track() -> str:
    """Where a parcel is."""
    return "in Leipzig"


def test_what_is_done_to_a_fork_stays_in_it() -> None:
    base = settings(tools=[track], active_tools=["track"])
    fork = base.fork()
    fork.messages[0].parts[0] = TextPart("changed")
    fork.message_list.add("more")
    fork.model = OTHER
    fork.model_settings["top_p"] = 1
    fork.model_settings["stop"].append("c")
    fork.tools.clear()
    fork.active_tools = None
    assert base.message_list.texts() == ["hello"]
    assert base.model is MODEL
    assert base.model_settings == {"top_p": 0.5, "stop": ["a", "b"]}
    assert base.tools == [track]
    assert base.active_tools == ["track"]


def test_what_is_done_to_the_base_after_a_fork_is_not_seen_by_it() -> None:
    base = settings()
    fork = base.fork()
    base.model_settings = {"top_p": 1}
    base.message_list.add("more")
    assert fork.model_settings == {"top_p": 0.5, "stop": ["a", "b"]}
    assert fork.message_list.texts() == ["hello"]


def test_a_prompt_edited_in_a_fork_stays_in_it() -> None:
    base = LLMRequestContext("hello", prompt=[PromptMessage("user", [TextPart("hello")])], model=MODEL)
    fork = base.fork()
    part = fork.prompt[0].parts[0]
    assert isinstance(part, TextPart)
    part.text = "changed"
    assert base.prompt[0].text == "hello"
    assert fork.prompt[0].text == "changed"


@given(
    st.recursive(
        st.integers() | st.text(max_size=3), lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=2), inner)
    )
)
def test_a_result_edited_in_a_fork_at_any_depth_stays_in_it(result: Any) -> None:
    base = ToolResultContext("hello", tool_name="t", tool_call_id="1", result=[result, {"deep": [result]}])
    before = repr(base.result)
    fork = base.fork().fork()
    fork.result[1]["deep"].append("more")
    fork.result.append("more")
    assert repr(base.result) == before


def test_a_fork_that_is_only_looked_at_has_not_changed() -> None:
    base = settings(tools=[track])
    fork = base.fork()
    assert not fork.changed_from(base)
    assert [m.text for m in fork.messages] == ["hello"]
    assert fork.model_settings["stop"] == ["a", "b"]
    assert fork.tools == [track]
    assert not fork.changed_from(base)


CHANGES: list[Change] = [
    lambda ctx: ctx.message_list.add("more"),
    lambda ctx: setattr(ctx.messages[0].parts[0], "text", "changed"),
    lambda ctx: ctx.message_list.add_system("more"),
    lambda ctx: setattr(ctx, "model", OTHER),
    lambda ctx: ctx.model_settings.update(top_p=1),
    lambda ctx: ctx.model_settings["stop"].append("c"),
    lambda ctx: ctx.tools.append(track),
    lambda ctx: setattr(ctx, "active_tools", []),
    lambda ctx: setattr(ctx, "tool_choice", "none"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_is_changed_in_a_fork_counts_as_a_change(change: Change) -> None:
    base = settings()
    fork = base.fork()
    change(fork)
    assert fork.changed_from(base)
    assert not base.changed_from(settings_of(base))


def settings_of(base: InputStepContext) -> InputStepContext:
    """Another fork, nothing done to it."""
    return base.fork()


def test_one_and_true_differ() -> None:
    base = ToolResultContext("hello", tool_name="t", tool_call_id="1", result={"found": 1})
    fork = base.fork()
    fork.result = {"found": True}
    assert fork.changed_from(base)
    assert base.merge_forks({"a": fork, "b": base.fork()}).result == {"found": True}


def test_a_seat_is_for_one_processor_and_leaves_the_context_it_was_made_from_alone() -> None:
    base = InputContext("hello", run=RunFacts(run_id="r"))
    state: dict[str, Any] = {}
    seated = base.seated(Seat("guard", base._seat.run, state))
    seated.state["seen"] = True
    assert (seated.processor_id, seated.run_id) == ("guard", "r")
    assert state == {"seen": True}
    assert base.state == {}
    assert base.processor_id != "guard"


def merged(base: Any, *changes: Change, prefer: str | None = None) -> Any:
    """What comes of one fork for each change, joined."""
    forks = {f"branch-{n}": base.fork() for n in range(len(changes))}
    for fork, change in zip(forks.values(), changes, strict=True):
        change(fork)
    return base.merge_forks(forks, prefer)


def test_changes_of_different_fields_are_all_taken_over() -> None:
    made = merged(
        settings(tools=[track]),
        lambda ctx: setattr(ctx, "tool_choice", "none"),
        lambda ctx: ctx.model_settings.update(temperature=0),
        lambda ctx: ctx.model_settings.pop("stop"),
        lambda ctx: ctx.message_list.add("more"),
        lambda ctx: None,
    )
    assert made.tool_choice == "none"
    assert made.model_settings == {"top_p": 0.5, "temperature": 0}
    assert made.message_list.texts() == ["hello", "more"]
    assert made.model is MODEL
    assert made.tools == [track]


def test_the_same_change_in_two_branches_is_one_change() -> None:
    made = merged(settings(), lambda ctx: setattr(ctx, "model", OTHER), lambda ctx: setattr(ctx, "model", OTHER))
    assert made.model is OTHER


CONFLICTS: list[tuple[str, Any, Any, Any]] = [
    ("model", settings(), ScriptedModel([], name="x"), OTHER),
    ("tool_choice", settings(), "none", "required"),
    ("active_tools", settings(), ["a"], ["b"]),
    ("tools", settings(tools=[track]), [track, track], []),
]


@pytest.mark.parametrize(("name", "base", "one", "other"), CONFLICTS, ids=[name for name, *_ in CONFLICTS])
def test_two_values_of_one_field_are_a_conflict_naming_field_and_branches(
    name: str, base: Any, one: Any, other: Any
) -> None:
    changes: list[Change] = [lambda ctx: setattr(ctx, name, one), lambda ctx: setattr(ctx, name, other)]
    with pytest.raises(MergeConflict, match=name) as raised:
        merged(base, *changes)
    assert raised.value.branches == ("branch-0", "branch-1")
    assert "input_step" in str(raised.value)
    assert getattr(merged(base, *changes, prefer="branch-1"), name) == other
    with pytest.raises(MergeConflict):
        merged(base, *changes, lambda ctx: None, prefer="branch-2")


def test_arguments_are_joined_key_by_key_and_their_texts_edit_by_edit() -> None:
    base = ToolCallContext("hello", tool_name="t", tool_call_id="1", args={"text": "my card, my mail", "n": 1})
    made = merged(
        base,
        lambda ctx: ctx.args.update(text="[X], my mail"),
        lambda ctx: ctx.args.update(text="my card, [Y]"),
        lambda ctx: ctx.args.update(n=2),
    )
    assert made.args == {"text": "[X], [Y]", "n": 2}


def test_a_denial_wins_over_everything_and_the_first_in_list_order_gives_the_reason() -> None:
    base = ToolCallContext("hello", tool_name="t", tool_call_id="1", args={})
    made = merged(
        base,
        lambda ctx: setattr(ctx, "args", {"n": 1}),
        lambda ctx: setattr(ctx, "denied", "first"),
        lambda ctx: setattr(ctx, "denied", "second"),
    )
    assert (made.denied, made.args) == ("first", {"n": 1})


def test_prompts_are_joined_and_a_cached_response_is_one_thing() -> None:
    prompt = [PromptMessage("user", [TextPart("my card"), ToolCallPart("1", "t", {"n": 1})])]
    base = LLMRequestContext("hello", prompt=prompt, model=MODEL)

    def edit_text(ctx: Any) -> None:
        ctx.prompt[0].parts[0].text = "my [X]"

    def edit_args(ctx: Any) -> None:
        ctx.prompt[0].parts[1].args["n"] = 2

    made = merged(base, edit_text, edit_args, lambda ctx: setattr(ctx, "response", ("chunks",)))
    assert [made.prompt[0].text, made.prompt[0].parts[1].args] == ["my [X]", {"n": 2}]
    assert made.response == ("chunks",)
    with pytest.raises(MergeConflict, match="response"):
        merged(base, lambda ctx: setattr(ctx, "response", ("a",)), lambda ctx: setattr(ctx, "response", ("b",)))


def test_merging_changes_neither_the_base_nor_the_forks() -> None:
    base = settings()
    fork = base.fork()
    fork.model_settings["top_p"] = 1
    fork.active_tools = ["a"]
    made = base.merge_forks({"a": fork, "b": base.fork()})
    made.model_settings["top_p"] = 2
    made.message_list.add("more")
    assert made.active_tools is not None
    made.active_tools.append("b")
    assert fork.active_tools == ["a"]
    assert (base.model_settings["top_p"], fork.model_settings["top_p"]) == (0.5, 1)
    assert base.message_list.texts() == fork.message_list.texts() == ["hello"]


def test_tools_are_not_copied() -> None:
    base = settings(tools=[track])
    assert isinstance(base.fork().tools[0], Tool)
    assert base.fork().tools[0] is track


def test_what_was_looked_at_is_named_with_the_words_there_are() -> None:
    ctx = InputContext("hello")
    for role in ("user", "assistant", "system", "signal", "tool"):
        for part in ("text", "reasoning", "tool-arguments", "tool-result", "file", "source", "data"):
            ctx.looked_at(role, part)
    with pytest.raises(
        ValueError, match=r"no role 'usr'; did you mean user\? .*no kind of part 'txt'; did you mean text"
    ):
        ctx.looked_at("usr", "txt")
    with pytest.raises(ValueError, match="no role 'model'"):
        ctx.looked_at("model", "text")
    with pytest.raises(ValueError, match="no kind of part 'pixels'") as raised:
        ctx.looked_at("user", "pixels")
    assert "role" not in str(raised.value)
