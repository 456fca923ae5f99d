"""Where the wiki stands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kopt_kb.wiki.places import default_root, installed_root, packaged_root


def test_the_named_wiki_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the packaged one, of a checkout its folder, which is none that was installed."""
    monkeypatch.setenv("KOPT_GPU_WIKI", str(tmp_path))
    assert default_root() == tmp_path
    monkeypatch.delenv("KOPT_GPU_WIKI")
    assert default_root() == packaged_root()
    assert (packaged_root() / "hardware").is_dir()
    assert installed_root() is None


def test_asking_for_it_reads_no_page() -> None:
    """The folder alone loads no reader of pages."""
    code = "import sys, kopt_kb.wiki.places; print(*(name for name in sys.modules if name.startswith('kopt_kb.wiki.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["kopt_kb.wiki.places"]
