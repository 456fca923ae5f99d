"""A kernel stands alone: with what it names, and nothing else of its program."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.tables.kernel_source import standalone
from tests.packs.tables.conftest import KERNEL, MOE


def test_a_kernel_is_taken_with_what_it_names(engine: Path) -> None:
    """Lines of its own file keep their numbers; helpers of another file come first."""
    text = standalone(engine / MOE / "fused_moe.py", "fused_moe_kernel", engine)
    names = {node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    assert names == {"scaled", "shifted", "fused_moe_kernel"}
    assert "LIMIT = tl.constexpr(4)" in text and "logger" not in text
    own = text[text.index("\n\n\n") :]
    assert own.count("\n") >= KERNEL.count("\n") - 12


def test_a_helper_is_taken_once(tmp_path: Path) -> None:
    """However often it is named, and however it names itself."""
    file = tmp_path / "a.py"
    file.write_text(
        "import triton\nimport triton.language as tl\n@triton.jit\ndef f(x):\n    return x\n"
        "@triton.jit\ndef k(p):\n    q = f(f(tl.load(p)))\n    for i in range(3):\n        tl.store(p + i, q)\n"
    )
    assert standalone(file, "k", tmp_path).count("def f(") == 1


@pytest.mark.parametrize(
    ("text", "kernel", "says"),
    [
        ("def (", "k", "no valid Python"),
        ("import triton\n", "k", "names k, which the file does not define"),
        ("import triton\n@triton.jit\ndef k(p):\n    lost(p)\n", "k", "names lost"),
        ("import triton\nfrom .gone import lost\n@triton.jit\ndef k(p):\n    lost(p)\n", "k", "imported from gone"),
        ("import triton\nfrom .b import g as lost\n@triton.jit\ndef k(p):\n    lost(p)\n", "k", "imported from b"),
    ],
)
def test_what_stands_in_no_file_is_named(tmp_path: Path, text: str, kernel: str, says: str) -> None:
    """Nothing is made up for it."""
    (tmp_path / "a.py").write_text(text)
    (tmp_path / "b.py").write_text("def g(): pass\n")
    with pytest.raises(BadInput) as caught:
        standalone(tmp_path / "a.py", kernel, tmp_path)
    assert says.replace("no valid", "not valid") in caught.value.what
