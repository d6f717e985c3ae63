"""``python -m benchmarks.rivals.install``: Interlock and its rivals, into the environment whose Python runs this.

What cannot be installed is told in one line and left out; the others are measured without it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.rivals.places import HERE, NODE_FOLDER, ROOT, node

__all__ = ["main"]

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
OURS = ("matplotlib", "anyio")
"""Not rivals: without them nothing is measured or drawn."""


def main() -> int:
    """Install everything; the exit code is 1 only where Interlock itself cannot be installed."""
    pinned = [line for line in (HERE / "requirements.txt").read_text("utf-8").split("\n") if line and line[0] != "#"]
    if _run([*PIP, "-e", str(ROOT), *pinned]) is not None:
        if (failed := _run([*PIP, "-e", str(ROOT), *_of(pinned, ours=True)])) is not None:
            print(failed, file=sys.stderr)
            return 1
        for one in _of(pinned, ours=False):
            if (failed := _run([*PIP, one])) is not None:
                print(f"{one} is left out: {_last_line(failed)}")
    if (why := install_mastra()) is not None:
        print(f"Mastra is left out: {why}")
    return 0


def install_mastra() -> str | None:
    """Install Mastra with a node of its own; what is missing where that cannot be done."""
    npm = shutil.which("npm")
    if npm is None:
        return "there is no npm on this machine"
    NODE_FOLDER.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "mastra" / "package.json", NODE_FOLDER)
    failed = _run([npm, "install", "--no-audit", "--no-fund", "--loglevel=error"], NODE_FOLDER)
    if failed is not None:
        return f"npm could not install it: {_last_line(failed)}"
    return None if node() else "there is no node of version 22 or later, and npm could not install one"


def _of(pinned: Sequence[str], *, ours: bool) -> list[str]:
    return [one for one in pinned if (one.partition("==")[0] in OURS) is ours]


def _run(command: Sequence[str], folder: Path = ROOT) -> str | None:
    """What a failed command printed; None where it succeeded."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stdout + done.stderr


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "it said nothing")[:200]


if __name__ == "__main__":
    sys.exit(main())
