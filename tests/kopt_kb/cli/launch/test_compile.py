"""`kb compile` for both vendors, with limits and occupancy of a platform."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("triton", reason="triton is not installed")
pytest.importorskip("torch", reason="torch is not installed")

from kopt_kb.cli.main import main

pytestmark = pytest.mark.triton


@pytest.mark.parametrize(
    ("where", "target"), [(["--platform", "H100_SXM"], "sm_90"), (["--target", "gfx942"], "gfx942")]
)
def test_compile(where: list[str], target: str, repo_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Registers, no spills, versions; occupancy where a platform is named."""
    words = ["compile", str(repo_root / "kernels/rms_norm.py"), "--shape", "1024x4096", "--dtype", "bf16", *where]
    assert main([*words, "--json"]) == 0
    (kernel,) = json.loads(capsys.readouterr().out)["kernels"]
    assert {"name", "target", "registers", "spills", "shared_bytes", "matrix_instructions", "versions"} <= set(kernel)
    assert (kernel["target"], kernel["spills"]) == (target, 0)
    assert (kernel["occupancy"] is not None) == ("--platform" in where)


def test_shared_memory_above_the_sourced_limit_is_refused(repo_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Triton compiles it silently; we name the limit's row."""
    words = [
        "compile",
        str(repo_root / "kernels/matmul.py"),
        "--shape",
        "4096x4096x4096",
        "--dtype",
        "bf16",
        "--platform",
        "RTX_4090",
    ]
    assert (
        main(
            [
                *words,
                "--config",
                "BLOCK_M=128",
                "--config",
                "BLOCK_N=256",
                "--config",
                "BLOCK_K=64",
                "--config",
                "num_stages=4",
            ]
        )
        == 1
    )
    assert "shared_memory_per_block" in capsys.readouterr().err


def test_bad_input(repo_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Target and platform have to fit, and one is needed."""
    file = str(repo_root / "kernels/rms_norm.py")
    base = ["compile", file, "--shape", "64x64", "--dtype", "bf16"]
    assert main(base) == 2
    assert main([*base, "--platform", "H100_SXM", "--target", "sm_80"]) == 2
    assert main([*base, "--target", "sm_1"]) == 2
    assert "sm_1" in capsys.readouterr().err
    assert main([*base, "--target", "sm_90", "--config", "HELD=True"]) == 2
    assert "no setting HELD; it has VARIANT" in capsys.readouterr().err
