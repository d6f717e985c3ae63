"""Files that the pages name are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMED = re.compile(r"`((?:tests|examples|runtime|processors|workflows|messages|benchmarks|interlock)/[\w/]+\.py)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    named = NAMED.findall(page.read_text("utf-8"))
    gone = [name for name in named if not (ROOT / name).exists() and not (ROOT / "interlock" / name).exists()]
    assert gone == []
