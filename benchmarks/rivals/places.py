"""Where the rivals are installed and where their results are kept."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

__all__ = ["FIGURES", "HERE", "NODE_FOLDER", "PAGE", "RESULTS", "ROOT", "node"]

HERE: Final = Path(__file__).parent
ROOT: Final = Path(__file__).parents[2]

NODE_FOLDER: Final = ROOT / ".rivals" / "node"
PAGE: Final = ROOT / "docs" / "benchmarks.md"
FIGURES: Final = ROOT / "docs" / "benchmarks"
RESULTS: Final = FIGURES / "results.json"

OLDEST_NODE: Final = 22


def node() -> str | None:
    """A node that Mastra runs on: the one installed beside it, or the machine's if that is new enough."""
    for candidate in (str(NODE_FOLDER / "node_modules" / ".bin" / "node"), shutil.which("node")):
        if candidate and _major(candidate) >= OLDEST_NODE:
            return candidate
    return None


def _major(command: str) -> int:
    try:
        done = subprocess.run([command, "--version"], capture_output=True, text=True, check=False, timeout=30)
    except OSError:
        return 0
    found = re.match(r"v(\d+)\.", done.stdout)
    return int(found[1]) if found else 0
