"""Where Interlock logs: structlog, under the name ``interlock``. Ids and types only, never what people wrote."""

from __future__ import annotations

from typing import Protocol, cast

import structlog

__all__ = ["Log", "log"]


class Log(Protocol):
    """The part of a structlog logger that is used here."""

    def warning(self, event: str, **values: object) -> object: ...


log: Log = cast("Log", structlog.get_logger("interlock"))
