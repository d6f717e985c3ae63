"""From a name to a model."""

from __future__ import annotations

from typing import cast

import pytest

from interlock.errors import DefinitionError
from interlock.models import EchoModel, OpenAIChatModel, ScriptedModel, register_provider, resolve, resolve_model


@pytest.fixture
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    factories = cast("dict[str, resolve.ModelFactory]", vars(resolve)["_factories"])
    monkeypatch.setattr(resolve, "_factories", dict(factories))


def test_a_model_is_returned_as_the_same_object() -> None:
    model = ScriptedModel(["hello"])
    assert resolve_model(model) is model


def test_embedded_echo_is_known() -> None:
    assert isinstance(resolve_model("embedded/echo"), EchoModel)


def test_an_openai_model_keeps_the_slashes_of_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    model = resolve_model("openai/meta-llama/Llama-3.3-70B")
    assert isinstance(model, OpenAIChatModel)
    assert (model.provider, model.name) == ("openai", "meta-llama/Llama-3.3-70B")


def test_an_unknown_provider_is_refused_with_those_that_are_known(own_registry: None) -> None:
    register_provider("zed", lambda name: ScriptedModel([name]))
    with pytest.raises(DefinitionError, match=r"'opnai/gpt' .* Known providers: embedded, openai, zed$"):
        resolve_model("opnai/gpt")


def test_an_unknown_embedded_model_is_refused() -> None:
    with pytest.raises(DefinitionError, match="the embedded model is 'embedded/echo'"):
        resolve_model("embedded/ecko")


@pytest.mark.parametrize("name", ["gpt-5", "/gpt-5", "openai/", ""])
def test_a_name_without_provider_and_model_is_refused_with_an_example(name: str) -> None:
    with pytest.raises(DefinitionError, match="named 'provider/name', as in 'openai/gpt-5-mini'"):
        resolve_model(name)


def test_a_thing_that_is_no_model_is_refused() -> None:
    with pytest.raises(DefinitionError, match="a model is 'provider/name' or a LanguageModel; got int"):
        resolve_model(cast("str", 7))


def test_a_registered_provider_makes_its_models(own_registry: None) -> None:
    register_provider("zed", lambda name: ScriptedModel(["hello"], name=name, provider="zed"))
    assert resolve_model("zed/one/two").id == "zed/one/two"


def test_a_provider_may_be_replaced(own_registry: None) -> None:
    register_provider("openai", lambda name: ScriptedModel(["hello"], name=name))
    assert isinstance(resolve_model("openai/gpt-5"), ScriptedModel)


@pytest.mark.parametrize("name", ["", "a/b", "a b", " a"])
def test_a_provider_that_could_not_be_named_is_refused(own_registry: None, name: str) -> None:
    with pytest.raises(DefinitionError, match="one word without a slash"):
        register_provider(name, lambda name: ScriptedModel([name]))
