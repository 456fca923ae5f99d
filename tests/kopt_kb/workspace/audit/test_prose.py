"""Authored texts: which files are read, and what registers a value there."""

from __future__ import annotations

from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit.prose import audit_prose
from kopt_kb.workspace.workspace import Workspace


def findings(workspace: Workspace, registry: Registry) -> list[tuple[str, str, int]]:
    """(code, file, line) of each."""
    found = audit_prose(workspace.layout, workspace.state(), registry.platform("T10"))
    return [(one.code, one.file, one.line) for one in found]


def test_all_authored_places_are_searched(workspace: Workspace, registry: Registry) -> None:
    """Plans, notes, memory, rounds, logs and reports beside the README."""
    root = workspace.layout.root
    (root / "rounds" / "round-1").mkdir()
    for name in (
        "baseline_report.md",
        "plans/v0_plan.md",
        "notes/found.md",
        "memory/v0.json",
        "rounds/round-1/summary.md",
        "logs/optimize.md",
    ):
        (root / name).write_text("fine\n\nsome 9.9 TB/s here\n")
    assert sorted(file for _, file, _ in findings(workspace, registry)) == [
        "baseline_report.md", "logs/optimize.md", "memory/v0.json", "notes/found.md", "plans/v0_plan.md",
        "rounds/round-1/summary.md",
    ]  # fmt: skip
    assert {line for _, _, line in findings(workspace, registry)} == {3}


def test_hedging_beside_a_hardware_number_is_found(workspace: Workspace, registry: Registry) -> None:
    """Also when the number itself is registered, and on a line with a citation."""
    note = workspace.layout.notes / "specs.md"
    note.write_text("The board has roughly 48 GB.\n\nIt has 48 GB.\n\nTiles should be square.\n")
    assert findings(workspace, registry) == [("hedged", "notes/specs.md", 1)]


def test_code_and_other_files_are_not(workspace: Workspace, registry: Registry) -> None:
    """kernel.py is code."""
    workspace.layout.kernel.write_text("# 9.9 TB/s\n")
    assert findings(workspace, registry) == []


def test_only_the_current_plan_registers(workspace: Workspace, registry: Registry) -> None:
    """What an older plan cited counts no more."""
    page = (registry.wiki.root / "hardware" / "nvidia" / "t10.md").read_text().split("\n")
    line = next(n for n, text in enumerate(page, 1) if "| 102.4 |" in text)
    key = "peak_compute[dtype=fp16;engine=matrix;sparsity=dense;acc=fp32;clock=boost]"
    old = workspace.layout.plans / "v1_plan.md"
    old.write_text(f"{key}: 102.4 TFLOPS <- <gpu-wiki>/hardware/nvidia/t10.md:L{line}\n102.4 TFLOPS\n")
    assert findings(workspace, registry) == []
    (workspace.layout.plans / "v10_plan.md").write_text("nothing\n")
    assert findings(workspace, registry) == [("unregistered", "plans/v1_plan.md", 2)]


def test_rates_measured_in_this_journal_may_stand_anywhere(workspace: Workspace, registry: Registry) -> None:
    """134,225,920 B in 100 us are 1.342 TB/s."""
    from kopt_kb.workspace.journal.round_events import Measured

    state = workspace.state()
    (workspace.layout.logs / "optimize.md").write_text("We reached 1.342 TB/s.\n")
    assert findings(workspace, registry) == [("unsourced", "logs/optimize.md", 1)]
    state.measured["m"] = Measured("m", "c", "8192x4096", 5, 1e-4, {}, "r", 1)
    assert list(audit_prose(workspace.layout, state, registry.platform("T10"))) == []
