"""Profiler reports by name: files in profiles/ that are byte for byte the blobs which the journal names.

They carry no header, so that every reader of such reports takes them; what somebody edited is kept and written again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.disk import read_regular, replace_file
from kopt_kb.workspace.layout import refuse_links
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.views.files import ViewError, Written

__all__ = ["edited_reports", "named_reports", "write_raw", "write_reports"]

_FOLDER = "profiles"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,150}")


def named_reports(state: WorkspaceState) -> Mapping[str, str]:
    """Return path below the workspace → blob; of two reports of one name the later."""
    reports = (one for round_ in state.rounds for one in round_.profiles)
    return {f"{_FOLDER}/{one.name}": one.report for one in reports if _NAME.fullmatch(one.name)}


def write_reports(root: Path, state: WorkspaceState, store: ObjectStore) -> dict[str, Written]:
    """Write what differs from its blob; raises `ViewError` when the disk refuses, `ObjectError` for a lost blob."""
    return write_raw(root, {path: store.get(sha) for path, sha in named_reports(state).items()}, store)


def write_raw(root: Path, files: Mapping[str, bytes], store: ObjectStore) -> dict[str, Written]:
    """Write files that carry no header where they differ; what somebody edited is kept. Raises as `write_reports`."""
    done = {}
    for relative, data in files.items():
        path = root / relative
        try:
            disk = read_regular(path)
            if disk == data:
                done[relative] = Written(changed=False)
                continue
            kept = store.put(disk) if disk is not None else ""
            refuse_links(root, path.parent)
            path.parent.mkdir(parents=True, exist_ok=True)
            if not replace_file(path, data, expected=disk):
                raise ViewError("changed while it was written", where=str(path), fix="run kb render", code="KB112")
        except OSError as error:
            raise ViewError(f"can't be written: {error.strerror or error}", where=str(path), code="KB112") from error
        done[relative] = Written(changed=True, kept=kept)
    return done


def edited_reports(root: Path, state: WorkspaceState, store: ObjectStore) -> Iterator[tuple[str, str]]:
    """Yield path and fault of each report that is there and is not its blob; what is not there says nothing."""
    for relative, sha in named_reports(state).items():
        try:
            disk = read_regular(root / relative)
        except OSError as error:
            yield relative, f"can't be read: {error.strerror or error}"
            continue
        if disk is not None and store.has(sha) and disk != store.get(sha):
            yield relative, f"is not the report that the journal names (objects/{sha})"
