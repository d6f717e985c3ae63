"""A support ticket on its way to an answer: one workflow with every combinator. It needs no key and no network.

python examples/triage.py                                              runs a ticket, and draws the run
interlock graph examples/triage.py:workflow -o triage.svg              draws the workflow as a picture
interlock run examples/triage.py:workflow --input '{"customer": "ann", "text": "Refund me!"}'
"""

from __future__ import annotations

import operator
import re
import sys
from typing import Annotated, Any

import anyio
import anyio.lowlevel
from pydantic import BaseModel

from interlock import Completed, StepContext, create_step, create_workflow, step
from interlock.steps import RetryPolicy
from interlock.workflows import append, from_run_input, from_state, from_step, template, value

Case = dict[str, Any]
"""What is known of a ticket once it has been looked at."""

TIERS = {"ann": "gold", "bob": "silver"}
ARTICLES = {"refund": "Refunds take three days.", "parcel": "Parcels are tracked at /track."}
LONGEST = 160
"""Characters that fit a text message."""


class Ticket(BaseModel):
    """What a customer sends."""

    customer: str
    text: str
    watchers: list[str] = []


class Progress(BaseModel):
    """The run's state. What steps say of a key is joined by the function beside its type, also of steps at once."""

    notes: Annotated[list[str], append] = []
    cost: Annotated[float, operator.add] = 0.0


# 1. The ticket is looked at from three sides at once.


@step
def tidy(ctx: StepContext[Ticket]) -> Ticket:
    """White space, once."""
    return ctx.input.model_copy(update={"text": " ".join(ctx.input.text.split())})


@step
def language(ctx: StepContext[Ticket]) -> str:
    """Which language it is in, roughly."""
    ctx.set_state(cost=0.1)
    return "de" if re.search(r"\b(ich|nicht|bitte)\b", ctx.input.text, re.IGNORECASE) else "en"


@step
def mood(ctx: StepContext[Ticket]) -> str:
    """How the customer feels."""
    ctx.set_state(cost=0.2, notes="listened to the tone")
    return "angry" if "!" in ctx.input.text else "calm"


def ask_register(ctx: StepContext[Ticket]) -> str:
    """The customer's tier. The register is busy at the first call of each run."""
    if ctx.attempt == 1:
        raise ConnectionError("the register is busy")
    return TIERS.get(ctx.input.customer, "new")


def greet(ctx: StepContext[str]) -> str:
    """The words for such a customer."""
    return {"gold": "Thank you for ten years with us.", "new": "Welcome!"}.get(ctx.input, "Hello again.")


register = create_step(ask_register, id="ask-register", retry=RetryPolicy(attempts=3, delay=0.001))
customer = create_workflow(id="customer", input_schema=Ticket, output_schema=str).then(register).then(greet).commit()

# 2. Who takes it is decided. An arm may be several steps, and its last one names it.


def is_angry(ctx: StepContext[Case]) -> bool:
    """Whether a person is to see it now."""
    return bool(ctx.input["mood"] == "angry")


def is_refund(ctx: StepContext[Case]) -> bool:
    """Whether it is about money."""
    return "refund" in ctx.input["text"].lower()


def page(ctx: StepContext[Case]) -> Case:
    """Wake somebody."""
    ctx.set_state(notes=f"paged the duty officer: {ctx.input['subject']}")
    return ctx.input


def escalate(ctx: StepContext[Case]) -> Case:
    """To somebody who answers now."""
    return {**ctx.input, "queue": "duty officer"}


def to_billing(ctx: StepContext[Case]) -> Case:
    """To those who pay."""
    return {**ctx.input, "queue": "billing team"}


def to_inbox(ctx: StepContext[Case]) -> Case:
    """To those who have time."""
    return {**ctx.input, "queue": "support team"}


# 3. An answer is put together: each step waits for just those that it needs.


@step
def topic(ctx: StepContext[Case]) -> str:
    """What it is about."""
    return next((word for word in ARTICLES if word in ctx.input["text"].lower()), "other")


@step
def opening(ctx: StepContext[Case]) -> str:
    """Who answers."""
    return f"Our {ctx.input['queue']} has your ticket."


@step
def article(ctx: StepContext[str]) -> str:
    """What we have to say about it."""
    return ARTICLES.get(ctx.input, "We read every word.")


@step
async def draft(ctx: StepContext[dict[str, str]]) -> str:
    """The answer."""
    await anyio.lowlevel.checkpoint()  # a model would take its time here
    known = [ctx.output_of(customer), ctx.input["opening"], ctx.input["article"]]
    return " ".join([*known, "Call 555-0100 or 555-0199.", "We are there all day.", "We like to read you.", "Ciao."])


# 4. It is worked on until it will do, and sent to everybody who follows the ticket.


def hide_number(ctx: StepContext[str]) -> str:
    """Take the first telephone number out."""
    return re.sub(r"\d{3}-\d{4}", "our hotline", ctx.input, count=1)


def shows_number(ctx: StepContext[str]) -> bool:
    """Whether there is another."""
    return re.search(r"\d{3}-\d{4}", ctx.input) is not None


def shorten(ctx: StepContext[str]) -> str:
    """Leave the last sentence out."""
    return ctx.input.removesuffix(".").rpartition(".")[0] + "."


def fits(ctx: StepContext[str]) -> bool:
    """Whether it can be sent."""
    return len(ctx.input) <= LONGEST


def addressed(ctx: StepContext[Case]) -> list[str]:
    """One letter for each of those who are to read it."""
    return [f"{name}: {ctx.input['subject']} {ctx.input['answer']}" for name in ctx.input["to"]]


async def send(ctx: StepContext[str]) -> str:
    """Send one."""
    await anyio.lowlevel.checkpoint()
    ctx.set_state(notes=f"wrote to {ctx.input.partition(':')[0]}")
    return ctx.input


def readers(ctx: StepContext[str]) -> list[str]:
    """The customer, and who follows along."""
    ticket = ctx.output_of(tidy)
    return [ticket.customer, *ticket.watchers]


readers_of = create_step(readers, id="readers")
shortened = create_step(shorten, id="shorten")

workflow = (
    create_workflow(id="triage", input_schema=Ticket, output_schema=list[str], state_schema=Progress)
    .then(tidy)
    .parallel([language, mood, customer])
    .map(
        {
            "text": from_step(tidy, "text"),
            "language": language,  # short for from_step(language)
            "mood": mood,
            "customer": from_run_input("customer"),
            "subject": template("[${language}] ${run_input.customer} is ${input.mood}"),
            "channel": value("text message"),
        }
    )
    .branch([(is_angry, [page, escalate]), (is_refund, to_billing)], otherwise=to_inbox)
    .merge()
    .dag({topic: [], opening: [], article: [topic], draft: [article, opening]})
    .do_while(hide_number, shows_number)
    .do_until(shortened, fits, max_iterations=10)
    .sleep(0.001)
    .then(readers_of)
    .map(
        {
            "to": readers_of,
            "answer": from_step(shortened),
            "subject": template("[${language}]"),
            "cost": from_state("cost"),
        }
    )
    .map(addressed)
    .foreach(send, concurrency=2)
    .commit()
)

SAMPLE = Ticket(customer="ann", text="I want a  refund for parcel LX-7, now!", watchers=["bob", "carol"])


async def main() -> int:
    """Run the sample, say what came of it, and draw the run."""
    outcome = await workflow.run(SAMPLE)
    print(workflow.to_text(run=outcome), end="\n\n")
    if not isinstance(outcome, Completed):
        print(f"it ended otherwise: {outcome}")
        return 1
    for letter in outcome.output:
        print(f"sent   {letter}")
    for remark in outcome.state.notes:
        print(f"noted  {remark}")
    print(f"cost   {outcome.state.cost:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(anyio.run(main))
