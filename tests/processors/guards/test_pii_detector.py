from __future__ import annotations

from typing import Any, cast

import pytest

from interlock.errors import DefinitionError
from interlock.messages import (
    DataPart,
    FilePart,
    Message,
    MessageList,
    ReasoningPart,
    TextPart,
    ToolInvocationPart,
    Usage,
)
from interlock.processors import (
    InputContext,
    OutputResultContext,
    PIIDetector,
    RunResult,
    ToolResultChanges,
    ToolResultContext,
)
from interlock.processors.detection import Finding, Scope
from interlock.verdict import AbortSignal, Phase
from tests.processors.guards.verdicts import ask

SECRET = "I am ann@example.com, card 4111 1111 1111 1111"
"""What must never come through."""


def _tool_result(result: object) -> ToolResultContext:
    return ToolResultContext(tool_name="crm", tool_call_id="1", result=result)


def test_by_default_what_is_personal_is_masked() -> None:
    assert ask(PIIDetector(), SECRET).texts == ["I am a*n@*******.com, card **** **** **** 1111"]


@pytest.mark.parametrize(
    ("method", "text"),
    [
        ("mask", "mail a*n@*******.com."),
        ("placeholder", "mail [EMAIL]."),
        ("remove", "mail ."),
    ],
)
def test_the_method_chooses_what_stands_in_its_place(method: Any, text: str) -> None:
    assert ask(PIIDetector(method=method), "mail ann@example.com.").texts == [text]


def test_a_hash_is_the_same_for_one_detector_and_another_for_the_next() -> None:
    one, other = PIIDetector(method="hash"), PIIDetector(method="hash")
    first = ask(one, "ann@example.com").texts
    assert first == ask(one, "ann@example.com").texts != ask(other, "ann@example.com").texts


def test_clean_text_passes_as_it_is() -> None:
    seen = ask(PIIDetector(), "Where is parcel 12345?")
    assert (seen.texts, seen.tripwire, seen.warnings) == (["Where is parcel 12345?"], None, [])


def test_redacted_text_is_not_found_again() -> None:
    for method in ("mask", "hash", "placeholder", "remove"):
        once = ask(PIIDetector(method=cast("Any", method)), SECRET).texts[0]
        assert ask(PIIDetector(), once).texts == [once]


def test_block_names_kinds_and_never_what_was_found() -> None:
    tripwire = ask(PIIDetector(strategy="block"), SECRET).tripwire
    assert tripwire is not None
    assert (tripwire.processor_id, tripwire.phase) == ("pii-detector", Phase.INPUT)
    assert tripwire.metadata == {"kinds": ["credit-card", "email"], "count": 2}
    assert "ann@" not in repr(tripwire)
    assert "1111" not in repr(tripwire)


def test_warn_reports_kinds_and_changes_nothing() -> None:
    seen = ask(PIIDetector(strategy="warn"), SECRET)
    assert seen.texts == [SECRET]
    (warning,) = seen.warnings
    assert warning.detail == {"kinds": ["credit-card", "email"], "count": 2}
    assert "ann" not in repr(warning)


def test_filter_removes_the_message_and_leaves_the_others() -> None:
    assert ask(PIIDetector(strategy="filter"), "hello", SECRET, "bye").texts == ["hello", "bye"]


def test_only_the_kinds_asked_for_are_looked_for() -> None:
    assert ask(PIIDetector(kinds=["credit-card"]), SECRET).texts == ["I am ann@example.com, card **** **** **** 1111"]


def test_findings_below_the_threshold_do_not_count() -> None:
    assert ask(PIIDetector(threshold=0.7), "it is 555-123-4567").texts == ["it is 555-123-4567"]
    assert ask(PIIDetector(), "it is 555-123-4567").texts == ["it is ***-***-4567"]


def test_on_detection_hears_of_each_finding_before_anything_is_done() -> None:
    heard: list[tuple[Finding, str]] = []
    guard = PIIDetector(on_detection=lambda finding, ctx: heard.append((finding, ctx.messages[0].text)))
    ask(guard, SECRET)
    assert [(f.kind, text) for f, text in heard] == [("email", SECRET), ("credit-card", SECRET)]


def test_overlapping_findings_are_one_redaction() -> None:
    guard = PIIDetector(method="placeholder")
    assert ask(guard, "at +1-415-555-2671 now").texts == ["at [PHONE] now"]  # in international and national form
    assert ask(guard, "phone: 3056 930902 5904").texts == ["phone: [CREDIT_CARD]"]  # the surer kind


def test_parts_it_does_not_understand_stay() -> None:
    file = FilePart("image/png", data="aGk=", filename="ann@example.com.png")
    data = DataPart("x", {"mail": "ann@example.com"})
    seen = ask(PIIDetector(), Message("user", [TextPart("ann@example.com"), file, data, TextPart("ann@example.com")]))
    assert [p.type for p in seen.messages[0].parts] == ["text", "file", "data", "text"]
    assert seen.messages[0].parts[1:3] == [file, data]
    assert seen.texts == ["a*n@*******.coma*n@*******.com"]


def test_unsigned_reasoning_is_redacted() -> None:
    seen = ask(PIIDetector(), Message("assistant", [ReasoningPart("ann@example.com asks"), TextPart("hi")]))
    assert seen.messages[0].parts[0] == ReasoningPart("a*n@*******.com asks")


@pytest.mark.parametrize(
    "message",
    [
        Message("assistant", [ReasoningPart("ann@example.com asks", signature="sealed")]),
        Message("signal", "ann@example.com asks"),
        Message(
            "assistant",
            [ToolInvocationPart("1", "crm", state="result", result={"ann@example.com": 1})],
        ),
    ],
)
def test_what_cannot_be_redacted_is_blocked_and_never_passed(message: Message) -> None:
    tripwire = ask(PIIDetector(), message).tripwire
    assert tripwire is not None
    assert "cannot be redacted" in tripwire.reason
    assert "ann@" not in repr(tripwire)


def test_signed_reasoning_without_personal_data_stays_sealed() -> None:
    part = ReasoningPart("he asks for his parcel", signature="sealed")
    assert ask(PIIDetector(), Message("assistant", [part, TextPart("ann@example.com")])).messages[0].parts[0] == part


def test_tool_parts_of_messages_are_redacted_but_for_the_arguments() -> None:
    call = ToolInvocationPart(
        "1", "crm", {"to": "ann@example.com"}, "result", {"mail": ["ann@example.com"]}, model_output="ann@example.com"
    )
    failed = ToolInvocationPart("2", "crm", None, "error", error="no ann@example.com")
    (message,) = ask(PIIDetector(), Message("assistant", [call, failed])).messages
    first, second = message.parts
    assert isinstance(first, ToolInvocationPart)
    assert isinstance(second, ToolInvocationPart)
    assert first.args == {"to": "ann@example.com"}
    assert first.result == {"mail": ["a*n@*******.com"]}
    assert first.model_output == "a*n@*******.com"
    assert (second.state, second.error) == ("error", "no a*n@*******.com")


def test_a_scope_takes_in_tool_arguments() -> None:
    call = ToolInvocationPart("1", "crm", {"to": "ann@example.com"}, "call")
    guard = PIIDetector(method="placeholder", scope=Scope(parts=["tool-arguments"]))
    (message,) = ask(guard, Message("assistant", [call, TextPart("ann@example.com")])).messages
    assert message.parts == [ToolInvocationPart("1", "crm", {"to": "[EMAIL]"}, "call"), TextPart("ann@example.com")]


def test_a_scope_leaves_roles_out() -> None:
    guard = PIIDetector(scope=Scope(roles=["assistant"]))
    assert ask(guard, "ann@example.com", Message.assistant("bob@example.com")).texts == [
        "ann@example.com",
        "b*b@*******.com",
    ]


def test_a_tool_result_is_redacted_string_by_string() -> None:
    result = {"mail": "ann@example.com", "n": 3, "cards": [4111111111111111]}
    back = PIIDetector().process_tool_result(_tool_result(result))
    assert back == ToolResultChanges(result={"mail": "a*n@*******.com", "n": 3, "cards": ["************1111"]})


def test_a_clean_tool_result_is_left_alone() -> None:
    assert PIIDetector().process_tool_result(_tool_result({"status": "sent"})) is None


def test_filter_takes_out_the_string_of_a_tool_result() -> None:
    back = PIIDetector(strategy="filter").process_tool_result(_tool_result(["ok", "ann@example.com"]))
    assert back == ToolResultChanges(result=["ok", "[filtered]"])


@pytest.mark.parametrize("strategy", ["redact", "filter", "block"])
def test_a_finding_in_a_key_of_a_tool_result_blocks(strategy: Any) -> None:
    with pytest.raises(AbortSignal) as stopped:
        PIIDetector(strategy=strategy).process_tool_result(_tool_result({"ann@example.com": 1}))
    assert stopped.value.tripwire.phase is Phase.TOOL_RESULT


def test_the_answer_is_redacted_at_the_end_of_the_run() -> None:
    conversation = MessageList("hi ann@example.com")
    conversation.add(Message.assistant("bob@example.com is his address"), source="response")
    result = RunResult(text="bob@example.com is his address", usage=Usage(), finish_reason="stop", steps=())
    ctx = OutputResultContext(conversation, result=result)
    PIIDetector().process_output_result(ctx)
    assert [m.text for m in ctx.message_list.all] == ["hi ann@example.com", "b*b@*******.com is his address"]


def test_edits_are_recorded_so_that_parallel_branches_can_be_merged() -> None:
    base = InputContext(SECRET)
    forks = {kind: base.fork() for kind in ("email", "credit-card")}
    for kind, fork in forks.items():
        PIIDetector(kinds=[cast("Any", kind)]).process_input(fork)
    assert base.merge_forks(forks).messages[0].text == "I am a*n@*******.com, card **** **** **** 1111"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"strategy": "rewrite"}, "strategy is one of redact, block, warn, filter"),
        ({"method": "token"}, "method is one of mask, hash, remove, placeholder"),
        ({"threshold": 60}, "between 0 and 1"),
        ({"kinds": ["passport"]}, "no such kind: 'passport'"),
        ({"kinds": []}, "no kind is left"),
        ({"region": "Germany"}, "Germany"),
    ],
)
def test_a_wrong_option_is_refused_with_what_will_do(options: dict[str, Any], says: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        PIIDetector(**options)
    assert says in str(refused.value)


def test_a_wrong_scope_is_refused() -> None:
    with pytest.raises(DefinitionError, match="robot"):
        Scope(roles=cast("Any", ["robot"]))
