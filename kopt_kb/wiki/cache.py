"""The cache of compiled pages: content-keyed files in the user's cache folder, never trusted to be there."""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["cache_folder", "code_digest", "digest", "load", "store"]


def cache_folder() -> Path:
    """Return the folder: KOPT_CACHE, else XDG_CACHE_HOME/kopt-kb, else ~/.cache/kopt-kb."""
    named = os.environ.get("KOPT_CACHE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "kopt-kb"


@cache
def code_digest() -> bytes:
    """Return the hash of the code that compiles pages: a changed rule or unit makes every compiled page unusable."""
    package = Path(__file__).parent.parent
    total = hashlib.sha256()
    for file in sorted((*package.glob("wiki/**/*.py"), *package.glob("quantity/*.py"))):
        total.update(file.read_bytes())
    return total.digest()


def digest(*contents: bytes) -> str:
    """Return the cache key of these page contents under this code."""
    total = hashlib.sha256(code_digest())
    for content in contents:
        total.update(len(content).to_bytes(8, "big") + content)
    return total.hexdigest()


def load(key: str) -> Any | None:
    """Return what was stored under the key, or None if it is missing or unreadable."""
    try:
        return json.loads((cache_folder() / f"{key}.json").read_bytes())
    except (OSError, ValueError):
        return None


def store(key: str, value: object) -> None:
    """Store a JSON-able value; a folder that can't be written is no error: the next call parses again."""
    import tempfile

    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(value, file, ensure_ascii=False, separators=(",", ":"))
        Path(temporary).replace(folder / f"{key}.json")
    except OSError:
        return
