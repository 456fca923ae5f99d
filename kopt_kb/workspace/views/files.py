"""Rendered files: the header that says of which journal they are, compared with and written over what the disk holds.

The first line names the journal a file was rendered from and the hash of its body. Markdown carries it as a comment,
plain text after `#`, and JSON as the member `_view`, which stands alone on the object's first line, so that the file
stays JSON. What somebody edited is kept before it is rendered again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from kopt_kb.base.errors import BadInput
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.chain import Head
from kopt_kb.workspace.journal.disk import read_regular, replace_file
from kopt_kb.workspace.layout import refuse_links
from kopt_kb.workspace.views.blocks import BlockError, ViewBlock, parse_blocks, replace_blocks

__all__ = [
    "Difference",
    "RenderedFile",
    "ViewError",
    "Written",
    "block_difference",
    "carries_header",
    "file_difference",
    "first_difference",
    "read_file",
    "split_view",
    "with_header",
    "write_blocks",
    "write_file",
]

_FRAMES = {
    ".md": ("<!-- kb:view seq={seq} zh={zh} sha256={sha} -->\n", ""),
    ".txt": ("# kb:view seq={seq} zh={zh} sha256={sha}\n", ""),
    ".yaml": ("# kb:view seq={seq} zh={zh} sha256={sha}\n", ""),
    ".py": ("# kb:view seq={seq} zh={zh} sha256={sha}\n", ""),
    ".log": ("# kb:view seq={seq} zh={zh} sha256={sha}\n", ""),
    ".json": ('{{"_view": {{"seq": {seq}, "zh": "{zh}", "sha256": "{sha}"}},\n', "{\n"),
}
_FIELDS = re.compile(r"seq\W+(?P<seq>\d+)\W+zh\W+(?P<zh>[0-9a-f]{64})\W+sha256\W+(?P<sha>[0-9a-f]{64})\b")


class ViewError(BadInput):
    """A rendered file can't be read or written; `where` is the file."""

    code = "KB307"


@dataclass(frozen=True, slots=True)
class RenderedFile:
    """A rendered file taken apart.

    Attributes:
        head: The journal's end it was rendered from, as its header says.
        sha256: Hash of the body, as its header says.
        body: The text as the view gave it.
    """

    head: Head
    sha256: str
    body: bytes

    @property
    def intact(self) -> bool:
        """Whether the body is the one the header was written for."""
        return hashlib.sha256(self.body).hexdigest() == self.sha256


def with_header(name: str, text: str, head: Head) -> bytes:
    """The file's bytes: header line and text.

    Args:
        name: File name; its suffix selects the form of the header.
        text: The view's text; of JSON an object of at least one member, printed over several lines.
        head: End of the journal it was rendered from.

    Raises:
        ViewError: No header is defined for the suffix, or JSON text doesn't start with `{` and a newline.
    """
    form, opening = _frame(name)
    try:
        body = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ViewError("the text holds a lone surrogate", where=name) from error
    if not text.startswith(opening) or (opening and text[len(opening) :].lstrip().startswith("}")):
        raise ViewError("JSON views are objects with members, one a line", where=name)
    sha = hashlib.sha256(body).hexdigest()
    header = form.format(seq=head.seq, zh=head.zh, sha=sha)
    return header.encode("ascii") + body[len(opening) :]


def split_view(name: str, data: bytes) -> RenderedFile | None:
    """Header and body of a file, or None when its first line is no header of this form."""
    form, opening = _frame(name)
    first, newline, rest = data.partition(b"\n")
    line = (first + newline).decode("ascii", "replace")
    fields = _FIELDS.search(line)
    if not fields or form.format(**fields.groupdict()) != line:
        return None
    return RenderedFile(Head(int(fields["seq"]), fields["zh"]), fields["sha"], opening.encode("ascii") + rest)


def carries_header(name: str) -> bool:
    """Return whether files of this name's suffix carry a header."""
    return PurePosixPath(name).suffix in _FRAMES


def _frame(name: str) -> tuple[str, str]:
    suffix = PurePosixPath(name).suffix
    if suffix not in _FRAMES:
        raise ViewError(f"no header is defined for {suffix or 'a file without suffix'}", where=name)
    return _FRAMES[suffix]


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where two texts differ: byte offset from 0, line from 1, both lines."""

    offset: int
    line: int
    expected: str
    found: str

    def __str__(self) -> str:
        if self.expected == self.found:
            return f"byte {self.offset}: after {self.found!r} only one of this text and what the journal renders ends"
        return f"byte {self.offset}: {self.found!r} stands where the journal renders {self.expected!r}"


@dataclass(frozen=True, slots=True)
class Written:
    """What writing did: whether the file changed, and the blob that keeps an edit; empty when there was none."""

    changed: bool
    kept: str = ""


def first_difference(expected: bytes, found: bytes, first_line: int = 1) -> Difference | None:
    """Return where `found` leaves `expected`, or None; `first_line` is the line at which both begin in their file."""
    if expected == found:
        return None
    shorter = min(len(expected), len(found))
    offset = next((i for i in range(shorter) if expected[i] != found[i]), shorter)
    line = expected.count(b"\n", 0, offset) + first_line
    return Difference(offset, line, _line_at(expected, offset), _line_at(found, offset))


def _line_at(text: bytes, offset: int) -> str:
    start = text.rfind(b"\n", 0, offset) + 1
    end = text.find(b"\n", offset)
    return text[start : len(text) if end < 0 else end].decode("utf-8", "replace")


def read_file(root: Path, relative: str) -> RenderedFile | None:
    """Return the header and body of a rendered file; None when there is no file or it has no header.

    Raises:
        ViewError: It can't be read, or is no regular file.
    """
    disk = _read(root / relative)
    return None if disk is None else split_view(relative, disk)


def file_difference(root: Path, relative: str, text: str) -> Difference | None:
    """Return the first byte in which a file's body differs from its rendering; the header isn't trusted.

    The offset counts from the start of the body, the line from the start of the file; a missing file, or one without
    a header, differs at byte 0 and line 1.
    """
    disk = _read(root / relative)
    view = None if disk is None else split_view(relative, disk)
    if disk is None or view is None:
        return Difference(0, 1, text.partition("\n")[0], "")
    header_lines = disk.count(b"\n") - view.body.count(b"\n")
    return first_difference(text.encode("utf-8"), view.body, 1 + header_lines)


def block_difference(body: str, block: ViewBlock) -> Difference | None:
    """Return the first byte in which a block's body differs from its rendering; the line counts in the whole file."""
    expected = body.encode() if body.endswith("\n") else f"{body}\n".encode()
    return first_difference(expected, block.body, block.line + 1)


def write_file(root: Path, relative: str, text: str, head: Head, store: ObjectStore) -> Written:
    """Write one rendered file; what somebody made of it goes into the store first.

    Args:
        root: The workspace.
        relative: Path below it, with `/`.
        text: The new text without header.
        head: End of the journal the text was rendered from.
        store: Where the bytes of an edited file are kept.

    Returns:
        Unchanged where the disk has this text already: its header is left as it is.

    Raises:
        ViewError: The kind of file can't carry a header, reading or writing failed, or the file changed meanwhile.
    """
    path, data = root / relative, with_header(relative, text, head)
    disk = _read(path)
    old = None if disk is None else split_view(relative, disk)
    is_same = old is not None and old.body == text.encode("utf-8")
    if old is not None and is_same and old.intact:
        return Written(changed=False)
    is_edited = disk is not None and not (is_same or (old is not None and old.intact))
    kept = store.put(disk) if disk is not None and is_edited else ""
    _replace(root, path, disk, data)
    return Written(changed=True, kept=kept)


def write_blocks(path: Path, bodies: Mapping[str, str], store: ObjectStore) -> Written:
    """Write the rendered blocks of a file in one step; when one was edited the whole old file is kept first.

    Raises:
        BlockError: The file or a block is missing, it can't be read or written, or its markers are wrong.
    """
    try:
        old = read_regular(path)
    except OSError as error:
        raise BlockError(f"can't be read: {error.strerror or error}", where=str(path), code="KB111") from error
    if old is None:
        raise BlockError("the file is missing", where=str(path), fix="restore it from git", code="KB110")
    new = replace_blocks(old, bodies, str(path))
    if new == old:
        return Written(changed=False)
    blocks = [one for one in parse_blocks(old, str(path)) if one.name in bodies]
    is_edited = any(one.edited and block_difference(bodies[one.name], one) is not None for one in blocks)
    kept = store.put(old) if is_edited else ""
    try:
        if replace_file(path, new, expected=old):
            return Written(changed=True, kept=kept)
    except OSError as error:
        raise BlockError(f"can't be written: {error.strerror or error}", where=str(path), code="KB112") from error
    raise BlockError(
        "changed while it was rendered; nothing was written", where=str(path), fix="run it again", code="KB328"
    )


def _read(path: Path) -> bytes | None:
    try:
        return read_regular(path)
    except OSError as error:
        raise ViewError(f"can't be read: {error.strerror or error}", where=str(path), code="KB111") from error


def _replace(root: Path, path: Path, old: bytes | None, new: bytes) -> None:
    refuse_links(root, path.parent)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if replace_file(path, new, expected=old):
            return
    except OSError as error:
        raise ViewError(f"can't be written: {error.strerror or error}", where=str(path), code="KB112") from error
    raise ViewError(
        "changed while it was rendered; nothing was written", where=str(path), fix="run it again", code="KB328"
    )
