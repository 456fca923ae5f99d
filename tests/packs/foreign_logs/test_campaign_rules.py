"""Campaigns of others by the rules of their own kind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from kopt_kb.packs.foreign_logs.audit import audit_foreign
from kopt_kb.packs.foreign_logs.campaign_rules import MANIFEST_KEYS
from kopt_kb.wiki.registry import Registry

SUMMARY = (
    "# Round {0}\nspeedup = 1.{0}x, all 4/4 shapes pass allclose\n\n## Real-training transfer check\n- Decision: ok\n"
)
MANIFEST = "".join(f"{key}: x\n" for key in MANIFEST_KEYS if key != "created") + "created: 2026-05-21 10:11\n"
WHOLE = {
    "manifest.yaml": MANIFEST,
    "rounds/round-1/summary.md": SUMMARY.format(1), "rounds/round-1/kernel_snapshot/k.py": "x = 1\n",
    "rounds/round-1/artifacts/benchmark.csv": "label,ratio\na,1.0\nb,1.0\n",
    "rounds/round-2/summary.md": SUMMARY.format(2), "rounds/round-2/kernel_snapshot/k.py": "x = 2\n",
    "rounds/round-2/artifacts/benchmark.csv": "label,ratio\na,1.1\nb,1.1\n",
    "logs/performance_trend.md": "| Round | TFLOPS |\n|---|---|\n| 1 | 10 |\n| R2 | 12 |\n",
    "logs/optimize.md": "## Final Report\n### Real-training applicability audit\nspeedup 1.2x\n",
}  # fmt: skip


def _written(root: Path, files: dict[str, str]) -> Path:
    folder = root / "gemm_fp8_triton_gfx942_20260521"
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def _said(root: Path, wiki_root: Path) -> list[str]:
    report = audit_foreign(root, Registry.open(wiki_root), rules=True)
    return [one.message for one in report.findings if one.code == "rule"]


def test_a_whole_campaign_breaks_no_rule(tmp_path: Path, wiki_root: Path) -> None:
    """And without being asked nobody looks."""
    root = _written(tmp_path, WHOLE)
    assert _said(root, wiki_root) == []
    assert audit_foreign(root, Registry.open(wiki_root)).campaigns is None


@pytest.mark.parametrize(
    ("gone", "text", "said"),
    [
        ("manifest.yaml", None, "no manifest.yaml"),
        ("manifest.yaml", MANIFEST.replace("git_branch: x\n", ""), "the manifest lacks git_branch"),
        ("manifest.yaml", MANIFEST.replace(" 10:11", ""), "not to the minute"),
        ("manifest.yaml", MANIFEST.replace("max_iterations: x", "max_iterations: 120"), "not below 120"),
        ("rounds/round-2/summary.md", None, "1 of 2 rounds have no summary: 2"),
        ("rounds/round-2/kernel_snapshot/k.py", None, "1 of 2 rounds have no kernel snapshot: 2"),
        ("logs/performance_trend.md", "| 1 | 10 |\n", "1 of 2 rounds have no row in performance_trend.md: 2"),
        ("rounds/round-2/summary.md", "# Round 2\nspeedup = 1.2x\n", "no Real-training transfer check"),
        ("logs/optimize.md", "speedup 1.2x\n", "no Real-training applicability audit"),
        ("rounds/round-2/artifacts/benchmark.csv", "label,ratio\na,1.1\n", "different numbers of shapes"),
    ],
)
def test_each_rule(tmp_path: Path, wiki_root: Path, gone: str, text: str | None, said: str) -> None:
    """One thing less, one finding more."""
    files = {name: body for name, body in WHOLE.items() if name != gone} | ({gone: text} if text is not None else {})
    found = _said(_written(tmp_path, files), wiki_root)
    assert len(found) == 1
    assert said in found[0]


def test_what_is_imported_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rounds, snapshots and broken rules; no number is more than what the log says."""
    root = _written(tmp_path / "log", WHOLE)
    out = tmp_path / "imported"
    assert main(["audit", str(root), "--import-to", str(out)]) in {0, 1}
    (document,) = out.glob("*.json")
    found = json.loads(document.read_text())
    assert {one["trust"] for one in found["rounds"]} == {"reported"}
    assert found["snapshots"] == ["rounds/round-1/kernel_snapshot/k.py", "rounds/round-2/kernel_snapshot/k.py"]
    assert "none was measured here" in document.with_suffix(".md").read_text()
    assert main(["audit", str(root), "--import-to", str(out)]) == 2
    assert "can't be a new folder" in capsys.readouterr().err
