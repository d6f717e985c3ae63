"""Names that are imported when they are first asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import interlock.models
import interlock.processors
import interlock.runtime
from interlock.lazy import lazily


@pytest.mark.parametrize("package", [interlock.models, interlock.processors])
def test_every_public_name_is_there(package: object) -> None:
    for name in getattr(package, "__all__"):  # noqa: B009 - of any package
        assert getattr(package, name) is not None


def test_a_name_is_imported_once_and_then_stands_in_the_package() -> None:
    code = (
        "import sys, interlock.processors as p; before = 'PIIDetector' in vars(p); p.PIIDetector; "
        "assert not before and 'PIIDetector' in vars(p)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_name_is_an_attribute_error_that_names_the_package() -> None:
    with pytest.raises(AttributeError, match=r"'some\.package' has no attribute 'nothing'"):
        lazily("some.package", {})("nothing")


def test_names_that_are_imported_later_are_listed_all_the_same() -> None:
    assert set(interlock.__all__) <= set(dir(interlock))
    assert interlock.runtime.Agent is interlock.Agent
