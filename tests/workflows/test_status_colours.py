"""The colours of statuses can be read, and told apart without colour."""

from __future__ import annotations

from typing import get_args

import pytest

from interlock.workflows.outcome import StepStatus
from interlock.workflows.overlay import MarkStatus
from interlock.workflows.status_colours import STATUS_COLOURS, StatusColours
from interlock.workflows.svg_style import LIGHT, style_sheet

DARK_TEXT, DARK_SOFT, DARK_PAGE = "#e8ebef", "#a9b3bf", "#14171c"


def _light(colour: str) -> float:
    """Relative luminance (WCAG 2.1)."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours (WCAG 2.1)."""
    lighter, darker = sorted((_light(one), _light(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_every_status_has_colours() -> None:
    assert set(get_args(StepStatus)) | {"next", "not-run"} == set(STATUS_COLOURS)
    assert get_args(MarkStatus)


@pytest.mark.parametrize("colours", STATUS_COLOURS.values(), ids=STATUS_COLOURS)
def test_text_on_it_can_be_read_on_a_light_page_and_on_a_dark_one(colours: StatusColours) -> None:
    assert contrast(LIGHT["text"], colours.fill) >= 7
    assert contrast(LIGHT["soft"], colours.fill) >= 4.5
    assert contrast(DARK_TEXT, colours.dark_fill) >= 7
    assert contrast(DARK_SOFT, colours.dark_fill) >= 4.5


def test_those_are_the_colours_of_the_dark_page() -> None:
    for colour in (DARK_TEXT, DARK_SOFT, DARK_PAGE):
        assert f"fill:{colour}" in style_sheet()


@pytest.mark.parametrize("status", [status for status in STATUS_COLOURS if status != "not-run"])
def test_its_outline_can_be_seen(status: MarkStatus) -> None:
    colours = STATUS_COLOURS[status]
    assert contrast(colours.line, LIGHT["page"]) >= 3
    assert contrast(colours.dark_line, DARK_PAGE) >= 3


def test_wires_and_words_can_be_seen_on_either_page() -> None:
    assert contrast(LIGHT["wire"], LIGHT["page"]) >= 3
    assert contrast(LIGHT["soft"], LIGHT["frame"]) >= 4.5
    assert contrast(DARK_SOFT, DARK_PAGE) >= 4.5
