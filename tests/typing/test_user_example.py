"""The public library as a user writes it; mypy checks the types, pytest runs it."""

from __future__ import annotations

from pathlib import Path

from kopt_kb import (
    Absent,
    AuditReport,
    KoptError,
    Platform,
    Problem,
    Quantity,
    Registry,
    Roofline,
    StopConditions,
    Task,
    Unknown,
    Workspace,
    audit,
    roofline,
    work,
)


def bandwidth_of(platform: Platform) -> str:
    """Show a value whatever its state."""
    value: Quantity | Unknown | Absent = platform.get("memory_bandwidth")
    if isinstance(value, Quantity):
        return str(value.to("GB/s"))
    return value.reason


def test_user_example(tmp_path: Path, wiki_root: Path) -> None:
    """From a name to an audited workspace."""
    registry = Registry.open(wiki_root)
    platform = registry.platform("T10")
    assert bandwidth_of(platform) == "2000 GB/s"
    found: Roofline = roofline(work("softmax", (1024, 4096), "fp16"), platform)
    assert found.bound == "memory"
    kernel = tmp_path / "kernel.py"
    kernel.write_text("pass\n")
    task = Task("T10", "Triton", kernel, Problem.of("softmax", ["1024x4096"], "fp16"))
    workspace = Workspace.create(tmp_path, "softmax", task, registry)
    conditions: StopConditions = workspace.stop_conditions()
    assert conditions.conditions[0].target == ">= 1.8 TB/s"
    report: AuditReport = audit(workspace.layout.root, registry)
    assert report.clean
    try:
        registry.platform("T1")
    except KoptError as error:
        assert error.fix
