"""Law: whatever the graph, chunks come out of the fused path as the rules say, told anew in the plainest way."""

from __future__ import annotations

import anyio
from hypothesis import given
from hypothesis import strategies as st

from interlock import Agent, Completed, Failed
from interlock.messages import TextDelta
from interlock.processors import OutputStreamContext
from interlock.testing import ScriptedModel
from interlock.workflows import acting_steps
from tests.lifecycle.acting import chunks_and_result
from tests.lifecycle.chunk_graphs import NODES, STOPPING, Fails, Made, Node, reference, texts_of

TEXTS = st.lists(st.sampled_from(["a", "b", "ab", "abc", "ba"]), max_size=4)
BACKENDS = st.sampled_from(["asyncio", "trio"])


def expected_of(nodes: list[Node], texts: list[str]) -> tuple[list[str], bool]:
    """What comes out of graphs in a row up to the first text that one fails for, and whether one does."""
    done: list[str] = []
    for text in texts:
        flowing = [text]
        try:
            for out in _through(nodes, flowing):
                done.append(out)
        except Fails:
            return done, True
    return done, False


def _through(nodes: list[Node], texts: list[str]) -> list[str]:
    for node in nodes:
        texts = reference(node, texts)
    return texts


@given(nodes=st.lists(NODES, min_size=1, max_size=3), texts=TEXTS, backend=BACKENDS)
def test_what_comes_out_in_an_agent_is_what_the_rules_say(nodes: list[Node], texts: list[str], backend: str) -> None:
    async def run() -> tuple[list[str], bool]:
        workflows = [Made(node, f"part-{n}").workflow for n, node in enumerate(nodes)]
        model = ScriptedModel([[TextDelta(text) for text in texts]])
        chunks, result = await chunks_and_result(Agent(model=model, output_processors=workflows))
        assert result.status in ("success", "failed")
        if result.status == "success":
            assert result.text == "".join(texts_of(chunks))
        return texts_of(chunks), result.status == "failed"

    assert anyio.run(run, backend=backend) == expected_of(nodes, texts)


@given(nodes=st.lists(STOPPING, min_size=1, max_size=2), texts=TEXTS, backend=BACKENDS)
def test_records_count_how_often_each_processor_was_asked_however_the_run_ends(
    nodes: list[Node], texts: list[str], backend: str
) -> None:
    async def run() -> None:
        made = [Made(node, f"part-{n}") for n, node in enumerate(nodes)]
        model = ScriptedModel([[TextDelta(text) for text in texts]])
        async with Agent(model=model, output_processors=[one.workflow for one in made]).stream("hello") as stream:
            for one in made:
                one.cancel = stream.cancel
            result = await stream.result()
        if any(one.blocked for one in made):
            assert result.status == "tripwire"
        told = {check.processor_id: (check.runs, check.verdict) for check in result.checks}
        there = {step.subject for one in made for step in acting_steps(one.workflow.plan)}
        for look in (look for one in made for look in one.looks if look in there):
            runs, verdict = told[look.id]
            assert runs == look.calls
            assert look.calls or verdict == "not-checked"

    anyio.run(run, backend=backend)


@given(node=NODES, text=st.sampled_from(["a", "ab", "abc"]), backend=BACKENDS)
def test_what_comes_out_of_a_workflow_by_itself_is_the_same(node: Node, text: str, backend: str) -> None:
    async def run() -> tuple[list[str], bool]:
        outcome = await Made(node).workflow.run(OutputStreamContext(chunk=TextDelta(text)))
        if isinstance(outcome, Failed):
            return [], True
        assert isinstance(outcome, Completed)
        return texts_of(outcome.output.out), False

    assert anyio.run(run, backend=backend) == expected_of([node], [text])
