"""Reads the memory of a workspace: every attempt that is not masked, by events or by hand."""

from __future__ import annotations

import json
import re
import stat
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kopt_kb.base.errors import BadInput, FindingError
from kopt_kb.base.wire import JSON
from kopt_kb.packs.memory_form import codes
from kopt_kb.packs.memory_form.memory import document_of, iteration_of
from kopt_kb.packs.memory_form.memory_model import Iteration
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.layout import Layout
from kopt_kb.workspace.masks import hand_masked
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.views.files import split_view
from kopt_kb.workspace.workspace import Workspace

__all__ = [
    "FOLDER",
    "MaskedVersionError",
    "Memory",
    "field_of",
    "masked_versions",
    "memory_file",
    "parse_version",
    "read_memory",
    "set_masks",
    "stray_files",
]

FOLDER = "memory"
"""Folder below a workspace that holds one file a version."""

_VERSION = re.compile(r"v?(0|[1-9][0-9]{0,8})", re.ASCII)


class MaskedVersionError(FindingError):
    """The version is masked: it must not reach a reader."""

    code = codes.MASKED


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of a workspace as its readers may see it.

    Attributes:
        visible: Attempts that are not masked, in order.
        masked: Number → reason of the others.
        stray: Names in memory/ that are no version of this journal.
    """

    visible: tuple[Iteration, ...]
    masked: dict[int, str]
    stray: tuple[str, ...]

    @property
    def latest(self) -> Iteration:
        """The newest attempt that is not masked; BadInput when all are, as they can be before there is a baseline."""
        if not self.visible:
            raise BadInput("every version is masked", where="memory", fix="`kb memory unmask` one", code="KB321")
        return self.visible[-1]

    def get(self, number: int) -> Iteration:
        """Return one attempt's memory.

        Raises:
            MaskedVersionError: It is masked.
            BadInput: The journal has no such attempt.
        """
        if number in self.masked:
            raise MaskedVersionError(
                f"v{number} is masked: {self.masked[number]}",
                where=memory_file(number),
                fix="`kb memory unmask` it",
            )
        for one in self.visible:
            if one.number == number:
                return one
        known = ", ".join(one.version for one in self.visible)
        raise BadInput(f"there is no version v{number}", where="memory", fix=f"one of {known}", code="KB321")


def memory_file(version: int) -> str:
    """Return the path of a version's file below the workspace."""
    return f"{FOLDER}/v{version}.json"


def parse_version(text: str) -> int:
    """Return the number of `v3` or `3`; `v2junk`, `v02` and `v-1` are no versions."""
    match = _VERSION.fullmatch(text.strip())
    if not match:
        raise BadInput(f"{text!r} is no version", where="version", fix="write it like v3", code="KB321")
    return int(match[1])


def stray_files(layout: Layout, state: WorkspaceState) -> tuple[str, ...]:
    """Return the names in memory/ that are no version of this journal; they are left alone."""
    folder = layout.root / FOLDER
    if not folder.is_dir():
        return ()
    own = {f"v{number}.json" for number in state.attempts}
    return tuple(sorted(path.name for path in folder.iterdir() if path.name not in own))


def set_masks(root: Path, state: WorkspaceState) -> dict[int, str]:
    """Return version → file in which a person set `masked` to true.

    A file as kb wrote it masks nothing: what it says is what the journal said then.
    """
    files = {number: memory_file(number) for number in state.attempts}
    return {number: file for number, file in files.items() if _says_masked(root / file)}


def _says_masked(path: Path) -> bool:
    """Return whether an edited file sets masked to true; a file that did not change is read once."""
    try:
        status = path.lstat()
    except OSError:
        return False
    if not stat.S_ISREG(status.st_mode):
        return False
    return _masks(str(path), status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


@lru_cache(maxsize=1024)
def _masks(path: str, *_: int) -> bool:
    """Return whether an edit sets masked to true; a file that the edit broke elsewhere still may."""
    try:
        data = Path(path).read_bytes()
    except OSError:
        return False
    view = split_view(path, data)
    if view is not None and view.intact:
        return False
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return re.search(rb'"masked"\s*:\s*true\b', data) is not None
    return isinstance(document, dict) and document.get("masked") is True


def masked_versions(workspace: Workspace, state: WorkspaceState | None = None) -> dict[int, str]:
    """Return number → reason of every attempt no reader may see: by events or by hand."""
    state = workspace.state() if state is None else state
    return dict(sorted({**hand_masked(workspace.layout, state), **state.masked}.items()))


def read_memory(workspace: Workspace) -> Memory:
    """Return the memory of a workspace, rendered from its journal; the files are asked only for hand-set masks.

    Raises:
        JournalError: The journal is corrupt.
        ObjectError: A note's blob is missing or damaged.
    """
    state = workspace.state()
    masked = masked_versions(workspace, state)
    blob = ObjectStore(workspace.layout.objects).get
    seen = [one for one in state.attempts.values() if one.number not in masked]
    visible = tuple(iteration_of(state, attempt, blob) for attempt in seen)
    return Memory(visible, masked, stray_files(workspace.layout, state))


def field_of(iteration: Iteration, dotted: str) -> JSON:
    """Return one field, `performance.latency_us`, or all with an empty name; BadInput lists the names there are."""
    value = document_of(iteration)
    for at, name in enumerate(dotted.split(".") if dotted else [], 1):
        where = ".".join(dotted.split(".")[:at])
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isascii() and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            names = (
                ", ".join(value) if isinstance(value, dict) else f"{len(value) if isinstance(value, list) else 0} items"
            )
            raise BadInput("there is no such field", where=where, fix=f"there are {names}", code=codes.NO_FIELD)
    return value
