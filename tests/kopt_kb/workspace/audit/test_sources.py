"""Registered rows are read again, targets computed again, open fields named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit.audit import AuditReport, audit
from kopt_kb.workspace.journal.journal import Journal
from kopt_kb.workspace.journal.setup_events import Target
from kopt_kb.workspace.views.render import render_workspace
from kopt_kb.workspace.workspace import Workspace

CAPACITY = '| 48 | GB | - | vendor | [^sheet] memory row quote="48GB"'


def run(workspace: Workspace, root: Path) -> AuditReport:
    """Audit against the wiki as it is on disk now."""
    return audit(workspace.layout.root, Registry.open(root))


def codes(report: AuditReport) -> list[str]:
    """Codes of the findings, in order."""
    return [one.code for one in report.findings]


def edit(path: Path, old: str, new: str) -> None:
    """Replace text that must be there."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.mark.core
def test_a_moved_row_is_a_note(workspace: Workspace, wiki_root: Path, product: Path) -> None:
    """Unchanged content on another line: clean, with notes."""
    edit(product, "# Test 10\n", "# Test 10\n\nMore text.\n")
    report = run(workspace, wiki_root)
    assert report.clean
    assert {one.code for one in report.notes} == {"moved", "other-wiki"}


@pytest.mark.core
def test_value_and_quote_changed_together_are_reported(workspace: Workspace, wiki_root: Path, product: Path) -> None:
    """The new value loads; the workspace rests on the old one."""
    edit(product, CAPACITY, CAPACITY.replace("48", "64"))
    (finding,) = run(workspace, wiki_root).findings
    assert finding.code == "changed"
    assert "was 48 GB" in finding.message and "says 64 GB" in finding.message
    assert workspace.layout.readme.read_text().split("\n")[finding.line - 1].startswith("- memory_capacity: 48 GB")


@pytest.mark.core
def test_one_changed_digit_refuses_targets(workspace: Workspace, wiki_root: Path, product: Path) -> None:
    """The quote no longer converts: rows and targets are refused with the page's line."""
    edit(product, "| memory_bandwidth | 2.0 |", "| memory_bandwidth | 2.1 |")
    found = run(workspace, wiki_root).findings
    assert {one.code for one in found} == {"refused"}
    assert all("hardware/nvidia/t10.md" in one.message for one in found)


def test_a_deleted_row_is_missing(workspace: Workspace, wiki_root: Path, product: Path) -> None:
    """The citation has no row any more."""
    text = product.read_text()
    product.write_text("\n".join(line for line in text.split("\n") if not line.startswith("| l2_capacity")))
    assert codes(run(workspace, wiki_root)) == ["missing"]


def test_open_fields_are_found(workspace: Workspace, wiki_root: Path) -> None:
    """A leftover TBD in the notes."""
    edit(workspace.layout.readme, "Keep it simple.", "- best tile: TBD")
    assert codes(run(workspace, wiki_root)) == ["tbd"]


def set_again(workspace: Workspace, clock: Callable[[], datetime], targets: tuple[Target, ...]) -> None:
    """Appends targets that a person says are right, and renders."""
    state = workspace.state()
    assert state.targets is not None
    made = replace(state.targets, targets=targets, supersedes=state.targets_seq, by="ann", reason="easier")
    with Journal.open(workspace.layout.journal, clock=clock) as journal:
        journal.append("target_set", made)
    render_workspace(workspace)


@pytest.mark.core
def test_targets_are_computed_again_from_their_rows(
    workspace: Workspace, wiki_root: Path, clock: Callable[[], datetime]
) -> None:
    """0.9 of 2.0 TB/s is 1.8 TB/s, whoever says 1.2; each shape is named with both numbers."""
    state = workspace.state()
    assert state.targets is not None
    set_again(workspace, clock, tuple(replace(one, value="1.2") if one.shape else one for one in state.targets.targets))
    found = run(workspace, wiki_root).findings
    assert [one.code for one in found] == ["target", "target"]
    assert {one.message.partition(":")[0] for one in found} == {"8192x4096", "1024x512"}
    assert all("1.2" in one.message and "1.8" in one.message for one in found)
    assert all("the wiki's rows now give bandwidth 1.8 TB/s by memory_bandwidth" in one.message for one in found)


@pytest.mark.core
def test_a_shape_without_a_target_is_found(
    workspace: Workspace, wiki_root: Path, clock: Callable[[], datetime]
) -> None:
    """A target that was left out is not a target that is met."""
    state = workspace.state()
    assert state.targets is not None
    set_again(workspace, clock, tuple(one for one in state.targets.targets if one.shape != "1024x512"))
    (found,) = run(workspace, wiki_root).findings
    assert (found.code, found.message.partition(" ")[0]) == ("no-target", "1024x512")
