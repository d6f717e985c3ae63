"""Where Interlock logs: structlog, under the name ``interlock``. Ids and types only, never what people wrote."""

from __future__ import annotations

__all__ = ["warn"]


def warn(event: str, **values: object) -> None:
    """Log a warning. structlog is imported here, because most programs never log one and it is slow to import.

    Args:
        event: What happened, always in the same words.
        **values: Ids and types that say where.
    """
    import structlog

    structlog.get_logger("interlock").warning(event, **values)
