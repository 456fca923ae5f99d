"""Kernel files and the files their imports name."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.tileir.files import classify_source

KERNEL = """import triton
import triton.language as tl
from .near import product

@triton.jit
def k(p, q, B: tl.constexpr):
    o = tl.arange(0, B)
    tl.store(q + o, product(tl.load(p + o)))
"""
NEAR = "import triton\nimport triton.language as tl\n\n@triton.jit\ndef product(x):\n    return tl.dot(x, x)\n"


def test_a_relative_import_is_followed(tmp_path: Path) -> None:
    """Without a package, and with folders whose names are no names."""
    folder = tmp_path / "v1.2" / "ops"
    folder.mkdir(parents=True)
    (folder / "main.py").write_text(KERNEL, encoding="utf-8")
    (folder / "near.py").write_text(NEAR, encoding="utf-8")
    (found,) = classify_source(str(folder / "main.py")).kernels
    assert found.classification == "dot-related"
    assert found.indicators[0].module.endswith("ops.near")
    (folder / "near.py").write_bytes(b"\xff")
    (found,) = classify_source(str(folder / "main.py")).kernels
    assert (found.classification, len(found.unresolved)) == ("element-wise", 1)


@pytest.mark.parametrize(
    ("text", "code"),
    [("def (", "KB116"), ("x = 1\n", "KB079"), ("(" * 5000, "KB116")],
)
def test_refusals(tmp_path: Path, text: str, code: str) -> None:
    file = tmp_path / "k.py"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        classify_source(str(file))
    assert caught.value.error_code == code


def test_a_kernel_that_is_not_there() -> None:
    with pytest.raises(BadInput, match="no kernel 'x'") as caught:
        classify_source("", KERNEL, "x")
    assert caught.value.error_code == "KB044"
    assert [one.kernel for one in classify_source("", KERNEL).kernels] == ["k"]
