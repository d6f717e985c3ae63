"""Where Interlock logs: structlog, under the name ``interlock``. Ids and types only, never what people wrote."""

from __future__ import annotations

import sys

__all__ = ["warn"]


def warn(event: str, **values: object) -> None:
    """Log a warning. structlog is imported here, because most programs never log one and it is slow to import.

    Args:
        event: What happened, always in the same words.
        **values: Ids and types that say where.
    """
    import structlog

    if structlog.is_configured():
        structlog.get_logger("interlock").warning(event, **values)
    else:  # the default would write to standard output, where a program's own answers go
        structlog.wrap_logger(structlog.PrintLogger(sys.stderr)).warning(event, **values)
