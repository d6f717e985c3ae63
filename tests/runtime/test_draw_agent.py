"""An agent's drawing shows the ten points and what runs there."""

from __future__ import annotations

from interlock import Agent, Phase, Processor, RequestContext
from interlock.processors import InputContext


class Guard(Processor):
    """Looks at the input."""

    id = "guard"

    def process_input(self, ctx: InputContext) -> None:
        return None


def track_parcel(parcel_id: str) -> str:
    """Where a parcel is."""
    return parcel_id


AGENT = Agent(id="support", model="embedded/echo", tools=[track_parcel], input_processors=[Guard()])


def test_all_ten_points_the_model_and_the_tools_are_there_in_running_order() -> None:
    sections = [section["id"] for section in AGENT.to_json()["sections"]]
    assert sections == [
        "input",
        "input_step",
        "llm_request",
        "model",
        "api_error",
        "output_stream",
        "llm_response",
        "output_step",
        "tool_call",
        "tools",
        "tool_result",
        "output_result",
    ]
    assert {str(phase) for phase in Phase} == set(sections) - {"model", "tools"}


def test_a_point_shows_what_acts_there_and_the_others_are_empty() -> None:
    plans = {section["id"]: section["plan"] for section in AGENT.to_json()["sections"]}
    assert [node["id"] for node in plans["input"]["nodes"]] == ["processor:guard"]
    assert [node["id"] for node in plans["api_error"]["nodes"]] == ["processor:prefill-error-handler"]
    assert [name for name, plan in plans.items() if plan is not None] == ["input", "api_error"]


def test_text_mermaid_and_svg_name_model_tools_and_processors() -> None:
    for drawing in (AGENT.to_text(), AGENT.to_mermaid(), AGENT.to_svg()):
        for name in ("embedded/echo", "track_parcel", "processor:guard", "tool_result", "nothing acts here"):
            assert name in drawing


def test_a_notebook_shows_the_picture_and_where_it_cannot_the_lines() -> None:
    assert AGENT._repr_mimebundle_() == {"image/svg+xml": AGENT.to_svg(), "text/plain": AGENT.to_text()}


def test_a_list_that_a_function_gives_is_said_to_be_decided_per_run() -> None:
    def lists(request: RequestContext) -> list[Guard]:
        return [Guard()]

    agent = Agent(id="support", model="embedded/echo", input_processors=lists)
    sections = {section["id"]: section for section in agent.to_json()["sections"]}
    assert sections["input"]["text"] == "decided per run"
    assert "given by a function" in sections["input"]["note"]
    assert sections["output_result"]["text"] is None
