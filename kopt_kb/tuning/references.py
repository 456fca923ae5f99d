"""The reference project searched: its texts that speak of an operation or a limiter, the most telling first."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.wire import Wire
from kopt_kb.workspace.journal.disk import read_regular

__all__ = ["ReferenceText", "references_of"]

_SUFFIXES = frozenset({".py", ".cu", ".cuh", ".hip", ".cpp", ".h", ".hpp", ".md", ".rst", ".txt"})
_MOST_FILES = 4000
_MOST_BYTES = 400_000
_SHOWN = 8
_LINE_CHARS = 160
_SYNONYMS = {
    "gemm": ("matmul",), "rms_norm": ("rmsnorm",), "layer_norm": ("layernorm",), "cross_entropy": ("crossentropy",),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReferenceText(Wire):
    """A file that speaks of the work.

    Attributes:
        path: File.
        line: Its first line that does.
        text: That line.
        matches: Lines that do.
    """

    path: str
    line: int
    text: str
    matches: int


def references_of(project: str, words: Iterable[str]) -> tuple[ReferenceText, ...]:
    """Return the files of a project that hold a word most often; none where there is no such folder.

    Args:
        project: Folder, or a file.
        words: Operation and limiter; `_` and `-` stand for any separator or none.
    """
    root = Path(project) if project else None
    if root is None or not root.exists():
        return ()
    wanted = [other for word in words for other in (word, *_SYNONYMS.get(word, ()))]
    parts = ["[ _-]?".join(map(re.escape, re.split(r"[_-]", one))) for one in wanted if one]
    if not parts:
        return ()
    pattern = re.compile("|".join(parts), re.IGNORECASE)
    found = [one for path in _files(root) if (one := _searched(path, pattern)) is not None]
    return tuple(sorted(found, key=lambda one: (-one.matches, one.path))[:_SHOWN])


def _files(root: Path) -> Iterator[Path]:
    """Yield texts of a folder in the order of their names, at most so many; links and hidden folders are left out."""
    if root.is_file():
        yield root
        return
    seen = 0
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if not name.startswith(".") and name != "node_modules")
        for name in sorted(files):
            if Path(name).suffix in _SUFFIXES:
                seen += 1
                if seen > _MOST_FILES:
                    return
                yield Path(folder) / name


def _searched(path: Path, pattern: re.Pattern[str]) -> ReferenceText | None:
    try:
        if path.stat().st_size > _MOST_BYTES:
            return None
        data = read_regular(path)
    except OSError:
        return None
    lines = (data or b"").decode("utf-8", errors="replace").splitlines()
    hits = [number for number, line in enumerate(lines, 1) if pattern.search(line)]
    if not hits:
        return None
    text = "".join(char for char in lines[hits[0] - 1].strip()[:_LINE_CHARS] if char.isprintable())
    return ReferenceText(str(path), hits[0], text, len(hits))
