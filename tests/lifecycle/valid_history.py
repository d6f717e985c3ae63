"""What a provider of OpenAI's chat form accepts as ``messages``, as a check.

The rules are those that https://platform.openai.com/docs/api-reference/chat/create documents for ``messages``, and that
the service names where it refuses a request with status 400:

* There is at least one message. A role is ``developer``, ``system``, ``user``, ``assistant`` or ``tool``.
* ``content`` is a text or a list of parts, at least one. It may be missing (or null) only in an assistant's message
  that has ``tool_calls`` or a ``refusal``. ``developer``, ``system`` and ``tool`` messages hold text parts; ``user``
  messages texts, images, sounds and files; an assistant's texts and refusals.
* ``tool_calls`` stands in an assistant's message alone, is not empty, and each call has an id, the type ``function``, a
  name of at most 64 letters, digits, ``_`` and ``-``, and arguments as the text of JSON.
* "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'": at once,
  one to each. "messages with role 'tool' must be a response to a preceding message with 'tool_calls'."

Two rules are stricter than that form, for the sake of other providers: no text is empty (Anthropic: "text content
blocks must be non-empty"; what a tool returned may be), and no two calls of a conversation have one id.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from interlock.messages import MessageList, Prompt, prompt_to_openai

__all__ = ["assert_valid_history", "faults_in_history"]

_PARTS: Final[Mapping[str, frozenset[str]]] = {
    "developer": frozenset({"text"}),
    "system": frozenset({"text"}),
    "tool": frozenset({"text"}),
    "user": frozenset({"text", "image_url", "input_audio", "file"}),
    "assistant": frozenset({"text", "refusal"}),
}
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def assert_valid_history(
    sent: MessageList | Prompt | Sequence[Mapping[str, Any]], *, begins_with_user: bool = False
) -> None:
    """Fail with every fault.

    Args:
        sent: A conversation, a prompt, or messages in OpenAI's chat form.
        begins_with_user: Whether the first message behind the system messages must be a user's, as some providers want.
    """
    if isinstance(sent, MessageList):
        messages: Sequence[Mapping[str, Any]] = sent.to_openai()
    elif sent and not isinstance(sent[0], Mapping):
        messages = prompt_to_openai(cast("Prompt", sent))
    else:
        messages = cast("Sequence[Mapping[str, Any]]", sent)
    faults = faults_in_history(messages)
    spoken = [message.get("role") for message in messages if message.get("role") not in ("system", "developer")]
    if begins_with_user and spoken and spoken[0] != "user":
        faults.append(f"the conversation begins with {spoken[0]!r}")
    assert not faults, "\n".join(faults)


def faults_in_history(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every fault in messages of OpenAI's chat form, one sentence each."""
    if not messages:
        return ["there is no message"]
    return [*_faults_in_each(messages), *_faults_in_pairs(messages)]


def _faults_in_each(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for at, message in enumerate(messages):
        where = f"messages[{at}]"
        role = str(message.get("role"))
        if role not in _PARTS:
            yield f"{where}: the role is {role!r}"
            continue
        calls = message.get("tool_calls")
        if calls is not None and (role != "assistant" or not isinstance(calls, list) or not calls):
            yield f"{where}.tool_calls: an assistant's, at least one, or none at all"
        content = message.get("content")
        if content is None:
            if not (role == "assistant" and (calls or message.get("refusal"))):
                yield f"{where}.content: missing"
        else:
            yield from _faults_in_content(content, role, where)


def _faults_in_content(content: object, role: str, where: str) -> Iterator[str]:
    if isinstance(content, str):
        if not content and role != "tool":
            yield f"{where}.content: empty"
        return
    if not isinstance(content, list) or not content:
        yield f"{where}.content: a text, or a list of at least one part"
        return
    for number, part in enumerate(cast("list[Mapping[str, Any]]", content)):
        kind = part.get("type")
        if kind not in _PARTS[role]:
            yield f"{where}.content[{number}]: a part of type {kind!r} in a message of role {role!r}"
        elif not part.get(kind):
            yield f"{where}.content[{number}]: empty"


def _faults_in_pairs(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    unanswered: list[str] = []
    used: set[str] = set()
    for at, message in enumerate(messages):
        where = f"messages[{at}]"
        if message.get("role") == "tool":
            answers = message.get("tool_call_id")
            if answers in unanswered:
                unanswered.remove(cast("str", answers))
            else:
                yield f"{where}: answers {answers!r}, which the assistant's message before did not call, or only once"
            continue
        if unanswered:
            yield f"{where}: {', '.join(map(repr, unanswered))} called before has no answer"
        unanswered = []
        for number, call in enumerate(cast("list[Mapping[str, Any]]", message.get("tool_calls") or [])):
            place = f"{where}.tool_calls[{number}]"
            yield from _faults_in_call(call, place)
            id_ = str(call.get("id"))
            if id_ in used:
                yield f"{place}: the id {id_!r} was used before"
            used.add(id_)
            unanswered.append(id_)
    if unanswered:
        yield f"at the end: {', '.join(map(repr, unanswered))} has no answer"


def _faults_in_call(call: Mapping[str, Any], place: str) -> Iterator[str]:
    if not call.get("id") or not isinstance(call.get("id"), str):
        yield f"{place}.id: missing"
    if call.get("type") != "function":
        yield f"{place}.type: {call.get('type')!r}"
    function = cast("Mapping[str, Any]", call.get("function") or {})
    if not _NAME.fullmatch(str(function.get("name", ""))):
        yield f"{place}.function.name: {function.get('name')!r}"
    arguments = function.get("arguments")
    try:
        json.loads(arguments if isinstance(arguments, str) else "")
    except ValueError:
        yield f"{place}.function.arguments: no JSON"
