"""Which files a request is about: what a maker's child is shown of a user's own."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from kopt_kb.launch.record.request import CallRequest, MakerRequest, OpRequest
from kopt_kb.sandbox.shown import files_of

__all__ = ["read_by"]


def read_by(request: MakerRequest) -> tuple[str, ...]:
    """Return the files and folders of a request: those that it names, and what stands beside them."""
    what = request.what
    if isinstance(what, OpRequest):
        return tuple(place for one in (what.file, what.problem) if one for place in files_of(Path(one)))
    if isinstance(what, CallRequest):
        return _beside(Path(what.call.rpartition(":")[0]))
    named = (Path(what.folder, word) for word in what.words)
    return (*files_of(Path(what.folder, "program")), *(place for one in named for place in _beside(one)))


def _beside(file: Path) -> tuple[str, ...]:
    with suppress(OSError, ValueError):  # the call names a module
        if file.is_file():
            return files_of(file)
    return ()
