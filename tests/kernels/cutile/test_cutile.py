"""A file of tile kernels is known by its imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.packs.cutile.compile import is_tile_file


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("import cuda.tile as ct\n", True),
        ("from cuda.tile import kernel\n", True),
        ("import torch\nfrom cuda import tile as ct\n", True),
        ("# import cuda.tile\nimport cuda.bindings\n", False),
        ("import triton\n", False),
    ],
)
def test_by_imports(tmp_path: Path, text: str, wanted: bool) -> None:
    """Whatever name it is given; a comment is none."""
    file = tmp_path / "kernel.py"
    file.write_text(text)
    assert is_tile_file(str(file)) is wanted
    assert not is_tile_file(str(tmp_path / "none.py"))
