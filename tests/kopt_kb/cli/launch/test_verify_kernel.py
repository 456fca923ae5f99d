"""`kb verify kernel` by replay: the same document as a child's, the level of trust said, CUDA C++ too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main

Capture = pytest.CaptureFixture[str]
WORDS = ["--shape", "64x512", "--dtype", "bf16"]


@pytest.fixture
def verify(repo_root: Path):
    """Runs the command on a file of the package."""

    def run(file: str, *more: str) -> int:
        return main(["verify", "kernel", str(repo_root / "kernels" / file), *WORDS, *more])

    return run


@pytest.mark.torch
@pytest.mark.triton
@pytest.mark.usefixtures("invented")
def test_a_replay_is_the_default_and_says_its_level(verify, capsys: Capture) -> None:
    """Text with the level; the document of a check, with what it rests on."""
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    assert verify("rms_norm.py") == 0
    said = capsys.readouterr().out
    assert "3 checks passed" in said
    assert "trust: replayed" in said
    assert verify("rms_norm.py", "--json", "--platform", "H200_SXM", "--seeds", "2") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["passed"], found["checks"], found["basis"]["trust"]) == (True, 2, "replayed")
    assert list(found["basis"]["records"]) == ["candidate 64x512"]


@pytest.mark.torch
@pytest.mark.triton
def test_a_wrong_result_and_cuda(verify, invented, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Exit 1 with the shape; the judge is told which inputs were asked for."""
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    pytest.importorskip("nvidia", reason="NVRTC is not installed")
    monkeypatch.setattr("kopt_kb.launch.judge.device.DeviceJudging", lambda **_: invented(["wrong"]))
    assert verify("cuda/rms_norm.cu", "--inputs", "random") == 1
    assert "64x512: wrong on these" in capsys.readouterr().out


@pytest.mark.usefixtures("invented")
def test_a_device_that_no_page_has(verify, invented, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Exit 2, with the way out."""
    monkeypatch.setattr("kopt_kb.launch.judge.device.DeviceJudging", lambda **_: invented(["nobody"]))
    assert verify("rms_norm.py") == 2
    assert "--platform" in capsys.readouterr().err


def test_cuda_without_a_gpu(verify, monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path) -> None:
    """A child runs Python files; where there is no replay, nothing checks it. A reference has to be known."""
    monkeypatch.setattr("kopt_kb.cli.tune.judge.why_no_replay", lambda _: "there is no NVIDIA driver")
    monkeypatch.setattr("kopt_kb.cli.launch.verify_kernel.why_no_replay", lambda _: "there is no NVIDIA driver")
    assert verify("cuda/rms_norm.cu") == 3
    assert "by replay alone (there is no NVIDIA driver)" in capsys.readouterr().err
    assert verify("cuda/rms_norm.cu", "--op", "grouped_gemm", "--shape", "8x8x8") == 2
    capsys.readouterr()
    path = tmp_path / "k.cu"
    path.write_text("__global__ void one() {}\n")
    assert main(["verify", "kernel", str(path), *WORDS]) == 2
    assert "--op" in capsys.readouterr().err
