"""Files that kb wrote when the workspace was made and that no event renders: whose text stands there now."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from kopt_kb.workspace.audit.findings import AuditFinding
from kopt_kb.workspace.journal.disk import read_regular
from kopt_kb.workspace.layout import Layout
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.views.blocks import BlockError, free_text

__all__ = ["written_findings"]


def written_findings(layout: Layout, state: WorkspaceState) -> Iterator[AuditFinding]:
    """Yield a finding for a .gitignore that is not kb's any more, a note for a README with words of somebody else.

    Journals of earlier releases do not say what was written.
    """
    wrote = state.created.written or {}
    if (sha := wrote.get(layout.gitignore.name)) is not None and _sha(_read(layout, layout.gitignore.name)) != sha:
        text = ".gitignore is not what kb wrote: what it hides is in no commit of this workspace"
        fix = "put it back as another workspace has it; patterns of your own belong into .git/info/exclude"
        yield AuditFinding("captured", layout.gitignore.name, 0, text, fix)
    if (sha := wrote.get(layout.readme.name)) is None:
        return
    try:
        said = free_text(_read(layout, layout.readme.name), layout.readme.name)
    except BlockError:
        return  # a finding of its own
    if _sha(said) != sha:
        text = "the text outside of the blocks is not what kb wrote: words of a person, which register no value"
        yield AuditFinding("own-words", layout.readme.name, 0, text, "read them as that")


def _read(layout: Layout, name: str) -> bytes:
    try:
        return read_regular(layout.root / name) or b""
    except OSError:
        return b""


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
