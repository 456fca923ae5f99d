"""The picture that the README begins with is drawn from the recorded campaign by this code."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from xml.etree import ElementTree


def test_the_picture_is_up_to_date(repo_root: Path) -> None:
    """Bytes equal; it has text, and the README shows it."""
    spec = importlib.util.spec_from_file_location("readme_picture", repo_root / "tools" / "readme_picture.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.drawn() == module.PICTURE.read_bytes()
    text = "".join(ElementTree.fromstring(module.PICTURE.read_text()).itertext())
    assert "gemm on H200_SXM" in text and "h200_sxm.md" in text
    head = (repo_root / "README.md").read_text()[:400]
    assert str(module.PICTURE.relative_to(repo_root)) in head
