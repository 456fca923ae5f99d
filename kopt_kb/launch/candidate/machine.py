"""The machine that a measurement refers to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kopt_kb.base.wire import JsonMap, Wire

__all__ = ["HOST", "Environment"]

HOST = "host "
"""What the device of a machine without a GPU begins with."""


@dataclass(frozen=True, slots=True)
class Environment(Wire):
    """The machine as a child finds it: name of the device, its identity, driver, clocks, programs and versions."""

    device: str
    uuid: str | None
    driver: str | None
    clocks: JsonMap
    versions: Mapping[str, str]
