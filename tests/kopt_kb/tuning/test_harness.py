"""The hash of the measuring code changes with that code and with nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.tuning.harness import harness_hash


def test_the_hash_is_that_of_the_code_that_measures(
    tmp_path: Path, repo_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same here and in a copy; a changed byte of a measuring file changes it, another file does not."""
    before = harness_hash()
    assert len(before) == 64
    kernels, services = tmp_path / "kernels", tmp_path / "services"
    kernels.mkdir()
    services.mkdir()
    for name in ("timing.py", "verification.py"):
        (kernels / name).write_bytes((repo_root / "kernels" / name).read_bytes())
    for path in (repo_root / "kopt_kb" / "services").glob("candidate*.py"):
        (services / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr("kopt_kb.kernels.__path__", [str(kernels)])
    monkeypatch.setattr("kopt_kb.services.__path__", [str(services)])
    assert harness_hash() == before
    (services / "other.py").write_text("x = 1\n")
    assert harness_hash() == before
    (kernels / "timing.py").write_text("x = 1\n")
    assert harness_hash() != before
