"""The door `Arguments`: options of the core's commands that only a pack serves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

__all__ = ["Arguments"]


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments that a pack adds to commands of the core.

    Attributes:
        commands: The words behind `kb`, such as `init` or `tune run`.
        add: Called with the parser of each.
        given: Called with what was given before the command runs; returns the arguments that it runs with. None where
            the pack reads its arguments behind another door.
    """

    commands: tuple[str, ...]
    add: Callable[[argparse.ArgumentParser], None]
    given: Callable[[argparse.Namespace], argparse.Namespace] | None = None
