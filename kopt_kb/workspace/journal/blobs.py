"""Blobs named by the sha256 of their bytes: written durably before the event that names them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.workspace.journal.disk import read_regular, replace_file

__all__ = ["BlobReader", "ObjectError", "ObjectStore"]

BlobReader = Callable[[str], bytes]
"""sha256 → bytes; `ObjectStore.get`."""
_NAME = re.compile(r"[0-9a-f]{64}")


class ObjectError(BadInput):
    """A blob is missing, damaged or can't be stored; `where` is its file."""

    code = "KB304"


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """The folder `objects/` of a workspace, one file a blob."""

    root: Path

    def put(self, data: bytes) -> str:
        """Store the bytes and return their sha256; the file is durable when this returns.

        Storing the same bytes twice writes once; a damaged file of that name is repaired.

        Raises:
            ObjectError: The folder can't be written; nothing is left behind.
        """
        sha = hashlib.sha256(data).hexdigest()
        path = self.root / sha
        try:
            found = read_regular(path)
            if found != data and not replace_file(path, data, expected=found, mode=0o444):
                raise ObjectError("changed while it was stored", where=str(path), fix="try again", code="KB112")
        except OSError as error:
            raise ObjectError(f"can't be stored: {error.strerror or error}", where=str(path), code="KB112") from error
        return sha

    def get(self, sha: str) -> bytes:
        """The bytes of this name, their hash verified.

        Raises:
            ObjectError: No blob has this name, or its bytes don't have this hash.
        """
        path = self.path(sha)
        try:
            data = read_regular(path)
        except OSError as error:
            raise ObjectError(f"can't be read: {error.strerror or error}", where=str(path), code="KB111") from error
        if data is None:
            raise ObjectError("the blob is missing", where=str(path), fix="restore objects/ from a backup or a commit")
        if hashlib.sha256(data).hexdigest() != sha:
            raise ObjectError(
                "the blob's bytes do not have the hash in its name",
                where=str(path),
                fix="restore it from a backup or a commit",
            )
        return data

    def has(self, sha: str) -> bool:
        """Whether a file of this name exists; its content is not read."""
        return self.path(sha).is_file()

    def path(self, sha: str) -> Path:
        """The file of a blob, whether it exists or not; ObjectError when `sha` is no sha256."""
        if not _NAME.fullmatch(sha):
            raise ObjectError(f"{sha[:80]!r} is not a sha256 in 64 lower-case hex digits", where=str(self.root))
        return self.root / sha

    def names(self) -> tuple[str, ...]:
        """All blobs, sorted; other files (of an interrupted write, say) are passed over."""
        if not self.root.is_dir():
            return ()
        return tuple(sorted(entry.name for entry in self.root.iterdir() if _NAME.fullmatch(entry.name)))
