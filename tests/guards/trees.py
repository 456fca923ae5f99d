"""Syntax trees of the project's files, parsed once for all guards."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

__all__ = ["tree_of"]


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))
