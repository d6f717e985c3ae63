"""What a caller hands to a run."""

from __future__ import annotations

from collections.abc import MutableMapping

import pytest

from interlock.context import RequestContext


def test_it_is_made_of_a_mapping_and_of_keywords() -> None:
    given = {"user": "ann", "tier": "gold"}
    request = RequestContext(given, tier="silver", values=1)
    assert dict(request) == {"user": "ann", "tier": "silver", "values": 1}
    assert given == {"user": "ann", "tier": "gold"}


def test_it_is_a_mapping_that_can_be_written() -> None:
    request = RequestContext()
    assert isinstance(request, MutableMapping)
    request["user"] = "ann"
    request.update(tier="gold")
    assert (request["user"], request.get("region", "eu"), "tier" in request, len(request)) == ("ann", "eu", True, 2)
    del request["user"]
    assert list(request) == ["tier"]
    with pytest.raises(KeyError):
        request["user"]


def test_its_repr_shows_keys_and_never_values() -> None:
    assert repr(RequestContext({"user": "ann@example.com"}, token="secret")) == "RequestContext(user, token)"


def test_a_change_of_what_it_was_made_of_does_not_reach_it() -> None:
    given: dict[str, object] = {"user": "ann"}
    request = RequestContext(given)
    given["user"] = "bob"
    assert request["user"] == "ann"
