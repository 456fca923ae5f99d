"""Kernels in cuTile are recognised by what their file says."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.analysis.frameworks import framework_named, framework_of, frameworks, missing, vendors_of
from kopt_kb.cli.kit.named_kernel import kernel_file
from kopt_kb.packs.cutile.pack import PACK

SOURCE = b"""
import cuda.tile as ct

@ct.kernel
def device(a):
    pass

def launch(x, *, config=None, out=None):
    ct.launch(None, (1,), device, (x,))
    return x
"""


def test_a_kernel_is_recognised_and_has_to_be_launched() -> None:
    """It is complete for its language, and lacks a kernel of every other."""
    (language,) = PACK.languages
    assert framework_of("kernel.py", SOURCE) == language.name
    assert missing(SOURCE, language) == ""
    assert all(missing(SOURCE, other) for other in frameworks() if other != language)
    assert missing(SOURCE.replace(b"launch(", b"start("), language)


def test_it_builds_for_nvidia_alone() -> None:
    assert framework_named("cuTile") is PACK.languages[0]
    assert vendors_of("cutile") == ("NVIDIA",)


def test_kernels_of_the_package_have_names(repo_root: Path) -> None:
    for op, file in (("gemm", "matmul.py"), ("rms_norm", "rms_norm.py")):
        assert Path(kernel_file(f"op:cutile/{op}")).samefile(repo_root / "kernels" / "cutile" / file)
