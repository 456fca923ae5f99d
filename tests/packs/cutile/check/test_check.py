"""Files and folders are checked as a whole: what they hold, what is wrong, and the repository around them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.cutile.check.check import check_tiles, repository_of
from kopt_kb.packs.cutile.source.findings import TileTarget

KERNEL = """
import cuda.tile as ct
import cuda.tile_experimental as ct_experimental
from tilegym.backend import register_impl
@ct.kernel
def copy(x, y, size: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(y, index=(i,), tile=ct.load(x, index=(i,), shape=(size,)))
@register_impl("copy", backend="cutile")
def copied(x, y):
    ct_experimental.autotune_launch(None, lambda c: (1,), copy, lambda c: (x, y, 64))
def plain(x, y):
    ct.launch(None, (1,), copy, (x, y, 64))
"""


def test_a_folder(tmp_path: Path) -> None:
    """Kernels, launches, searches and registrations by line; files without a kernel are left out."""
    (tmp_path / "ops").mkdir()
    (tmp_path / "ops" / "copy.py").write_text(KERNEL)
    (tmp_path / "other.py").write_text("import torch\n")
    (tmp_path / "broken.py").write_text("def kernel(:\n  .kernel")
    found = check_tiles(tmp_path, TileTarget())
    (file,) = found.files
    assert (found.state, found.repository) == ("clean", None)
    assert [(one.name, one.line) for one in file.kernels] == [("copy", 6)]
    assert [(one.name, one.line) for one in file.launches] == [("copied", 11), ("plain", 13)]
    assert [(one.name, one.said) for one in file.searches] == [("autotune_launch", "copied")]
    assert [(one.name, one.said) for one in file.registered] == [("copied", "copy, cutile")]
    assert check_tiles(tmp_path, TileTarget("sm_80")).state == "warnings"


def test_a_repository(tmp_path: Path) -> None:
    """Its branch, what differs, and files of sandbox/ that were committed."""
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q", "-b", "cutile-perf"], check=True)
    (tmp_path / "sandbox").mkdir()
    (tmp_path / "sandbox" / "perf_results.md").write_text("a\n")
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "first"], check=True)
    (tmp_path / "copy.py").write_text(KERNEL)
    found = repository_of(tmp_path)
    assert found is not None
    assert (found.branch, found.changed, found.sandbox) == ("cutile-perf", ("copy.py",), ("sandbox/perf_results.md",))


@pytest.mark.parametrize(
    ("text", "words"),
    [("import cutile as ct\n", "rule 1"), ("import torch\n", "no cuTile kernel"), ("def (:", "not a readable")],
)
def test_what_is_no_tile_file(tmp_path: Path, text: str, words: str) -> None:
    """One line that says what to do."""
    file = tmp_path / "kernel.py"
    file.write_text(text)
    with pytest.raises(BadInput, match=words):
        check_tiles(file, TileTarget())
    with pytest.raises(BadInput, match="no such file"):
        check_tiles(tmp_path / "none.py", TileTarget())
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="no file has a tile kernel"):
        check_tiles(tmp_path / "empty", TileTarget())
