"""Claims about what a project's command has around it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.launch.project.surroundings import cage_of, home_of, passed_on


def test_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compilers', drivers' and libraries' ones, not those that look like secrets; whatever is named by name."""
    for name in ("TRITON_CACHE_DIR", "HIPCC_FLAGS", "AWS_REGION", "NVIDIA_API_KEY", "GITHUB_TOKEN", "CUDA_TOKEN_PATH"):
        monkeypatch.setenv(name, "x")
    found = passed_on(["GITHUB_TOKEN"])
    assert {"TRITON_CACHE_DIR", "HIPCC_FLAGS", "GITHUB_TOKEN", "PATH"} <= found.keys()
    assert not {"AWS_REGION", "NVIDIA_API_KEY", "CUDA_TOKEN_PATH", "HOME"} & found.keys()


def test_folders(tmp_path: Path) -> None:
    """Home and temporary files lie beside the copy; the cage allows them, the CSV's folder and no other."""
    copy = tmp_path / "one" / "project"
    copy.mkdir(parents=True)
    assert home_of(copy) == {"HOME": str(tmp_path / "one/home"), "TMPDIR": str(tmp_path / "one/tmp")}
    cage = cage_of(copy, tmp_path / "held", tmp_path / "csv" / "results.csv", network=True)
    assert [one for one in cage.folders if not one.startswith("/dev/")] == [
        str(tmp_path / "one"),
        str(tmp_path / "csv"),
        "/proc",
    ]
    assert cage.network
