"""The first line of a rendered file: which journal it was rendered from, and the hash of its body.

Markdown carries it as a comment, plain text after `#`, and JSON as the member `_view`, which stands
alone on the object's first line, so that the file stays JSON.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from kopt_kb.errors import BadInput
from kopt_kb.workspace.journal.chain import Head

__all__ = ["RenderedFile", "ViewError", "split_view", "with_header"]

_FRAMES = {
    ".md": ("<!-- kb:view seq={seq} zh={zh} sha256={sha} -->\n", ""),
    ".txt": ("# kb:view seq={seq} zh={zh} sha256={sha}\n", ""),
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


def _frame(name: str) -> tuple[str, str]:
    suffix = PurePosixPath(name).suffix
    if suffix not in _FRAMES:
        raise ViewError(f"no header is defined for {suffix or 'a file without suffix'}", where=name)
    return _FRAMES[suffix]
