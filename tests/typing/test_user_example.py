"""The public library as a user writes it; mypy checks the types, pytest runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb import (
    Absent,
    AuditReport,
    DrawnPicture,
    Evaluation,
    KoptError,
    OnChip,
    Operation,
    Platform,
    Problem,
    Quantity,
    Registry,
    Roofline,
    RooflineInTime,
    SideBySide,
    StopConditions,
    SupposedRoofline,
    Task,
    Unknown,
    Work,
    Workspace,
    assess,
    audit,
    compare,
    fused,
    lookup,
    operations,
    peak,
    picture,
    roofline,
    stop_conditions,
    what_if,
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


def test_a_kernel_without_a_workspace(tmp_path: Path, wiki_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From names alone: peak, time, conditions, supposed values, fused work, side by side, a picture."""
    monkeypatch.setenv("KOPT_GPU_WIKI", str(wiki_root))
    dense: Quantity = peak("T10", "fp16")
    assert str(dense) == "102.4 TFLOPS" and dense.citations()[0].location.path == "hardware/nvidia/t10.md"
    norm: Work = work("rms_norm", "4096x4096", "fp16")
    judged: RooflineInTime = assess("45us", norm, "T10")
    met: bool | None = judged.met
    assert met is False and judged.possible
    conditions: StopConditions = stop_conditions(norm, "T10")
    evaluation: Evaluation = conditions.judge({"4096x4096": 36e-6})
    assert evaluation.all_met
    supposed: SupposedRoofline = what_if("T10", memory_bandwidth=2).roofline(norm)
    assert supposed.speedup == 2
    both: Work = fused([norm, work("gemm", "4096x4096x4096", "fp16")], [OnChip((4096, 4096), "fp16", 0, (1,))])
    assert roofline(both, "T10").bound == "compute"
    side: SideBySide = compare(["T10", "T10_PRO"], "memory_bandwidth")
    assert side.records()[0]["T10"] == 2e12
    named: tuple[Operation, ...] = operations()
    assert named[0].dimensions[0].name == "M"
    drawn: DrawnPicture = picture(judged)
    assert drawn.save(tmp_path / "norm.svg").is_file()
    assert lookup("T10", "memory_bandwidth").specs[0].value == "2.0"
