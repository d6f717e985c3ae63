"""What an agent, or a call of one, may be told; checked before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from interlock.errors import DefinitionError
from interlock.nearest import did_you_mean
from interlock.runtime.options import CallOptions
from interlock.shown import shown
from interlock.tools import SupportsTool, Tool, tool

if TYPE_CHECKING:
    from interlock.runtime.agent import Agent

__all__ = ["as_tools", "check_options"]

_OPTIONS = frozenset(CallOptions.__annotations__)


def check_options(agent: Agent, options: Mapping[str, Any]) -> None:
    """Refuse options that are none.

    Raises:
        DefinitionError: With every fault.
    """
    faults = [_no_option(name, value) for name, value in options.items() if name not in _OPTIONS]
    steps = options.get("max_steps", 1)
    if not isinstance(steps, int) or isinstance(steps, bool) or steps < 1:
        faults.append(f"max_steps must be a whole number from 1, not {steps!r}")
    retries = options.get("max_processor_retries")
    if retries is not None and (not isinstance(retries, int) or isinstance(retries, bool) or retries < 0):
        faults.append(f"max_processor_retries must be a whole number from 0, not {retries!r}")
    release = options.get("release", "chunk")
    if release not in ("chunk", "step", "run"):
        faults.append(f'release must be "chunk", "step" or "run", not {release!r}')
    if options.get("output_schema") is not None:
        from interlock.models.output_schema import object_schema

        try:
            object_schema(options["output_schema"])
        except DefinitionError as error:
            faults += error.faults
    for name in ("thread", "resource"):
        text: object = options.get(name)
        if text is not None and (not isinstance(text, str) or not text):
            faults.append(f"{name} must be a text that is not empty, not {text!r}")
    active: object = options.get("active_tools")
    if active is not None and not _are_texts(active):
        faults.append(f"active_tools must be a list of tools' names such as ['look'], not {active!r}")
    prepare = options.get("prepare_step")
    if prepare is not None and not callable(prepare):
        faults.append(f"prepare_step must be a function of InputStepContext, not {prepare!r}")
    for name in ("request_context", "model_settings", "provider_options"):
        given: object = options.get(name)
        if given is not None and not isinstance(given, Mapping):
            faults.append(f"{name} must be a mapping such as {{'key': value}}, not {given!r}")
    if faults:
        raise DefinitionError(faults, subject=f"call of agent {agent.id!r}")


def _no_option(name: str, value: object) -> str:
    from interlock.models.openai_chat import SETTINGS  # only to say what is wrong

    if name in (*SETTINGS, "max_tokens", "max_retries", "top_k"):
        return f"there is no option {name!r}: it is a setting of the model, model_settings={{{name!r}: {shown(value)}}}"
    return f"there is no option {name!r}; the options are {', '.join(sorted(_OPTIONS))}{did_you_mean(name, _OPTIONS)}"


def as_tools(given: Sequence[Tool | SupportsTool | Callable[..., object]]) -> list[Tool]:
    """Tools, with plain functions and agents made tools.

    Raises:
        DefinitionError: Something can be no tool, or two have one name.
    """
    if not _is_list(given):
        raise DefinitionError(
            f"tools are a list of tools, functions and agents such as [look], not {given!r}", subject="tools"
        )
    made = [_as_tool(one) for one in given]
    names = [one.name for one in made]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DefinitionError(f"two tools have one name: {', '.join(map(repr, twice))}", subject="tools")
    return made


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _are_texts(value: object) -> bool:
    return _is_list(value) and all(isinstance(one, str) for one in cast("Sequence[object]", value))


def _as_tool(one: Tool | SupportsTool | Callable[..., object]) -> Tool:
    if isinstance(one, Tool):
        return one
    as_tool: Callable[[], Tool] | None = getattr(one, "as_tool", None)
    return tool(cast("Callable[..., object]", one)) if as_tool is None else as_tool()
