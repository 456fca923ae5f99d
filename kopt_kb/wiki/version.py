"""Which state of the data a value is from: a hash over the pages with values, and the newest day a source was read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import KoptError
from kopt_kb.base.wire import Wire
from kopt_kb.wiki.places import default_root
from kopt_kb.wiki.wiki import Wiki

__all__ = ["NO_DATA", "DataVersion", "data_at", "data_version"]

_FOLDERS = ("hardware", "targets", "measured")
_READ = re.compile(rb'read="(\d{4}-\d\d-\d\d)"')


@dataclass(frozen=True, slots=True)
class DataVersion(Wire):
    """A state of the wiki.

    Attributes:
        version: First 12 hex digits of a hash over paths and bytes of all pages with values: equal data, equal version;
            empty without a wiki.
        date: Newest day on which a source of these pages was read, `YYYY-MM-DD`; empty when no page names one.
    """

    version: str
    date: str

    def __str__(self) -> str:
        return f"gpu-wiki {self.version} of {self.date}" if self.date else f"gpu-wiki {self.version}"


NO_DATA = DataVersion("", "")
"""No wiki was read."""


def data_version(wikis: Sequence[Wiki]) -> DataVersion:
    """Return the version of these wikis together; computed from the pages, so it is never stale."""
    if not wikis:
        return NO_DATA
    total = hashlib.sha256()
    newest = b""
    for wiki in wikis:
        for path in (page for folder in _FOLDERS for page in wiki.pages(folder)):
            content = wiki.read(path) or b""
            for part in (path.encode(), content):
                total.update(len(part).to_bytes(8, "big") + part)
            newest = max([newest, *_READ.findall(content)])
    return DataVersion(total.hexdigest()[:12], newest.decode())


def data_at(roots: Sequence[str | Path] = ()) -> DataVersion:
    """Return the version of the wikis in these folders, or of the one read by default; empty where there is none.

    It never fails: an error is printed with it too, and that error may be the missing wiki.
    """
    try:
        return data_version([Wiki(Path(root), use_cache=False) for root in roots or [default_root()]])
    except (KoptError, OSError):
        return NO_DATA
