"""What somebody may have meant by a name that there is not."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["did_you_mean"]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a sentence that says a name is none: the nearest there is, however it is written; empty without one.

    Example:
        >>> did_you_mean("doUntil", ["do_while", "do_until"]), did_you_mean("xyz", ["do_while"])
        ('; did you mean do_until?', '')
    """
    import difflib

    written = {_bare(one): one for one in known if not one.startswith("_")}
    near = difflib.get_close_matches(_bare(name), written, n=1, cutoff=0.7)
    return f"; did you mean {written[near[0]]}?" if near else ""


def _bare(name: str) -> str:
    return name.replace("_", "").lower()
