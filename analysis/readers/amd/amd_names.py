"""Kernel names without the marks that AMD's tools append."""

from __future__ import annotations

import re

__all__ = ["plain_name"]

_MARK = re.compile(r"\s*(?:\[clone \.kd\]|\(\.kd\)|\.kd)\s*$")


def plain_name(name: str) -> str:
    """Return the name without ` [clone .kd]`, ` (.kd)` or `.kd` at its end."""
    return _MARK.sub("", name)
