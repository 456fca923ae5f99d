"""Kernels of the package by name, wherever it is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.kit.named_kernel import kernel_file, kernel_names
from kopt_kb.cli.main import main


def test_names() -> None:
    """Kernels, slow ones, and CUDA C++; nothing that has no launch."""
    assert {"rms_norm", "naive/softmax", "cuda/rms_norm", "matmul"} <= set(kernel_names())
    assert not {"timing", "declared", "__init__"} & set(kernel_names())


@pytest.mark.parametrize(
    ("word", "end"),
    [
        ("op:rms_norm", "kernels/rms_norm.py"),
        ("op:gemm", "kernels/matmul.py"),
        ("op:cuda/softmax", "cuda/softmax.cu"),
    ],
)
def test_a_name_is_a_file(word: str, end: str) -> None:
    """Aliases too; other words stay as they are."""
    assert kernel_file(word).endswith(end)
    assert Path(kernel_file(word)).is_file()
    assert kernel_file("op/rms_norm.py") == "op/rms_norm.py"


def test_a_name_that_is_none() -> None:
    """All there are, are listed; no path gets through."""
    for word in ("op:", "op:nothing", "op:../errors", "op:/etc/passwd"):
        with pytest.raises(BadInput, match="no kernel") as caught:
            kernel_file(word)
        assert "op:rms_norm" in caught.value.fix


def test_init_from_a_name(tmp_path: Path, wiki_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As the README has it; a wrong name is one line, exit 2."""
    words = ["init", "norm", "--platform", "T10", "--framework", "Triton", "--shape", "1024x512", "--dtype", "bf16"]
    words += ["--parent", str(tmp_path), "--wiki", str(wiki_root), "--kernel-demo"]
    assert main([*words, "op:nothing"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert main([*words, "op:rms_norm"]) == 0
    assert b"def launch(" in (tmp_path / "kernel_opt_norm" / "kernel.py").read_bytes()
