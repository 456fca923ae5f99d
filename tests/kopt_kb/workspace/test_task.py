"""The kernel demo is read and its operation found without running it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.workspace.task import declared_op, read_demo


@pytest.mark.parametrize(
    ("source", "op"), [(b'OP = "softmax"\n', "softmax"), (b'OP: str = "gemm"\n', "gemm"), (b"x = 1\n", None)]
)
def test_a_literal_op_is_found(source: bytes, op: str | None) -> None:
    """Plain and annotated assignments count, anything else does not."""
    assert declared_op(source, Path("k.py")) == op


def test_code_is_not_run(tmp_path: Path) -> None:
    """A file that would fail when imported is read all the same."""
    assert declared_op(b'raise SystemExit\nOP = "gemm"\n', tmp_path / "k.py") == "gemm"


def test_invalid_python_is_named_with_its_line() -> None:
    """file:line of the syntax error."""
    with pytest.raises(BadInput, match=r"k\.py:2"):
        declared_op(b"x = 1\ny = (\n", Path("k.py"))


@pytest.mark.parametrize("content", [b"", b" \n", b"x" * (1 << 21)])
def test_empty_and_huge_demos_are_refused(tmp_path: Path, content: bytes) -> None:
    """They are no kernels."""
    (tmp_path / "k.py").write_bytes(content)
    with pytest.raises(BadInput):
        read_demo(tmp_path / "k.py")


def test_a_missing_demo_is_named(tmp_path: Path) -> None:
    """The file and what to do."""
    with pytest.raises(BadInput, match="none.py"):
        read_demo(tmp_path / "none.py")
