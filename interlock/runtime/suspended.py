"""Which of the steps that wait a resume means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interlock.errors import AlreadyResumed, NothingSuspended
from interlock.steps import Step, supports_step
from interlock.workflows.outcome import Suspension

__all__ = ["Wanted", "chosen_suspension"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a resume says of the step it means.

    Args:
        step: The step, its id or its path.
        label: The label it gave.
        token: The suspension's token.
        index: The item of a ``foreach``, from 0.
    """

    step: object = None
    label: str | None = None
    token: str | None = None
    index: int | None = None

    def means(self, suspension: Suspension, steps: Mapping[str, Step[Any, Any]]) -> bool:
        """Whether a suspension is meant."""
        if self.token is not None and suspension.token != self.token:
            return False
        if self.label is not None and suspension.label != self.label:
            return False
        if self.index is not None and suspension.index != self.index:
            return False
        if self.step is None:
            return True
        if supports_step(self.step):
            step: Step[Any, Any] = self.step.as_step()
            return steps.get(suspension.path) is step
        return self.step in (suspension.path, suspension.step_id)

    def __str__(self) -> str:
        step = self.step.as_step().id if supports_step(self.step) else self.step
        given = {"step": step, "label": self.label, "token": self.token, "index": self.index}
        return ", ".join(f"{name}={value!r}" for name, value in given.items() if value is not None)


def chosen_suspension(
    run_id: str,
    wanted: Wanted,
    waiting: Sequence[Suspension],
    answered: Mapping[str, Suspension],
    steps: Mapping[str, Step[Any, Any]],
    status: str,
) -> Suspension:
    """The one suspension that is meant.

    Args:
        run_id: The run, for errors.
        wanted: What the resume says.
        waiting: What waits.
        answered: What has been answered already, by token.
        steps: The workflow's, by path.
        status: How the run stands.

    Raises:
        AlreadyResumed: It was answered already.
        NothingSuspended: None is meant, or several are.
    """
    if supports_step(wanted.step) and not any(step is wanted.step.as_step() for step in steps.values()):
        raise NothingSuspended(run_id, f"{wanted} is no step of its workflow")
    meant = [one for one in waiting if wanted.means(one, steps)]
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise NothingSuspended(
            run_id, f"several steps wait, {_listed(meant)}: say which with step=, label=, index= or token="
        )
    before = [one for one in answered.values() if wanted.means(one, steps)]
    if before:
        raise AlreadyResumed(run_id, repr(before[-1].path))
    if not waiting:
        raise NothingSuspended(run_id, f"nothing waits in it: it stands at {status!r}")
    raise NothingSuspended(run_id, f"nothing that waits fits {wanted}; waiting: {_listed(waiting)}")


def _listed(suspensions: Iterable[Suspension]) -> str:
    return ", ".join(
        repr(one.path)
        + ("" if one.index is None else f" index {one.index}")
        + ("" if one.label is None else f" ({one.label!r})")
        for one in suspensions
    )
