"""torch's compiler put off until something of it is used: fake tensors ask it for its settings alone.

Importing `torch._dynamo` takes longer than torch itself, and whoever makes fake tensors imports it. Here its settings
are loaded, and a module stands in its place that becomes the real one at the first other use.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec
from types import ModuleType
from typing import Any, TypeVar

__all__ = ["put_off_dynamo"]

T = TypeVar("T", bound=Callable[..., Any])
_NAME, _SETTINGS = "torch._dynamo", "torch._dynamo.config"


class _Later(ModuleType):
    """A package that is loaded when something of it is used."""

    __spec__: ModuleSpec

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__path__":
            raise AttributeError(name)
        self.__class__ = ModuleType  # type: ignore[assignment] # from here on it is the real one
        self.__path__ = self.__spec__.submodule_search_locations or []
        if self.__spec__.loader is not None:
            self.__spec__.loader.exec_module(self)
        return getattr(self, name)


def put_off_dynamo() -> None:
    """Put a stand-in for torch's compiler in place, where torch has one that nobody has imported yet."""
    if _NAME in sys.modules:
        return
    with suppress(ImportError):
        torch = import_module("torch")
        whole = PathFinder.find_spec(_NAME, torch.__path__)
        settings = None if whole is None else PathFinder.find_spec(_SETTINGS, whole.submodule_search_locations)
        if whole is None or settings is None or settings.loader is None:
            return
        later, config = _Later(_NAME), module_from_spec(settings)
        later.__spec__, later.__file__, later.__loader__ = whole, whole.origin, whole.loader
        later.__package__ = _NAME
        later.__dict__["disable"] = _as_it_is
        sys.modules |= {_NAME: later, _SETTINGS: config}
        try:
            settings.loader.exec_module(config)
        except Exception:  # noqa: BLE001 - settings that need the rest of it: it is imported as ever
            for name in (_NAME, _SETTINGS):
                sys.modules.pop(name, None)
            return
        later.__dict__["config"] = config
        torch.__dict__["_dynamo"] = later


def _as_it_is(function: T, *_: object, **__: object) -> T:
    """Return a function that the compiler is to leave alone: there is no compiler yet."""
    return function
