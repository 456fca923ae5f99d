"""Files to lint: what is named, and all texts below a folder; links are not followed, sizes are bounded."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import read_input

__all__ = ["MAX_BYTES", "MAX_FILES", "Skipped", "TextFile", "texts"]

MAX_BYTES = 1 << 20
"""Larger files are data and are skipped."""
_LARGE = f"larger than {MAX_BYTES} bytes"
MAX_FILES = 100_000
"""Folders with more files are refused."""
_FOLDERS = {
    "test", "tests", "testing", "testdata", "fixtures", "node_modules", "__pycache__", "venv", "site-packages", "build",
    "dist", "third_party", "3rdparty", "external",
}  # fmt: skip
"""Folders that are passed over: test data are invented, the rest is other people's or made."""
_SUFFIXES = {
    "", ".c", ".cc", ".cfg", ".cpp", ".cu", ".cuh", ".cxx", ".go", ".h", ".hip", ".hpp", ".inl", ".ini", ".ipynb",
    ".jinja", ".js", ".json", ".jsonl", ".md", ".mdc", ".mdx", ".py", ".pyi", ".rs", ".rst", ".sh", ".tex", ".toml",
    ".ts", ".tsx", ".txt", ".yaml", ".yml",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text and where it was read."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was not read, and why."""

    path: str
    reason: str


def texts(paths: Iterable[Path]) -> Iterator[TextFile | Skipped]:
    """Yield the texts of files and folders in order.

    A file that is named and is no text is refused, below a folder it is named as skipped; too large ones always are.

    Raises:
        BadInput: A path is not there, is no text, or a folder has too many files.
    """
    for path in paths:
        if path.is_dir():
            yield from _below(path)
        elif path.is_file() and path.stat().st_size > MAX_BYTES:
            yield Skipped(str(path), _LARGE)
        else:
            text = _decoded(read_input(path, MAX_BYTES))
            if text is None:
                raise BadInput("is no text", where=str(path), fix="name a text file or a folder", code="KB115")
            yield TextFile(str(path), text)


_CONTROLS = frozenset(range(32)) - frozenset(b"\a\b\t\n\v\f\r\x1b")
"""What no text has, as Git's and pre-commit's guesses go."""


def _decoded(data: bytes) -> str | None:
    """Return a text; None for bytes that are none.

    One in an older encoding is read byte by byte: names and numbers are ASCII in all of them.
    """
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        plain = len(data.translate(None, bytes(range(128, 256))))
        return data.decode("latin-1") if 2 * plain > len(data) and not _CONTROLS & set(data) else None


def _below(folder: Path) -> Iterator[TextFile | Skipped]:
    seen = 0
    for root, folders, files in os.walk(folder, followlinks=False):
        folders[:] = sorted(
            folder for folder in folders if not folder.startswith(".") or folder in {".claude", ".github", ".cursor"}
        )
        folders[:] = [one for one in folders if one not in _FOLDERS and not (Path(root) / one).is_symlink()]
        for name in sorted(files):
            path = Path(root) / name
            seen += 1
            if seen > MAX_FILES:
                raise BadInput(
                    f"more than {MAX_FILES} files", where=str(folder), fix="name fewer folders", code="KB114"
                )
            if path.suffix.lower() in _SUFFIXES and path.is_file() and not path.is_symlink():
                yield _one(path)


def _one(path: Path) -> TextFile | Skipped:
    try:
        if path.stat().st_size > MAX_BYTES:
            return Skipped(str(path), _LARGE)
        text = _decoded(path.read_bytes())
    except OSError as error:
        return Skipped(str(path), error.strerror or "can't be read")
    return Skipped(str(path), "no text") if text is None else TextFile(str(path), text)
