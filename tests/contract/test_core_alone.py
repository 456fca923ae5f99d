"""The core without packs: kopt_kb/packs is deleted from a copy, and what the core promises still works."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

_NO_EDITABLE = """import sys
sys.meta_path[:] = [one for one in sys.meta_path if not getattr(one, "__module__", "").startswith("__editable__")]
"""
"""An editable install would find the packs of the checkout, below the copy's own package."""

NORM = "--op rms_norm --shape 512x512 --dtype bf16"


@pytest.fixture(scope="module")
def core(repo_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what is installed, without packs/."""
    root = tmp_path_factory.mktemp("core")
    for folder in ("kopt_kb", "analysis", "kernels", "gpuwiki"):
        left_out = shutil.ignore_patterns(
            "__pycache__", *(["packs", "analysis", "kernels"] if folder == "kopt_kb" else [])
        )
        shutil.copytree(repo_root / folder, root / folder, ignore=left_out)
    for name in ("analysis", "kernels", "gpuwiki"):
        if name != "gpuwiki" or (repo_root / "kopt_kb" / name).exists():
            (root / "kopt_kb" / name).symlink_to(root / name)
    (root / "sitecustomize.py").write_text(_NO_EDITABLE)
    return root


@pytest.fixture(scope="module")
def kb(core: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """`kb` of the copy; a code other than the one expected fails with what it printed, and so does a traceback."""
    home = tmp_path_factory.mktemp("home")

    def run(words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        env = {
            **os.environ,
            "PYTHONPATH": str(core),
            "KOPT_CACHE": str(home / "cache"),
            "KOPT_TRUST": str(home / "trust"),
        }
        command = [sys.executable, "-P", "-m", "kopt_kb", *words.split()]
        done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=home, check=False)
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode == code, f"kb {words}: {done.returncode}\n{done.stdout[-500:]}\n{done.stderr[-2000:]}"
        return done

    return run


def test_no_pack_is_there(core: Path, kb: Run) -> None:
    """Each declared pack is absent, none is broken; its commands say which pack they need."""
    code = "from kopt_kb.doors.table import packs\nfound = packs()\nassert not found.usable, found.usable\n"
    code += "assert all(one.absent for one in found.faults) and len(found.faults) > 10, found.faults\n"
    env = {**os.environ, "PYTHONPATH": str(core)}
    subprocess.run([sys.executable, "-P", "-c", code], env=env, check=True)
    assert json.loads(kb("doctor --json", code=0).stdout)["packs"]
    for word in ("cutile", "memory", "route", "suite", "mcp", "export"):
        assert "needs the pack" in kb(f"{word} x", code=3 if word == "x" else 2).stderr


@pytest.mark.parametrize(
    "words",
    [
        "--help", "lookup H20 memory_bandwidth", "list", "compare H20 H100_SXM", f"roofline --platform H20 {NORM}",
        "occupancy --platform H100_SXM --threads 256 --registers 124 --shared 98304", "explain KB052", "search swizzle",
        "wiki conflicts", "completion bash",
    ],
)  # fmt: skip
def test_values_and_rooflines(words: str, kb: Run) -> None:
    """What needs no pack."""
    assert kb(words).stdout


def test_a_report_is_read(kb: Run, repo_root: Path) -> None:
    """With its verdict."""
    report = repo_root / "tests" / "data" / "zoo" / "memory.csv"
    assert json.loads(kb(f"profile read {report} --json").stdout)["kernels"]


def test_a_campaign_from_init_to_its_bundle(kb: Run, tmp_path: Path) -> None:
    """Init, a simulated campaign, render, audit, status, report, bundle, and the audit of the bundle."""
    root, bundle = tmp_path / "kernel_opt_w", tmp_path / "w.kbb"
    demo = "--framework Triton --kernel-demo op:naive/rms_norm"
    kb(f"init w --platform H20 {demo} {NORM} --parent {tmp_path}")
    kb(f"tune run {root} --simulate --yes --max-rounds 2")
    kb(f"render {root}")
    assert json.loads(kb(f"audit {root} --json").stdout)["clean"]
    kb(f"tune status {root}")
    kb(f"tune report {root}")
    kb(f"tune bundle {root} --output {bundle}")
    assert json.loads(kb(f"audit {bundle} --json").stdout)["clean"]


def test_a_recorded_campaign_of_packs_is_audited(kb: Run, repo_root: Path, tmp_path: Path) -> None:
    """Views that no installed pack renders are named in notes; nothing is found, nothing fails."""
    kept = shutil.copytree(repo_root / "benchmarks" / "campaigns" / "h200_sxm" / "gemm", tmp_path / "gemm")
    report = json.loads(kb(f"audit {kept} --json").stdout)
    assert report["clean"]
    assert any("pack" in one["message"] for one in report["notes"])
    kb(f"tune report {kept}")
    kb(f"bench utilization {kept}")


@pytest.mark.triton
@pytest.mark.torch
def test_kernels_are_compiled_counted_and_recorded(kb: Run, tmp_path: Path) -> None:
    """Triton needs no pack."""
    pytest.importorskip("triton")
    pytest.importorskip("torch")
    case = "op:rms_norm --shape 512x512 --dtype bf16"
    assert json.loads(kb(f"count {case} --json").stdout)["kernels"]
    assert json.loads(kb(f"compile {case} --platform H100_SXM --json").stdout)["kernels"]
    kb(f"record {case} --platform H100_SXM --out {tmp_path / 'norm.record'}")
    assert json.loads((tmp_path / "norm.record" / "record.json").read_text())
