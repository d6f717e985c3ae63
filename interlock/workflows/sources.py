"""Where a key of a mapping comes from: ``.map({"key": source, …})``."""

from __future__ import annotations

import copy
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any, Final, cast

from interlock.errors import DefinitionError
from interlock.schema import plain_type
from interlock.shown import shown
from interlock.steps import Step, StepContext, SupportsStep
from interlock.steps.step import supports_step
from interlock.workflows.constants import constant_text
from interlock.workflows.paths import Path

__all__ = [
    "Source",
    "from_input",
    "from_request_context",
    "from_run_input",
    "from_state",
    "from_step",
    "template",
    "value",
]


class Source(ABC):
    """Reads one value out of a run.

    Attributes:
        label: What a drawing and a fingerprint call it.
        steps: The steps it reads the outputs of.
        names: The ids of further steps, which ``commit()`` ties to steps.
    """

    label: str
    steps: tuple[Step[Any, Any], ...] = ()
    names: tuple[str, ...] = ()

    @abstractmethod
    def read(self, ctx: StepContext[Any]) -> object:
        """The value, at the place of the map that reads it."""

    def bound(self, steps: Mapping[str, Step[Any, Any]]) -> Source:
        """The same with its ids tied to the steps of a workflow."""
        del steps
        return self

    def paths(self) -> Iterator[tuple[Step[Any, Any] | str, Path]]:
        """The paths it follows, each with the step or the root (``"input"``, ``"state"``, …) into which."""
        return iter(())

    def __repr__(self) -> str:
        return f"<Source {self.label}>"


def value(x: object, /) -> Source:
    """A value that is always the same. Each run gets a copy of its own.

    Example:
        >>> value("en")
        <Source 'en'>
    """
    return _Value(x)


def from_step(steps: SupportsStep | Sequence[SupportsStep], path: str = "", /) -> Source:
    """What a step before gave, or a part of it.

    Args:
        steps: The step, processor or workflow, as the object that stands in this workflow; or several, for after a
            branch: the first of them that has run is read.
        path: Which part: ``"orders[0].total"``, through mappings, attributes and sequences; default: all of it.

    Raises:
        DefinitionError: It is no step, or no path.

    Example:
        >>> from interlock.steps import create_step
        >>> from_step(create_step(lambda ctx: {"risk": 0.2}, id="score"), "risk")
        <Source score.risk>
    """
    given = cast("object", steps)
    several = list(cast("Sequence[object]", given)) if isinstance(given, list | tuple) else [given]
    if not several:
        raise DefinitionError("from_step([]) names no step")
    for one in several:
        if not supports_step(one):
            raise DefinitionError(
                f"from_step takes the step object that stands in the workflow, not {shown(one)}; make a function a "
                "step with @step to have one"
            )
    return _FromStep(tuple(cast("SupportsStep", one).as_step() for one in several), Path(path))


def from_input(path: str = "", /) -> Source:
    """What flows into the map, or a part of it.

    Args:
        path: As of :func:`from_step`.

    Raises:
        DefinitionError: It is no path.
    """
    return _FromRoot("input", Path(path))


def from_run_input(path: str = "", /) -> Source:
    """What the workflow's run was started with, or a part of it.

    Args:
        path: As of :func:`from_step`.

    Raises:
        DefinitionError: It is no path.
    """
    return _FromRoot("run_input", Path(path))


def from_state(path: str = "", /) -> Source:
    """The run's state, or a part of it.

    Args:
        path: As of :func:`from_step`.

    Raises:
        DefinitionError: It is no path.
    """
    return _FromRoot("state", Path(path))


def from_request_context(path: str = "", /) -> Source:
    """What the caller handed over, or a part of it.

    Args:
        path: As of :func:`from_step`.

    Raises:
        DefinitionError: It is no path.
    """
    return _FromRoot("request_context", Path(path))


def template(text: str, /) -> Source:
    """A text with values in it.

    ``${input.x}``, ``${run_input.x}``, ``${state.x}``, ``${request_context.x}`` and ``${step-id.x}`` stand for parts
    of the values that the other sources read; ``$${`` for ``${`` itself. Lists, mappings, models and dataclasses are
    written as JSON, everything else as ``str()`` has it.

    Args:
        text: The text. An id with ``}``, ``[`` or ``.`` in it cannot be named here.

    Raises:
        DefinitionError: A ``${`` without its ``}``, or no path in between.

    Example:
        >>> template("Answer ${input.question} in ${request_context.language}.")
        <Source "Answer ${input.question} in ${request_context.language}.">
    """
    if not isinstance(cast("object", text), str):
        raise DefinitionError(f"template() takes a text, not {shown(text)}")
    return _Template(text, _pieces(text))


class _Value(Source):
    def __init__(self, x: object) -> None:
        if isinstance(x, Source) or supports_step(x):
            raise DefinitionError(f"value() is for what is always the same, not for {shown(x)}: use it as it is")
        self._value = x
        scalar = x is None or plain_type(type(x)) is not None
        self._shared = scalar
        self.label = constant_text(x) if scalar else type(x).__name__

    def read(self, ctx: StepContext[Any]) -> object:
        return self._value if self._shared else copy.deepcopy(self._value)


_NOT_RUN: Final = object()


class _FromStep(Source):
    def __init__(self, steps: tuple[Step[Any, Any], ...], path: Path) -> None:
        self.steps = steps
        self._path = path
        self.label = path.after(" | ".join(step.id for step in steps))

    def paths(self) -> Iterator[tuple[Step[Any, Any] | str, Path]]:
        return ((step, self._path) for step in self.steps)

    def read(self, ctx: StepContext[Any]) -> object:
        for step in self.steps:
            output: object = ctx.output_of(step, default=cast("Any", _NOT_RUN))
            if output is not _NOT_RUN:
                return self._path.read(output, step.id)
        told = " nor ".join(repr(step.id) for step in self.steps)
        neither = "step" if len(self.steps) == 1 else "neither"
        raise LookupError(f"{self.label}: {neither} {told} has{' not' if len(self.steps) == 1 else ''} run in this run")


class _FromRoot(Source):
    def __init__(self, root: str, path: Path) -> None:
        self._root = root
        self._path = path
        self.label = path.after(root)

    def paths(self) -> Iterator[tuple[Step[Any, Any] | str, Path]]:
        yield self._root, self._path

    def read(self, ctx: StepContext[Any]) -> object:
        return self._path.read(getattr(ctx, self._root), self._root)


class _Template(Source):
    """Its pieces are texts, sources, and paths into steps whose ids are not yet tied to any."""

    def __init__(self, text: str, pieces: Sequence[str | Source | tuple[str, Path]]) -> None:
        self._text = text
        self._pieces = pieces
        self.label = f'"{text}"'
        self.names = tuple(dict.fromkeys(piece[0] for piece in pieces if isinstance(piece, tuple)))
        self.steps = tuple(step for piece in pieces if isinstance(piece, Source) for step in piece.steps)

    def bound(self, steps: Mapping[str, Step[Any, Any]]) -> Source:
        return _Template(
            self._text,
            [_FromStep((steps[piece[0]],), piece[1]) if isinstance(piece, tuple) else piece for piece in self._pieces],
        )

    def paths(self) -> Iterator[tuple[Step[Any, Any] | str, Path]]:
        for piece in self._pieces:
            if isinstance(piece, Source):
                yield from piece.paths()

    def read(self, ctx: StepContext[Any]) -> object:
        if self.names:
            raise LookupError(f"{self.label}: {', '.join(self.names)} are tied to steps by a workflow's commit()")
        return "".join(_written(p.read(ctx)) if isinstance(p, Source) else cast("str", p) for p in self._pieces)


_ROOTS: Final = frozenset({"input", "run_input", "state", "request_context"})
_HOLE: Final = re.compile(r"\$\$\{|\$\{(?P<inside>[^}]*)(?P<end>\}?)")


def _pieces(text: str) -> list[str | Source | tuple[str, Path]]:
    pieces: list[str | Source | tuple[str, Path]] = []
    at = 0
    for found in _HOLE.finditer(text):
        pieces.append(text[at : found.start()])
        at = found.end()
        if found["inside"] is None:
            pieces.append("${")
            continue
        if not found["end"]:
            raise DefinitionError(f"template(): ${{{found['inside']:.40} has no }}; write $${{ for ${{ itself")
        root, path = _hole(found["inside"].strip())
        pieces.append(_FromRoot(root, path) if root in _ROOTS else (root, path))
    pieces.append(text[at:])
    return [piece for piece in pieces if piece != ""]


def _hole(inside: str) -> tuple[str, Path]:
    root = re.split(r"[.\[]", inside, maxsplit=1)[0]
    rest = inside[len(root) :]
    if not root or rest == ".":
        raise DefinitionError(f"template(): ${{{inside}}} names nothing: ${{input.x}}, ${{state.x}}, ${{step-id.x}}, …")
    return root, Path(rest.removeprefix("."))


def _written(x: object) -> str:
    if isinstance(x, str):
        return x
    if isinstance(x, Mapping | list | tuple) or is_dataclass(x) or hasattr(type(x), "model_fields"):
        from pydantic_core import to_json

        return to_json(x, fallback=str).decode()
    return str(x)
