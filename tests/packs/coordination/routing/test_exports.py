"""Names of modules are read, not guessed from file names."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.coordination.routing.exports import exports_of, integration


def test_names_and_how_they_are_called(tmp_path: Path) -> None:
    """`__all__` decides where there is one; without it private names and imports stay out."""
    file = tmp_path / "gelu.py"
    file.write_text("import os\nLIMIT = 3\ndef launch(x, *, n=1): ...\ndef _no(): ...\nclass Model: ...\n")
    assert exports_of(file).names == {"LIMIT": "value", "launch": "(x, *, n=1)", "Model": "class"}
    file.write_text("from a import b\n__all__ = ['b']\ndef launch(): ...\n")
    assert exports_of(file).names == {"b": "import"}


def test_an_import_of_what_is_not_there_is_refused(tmp_path: Path) -> None:
    """With what is there; each module's name becomes its own."""
    one, two = tmp_path / "a.py", tmp_path / "b.py"
    one.write_text("def launch(x): ...\n")
    two.write_text("def run(x): ...\n")
    with pytest.raises(BadInput, match="offers no launch; it offers run"):
        integration([one, two], "launch")
    two.write_text("def launch(x): ...\n")
    assert integration([one, two], "launch").splitlines()[1] == "from b import launch as launch_b"


@pytest.mark.parametrize("text", ["def (", "__all__ = ['x']\n"])
def test_broken_modules(tmp_path: Path, text: str) -> None:
    """One error, with the place."""
    file = tmp_path / "a.py"
    file.write_text(text)
    with pytest.raises(BadInput, match=r"a\.py"):
        exports_of(file)
