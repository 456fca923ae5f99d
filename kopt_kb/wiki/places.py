"""Where the wiki stands, and a page of it that is to be read; light, for who asks for one table or names a page."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.wire import Wire

__all__ = ["RECORD", "PageToRead", "default_root", "installed_root", "packaged_root"]

RECORD = "SOURCES.md"
"""File of a wiki in which a reader of its documents keeps what every row rests on."""


def default_root() -> Path:
    """Return KOPT_GPU_WIKI, else the packaged wiki, else the checkout's folder."""
    named = os.environ.get("KOPT_GPU_WIKI")
    if named:
        return Path(named)
    return packaged_root()


def packaged_root() -> Path:
    """Return the wiki of the installed package, else the checkout's folder."""
    package = Path(__file__).resolve().parent.parent
    packaged = package / "gpuwiki"
    return packaged if packaged.is_dir() else package.parent / "gpuwiki"


def installed_root() -> Path | None:
    """Return the wiki inside the installed package, which nobody writes to; None in a checkout."""
    root = packaged_root()
    return root.resolve() if root.parent.name == "kopt_kb" else None


@dataclass(frozen=True, slots=True)
class PageToRead(Wire):
    """One page to read.

    Attributes:
        matches: Filters it names itself; a page for any value names none.
    """

    path: str
    title: str
    kind: str
    why: str
    versions: str
    matches: tuple[str, ...]
