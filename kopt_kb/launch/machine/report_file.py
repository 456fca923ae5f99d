"""Profiler reports as bytes: a file is its own bytes, a folder of files an archive; and back into files to read.

A folder becomes an uncompressed tar with sorted names and no owners or times: the same files give the same bytes.
Nothing of an archive is trusted: only regular files below the folder are written, within bytes and number.
"""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.project.bounded_read import read_bounded

__all__ = ["MOST_BYTES", "pack_report", "suffix_of", "unpack_report"]

MOST_BYTES = 16 << 20
_MOST_FILES = 500
_MAGIC = (257, b"ustar")


def pack_report(path: Path) -> bytes:
    """Return a report as bytes.

    Raises:
        FileNotFoundError: There is none.
        OSError: It is a link, holds one, is no regular file or folder of such, or is larger than 16 MiB in all.
    """
    if path.is_symlink() or not path.is_dir():
        return read_bounded(path, MOST_BYTES)
    made, left = io.BytesIO(), MOST_BYTES
    files = [Path(folder) / name for folder, _, names in os.walk(path) for name in names]
    if not files:
        raise FileNotFoundError(path)
    if len(files) > _MOST_FILES:
        raise OSError(f"has more than {_MOST_FILES} files")
    with tarfile.open(fileobj=made, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for file in sorted(files):
            data = read_bounded(file, left)
            left -= len(data)
            member = tarfile.TarInfo(file.relative_to(path).as_posix())
            member.size, member.mode = len(data), 0o644
            archive.addfile(member, io.BytesIO(data))
    return made.getvalue()


def unpack_report(data: bytes, folder: Path) -> Path:
    """Write a report into an empty folder and return the path that a reader takes: a file, or a folder of files.

    Raises:
        BadInput: An archive that is damaged or leads out of the folder.
    """
    if not _is_archive(data):
        path = folder / "report"
        path.write_bytes(data)
        return path
    root = folder / "report"
    root.mkdir()
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                place = (root / member.name).resolve()
                if not member.isfile() or root.resolve() not in place.parents:
                    raise BadInput(f"{member.name!r} is no file of the report", where="report", code="KB207")
                place.parent.mkdir(parents=True, exist_ok=True)
                content = archive.extractfile(member)
                place.write_bytes(content.read(MOST_BYTES) if content is not None else b"")
    except tarfile.TarError as error:
        raise BadInput(f"the archive of a report is damaged: {error}", where="report", code="KB207") from error
    return root


def suffix_of(data: bytes) -> str:
    """Return the end of a name that a report's bytes are kept under, by what they begin with."""
    if _is_archive(data):
        return ".tar"
    if data.startswith(b"NVR"):
        return ".ncu-rep"
    if data.startswith(b"SQLite format 3"):
        return ".db"
    if data.startswith(b"\x1f\x8b"):  # traces are often kept so
        return ".json.gz"
    return ".json" if data.lstrip()[:1] in {b"{", b"["} else ".csv"


def _is_archive(data: bytes) -> bool:
    at, magic = _MAGIC
    return data[at : at + len(magic)] == magic
