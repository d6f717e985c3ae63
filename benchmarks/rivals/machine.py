"""What is measured on, and what is installed there."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import cast

from benchmarks.rivals.engines import ENGINES, Engine
from benchmarks.rivals.places import NODE_FOLDER, node

__all__ = ["describe", "load", "now", "versions"]


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def describe() -> dict[str, str]:
    """The machine in words."""
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def load() -> float:
    """The load average of the last minute: how many programs wanted a core; 0 where the system does not tell."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else 0.0


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    found = (
        re.search(r"^model name\s*:\s*(.+)$", information.read_text("utf-8"), re.M) if information.exists() else None
    )
    return " ".join(found[1].split()) if found else platform.processor() or platform.machine()


def versions() -> dict[str, dict[str, str]]:
    """Of what is installed for each engine."""
    found = {key: _versions(engine) for key, engine in ENGINES.items()}
    return {key: of_one for key, of_one in found.items() if of_one}


def _versions(engine: Engine) -> dict[str, str]:
    return {
        name: of_one
        for name in engine.adapter().distributions
        if (of_one := _on_node(name) if engine.on_node else _in_python(name)) is not None
    }


def _in_python(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _on_node(name: str) -> str | None:
    if name == "node":
        command = node()
        return (
            command
            and subprocess.run([command, "-p", "process.versions.node"], capture_output=True, text=True).stdout.strip()
        )
    described = NODE_FOLDER / "node_modules" / name / "package.json"
    return (
        cast("Mapping[str, str]", json.loads(described.read_text("utf-8")))["version"] if described.exists() else None
    )
