"""Ask a model one question and have the whole answer: for guards that let a model judge."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final, NoReturn

from interlock.errors import ModelError
from interlock.messages.chunks import ErrorChunk, StepFinish, TextDelta
from interlock.messages.parts import JSONValue, TextPart
from interlock.messages.prompt import Prompt, PromptMessage
from interlock.models.base import LanguageModel, ModelRequest

__all__ = ["ask_json", "ask_text"]

_FENCED: Final = re.compile(r"\s*```(?:json)?[ \t]*\n(?P<inside>.*)```\s*", re.DOTALL | re.IGNORECASE)


async def ask_text(
    model: LanguageModel,
    prompt: Prompt | str,
    *,
    system: str | None = None,
    settings: Mapping[str, JSONValue] | None = None,
) -> str:
    """The text of the answer to one question, asked without tools.

    Args:
        model: Who is asked.
        prompt: The conversation, or a text that the user says.
        system: Instructions, put before it.
        settings: ``temperature``, ``max_tokens``, …

    Raises:
        ModelError: The call failed, or the answer is not whole: cut off at the token limit, or withheld. (A model may
            fail with another error, which comes out as it is.)

    Example:
        >>> import anyio
        >>> from interlock.models import ScriptedModel
        >>> anyio.run(ask_text, ScriptedModel(["four"]), "What is two and two?")
        'four'
    """
    said = [PromptMessage("user", [TextPart(prompt)])] if isinstance(prompt, str) else list(prompt)
    told = [PromptMessage("system", [TextPart(system)])] if system is not None else []
    request = ModelRequest([*told, *said], tool_choice="none", settings=dict(settings or {}))
    text = ""
    async with model.stream(request) as stream:
        async for chunk in stream:
            match chunk:
                case TextDelta():
                    text += chunk.text
                case ErrorChunk():
                    raise chunk.error
                case StepFinish(finish_reason="length"):
                    raise ModelError("the answer was cut off at the token limit", provider=model.provider, body=text)
                case StepFinish(finish_reason="content-filter" | "error" as reason):
                    raise ModelError(f"the answer was withheld ({reason})", provider=model.provider, body=text)
                case _:
                    pass
    return text


async def ask_json(
    model: LanguageModel,
    prompt: Prompt | str,
    *,
    system: str | None = None,
    settings: Mapping[str, JSONValue] | None = None,
) -> JSONValue:
    """The answer to one question, decoded; asked at temperature 0.

    The answer must be JSON and nothing else, bare or in a fenced block. JSON amid other words is refused: it may be
    quoted from the very text that is judged.

    Args:
        model: Who is asked.
        prompt: The conversation, or a text that the user says.
        system: Instructions, put before it; they must ask for JSON.
        settings: As in :func:`ask_text`; ``{"temperature": None}`` for models that take none.

    Raises:
        ModelError: As in :func:`ask_text`; or the answer is no JSON (it is the error's ``body``).

    Example:
        >>> import anyio
        >>> from interlock.models import ScriptedModel
        >>> anyio.run(ask_json, ScriptedModel(['```json\\n{"flagged": true}\\n```']), "Is this toxic? …")
        {'flagged': True}
    """
    text = await ask_text(model, prompt, system=system, settings={"temperature": 0, **(settings or {})})
    fenced = _FENCED.fullmatch(text)
    try:
        return json.loads(fenced["inside"] if fenced else text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"the answer is no JSON: {error}", provider=model.provider, body=text) from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
