"""cuTile Python: tile kernels compiled without a GPU, as ordinary code objects that a launch record holds."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["DIALECT", "is_tile_file"]

DIALECT = "tile"
"""Name of Tile IR among the dialects of a compilation."""

_IMPORTS = re.compile(
    r"^\s*(?:import\s+cuda\.tile\b|from\s+cuda\.tile\b|from\s+cuda\s+import\s+.*\btile\b)", re.MULTILINE
)


def is_tile_file(path: str) -> bool:
    """Return whether a Python file imports cuTile."""
    file = Path(path)
    return file.suffix == ".py" and file.is_file() and bool(_IMPORTS.search(file.read_text(errors="replace")))
