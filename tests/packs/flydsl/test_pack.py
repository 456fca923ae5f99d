"""Kernels in FlyDSL are recognised by what their file says."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.analysis.frameworks import framework_named, framework_of, frameworks, missing, vendors_of
from kopt_kb.cli.kit.named_kernel import kernel_file
from kopt_kb.packs.flydsl.pack import PACK
from kopt_kb.tuning.lint import lint_source

SOURCE = b"""
import flydsl.compiler as flyc

@flyc.kernel
def device(a):
    pass

@flyc.jit
def host(a):
    device(a).launch(grid=(1,), block=(1,))

def launch(x, *, config=None, out=None):
    host(x)
    return x
"""


def test_a_kernel_is_recognised_and_has_to_be_launched() -> None:
    """It is complete for its language, and lacks a kernel of every other."""
    (language,) = PACK.languages
    assert framework_of("kernel.py", SOURCE) == language.name
    assert missing(SOURCE, language) == ""
    assert all(missing(SOURCE, other) for other in frameworks() if other != language)
    assert missing(SOURCE.replace(b"launch(", b"start("), language)


def test_it_builds_for_amd_alone() -> None:
    assert framework_named("flydsl") is PACK.languages[0]
    assert vendors_of("FlyDSL") == ("AMD",)


def test_kernels_of_the_package_pass_the_lint_and_have_names(repo_root: Path) -> None:
    """As kernels of this language, and of no other."""
    files = sorted((repo_root / "kernels" / "flydsl").glob("[a-z]*.py"))
    assert files
    for path in files:
        assert lint_source(path.read_bytes(), framework="FlyDSL") == ()
        assert "has no Triton kernel" in lint_source(path.read_bytes(), framework="Triton")[0].what
        assert Path(kernel_file(f"op:flydsl/{path.stem}")).samefile(path)
