"""Kernels of a framework are found by their decorator, and only what `launch` reaches and starts counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.analysis.frameworks import framework_named, frameworks, kernel_marks, kernels_of, missing
from kopt_kb.doors import table
from kopt_kb.doors.language import Language
from kopt_kb.doors.pack import Pack

TRITON = b"""
import triton
import triton.language as tl

@triton.autotune(configs=[], key=[])
@triton.jit
def scale(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.load(x_ptr))

def reference(x):
    return x

def launch(x, *, config=None, out=None):
    scale[(1,)](x, 1, BLOCK=16)
    return x
"""
MINE = b"""
import mine

@mine.kernel
def device(a):
    pass

@mine.jit
def host(a):
    device(a).launch(grid=(1,), block=(1,))

def launch(x, *, config=None, out=None):
    host(x)
    return x
"""
GLUON = b"""
from triton.experimental import gluon

@gluon.jit
def device(a):
    pass

def launch(x, *, config=None, out=None):
    device[(1,)](x)
    return x
"""


@pytest.fixture(autouse=True)
def _mine(monkeypatch: pytest.MonkeyPatch) -> None:
    """One pack with one language, whose kernels are launched by a method."""
    mine = Language("My DSL", "a test's", mark="mine.kernel", inner_marks=("mine.jit",))
    monkeypatch.setattr(table, "packs", lambda: table.Packs({"mine": Pack("mine", "mine", languages=(mine,))}, ()))


def named(name: str) -> Language:
    """The framework of a name that is known."""
    found = framework_named(name)
    assert found is not None
    return found


@pytest.mark.parametrize(("name", "source"), [("Triton", TRITON), ("Gluon", GLUON), ("My DSL", MINE)])
def test_each_framework_knows_its_own_kernels_only(name: str, source: bytes) -> None:
    """A file of one framework is complete for it and lacks a kernel of every other."""
    assert missing(source, named(name)) == ""
    for other in frameworks():
        if other.name != name:
            assert f"no {other.name} kernel" in missing(source, other)


@pytest.mark.parametrize("name", ["my dsl", "My-DSL", "MYDSL"])
def test_spelling_does_not_matter(name: str) -> None:
    """Case, spaces and dashes are ignored; HIP is none of these."""
    assert named(name).name == "My DSL"
    assert framework_named("HIP") is None


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (b"@triton.jit\n", b"", "no Triton kernel"),
        (b"    scale[(1,)](x, 1, BLOCK=16)\n", b"", "never reaches scale"),
        (b"scale[(1,)](x, 1, BLOCK=16)", b"scale", "nothing it reaches is kernel"),
        (b"def launch", b"def start", "no function launch"),
        (b"def reference", b"def reference(", "not valid Python"),
    ],
)
def test_what_is_missing_is_said(old: bytes, new: bytes, says: str) -> None:
    """A kernel has to be there, reached from launch, and started."""
    assert says in missing(TRITON.replace(old, new), named("Triton"))


def test_a_kernel_behind_a_table_and_a_later_launch_count() -> None:
    """launch may reach a kernel through tables and functions; of two functions named launch the later one counts."""
    table = TRITON.replace(b"def launch", b"KERNELS = {'a': scale}\n\ndef launch").replace(
        b"scale[(1,)](x", b"KERNELS['a'][(1,)](x"
    )
    assert missing(table, named("Triton")) == ""
    assert "never reaches" in missing(table + b"\ndef launch(x):\n    return x\n", named("Triton"))


def test_a_subscript_inside_the_kernel_starts_nothing() -> None:
    """Only host code launches: a call of a subscript in the kernel's own body is none."""
    source = TRITON.replace(b"scale[(1,)](x, 1, BLOCK=16)", b"scale").replace(b"tl.load(x_ptr)", b"(tl.load)[0](x_ptr)")
    assert "nothing it reaches" in missing(source, named("Triton"))


def test_all_packaged_kernels_are_triton_kernels(repo_root: Path) -> None:
    """No kernel file of the package is refused."""
    files = [path for path in (repo_root / "kernels").glob("*.py") if b"\ndef launch(" in path.read_bytes()]
    assert len(files) >= 7
    for path in files:
        assert missing(path.read_bytes(), named("Triton")) == "", path.name
        assert kernels_of(path.read_bytes(), named("Triton"))


def test_marks_of_kernels_and_of_what_they_call() -> None:
    assert kernel_marks() == {"triton.jit", "triton.experimental.gluon.jit", "mine.kernel", "mine.jit"}
