"""An agent drawn: the ten points of its run in order, each with the graph that runs there, around model and tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from interlock.errors import DefinitionError
from interlock.messages import ToolCall
from interlock.runtime.laid_over import ending, point_overlay, stopped_at
from interlock.runtime.processor_lists import LISTS, ProcessorLists
from interlock.runtime.result import AgentResult
from interlock.shown import shown
from interlock.verdict import Phase
from interlock.workflows.sections import Edge, Section, sections_json, sections_mermaid, sections_svg, sections_text

if TYPE_CHECKING:
    from interlock.runtime.agent import Agent

__all__ = ["agent_json", "agent_mermaid", "agent_svg", "agent_text"]

_WHEN: Final[Mapping[Phase, str]] = {
    Phase.INPUT: "once, before the loop",
    Phase.INPUT_STEP: "every step",
    Phase.LLM_REQUEST: "before each model call",
    Phase.API_ERROR: "when a model call fails",
    Phase.OUTPUT_STREAM: "every chunk",
    Phase.LLM_RESPONSE: "when an answer is complete",
    Phase.OUTPUT_STEP: "after each answer",
    Phase.TOOL_CALL: "before each tool",
    Phase.TOOL_RESULT: "after each tool",
    Phase.OUTPUT_RESULT: "once, at the end",
}

_EDGES: Final = (
    ("input", "input_step"),
    ("input_step", "llm_request"),
    ("llm_request", "model"),
    ("model", "api_error"),
    ("model", "output_stream"),
    ("output_stream", "llm_response"),
    ("llm_response", "output_step"),
    ("output_step", "tool_call"),
    ("tool_call", "tools"),
    ("tools", "tool_result"),
    ("tool_result", "input_step"),
    ("output_step", "output_result"),
)


def agent_mermaid(agent: Agent, run: AgentResult | None = None) -> str:
    """The agent as a Mermaid flowchart."""
    return sections_mermaid(_title(agent, run), _sections(agent, run), _EDGES)


def agent_svg(agent: Agent, run: AgentResult | None = None) -> str:
    """The agent as an SVG picture."""
    return sections_svg(
        _title(agent, run), _sections(agent, run), _EDGES, ends=("messages", "answer"), unused=_unused(run)
    )


def agent_text(agent: Agent, run: AgentResult | None = None) -> str:
    """The agent drawn with lines."""
    return sections_text(_title(agent, run), _sections(agent, run), _EDGES)


def agent_json(agent: Agent, run: AgentResult | None = None) -> dict[str, Any]:
    """The agent as a JSON object; see :func:`interlock.workflows.sections.sections_json`."""
    return sections_json(_title(agent, run), _sections(agent, run), _EDGES)


def _title(agent: Agent, run: AgentResult | None) -> str:
    if run is None:
        return f"agent {agent.id}"
    if not isinstance(cast("object", run), AgentResult):
        raise DefinitionError(f"run is what generate or a stream gave, not {shown(run)}", subject=f"agent {agent.id!r}")
    if run.agent_id not in (None, agent.id):
        raise DefinitionError(f"run {run.run_id!r} is one of agent {run.agent_id!r}", subject=f"agent {agent.id!r}")
    return f"agent {agent.id}: {ending(run)}"


def _sections(agent: Agent, run: AgentResult | None) -> Sequence[Section]:
    tools = ", ".join(tool.name for tool in agent.tools) or "no tools"
    model = Section("model", "model", text=agent.model.id)
    if run is None:
        points = {phase: _point(phase, agent.composed, agent.per_run) for phase in Phase}
    else:
        calls = [call for step in run.steps if step.finish_reason != "retry" for call in step.tool_calls]
        idle = sum(not _ran(run, call) for call in calls)
        tools += _counted("call", len(calls), f", {idle} did not run" if idle else "")
        model = replace(model, text=agent.model.id + _counted("answer", len(run.steps)))
        lists = run.lists if run.lists is not None else agent.composed
        points = {phase: _laid_over(_point(phase, lists, ()), phase, lists, run) for phase in Phase}
    return [
        points[Phase.INPUT],
        points[Phase.INPUT_STEP],
        points[Phase.LLM_REQUEST],
        model,
        points[Phase.API_ERROR],
        points[Phase.OUTPUT_STREAM],
        points[Phase.LLM_RESPONSE],
        points[Phase.OUTPUT_STEP],
        points[Phase.TOOL_CALL],
        Section("tools", "tools", "all calls of a step at once", text=tools),
        points[Phase.TOOL_RESULT],
        points[Phase.OUTPUT_RESULT],
    ]


def _point(phase: Phase, lists: ProcessorLists, per_run: Sequence[str]) -> Section:
    plan = lists.drawn(phase)
    undecided = [name for name in LISTS[phase] if name in per_run]
    note = _WHEN[phase]
    if undecided:
        note += f"; the {' and '.join(undecided)} list is given by a function, per run"
    text = "decided per run" if undecided and plan is None else None
    return Section(str(phase), str(phase), note, plan, text)


def _laid_over(section: Section, phase: Phase, lists: ProcessorLists, run: AgentResult) -> Section:
    if section.plan is None:
        return section
    frames = len(lists.plans(phase)) > 1
    return replace(section, overlay=point_overlay(section.plan, phase, run, frames=frames))


_MAIN: Final = tuple(id_ for id_ in ("input", "input_step", "llm_request", "model", *map(str, tuple(Phase)[4:7])))
"""What a step comes through in any case, and what is before it."""
_TOOLS: Final = ("tool_call", "tools", "tool_result")


def _unused(run: AgentResult | None) -> frozenset[str | Edge]:
    """Where a run has not come: sections, and ways between them."""
    if run is None:
        return frozenset()
    stop = stopped_at(run)
    seen = {str(check.phase) for check in run.checks if check.step_number is not None or check.phase is Phase.INPUT}
    seen |= {str(check.phase) for check in run.checks if check.phase in (Phase.OUTPUT_STREAM, Phase.OUTPUT_RESULT)}
    if stop is not None:
        seen.add(str(stop))
    if run.steps or stop is None:
        seen.add("model")
    if any(step.finish_reason != "retry" for step in run.steps):
        seen.add("output_step")
    if run.status == "success":
        seen.add("output_result")
    if any(step.tool_results for step in run.steps):
        seen.update(_TOOLS)
    if run.occurred is not None and run.occurred.tools:
        seen.add("tools")
    if seen & set(_TOOLS):
        seen.update(_TOOLS[: 1 + max(n for n, id_ in enumerate(_TOOLS) if id_ in seen)])
    if seen & {"output_result", *_TOOLS}:
        seen.add("output_step")
    if "api_error" in seen:
        seen.add("model")
    furthest = max((n for n, id_ in enumerate(_MAIN) if id_ in seen), default=0)
    seen.update(_MAIN[: furthest + 1])
    again = len({step.step_number for step in run.steps}) > 1
    ids = {end for edge in _EDGES for end in edge}
    ways = [edge for edge in _EDGES if not set(edge) <= seen or (edge == ("tool_result", "input_step") and not again)]
    return frozenset((*(ids - seen), *ways))


def _counted(what: str, count: int, more: str = "") -> str:
    return f" ({count} {what}{'' if count == 1 else 's'} in this run{more})"


def _ran(run: AgentResult, call: ToolCall) -> bool:
    """Whether the tool of a call was started, as far as the run tells."""
    return call.provider_executed or run.occurred is None or call.tool_call_id in run.occurred.tools
