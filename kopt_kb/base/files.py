"""Files that a user named: read within bounds, written where nothing is; every refusal is one error with its cause."""

from __future__ import annotations

import errno
import io
import json
import os
import stat
from pathlib import Path
from typing import Any

from kopt_kb.base.errors import BadInput

__all__ = [
    "MAX_BYTES", "check_new", "open_input", "read_input", "read_json", "read_words", "refused", "write_new",
    "write_output",
]  # fmt: skip

MAX_BYTES = 64 << 20
"""What is read of a file unless the caller says less; more than any document here has."""


def refused(error: OSError | ValueError, path: str | Path) -> BadInput:
    """Return why the system does not give a file, as an error with its own cause.

    A path with a NUL byte is a ValueError for Python; all else is an OSError.
    """
    where = str(path)
    if isinstance(error, ValueError) or error.errno in {errno.ENAMETOOLONG, errno.ELOOP}:
        reason = getattr(error, "strerror", None) or str(error)
        return BadInput(f"is no path: {reason}", where=where[:200], fix="name another file", code="KB118")
    if error.errno in {errno.ENOENT, errno.ENOTDIR}:
        return BadInput("no such file", where=where, fix="check the path", code="KB110")
    return BadInput(f"can't be read: {error.strerror or error}", where=where, fix="name a readable file", code="KB111")


def open_input(path: str | Path) -> io.BufferedReader:
    """Return an open file; a pipe such as `<(command)` is one, a device without an end is not.

    Raises:
        BadInput: There is none, it is a folder or a device, or it can't be opened.
    """
    try:
        stream = Path(path).open("rb")  # noqa: SIM115 - the caller closes it
    except (OSError, ValueError) as error:
        raise refused(error, path) from error
    mode = os.fstat(stream.fileno()).st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        stream.close()
        raise BadInput("is a device, not a file", where=str(path), fix="name a file", code="KB111")
    return stream


def read_input(path: str | Path, most_bytes: int = MAX_BYTES) -> bytes:
    """Return the bytes of a file; raises like `open_input`, and when it holds more than `most_bytes`."""
    with open_input(path) as stream:
        try:
            data = stream.read(most_bytes + 1)
        except OSError as error:
            raise refused(error, path) from error
    if len(data) > most_bytes:
        raise BadInput(f"is larger than {most_bytes} bytes", where=str(path), fix="give a smaller one", code="KB114")
    return data


def read_words(path: str | Path, most_bytes: int = MAX_BYTES) -> str:
    """Return the text of a file; raises like `read_input`, and when it is not UTF-8."""
    try:
        return read_input(path, most_bytes).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"is not UTF-8 at byte {error.start}"
        raise BadInput(what, where=str(path), fix="save it as UTF-8", code="KB115") from error


def read_json(path: str | Path, most_bytes: int = MAX_BYTES) -> Any:
    """Return the document of a JSON file; raises like `read_words`, and when it is not JSON."""
    text = read_words(path, most_bytes)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"is not JSON: {error}", where=str(path), fix="give a JSON document", code="KB116") from error


def check_new(path: str | Path) -> None:
    """Refuse a name that no new file can have, before anything is computed for it.

    Raises:
        BadInput: Something is there already, or its folder is not.
    """
    if not str(path):
        raise BadInput("an empty file name", fix="name a new file", code="KB110")
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        folder = os.path.dirname(path) or "."  # noqa: PTH120 - a path that pathlib would tidy up is shown as it is
        if not os.path.isdir(folder):  # noqa: PTH112 - likewise
            raise BadInput("no such folder", where=folder, fix="make it, or name another", code="KB110") from None
    except (OSError, ValueError) as error:
        raise refused(error, path) from error
    else:
        raise _taken(path)


def write_new(path: str | Path, data: bytes) -> None:
    """Write a file that is not there yet; what can't be written whole is not left behind.

    Raises:
        BadInput: Something is there already, its folder is not, or the system refuses.
    """
    check_new(path)
    try:
        with Path(path).open("xb") as stream:
            try:
                stream.write(data)
                stream.flush()
            except OSError:
                os.unlink(path)  # noqa: PTH108 - the very name that was opened
                raise
    except FileExistsError as error:
        raise _taken(path) from error
    except OSError as error:
        what = f"can't be written: {error.strerror or error}"
        raise BadInput(
            what, where=str(path), fix="name a place with room that you may write to", code="KB112"
        ) from error


def _taken(path: str | Path) -> BadInput:
    what = "is a folder" if os.path.isdir(path) else "the file exists already"  # noqa: PTH112 - as above
    return BadInput(what, where=str(path), fix="name a new file; nothing is overwritten", code="KB113")


def write_output(path: str, text: str, *, force: bool) -> None:
    """Write a text file; raises `BadInput` when it exists and nobody forces it, or when it can't be written."""
    try:
        with Path(path).open("w" if force else "x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError as error:
        raise BadInput("exists", where=path, fix="give --force or another --output", code="KB113") from error
    except (OSError, ValueError) as error:
        what = f"can't be written: {getattr(error, 'strerror', None) or error}"
        raise BadInput(what, where=path[:200], fix="give another --output", code="KB112") from error
