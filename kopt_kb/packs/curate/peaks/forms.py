"""The forms of exports by name, and which of them a file is read back with."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.doors.export import Export
from kopt_kb.doors.table import behind
from kopt_kb.wiki.collect import Collection
from kopt_kb.wiki.foreign_row import ForeignRow

__all__ = ["forms", "read_binary", "read_text", "write"]


def forms() -> dict[str, Export]:
    """Return every form that is installed by its name; of two with one name the first."""
    found: dict[str, Export] = {}
    for _, form in behind("exports"):
        found.setdefault(form.name, form)
    return found


def read_text(text: str, where: str) -> list[ForeignRow] | None:
    """Return the rows of a text of one of the forms, None if it is none of them (CSV and JSON are `foreign`'s)."""
    for form in forms().values():
        if form.read is not None and form.recognises is not None and form.recognises(text):
            return list(form.read(text, where))
    return None


def read_binary(head: bytes, path: Path) -> list[ForeignRow] | None:
    """Return the rows of a binary form, None if the file's first bytes are of none."""
    loads = (form.load for form in forms().values() if form.magic and head.startswith(form.magic))
    load = next((one for one in loads if one is not None), None)
    return None if load is None else load(path)


def write(form: Export, found: Collection, output: Path) -> list[Path]:
    """Write an export to a file, or to a folder for forms of one file a product; whole files or none of them.

    Raises:
        BadInput: The place can't be written, or nothing can be expressed in this form.
    """
    if form.store is not None:
        store = form.store
        return [_replaced(output, lambda path: store(found, path))]
    files = form.render(found) if form.render else {}
    if not files:
        fix = "`kb export peaks --help` names the forms"
        raise BadInput("this form can't hold any of the products", where="kb export peaks", fix=fix, code="KB106")
    if not form.many:
        (text,) = files.values()
        return [_replaced(output, lambda path: path.write_text(text, encoding="utf-8"))]
    if strange := [name for name in files if Path(name).name != name]:
        what = f"the form {form.name} would write {strange[0]!r}, which is no file's name"
        raise BadInput(what, where="kb export peaks", fix="report it to whoever made the form", code="KB124")
    output.mkdir(parents=True, exist_ok=True)
    return [_replaced(output / name, _writer(text)) for name, text in files.items()]


def _writer(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text, encoding="utf-8")


def _replaced(path: Path, fill: Callable[[Path], object]) -> Path:
    """Fill a temporary file beside the path and put it in its place."""
    if path.exists() and not path.is_file():  # putting a file in its place would remove a device or a pipe
        what = "is a folder" if path.is_dir() else "is no regular file"
        raise BadInput(what, where=str(path), fix="name a file", code="KB111")
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    os.close(handle)
    try:
        fill(Path(name))
        Path(name).chmod(0o644)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)
    return path
