"""Classes of a module that is imported, as a user's are."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, Flag, IntEnum, StrEnum
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, HttpUrl, PrivateAttr, RootModel, model_validator
from pydantic.dataclasses import dataclass as pydantic_dataclass

T = TypeVar("T")


class Colour(Enum):
    RED = "red"
    CRIMSON = RED
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1


class Tag(StrEnum):
    NEW = "new"


class Rights(Flag):
    READ = 1
    WRITE = 2


class Point(NamedTuple):
    x: int
    label: str = "origin"


@dataclass
class Order:
    number: int
    lines: list[Any] = field(default_factory=list[Any])
    colour: Colour = Colour.RED

    @cached_property
    def total(self) -> int:
        return len(self.lines)


@dataclass(frozen=True, slots=True)
class Line:
    amount: int
    article: object = None
    checked: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        if self.amount < 0:
            raise ValueError("an amount is not negative")


@dataclass
class Noted:
    text: str

    def __post_init__(self) -> None:
        self.words = self.text.split()


@dataclass
class Box(Generic[T]):
    content: T


@pydantic_dataclass
class Parcel:
    weight: float


class Customer(BaseModel):
    model_config = ConfigDict(extra="allow")

    name: str
    home: HttpUrl | None = None
    orders: list[Order] = []
    _seen: int = PrivateAttr(default=0)

    @cached_property
    def greeting(self) -> str:
        return f"Hello {self.name}"


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)

    value: Any

    @model_validator(mode="before")
    @classmethod
    def _once(cls, given: Any) -> Any:
        validated.append(cls)
        return given


validated: list[type] = []


class Names(RootModel[list[str]]):
    pass


class Page(BaseModel, Generic[T]):
    items: list[T]


IntPage = Page[int]


class Temperature:
    """Says itself how it is written."""

    def __init__(self, degrees: float) -> None:
        self.degrees = degrees

    def to_json(self) -> object:
        return {"degrees": self.degrees}

    @classmethod
    def from_json(cls, told: dict[str, float]) -> Temperature:
        return cls(told["degrees"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Temperature) and self.degrees == other.degrees

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Temperature({self.degrees})"


class Broken(Temperature):
    def to_json(self) -> object:
        raise RuntimeError("out of order")


class Nested(Temperature):
    def to_json(self) -> object:
        return {"inner": [object()]}


class Plain:
    def __init__(self) -> None:
        self.x = 1
