"""From ``"provider/name"`` to a model."""

from __future__ import annotations

from collections.abc import Callable

from interlock.errors import DefinitionError
from interlock.models.base import LanguageModel

__all__ = ["ModelFactory", "register_provider", "resolve_model"]

ModelFactory = Callable[[str], LanguageModel]
"""Makes the model of a name."""


def resolve_model(model: str | LanguageModel) -> LanguageModel:
    """The model that is meant.

    Args:
        model: ``"provider/name"``, as in ``"embedded/echo"``; the name may hold slashes of its own. A model object is
            returned as it is.

    Raises:
        DefinitionError: No such provider or model; says which are known.

    Example:
        >>> resolve_model("embedded/echo")
        <EchoModel embedded/echo>
    """
    if isinstance(model, LanguageModel):
        return model
    provider, slash, name = _text(model).partition("/")
    if not (provider and slash and name):
        raise DefinitionError(
            f"a model is named 'provider/name', as in 'openai/gpt-5-mini'; got {model!r}. {_known_providers()}"
        )
    factory = _factories.get(provider)
    if factory is None:
        raise DefinitionError(f"{model!r} names no known provider. {_known_providers()}")
    return factory(name)


def register_provider(name: str, factory: ModelFactory) -> None:
    """Let :func:`resolve_model` know a provider. A name that is known already is given to the new one.

    Args:
        name: What stands before the slash; without white space or a slash.
        factory: Given what stands behind the slash, it makes the model.

    Raises:
        DefinitionError: The name is empty, or holds white space or a slash.

    Example:
        >>> from interlock.models import ScriptedModel
        >>> register_provider("greeter", lambda name: ScriptedModel([f"I am {name}."], name=name, provider="greeter"))
        >>> resolve_model("greeter/ann").id
        'greeter/ann'
    """
    if not name or "/" in name or name.split() != [name]:
        raise DefinitionError(f"a provider's name is one word without a slash; got {name!r}")
    _factories[name] = factory


def _text(model: object) -> str:
    if not isinstance(model, str):
        raise DefinitionError(
            f"a model is 'provider/name' or a LanguageModel; got {type(model).__name__}. {_known_providers()}"
        )
    return model


def _known_providers() -> str:
    return f"Known providers: {', '.join(sorted(_factories))}"


def _embedded(name: str) -> LanguageModel:
    from interlock.models.echo import EchoModel

    if name != EchoModel.name:
        raise DefinitionError(f"there is no model 'embedded/{name}'; the embedded model is 'embedded/echo'")
    return EchoModel()


def _openai(name: str) -> LanguageModel:
    from interlock.models.openai_chat import OpenAIChatModel

    return OpenAIChatModel(name)


_factories: dict[str, ModelFactory] = {"embedded": _embedded, "openai": _openai}  # imported when first asked for
