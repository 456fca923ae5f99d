"""What is neither a workspace nor a bundle: a log of another program, if it is a log."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.workspace.audit.bundled import is_bundle

__all__ = ["is_of_others"]


def is_of_others(path: Path) -> bool:
    """Return whether a path is there and is neither a workspace nor a bundle; a part of a workspace is one."""
    try:
        own = any((path / name).exists() for name in ("journal.jsonl", "objects"))
        is_journal = path.name == "journal.jsonl" and (path.parent / "objects").is_dir()
        bare = (path / "HEAD").is_file()
        return path.exists() and (bare or not (own or is_journal)) and not is_bundle(path)
    except (OSError, ValueError):
        return False
