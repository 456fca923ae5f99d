"""Bytes added to files that no event renders: ours are a finding, a person's words are said to be that."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit.audit import audit
from kopt_kb.workspace.workspace import Workspace


@pytest.mark.parametrize("change", ["appended", "gone", "a link"])
def test_what_kb_wrote_is_named(change: str, workspace: Workspace, wiki_root: Path) -> None:
    """What a .gitignore hides, no commit of the workspace shows."""
    file = workspace.layout.gitignore
    if change == "appended":
        file.write_text(file.read_text() + "journal.jsonl\n")
    else:
        file.unlink()
    if change == "a link":
        file.symlink_to("/dev/zero")
    (finding,) = audit(workspace.layout.root, Registry.open(wiki_root)).findings
    assert (finding.code, finding.file) == ("captured", ".gitignore")
    assert ".git/info/exclude" in finding.fix


def test_a_persons_words_are_said_to_be_that(workspace: Workspace, wiki_root: Path) -> None:
    """The README's free text is theirs: a note, and the audit stays clean; broken markers are their own finding."""
    readme = workspace.layout.readme
    before = audit(workspace.layout.root, Registry.open(wiki_root))
    assert "own-words" not in {one.code for one in before.notes}
    text = readme.read_text()
    readme.write_text(text + "\nTry the wide tile first.\n")
    report = audit(workspace.layout.root, Registry.open(wiki_root))
    assert report.findings == ()
    assert [one.file for one in report.notes if one.code == "own-words"] == ["README.md"]
    readme.write_text(text.replace("<!-- kb:end", "<!-- kb:and", 1))
    codes = {one.code for one in audit(workspace.layout.root, Registry.open(wiki_root)).findings}
    assert codes == {"edited-block"}


def test_blocks_are_no_words_of_a_person(workspace: Workspace, wiki_root: Path) -> None:
    """An edit inside of one is the block's finding alone."""
    readme = workspace.layout.readme
    readme.write_text(readme.read_text().replace("platform: T10", "platform: T11", 1))
    report = audit(workspace.layout.root, Registry.open(wiki_root))
    assert {one.code for one in report.findings} == {"edited-block"}
    assert "own-words" not in {one.code for one in report.notes}
