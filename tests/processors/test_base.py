"""What makes a class a processor, and what is refused when it is defined."""

from __future__ import annotations

from typing import Any

import pytest

from interlock import Agent, Phase, Processor, create_step
from interlock.errors import DefinitionError
from interlock.processors import HOOKS, InputContext, OutputStepContext, PIIDetector, ProcessorStep
from interlock.verdict import Violation
from tests.lifecycle.acting import Everywhere


class Shout(Processor):
    """Stop whoever shouts.

    More about it.
    """

    id = "shout"

    def process_input(self, ctx: InputContext) -> None:
        for message in ctx.messages:
            if message.text.isupper():
                ctx.abort("please do not shout")


def test_every_phase_has_a_hook_of_its_name() -> None:
    assert {str(phase): hook for phase, hook in HOOKS.items()} == {
        "input": "process_input",
        "input_step": "process_input_step",
        "llm_request": "process_llm_request",
        "api_error": "process_api_error",
        "output_stream": "process_output_stream",
        "llm_response": "process_llm_response",
        "output_step": "process_output_step",
        "tool_call": "process_tool_call",
        "tool_result": "process_tool_result",
        "output_result": "process_output_result",
    }


def test_a_processor_acts_at_the_phases_whose_hooks_it_or_its_base_has() -> None:
    class Louder(Shout):
        async def process_output_step(self, ctx: Any) -> None: ...

    assert Shout.phases == {Phase.INPUT}
    assert Louder.phases == {Phase.INPUT, Phase.OUTPUT_STEP}
    assert Everywhere.phases == set(Phase)
    assert Louder().as_step().acts_in(Phase.OUTPUT_STEP)
    assert not Louder().as_step().acts_in(Phase.TOOL_CALL)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("process_inptu", "process_input"),
        ("process_outputstream", "process_output_stream"),
        ("process_tool_results", "process_tool_result"),
        ("process_api_errors", "process_api_error"),
    ],
)
def test_a_misspelt_hook_is_refused_with_the_nearest_name(name: str, meant: str) -> None:
    with pytest.raises(DefinitionError, match=f"{name} is no hook; did you mean {meant}"):
        type("Misspelt", (Processor,), {"id": "x", name: print})


def test_all_misspelt_hooks_are_told_at_once() -> None:
    hooks = {"process_inptu": print, "process_outpt_step": print}
    with pytest.raises(DefinitionError) as raised:
        type("Misspelt", (Processor,), {"id": "x", **hooks})
    assert len(raised.value.faults) == 2


def test_private_names_and_attributes_that_are_no_functions_are_no_hooks() -> None:
    class Fine(Shout):
        process_data_parts = True

        def _process_inptu(self) -> None: ...

    assert Fine.phases == {Phase.INPUT}


def test_a_hook_that_is_none_is_none() -> None:
    class Both(Processor):
        id = "both"

        def process_input(self, ctx: InputContext) -> None: ...

        def process_output_step(self, ctx: OutputStepContext) -> None: ...

    class Input(Both):
        process_output_step = None  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]

    assert Input.phases == {Phase.INPUT}
    with pytest.raises(DefinitionError, match="process_input is 5, not a method"):
        type("Wrong", (Both,), {"process_input": 5})
    with pytest.raises(DefinitionError, match="implements no hook"):
        type("Neither", (Input,), {"process_input": None})


def test_a_class_without_a_hook_is_refused_unless_it_is_a_base_for_others() -> None:
    with pytest.raises(DefinitionError, match="implements no hook"):
        type("Empty", (Processor,), {"id": "x"})

    class Base(Processor, abstract=True):
        """For others."""

    class Derived(Base):
        def process_input(self, ctx: InputContext) -> None: ...

    assert Base.phases == frozenset()
    assert Derived.phases == {Phase.INPUT}


def test_name_and_description_come_from_the_class_unless_they_are_set() -> None:
    assert (Shout().name, Shout().description) == ("Shout", "Stop whoever shouts.")

    class Named(Shout):
        name = "The quiet one"
        description = "Hush."

    class Undescribed(Shout):
        pass

    assert (Named().name, Named().description) == ("The quiet one", "Hush.")
    assert Undescribed().description is None


def test_the_id_is_the_classs_or_the_instances_and_one_set_before_the_base_init_stays() -> None:
    class Set(Shout):
        def __init__(self) -> None:
            self.id = "mine"
            super().__init__()

    class WithoutInit(Shout):
        def __init__(self) -> None:
            pass

    assert Shout().id == "shout"
    assert Shout(id="louder").id == "louder"
    assert Set().id == "mine"
    assert WithoutInit().as_step().id == "processor:shout"


@pytest.mark.parametrize("bad", [None, 7, "", "two words", "a/b", "a.b"])
def test_an_id_that_is_none_is_refused_when_it_becomes_a_step(bad: Any) -> None:
    class Nameless(Processor):
        def process_input(self, ctx: InputContext) -> None: ...

    processor = Nameless()
    if bad is not None:
        processor.id = bad
    with pytest.raises(DefinitionError, match=r"Nameless.*id"):
        processor.as_step()
    with pytest.raises(DefinitionError, match="id"):
        Agent(model="embedded/echo", input_processors=[processor])


def test_its_step_is_named_after_it_and_always_the_same_one() -> None:
    processor = Shout()
    step = processor.as_step()
    assert isinstance(step, ProcessorStep)
    assert step.id == "processor:shout"
    assert step.processor is step.subject is processor
    assert processor.as_step() is step
    assert create_step(processor) is step
    renamed = create_step(processor, id="second")
    assert renamed.id == "second"
    assert processor.as_step().id == "processor:shout"


def test_on_violation_is_an_attribute_or_an_argument() -> None:
    told: list[Violation] = []
    assert Shout().on_violation is None
    assert Shout(on_violation=told.append).on_violation == told.append

    quiet = Shout()
    quiet.on_violation = told.append
    result = Agent(model="embedded/echo", input_processors=[quiet]).generate_sync("HELLO")
    assert result.status == "tripwire"
    assert told == [Violation("shout", Phase.INPUT, "please do not shout")]


def test_its_place_in_an_agents_list_is_set_when_that_is_composed() -> None:
    first, second = Shout(id="first"), Shout(id="second")
    before = (first.processor_index, second.processor_index)
    Agent(model="embedded/echo", input_processors=[first, create_step(second, id="named")])
    after = (first.processor_index, second.processor_index)
    assert (before, after) == ((None, None), (0, 1))


def test_it_shows_its_class_and_id() -> None:
    assert repr(Shout()) == "<Shout 'shout'>"


def test_an_async_on_violation_is_refused() -> None:
    async def told(violation: Violation) -> None: ...

    with pytest.raises(DefinitionError, match="cannot be awaited"):
        Shout(on_violation=told)


def test_an_option_of_the_constructor_is_none_of_the_class() -> None:
    with pytest.raises(
        DefinitionError, match=r"strategy is an option of its constructor, .*Strict\(strategy='block'\)"
    ):
        type("Strict", (PIIDetector,), {"strategy": "block"})
    with pytest.raises(DefinitionError, match="phases follows from its hooks"):
        type("Narrow", (PIIDetector,), {"phases": ["input"]})

    class Own(PIIDetector):
        kinds: tuple[Any, ...] = ("email",)

        def __init__(self) -> None:
            super().__init__(kinds=self.kinds)

    ctx = InputContext("I am ann@example.com, card 4111 1111 1111 1111")
    Own().process_input(ctx)
    assert ctx.messages[0].text == "I am a*n@*******.com, card 4111 1111 1111 1111"


@pytest.mark.parametrize("name", ["shadow", "blocking"])
def test_how_it_is_run_is_said_with_true_or_false(name: str) -> None:
    wrong = type("Wrong", (Shout,), {name: "yes"})()
    with pytest.raises(DefinitionError, match=f"{name} is True or False, not 'yes'"):
        wrong.as_step()
    with pytest.raises(DefinitionError, match=f"{name} is True or False, not 'yes'"):
        create_step(Shout(), **{name: "yes"})  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
