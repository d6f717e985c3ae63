"""What moderation looks for: the categories, and in words for a model that judges."""

from __future__ import annotations

from typing import Final, Literal

__all__ = ["CATEGORIES", "DESCRIPTIONS", "Category"]

Category = Literal[
    "hate",
    "hate/threatening",
    "harassment",
    "harassment/threatening",
    "self-harm",
    "self-harm/intent",
    "self-harm/instructions",
    "sexual",
    "sexual/minors",
    "violence",
    "violence/graphic",
]

DESCRIPTIONS: Final[dict[Category, str]] = {
    "hate": "demeans or attacks people for race, origin, religion, sex, orientation, disability or caste; slurs",
    "hate/threatening": "the same, with violence threatened, wished or called for",
    "harassment": "insults, humiliates or bullies somebody, abusive language at somebody",
    "harassment/threatening": "the same, with harm or death threatened to or wished upon somebody",
    "self-harm": "depicts or makes light of suicide, cutting or eating disorders",
    "self-harm/intent": "the writer says that they are hurting themselves or are going to",
    "self-harm/instructions": "tells or asks how to hurt or kill oneself",
    "sexual": "meant to arouse, or sexually explicit; not health or education",
    "sexual/minors": "anything sexual about a person under eighteen",
    "violence": "threatens, glorifies or calls for killing or injuring people",
    "violence/graphic": "shows death, wounds or mutilation in gory detail",
}

CATEGORIES: Final[tuple[Category, ...]] = tuple(DESCRIPTIONS)
