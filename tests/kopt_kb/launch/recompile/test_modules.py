"""Claims about modules as text: where they are found, and what they bind."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.launch.recompile.modules import Index, ModuleFile, ModuleFiles, package_roots

TEXT = """
import a.b
import c.d as e
from .near import f as g
from ..up import *
if X:
    def h(): pass
else:
    try:
        i = 1
    except ImportError:
        j, k = 1, 2
class L: pass
"""


def test_names_are_found_in_branches_too(tmp_path: Path) -> None:
    """Each with the dotted name that an import binds it to."""
    path = tmp_path / "m.py"
    path.write_text(TEXT)
    index = Index.read(ModuleFile("pack.inner.m", path))
    assert index.bound >= {"a", "e", "g", "h", "i", "j", "k", "L"}
    assert {name: index.imports[name] for name in "aeg"} == {"a": "a", "e": "c.d", "g": "pack.inner.near.f"}
    assert index.stars == ("pack.up",)


def test_a_module_is_looked_for_in_the_candidates_folders_first(tmp_path: Path) -> None:
    """Then among packages; the compiler's own packages are no text, and no name leads out of a root."""
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("")
    known = ModuleFile("_kopt_x", tmp_path / "x.py")
    files = ModuleFiles((tmp_path, *package_roots()), {"_kopt_x": known})
    found = files.find("pack")
    assert found is not None
    assert (found.path, found.is_package) == (tmp_path / "pack" / "__init__.py", True)
    assert files.find("_kopt_x") == known
    assert files.find("pytest") is not None
    assert [files.find(one) for one in ("triton.language", "pack.absent", "..pack", "pack/../..")] == [None] * 4


def test_relative_imports_are_made_absolute() -> None:
    """From a module and from a package; one that climbs out is none."""
    module, package = ModuleFile("a.b.c", Path("c.py")), ModuleFile("a.b", Path("__init__.py"))
    assert module.absolute("d", 1) == package.absolute("d", 1) == "a.b.d"
    assert module.absolute("d", 2) == "a.d"
    assert module.absolute("d", 9) == ""
    assert module.absolute("d.e", 0) == "d.e"
