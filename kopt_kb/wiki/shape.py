"""Folders of another shape: per file, why it is none of the wiki's pages; nothing in them is guessed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.wiki.check import WikiReport
from kopt_kb.wiki.faults import Fault
from kopt_kb.wiki.page import read_page
from kopt_kb.wiki.sheet import MAX_BYTES

__all__ = ["describe_folder", "is_wiki"]

_MOST_FILES = 5000
_MOST_FAULTS = 3
_BINARY_SUFFIXES = {".pdf", ".xlsx", ".docx", ".sqlite", ".db", ".pkl", ".parquet", ".png", ".jpg", ".zip", ".gz"}
_TABLE_SUFFIXES = {".csv", ".json"}


def is_wiki(root: Path) -> bool:
    """Return whether a folder has the shape of the contract: product pages under `hardware/`."""
    return (root / "hardware").is_dir()


def _why(path: Path, name: str) -> list[Fault]:
    """Return why a file can't be read as a page, at most three reasons."""
    if path.suffix in _TABLE_SUFFIXES:
        return [Fault("WK404", name, 0, "a table is no page", f"`kb wiki diff {name}` compares a table with the wiki")]
    if path.suffix != ".md":
        kind = "a binary file" if path.suffix in _BINARY_SUFFIXES else f"a {path.suffix or 'nameless'} file"
        return [Fault("WK404", name, 0, f"{kind} is no page", "pages are Markdown files")]
    try:
        with path.open("rb") as file:
            page = read_page(file.read(MAX_BYTES + 1), name)
    except OSError as error:
        return [Fault("WK404", name, 0, f"the file can't be read: {error.strerror}")]
    if page.faults:
        left = len(page.faults) - _MOST_FAULTS
        more = [Fault("WK404", name, 0, f"{left} more faults on this page")] if left > 0 else []
        return [*page.faults[:_MOST_FAULTS], *more]
    return [Fault("WK404", name, 0, "a product page outside of hardware/", "move it to hardware/<vendor>/")]


def _files(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*")):
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(root).parts):
            yield path


def describe_folder(root: Path) -> WikiReport:
    """Return a report with a fault for every file of a folder that is no wiki.

    Raises:
        BadInput: There is no such folder, or it is empty.
    """
    if not root.is_dir():
        raise BadInput("no such folder", where=str(root), fix="name a folder", code="KB110")
    faults = [Fault("WK404", ".", 0, "this folder is no wiki: there is no hardware/", "pages: docs/wiki_pages.md")]
    count = 0
    for path in _files(root):
        count += 1
        if count <= _MOST_FILES:
            faults += _why(path, path.relative_to(root).as_posix())
    if count == 0:
        raise BadInput(
            "the folder is empty", where=str(root), fix="`kb wiki copy DIR` makes a wiki of your own", code="KB053"
        )
    if count > _MOST_FILES:
        faults.append(Fault("WK404", ".", 0, f"{count - _MOST_FILES} files more were not looked at"))
    return WikiReport(str(root), faults=tuple(faults))
