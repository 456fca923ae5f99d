"""Counts of shipped kernels equal their closed forms; what they depend on is asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("triton", reason="triton is not installed")
pytest.importorskip("torch", reason="torch is not installed")

from kopt_kb.analysis.ir.triton.model import IrError
from kopt_kb.base.errors import BadInput
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.launch.compile.pool import CompilePool
from kopt_kb.launch.compile.request import CompileRequest, KernelCase, OpCase
from kopt_kb.launch.counts.counting import count_case, count_compilation, work_of
from kopt_kb.problem.work import work

pytestmark = pytest.mark.triton

KERNEL = """
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = place < count
    tl.store(out_ptr + place, 2.0 * tl.load(x_ptr + place, mask=mask), mask=mask)
"""


def test_rms_norm_equals_its_closed_form(repo_root: Path, pool: CompilePool) -> None:
    """512x3000 bf16: 4N+1 operations a row, each byte once."""
    (one,) = count_case(OpCase(str(repo_root / "kernels/rms_norm.py"), (512, 3000), "bf16"), "sm_90", pool=pool)
    closed = work("rms_norm", (512, 3000), "bf16")
    counted = work_of(one, "bf16")
    assert counted.flops[0].useful == closed.flops[0].useful
    assert counted.compulsory_bytes() == closed.compulsory_bytes()
    assert one.to_json()["versions"]["triton"]


def test_a_users_kernel_with_arguments(tmp_path: Path) -> None:
    """1000 fp32: 4000 bytes in, 4000 out, one multiplication each; padding is executed but not useful."""
    file = tmp_path / "mine.py"
    file.write_text(KERNEL)
    tensor = TensorSpec((1000,), "fp32")
    case = KernelCase(str(file), "double", (tensor, tensor, 1000), {"BLOCK": 256})
    (one,) = count_case(case, "sm_90", grid=(4,))
    assert (one.mode, one.kernel.read.compulsory.value, one.kernel.written.compulsory.value) == ("exact", 4000, 4000)
    assert [flop.amount.value for flop in one.kernel.useful] == [1000]
    assert [flop.amount.value for flop in one.kernel.executed] == [1024]
    with pytest.raises(BadInput, match="--grid"):
        count_case(case, "sm_90")


def test_a_gluon_kernel_counts_as_the_triton_kernel_of_the_same_product(repo_root: Path, pool: CompilePool) -> None:
    """From TTGIR, where one warp copies and two warpgroups multiply; the closed form, byte for byte."""
    shape = (512, 512, 256)
    form = work("gemm", shape, "fp16")
    roles = {"VARIANT": "roles", "BLOCK_N": 256, "BLOCK_K": 64, "num_stages": 4}
    for config in (roles, {}):
        (one,) = count_case(OpCase(str(repo_root / "kernels/matmul.py"), shape, "fp16", config), "sm_90", pool=pool)
        found = work_of(one, "fp16")
        assert (one.kernel.exactness, found.flops_by_engine()) == ("exact", form.flops_by_engine())
        assert found.compulsory_bytes() == form.compulsory_bytes()


@pytest.mark.parametrize(("op", "shape"), [("rms_norm", (65536, 8192)), ("swiglu", (4096, 11008))])
def test_launches_of_any_size_are_counted_exactly(
    op: str, shape: tuple[int, int], repo_root: Path, pool: CompilePool
) -> None:
    """Programs that are alike but for a shift cost what one of them costs: the closed form, byte for byte."""
    (one,) = count_case(OpCase(str(repo_root / f"kernels/{op}.py"), shape, "bf16"), "sm_90", pool=pool)
    assert (one.mode, one.kernel.exactness) == ("exact", "exact")
    assert work_of(one, "bf16").compulsory_bytes() == work(op, shape, "bf16").compulsory_bytes()


def test_launches_that_would_take_minutes_are_counted_by_shape(
    repo_root: Path, monkeypatch: pytest.MonkeyPatch, pool: CompilePool
) -> None:
    """And say so; exact mode still follows them when it is asked for."""
    monkeypatch.setattr("kopt_kb.launch.counts.counting.EXACT_LANES", 1 << 12)
    case = OpCase(str(repo_root / "kernels/rms_norm.py"), (512, 3000), "bf16")
    (one,) = count_case(case, "sm_90", pool=pool)
    assert (one.mode, one.kernel.exactness) == ("shape", "upper")
    (one,) = count_case(case, "sm_90", mode="exact", pool=pool)
    assert (one.mode, one.kernel.exactness) == ("exact", "exact")


def test_a_count_that_takes_too_long_is_one_of_shapes_and_says_so(tmp_path: Path) -> None:
    """By time as by lanes; shapes that take too long are refused."""
    (tmp_path / "mine.py").write_text(KERNEL)
    tensor = TensorSpec((1000,), "fp32")
    request = CompileRequest(
        KernelCase(str(tmp_path / "mine.py"), "double", (tensor, tensor, 1000), {"BLOCK": 256}), "sm_90", False
    )
    with CompilePool() as pool:
        (made,) = pool.compile(request)
    assert count_compilation(made, (4,)).mode == "exact"
    with pytest.raises(IrError, match="not ended after 0 s"):
        count_compilation(made, (4,), "exact", max_seconds=0.0)
    with pytest.raises(IrError, match="not ended after 0 s"):
        count_compilation(made, (4,), max_seconds=0.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kopt_kb.launch.counts.counting.EXACT_LANES", 1)
        found = count_compilation(made, (4,))
    assert found.mode == "shape"
    assert "counted by shape, so bounds: the count would evaluate more memory lanes" in found.kernel.notes[0].text
    shared = [("x_ptr", replace(tensor, place=(0, 0))), ("out_ptr", replace(tensor, place=(0, 2000)))]
    both = replace(made, arguments=(*shared, ("count", 1000)))
    for mode in ("exact", "shape"):
        counted = count_compilation(both, (4,), mode).kernel
        assert counted.read.compulsory.value <= 6000
        assert counted.compulsory_bytes.value == 8000


@pytest.mark.parametrize(("target", "engine"), [("sm_90", "vector"), ("gfx942", "matrix")])
@pytest.mark.parametrize("name", ["matmul", "naive/matmul"])
def test_an_fp32_product_is_not_rounded_and_runs_where_the_target_has_fp32(
    name: str, target: str, engine: str, repo_root: Path, pool: CompilePool
) -> None:
    """64x32x48 fp32: all operations are fp32 and none is tf32; NVIDIA's tensor cores take no fp32 operands."""
    (one,) = count_case(OpCase(str(repo_root / f"kernels/{name}.py"), (64, 32, 48), "fp32"), target, pool=pool)
    counted = work_of(one, "fp32")
    assert [(flop.dtype, flop.engine, flop.useful.value) for flop in counted.flops] == [
        ("fp32", engine, 2 * 64 * 32 * 48)
    ]


SCALED = """
import triton
import triton.language as tl


@triton.jit
def scaled(a, sa, b, sb, c):
    r = tl.arange(0, 64)
    s = tl.arange(0, 4)
    x, xs = tl.load(a + r[:, None] * 64 + r[None, :]), tl.load(sa + r[:, None] * 4 + s[None, :])
    y, ys = tl.load(b + r[:, None] * 64 + r[None, :]), tl.load(sb + r[:, None] * 4 + s[None, :])
    tl.store(c + r[:, None] * 64 + r[None, :], tl.dot_scaled(x, xs, "e2m1", y, ys, "e2m1"))
"""


def test_block_scaled_products_run_as_bf16_where_the_target_has_no_unit(tmp_path: Path, pool: CompilePool) -> None:
    """The roof is that of the instruction in the machine code, and the work says so."""
    (tmp_path / "k.py").write_text(SCALED)
    packed, scales = TensorSpec((64, 64), "uint8"), TensorSpec((64, 4), "uint8")
    case = KernelCase(str(tmp_path / "k.py"), "scaled", (packed, scales, packed, scales, TensorSpec((64, 64), "fp32")))
    (one,) = count_case(case, "sm_90", grid=(1,), pool=pool)
    assert [(flop.dtype, flop.engine) for flop in one.kernel.useful] == [("mxfp4", "matrix")]
    found = work_of(one, "mxfp4")
    assert [(flop.dtype, flop.engine, flop.useful.value) for flop in found.flops] == [
        ("bf16", "matrix", 2 * 64 * 64 * 128)
    ]
    assert any("mxfp4 matrix of the IR runs as bf16 matrix on sm_90: by wgmma" in text for _, text in found.definitions)


def test_an_fp32_attention_counts_products_and_softmax_on_one_engine(repo_root: Path, pool: CompilePool) -> None:
    """Operations that share an engine are one amount."""
    (one,) = count_case(OpCase(str(repo_root / "kernels/attention.py"), (1, 1, 64, 32), "fp32"), "sm_90", pool=pool)
    counted = work_of(one, "fp32")
    assert [(flop.dtype, flop.engine) for flop in counted.flops] == [("fp32", "vector")]
    assert counted.flops[0].useful.value == sum(flop.amount.value or 0 for flop in one.kernel.useful)
