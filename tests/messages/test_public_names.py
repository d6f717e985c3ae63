"""What the package offers by name."""

from __future__ import annotations

from importlib.util import find_spec

import interlock.messages as messages


def test_every_public_name_is_there_and_listed_once_in_order() -> None:
    assert messages.__all__ == sorted(set(messages.__all__))
    assert all(hasattr(messages, name) for name in messages.__all__)


def test_nothing_public_is_left_unlisted() -> None:
    found = {
        name
        for name, value in vars(messages).items()
        if not name.startswith("_") and getattr(value, "__module__", "").startswith("interlock.messages.")
    }
    assert found <= set(messages.__all__)


def test_no_public_name_is_that_of_a_module_which_would_take_its_place_once_imported() -> None:
    assert not [name for name in messages.__all__ if find_spec(f"interlock.messages.{name}") is not None]
