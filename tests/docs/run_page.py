"""Run the Python blocks of one page, in order and in one namespace, as a reader would type them in.

``test_pages.py`` calls ``python -W error run_page.py PAGE`` and gives the blocks as JSON on standard input:
``[{"line": …, "session": …, "source": …}]``. A block may ``await`` at its top level (as in ``python -m asyncio``); one
that shows a ``>>>`` session is compared with what it prints. The network is closed.
"""

from __future__ import annotations

import ast
import asyncio
import doctest
import gc
import inspect
import ipaddress
import json
import sys
from typing import Any, TypedDict, cast

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(TypedDict):
    """One block: the line of its fence (from 1), whether it is a session, and its text."""

    line: int
    session: bool
    source: str


def _close_the_network(event: str, args: tuple[Any, ...]) -> None:
    if event == "socket.connect" and isinstance(args[1], tuple):
        host = str(cast("tuple[object, ...]", args[1])[0])
    elif event == "socket.getaddrinfo":
        host = str(args[0])
    else:
        return
    try:
        local = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        local = False
    if not local:
        raise RuntimeError(f"a page reached for the network: {host}")


def _run(block: Block, page: str, namespace: dict[str, object], runner: asyncio.Runner) -> None:
    source = "\n" * block["line"] + block["source"]  # so that a traceback names the line of the page
    code = compile(source, page, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    if code.co_flags & inspect.CO_COROUTINE:
        runner.run(eval(code, namespace))
    else:
        exec(code, namespace)


def _run_session(block: Block, page: str, namespace: dict[str, object]) -> None:
    session = doctest.DocTestParser().get_doctest(block["source"], namespace, page, page, block["line"])
    if doctest.DocTestRunner(optionflags=FLAGS).run(session, clear_globs=False).failed:
        sys.exit(f"{page}: the session at line {block['line']} prints something else")
    namespace.update(session.globs)


def main(page: str) -> None:
    """Run the page; the first block that fails ends it, and a warning that nobody could raise fails it as well."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    ignored: list[str] = []  # what Python can only report, such as a coroutine that was never awaited
    sys.unraisablehook = lambda unraisable: ignored.append(repr(unraisable.exc_value))
    sys.addaudithook(_close_the_network)
    with asyncio.Runner() as runner:
        for block in cast("list[Block]", json.load(sys.stdin)):
            if block["session"]:
                _run_session(block, page, namespace)
            else:
                _run(block, page, namespace, runner)
    namespace.clear()
    gc.collect()
    if ignored:
        sys.exit(f"{page}: {', '.join(ignored)}")


if __name__ == "__main__":
    main(sys.argv[1])
