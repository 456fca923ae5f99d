"""What a child was held by, as records of what it did say it; `cage.py` does the holding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kopt_kb.wire import Wire

__all__ = ["Isolation"]


@dataclass(frozen=True, slots=True)
class Isolation(Wire):
    """What a child was held by, and what could not be had → why."""

    held: tuple[str, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict)
