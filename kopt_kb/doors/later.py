"""What is named now and imported when it is first used: functions, types, tables, objects."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from typing import Any

__all__ = ["Later", "later"]


class Later:
    """A function, type, table or object behind `module:name`; using it imports the module.

    A pack's table is read for its names alone, so whatever stands behind them must not be imported with it.

    Attributes:
        place: `module:name`.
    """

    def __init__(self, place: str) -> None:
        module, colon, name = place.partition(":")
        if not (module and colon and name):
            raise ValueError(f"{place!r} is not written module:name")
        self.place = place

    @cached_property
    def target(self) -> Any:
        """What stands there; raises `ImportError` or `AttributeError` where nothing does."""
        module, _, name = self.place.partition(":")
        return getattr(import_module(module), name)

    def __call__(self, *args: object, **options: object) -> Any:
        """Call it."""
        return self.target(*args, **options)

    def __iter__(self) -> Iterator[Any]:
        """Yield what a table that stands there holds."""
        return iter(self.target)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of an object that stands there."""
        if name in {"place", "target"} or name.startswith("__"):
            raise AttributeError(f"{type(self).__name__} has no {name}")
        return getattr(self.target, name)

    def __repr__(self) -> str:
        """Say where it stands."""
        return f"later({self.place!r})"


def later(place: str) -> Any:
    """Return what stands at `module:name`, imported when it is first used; typed as anything, a guard resolves each."""
    return Later(place)
