"""Paths into values: ``customer.orders[0].total``, through mappings, attributes and sequences."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, cast

from interlock.errors import DefinitionError

__all__ = ["Path"]

_NAME = r"[^.\[\]]+"
_INDEX = r"\[-?[0-9]+\]"
_PART = re.compile(f"{_NAME}|{_INDEX}")
_PATH = re.compile(rf"(?:{_NAME}|{_INDEX})(?:\.{_NAME}|{_INDEX})*")
_SHOWN = 8
_METHODS = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    classmethod,
    staticmethod,
)


class Path:
    """A way into a value.

    Args:
        text: Names with dots between them and ``[0]`` for the items of a list, ``[-1]`` for its last. ``""`` and
            ``"."`` are the value itself.

    Raises:
        DefinitionError: It is no path.

    Example:
        >>> Path("orders[0].total").read({"orders": [{"total": 7}]}, "input")
        7
        >>> Path("orders[1]").read({"orders": [{"total": 7}]}, "input")
        Traceback (most recent call last):
        LookupError: input.orders[1]: input.orders has no item [1]: there is list of 1
    """

    __slots__ = ("parts", "text")

    def __init__(self, text: str) -> None:
        if not isinstance(cast("object", text), str):
            raise DefinitionError(f'a path is a string, "customer.orders[0]", not {text!r:.80}')
        self.text = "" if text == "." else text
        self.parts = _parts(self.text)

    def read(self, value: Any, root: str) -> Any:
        """What is at its end.

        Args:
            value: Where it begins.
            root: What that is called, for the error.

        Raises:
            LookupError: It does not go on somewhere: where, and what there is.
        """
        reached = root
        for part in self.parts:
            try:
                value = _step(value, part)
            except LookupError as error:
                whole = self.after(root)
                raise LookupError(f"{whole}: {reached} {error.args[0]}: there is {_told(value)}") from None
            reached = _joined(reached, part)
        return value

    def after(self, root: str) -> str:
        """The whole way as text: ``input.orders[0]``."""
        for part in self.parts:
            root = _joined(root, part)
        return root


def _parts(text: str) -> tuple[str | int, ...]:
    if text and not _PATH.fullmatch(text):
        raise DefinitionError(f'{text!r} is no path: write names with dots and [0] for items, "customer.orders[0]"')
    return tuple(int(part[1:-1]) if part.startswith("[") else part for part in _PART.findall(text))


def _joined(way: str, part: str | int) -> str:
    return f"{way}[{part}]" if isinstance(part, int) else f"{way}.{part}"


def _step(value: Any, part: str | int) -> Any:
    """One part further.

    Raises:
        LookupError: There is no such thing; the sentence goes on behind the way so far.
    """
    if isinstance(value, Mapping):
        held = cast("Mapping[object, Any]", value)
        if part not in held:
            raise LookupError(f"has no key {part!r}")
        return held[part]
    if isinstance(part, int):
        return _item(value, part)
    if part.startswith("_"):
        raise LookupError(f"is not asked for {part!r}, which is private")
    made = cast("type[object]", type(value))
    static = inspect.getattr_static(made, part, None)
    if isinstance(static, _METHODS):
        raise LookupError(f"has {part!r} only as a method")
    try:
        return getattr(value, part)
    except AttributeError:
        raise LookupError(f"has no {part!r}") from None


def _item(value: Any, index: int) -> Any:
    if not _is_list(value):
        raise LookupError("has no items")
    if not -len(value) <= index < len(value):
        raise LookupError(f"has no item [{index}]")
    return value[index]


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _told(value: Any) -> str:
    """What a value is, by its kind and names: what it holds is nobody's business."""
    made = cast("type[object]", type(value))
    if value is None:
        return "None"
    if _is_list(value):
        return f"{made.__name__} of {len(value)}"
    names: list[str] = [*getattr(made, "model_fields", ())]
    if is_dataclass(made):
        names = [field.name for field in fields(made) if not field.name.startswith("_")]
    if isinstance(value, Mapping):
        names = [repr(key) for key in cast("Mapping[object, Any]", value)]
        if not names:
            return f"an empty {made.__name__}"
    shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
    return f"{made.__name__} with {shown}" if names else made.__name__
