"""tileiras is found, asked what it has, and its refusals name a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import MissingTool
from kopt_kb.packs.cutile.compile import compiler


def test_none_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the extra."""
    monkeypatch.setattr(compiler, "_packaged", lambda: None)
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CUDA_HOME", raising=False)
    compiler.tileiras.cache_clear()
    try:
        with pytest.raises(MissingTool, match="tileiras is not installed") as raised:
            compiler.tileiras()
        assert "kopt-kb[cutile]" in str(raised.value.fix)
    finally:
        compiler.tileiras.cache_clear()


@pytest.mark.parametrize(
    ("said", "where", "what"),
    [
        ('loc("/home/gemm.py":7:4): error: tile too large\n', "/home/gemm.py:7", "tile too large"),
        ('loc(fused<x>["/home/gemm.py":9:1]): error: no\n', "/home/gemm.py:9", "refuses it: no"),
        ("error: something\n", "there", "something"),
        ("", "there", "without a word"),
    ],
)
def test_a_refusal_names_the_line(said: str, where: str, what: str) -> None:
    """Of the kernel where tileiras says none."""
    error = compiler._refused(said, "there")
    assert error.where == where
    assert what in error.what


def test_targets_are_asked_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that says what tileiras 13.4 says."""
    tool = tmp_path / "tileiras"
    tool.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo "Cuda compilation tools, release 13.4, V13.4.92" ||'
        ' printf "    =sm_80   -   SM 80\\n    =sm_90   -   SM 90\\n    =x86_64  - x\\n"\n'
    )
    tool.chmod(0o755)
    monkeypatch.setattr(compiler, "_packaged", lambda: str(tool))
    compiler.tileiras.cache_clear()
    try:
        found = compiler.tileiras()
    finally:
        compiler.tileiras.cache_clear()
    assert (found.version, found.release, found.targets) == ("13.4.92", (13, 4), ("sm_80", "sm_90"))
