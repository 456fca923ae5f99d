"""The cache of compiled pages: content-keyed files in the user's cache folder, never trusted to be there, or whole.

A file is the sha256 of what follows, a line end, and one JSON document. That finds damage; what somebody else wrote is
found by whoever uses it.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import stat
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["cache_folder", "code_digest", "digest", "load", "store"]

_MOST_BYTES = 64 << 20
"""No compiled page is larger by far."""


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
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - each lookup is here
    total = hashlib.sha256()
    for file in sorted(_code(f"{package}/wiki") + _code(f"{package}/quantity")):
        with open(file, "rb", buffering=0) as stream:  # noqa: PTH123 - twice as fast as by pathlib
            total.update(stream.readall())
    return total.digest()


def _code(folder: str) -> list[str]:
    """Return the paths of the Python files below a folder."""
    with os.scandir(folder) as found:
        entries = list(found)
    below = [_code(one.path) for one in entries if one.is_dir() and not one.name.startswith("_")]
    return [one.path for one in entries if one.name.endswith(".py")] + list(itertools.chain(*below))


def digest(*contents: bytes) -> str:
    """Return the cache key of these page contents under this code."""
    total = hashlib.sha256(code_digest())
    for content in contents:
        total.update(len(content).to_bytes(8, "big") + content)
    return total.hexdigest()


def load(key: str) -> Any | None:
    """Return what was stored under the key, or None if it is missing, damaged, too large or no regular file."""
    try:
        with open(cache_folder() / f"{key}.json", "rb", opener=_regular) as file:
            seal, _, body = file.read(_MOST_BYTES).partition(b"\n")
        return json.loads(body) if seal.decode() == hashlib.sha256(body).hexdigest() else None
    except (OSError, ValueError, RecursionError):
        return None


def _regular(path: str, flags: int) -> int:
    """Open without following a link or waiting for a pipe."""
    opened = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise OSError("no regular file")
    return opened


def store(key: str, value: object) -> None:
    """Store a JSON-able value; a folder that can't be written is no error: the next call parses again."""
    folder = cache_folder()
    temporary = folder / f"{os.urandom(8).hex()}.tmp"  # tempfile would load shutil with five compressions
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
        temporary.replace(folder / f"{key}.json")
    except OSError:
        return
