"""A candidate of a project: the text of all its editable files in one blob, and the difference between two of them."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from pathlib import Path

from kopt_kb.base.errors import BadInput

__all__ = ["CHECKED_OUT", "bundle", "bundle_of", "checked_out", "files_of", "unified_diff"]

CHECKED_OUT = "project"
"""Folder of a workspace with the best version's files beside its kernel."""


def bundle(files: Mapping[str, str]) -> bytes:
    """Return the one form of these files: path → text as canonical JSON."""
    return json.dumps({"files": dict(files)}, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def bundle_of(root: Path, paths: tuple[str, ...]) -> bytes:
    """Return the bundle of files on disk, newlines as they are."""
    return bundle({path: (root / path).read_bytes().decode("utf-8") for path in paths})


def files_of(data: bytes) -> dict[str, str]:
    """Return path → text of a bundle; raises `BadInput` when the bytes are none."""
    try:
        files = json.loads(data)["files"]
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput("is no bundle of project files", where="candidate", code="KB411") from error
    if not isinstance(files, dict) or not all(isinstance(one, str) for one in files.values()):
        raise BadInput("is no bundle of project files", where="candidate", code="KB411")
    return files


def checked_out(source: bytes, kernel_source: str) -> dict[str, bytes]:
    """Return path in a workspace → bytes of a bundle: kernel.py is the kernel source, the rest lies in a folder."""
    return {
        "kernel.py" if path == kernel_source else f"{CHECKED_OUT}/{path}": text.encode()
        for path, text in files_of(source).items()
    }


def unified_diff(old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """Return a patch from old to new files that `git apply` takes; it removes files of `old` that `new` lacks."""
    parts = []
    for path in sorted({*old, *new}):
        before, after = old.get(path), new.get(path)
        if before == after:
            continue
        head = [f"diff --git a/{path} b/{path}\n"]
        if before is None:
            head.append("new file mode 100644\n")
        elif after is None:
            head.append("deleted file mode 100644\n")
        names = ("/dev/null" if before is None else f"a/{path}", "/dev/null" if after is None else f"b/{path}")
        body = difflib.unified_diff(_lines(before or ""), _lines(after or ""), *names)
        parts.append("".join([*head, *(_ended(line) for line in body)]))
    return "".join(parts)


def _lines(text: str) -> list[str]:
    """Return the lines as git sees them: only a line feed ends one."""
    lines = text.split("\n")
    return [f"{one}\n" for one in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
