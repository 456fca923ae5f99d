"""`kb init --problem`: a workspace of a problem outside the list, audited, simulated and carried further."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

from kopt_kb.cli.main import main
from kopt_kb.workspace.workspace import Workspace
from tests.kopt_kb.launch.problems.test_problem_toml import write

pytestmark = pytest.mark.torch

KERNEL = """import torch
import triton
import triton.language as tl


@triton.jit
def _sums(x, y, N: tl.constexpr):
    row = tl.program_id(0)
    tl.store(y + row, tl.sum(tl.load(x + row * N + tl.arange(0, N)).to(tl.float32), axis=0))


def row_sum(x):
    y = torch.empty(x.shape[0], dtype=x.dtype, device=x.device)
    _sums[(x.shape[0],)](x, y, N=x.shape[1])
    return y
"""


@pytest.fixture
def words(tmp_path: Path, wiki_root: Path) -> list[str]:
    """The command line of a workspace with a kernel."""
    (tmp_path / "k.py").write_text(KERNEL)
    return [
        "init", "sums", "--platform", "T10", "--framework", "Triton", "--problem", str(write(tmp_path)),
        "--kernel-demo", str(tmp_path / "k.py"), "--parent", str(tmp_path), "--wiki", str(wiki_root),
    ]  # fmt: skip


def test_the_whole_way_without_a_gpu(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Targets with their origin, a clean audit, a baseline in the simulator, and a clean audit again."""
    assert main(words) == 0
    folder = tmp_path / "kernel_opt_sums"
    readme = (folder / "README.md").read_text()
    assert "reference.py, made of problem.toml" in readme
    assert "declared in problem.toml: M * (N - 1) (N - 1 adds a row)" in readme
    assert "memory-bound target >=" in readme
    assert main(["audit", str(folder)]) == 0
    assert main(["tune", "run", str(folder), "--simulate", "--yes"]) == 0
    assert main(["audit", str(folder)]) == 0
    assert Workspace.open(folder).state().best is not None
    capsys.readouterr()
    out = str(tmp_path / "made")
    assert main(["record", words[9], "--problem", str(folder), "--target", "sm_90", "--out", out, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["op"], made["shape"], [one["name"] for one in made["inputs"]]) == ("row_sum", [4, 8], ["x"])


def test_the_audit_reads_the_reference(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A reference that was edited in objects/ is found: it is what judges."""
    assert main(words) == 0
    folder = tmp_path / "kernel_opt_sums"
    own = Workspace.open(folder).state().problem.own
    assert own is not None
    blob = folder / "objects" / own.reference
    blob.chmod(0o644)
    blob.write_bytes(blob.read_bytes() + b"\n")
    assert main(["audit", str(folder)]) == 1
    assert "workspace_created.problem.own.reference" in capsys.readouterr().out


def test_without_a_kernel_stage_1_starts_from_the_reference(words: list[str], tmp_path: Path) -> None:
    """With a framework; without one there are targets alone."""
    at = words.index("--kernel-demo")
    bare = words[:at] + words[at + 2 :]
    assert main(bare) == 0
    state = Workspace.open(tmp_path / "kernel_opt_sums").state()
    assert state.route == "pytorch"
    assert state.created.kernel == state.reference
    bare[1] = "targets"
    at = bare.index("--framework")
    assert main(bare[:at] + bare[at + 2 :]) == 0
    assert Workspace.open(tmp_path / "kernel_opt_targets").state().route == "roofline"


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--op", "gemm"], "--op and --problem"),
        (["--threshold", "1"], "--threshold and --problem"),
        (["--shape", "4x8x2"], "3 dimensions"),
        (["--dtype", "fp3"], "unknown dtype"),
    ],
)
def test_words_that_contradict(
    words: list[str], more: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, nothing created."""
    assert main([*words, *more]) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "kernel_opt_sums").exists()
