"""Which files are cuTile kernels, and edits of their text."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.cutile.source.source import TextEdit, edited, read_cutile


@pytest.mark.parametrize("text", ["def f(:", "import cuda.tile as ct\ndef plain(x):\n    pass\n"])
def test_files_without_a_kernel_are_refused(text: str) -> None:
    """With what a kernel is."""
    with pytest.raises(BadInput, match=r"no cuTile kernel|readable"):
        read_cutile(text)


def test_overlapping_edits_are_refused() -> None:
    """Two rules never write the same place."""
    with pytest.raises(ValueError, match="overlap"):
        edited("abcdef", [TextEdit(0, 3, "x"), TextEdit(2, 4, "y")])
