"""Claims about finding the kernels of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.errors import BadInput
from kopt_kb.kernels.discover import FileInfo, KernelInfo, KernelParameter, discover_kernels

pytestmark = pytest.mark.triton
FILE = Path(__file__).parent / "compile" / "kernels_to_compile.py"


@pytest.fixture(scope="module")
def found():
    """What the example file offers."""
    pytest.importorskip("triton")
    return discover_kernels(FILE)


def test_kernels_come_in_order_of_lines(found):
    """Each with its line."""
    assert [kernel.name for kernel in found.kernels] == ["vadd", "helper", "tuned", "gemm", "gemm_tma"]
    source = FILE.read_text().splitlines()
    assert all("@triton" in source[kernel.line - 1] for kernel in found.kernels)


def test_a_called_helper_is_no_entry(found):
    """A kernel that another one calls isn't launched."""
    assert [kernel.name for kernel in found.entries] == ["vadd", "tuned", "gemm", "gemm_tma"]


def test_parameters_and_constexprs(found):
    """Run-time and compile-time parameters are told apart."""
    assert found.kernels[0].parameters[-2:] == (KernelParameter("n", False), KernelParameter("BLOCK", True))


def test_autotune_and_heuristics(found):
    """Configurations with their launch options, and the parameters that heuristics fill."""
    tuned = found.kernels[2]
    assert [config["BLOCK"] for config in tuned.configs] == [512, 2048]
    assert tuned.configs[0]["num_warps"] == 2
    assert tuned.heuristics == ("EVEN",)


def test_the_ops_convention(found):
    """Op id, tuning space and static_cases are reported."""
    assert (found.op, found.has_static_cases) == ("elementwise", True)
    assert found.tuning_space == {"BLOCK": (256, 1024), "num_warps": (4, 8)}
    assert found.to_json()["kernels"][0]["name"] == "vadd"


def test_a_file_without_kernels_is_refused(tmp_path):
    """Not an empty answer."""
    path = tmp_path / "plain.py"
    path.write_text("x = 1\n")
    with pytest.raises(BadInput, match="no @triton.jit kernel"):
        discover_kernels(path)


def test_entries_follow_the_flag():
    """A described file answers without importing anything."""
    kernels = (KernelInfo("a", 1, (), entry=False), KernelInfo("b", 2, ()))
    assert [kernel.name for kernel in FileInfo("f.py", kernels).entries] == ["b"]
