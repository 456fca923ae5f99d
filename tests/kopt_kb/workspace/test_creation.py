"""A workspace appears complete or not at all, with everything its README promises."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput, UnknownData
from kopt_kb.problem.problem import Problem
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.layout import LayoutError
from kopt_kb.workspace.task import Task
from kopt_kb.workspace.views.readme import BLOCKS
from kopt_kb.workspace.workspace import Workspace


@pytest.mark.core
def test_all_parts_are_there(workspace: Workspace, demo: Path) -> None:
    """Kernel, README, journal, folders, a first commit of exactly these files."""
    root = workspace.layout.root
    assert root.name == "kernel_opt_norm"
    assert workspace.layout.kernel.read_bytes() == demo.read_bytes()
    assert all(folder.is_dir() for folder in workspace.layout.folders)
    assert [event.kind for event in workspace.events()] == ["workspace_created", "specs_registered", "target_set"]
    files = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout.split()
    assert files == [".gitignore", "README.md", "journal.jsonl", "kernel.py", "test_kernel.py"]
    assert ObjectStore(workspace.layout.objects).get(workspace.state().created.kernel) == demo.read_bytes()


@pytest.mark.core
def test_the_readme_has_the_seeds_sections_and_lines(workspace: Workspace) -> None:
    """Every section, the notes, the citation style, both target lines, the one that binds first, nothing TBD."""
    text = workspace.layout.readme.read_text()
    headings = [line[3:] for line in text.split("\n") if line.startswith("## ")]
    assert sorted(headings) == sorted([*BLOCKS.values(), "Additional Notes"])
    assert "Keep it simple." in text
    assert "memory_bandwidth: 2.0 TB/s <- <gpu-wiki>/hardware/nvidia/t10.md:L" in text
    assert "\nmemory-bound target >= 1.8 TB/s\nnot binding: compute-bound target >= 23.04 TFLOPS\n" in text
    assert "TBD" not in text


def test_an_existing_workspace_is_never_overwritten(
    workspace: Workspace, tmp_path: Path, task: Task, registry: Registry
) -> None:
    """The second creation fails and changes nothing."""
    before = workspace.layout.readme.read_bytes()
    with pytest.raises(LayoutError, match="never overwritten"):
        Workspace.create(tmp_path, "norm", task, registry)
    assert workspace.layout.readme.read_bytes() == before


@pytest.mark.core
def test_an_unknown_input_creates_nothing(tmp_path: Path, task: Task, registry: Registry) -> None:
    """bf16 matrix is UNKNOWN: the row is named, no folder appears."""
    gemm = replace(task, problem=Problem.of("gemm", ["512x512x512"], "bf16"))
    with pytest.raises(UnknownData, match="peak_compute"):
        Workspace.create(tmp_path, "gemm", gemm, registry)
    assert not list(tmp_path.glob("*gemm*"))


@pytest.mark.core
def test_an_allowed_unknown_is_written_as_such(tmp_path: Path, task: Task, registry: Registry) -> None:
    """UNKNOWN line, pitfall note, placeholder marked, no target that needs it."""
    key = "peak_compute[dtype=bf16;engine=matrix;sparsity=dense;acc=unstated;clock=unstated]"
    gemm = replace(
        task, problem=Problem.of("gemm", ["512x512x512"], "bf16"), allow_unknown=True, placeholders={key: "100 TFLOPS"}
    )
    made = Workspace.create(tmp_path, "gemm", gemm, registry)
    text = made.layout.readme.read_text()
    assert f"{key}: UNKNOWN (no source gives it) <- <gpu-wiki>/hardware/nvidia/t10.md:L" in text
    assert "PLACEHOLDER 100 TFLOPS" in text
    assert "compute-bound target: UNKNOWN (no source gives it)" in text and "not found" not in text
    assert "note_added" in [event.kind for event in made.events()]
    assert made.stop_conditions().conditions == ()


def test_a_missing_row_has_the_seeds_words(tmp_path: Path, task: Task, registry: Registry, product: Path) -> None:
    """`UNKNOWN (gpu-wiki not found)` is said of what the wiki has no row for, in the README and as a pitfall."""
    lines = product.read_text().splitlines(keepends=True)
    product.write_text("".join(one for one in lines if not one.startswith("| peak_compute | UNKNOWN")))
    gemm = replace(task, problem=Problem.of("gemm", ["512x512x512"], "bf16"), allow_unknown=True)
    made = Workspace.create(tmp_path, "gemm", gemm, registry)
    text = made.layout.readme.read_text()
    assert "]: UNKNOWN (gpu-wiki not found)\n" in text and "target: UNKNOWN (gpu-wiki not found)" in text
    assert "no source gives it" not in text


def test_a_wrong_architecture_is_refused(tmp_path: Path, task: Task, registry: Registry) -> None:
    """--arch must be the platform's."""
    with pytest.raises(BadInput, match="Testarch"):
        Workspace.create(tmp_path, "x", replace(task, arch="Hopper"), registry)
    assert Workspace.create(tmp_path, "y", replace(task, arch="testarch"), registry)
