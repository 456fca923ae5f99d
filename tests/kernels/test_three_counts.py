"""Closed form and Triton IR agree on the shipped kernels: the third independent count beside torch's."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

from kopt_kb.analysis.ttir import TensorArg, count_ir
from kopt_kb.kernels.compile import CompilePool, CompileRequest, OpCase
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.problem.work import work

pytestmark = [pytest.mark.torch, pytest.mark.triton]

ROOT = Path(__file__).resolve().parents[2]

# (file, op, options, shape, dtype, config, extra vector FLOPs over the closed form, and why)
EQUAL = [
    ("rms_norm", "rms_norm", {}, (7, 33), "bf16", {}, 0),
    ("rms_norm", "rms_norm", {}, (64, 1000), "bf16", {"VARIANT": "persistent"}, 0),
    ("layer_norm", "layer_norm", {}, (7, 33), "bf16", {}, 0),
    ("layer_norm", "layer_norm", {}, (64, 1024), "fp16", {}, 0),
    ("softmax", "softmax", {}, (64, 1024), "bf16", {}, 0),
    ("softmax", "softmax", {}, (64, 1000), "bf16", {"VARIANT": "persistent"}, 0),
    ("elementwise", "elementwise", {}, (1003,), "fp32", {}, 0),
    ("matmul", "gemm", {}, (100, 70, 50), "bf16", {}, 0),
    ("naive/matmul", "gemm", {}, (17, 20, 33), "bf16", {}, 0),
    # -a is a subtraction from zero in the IR: one more an element.
    ("swiglu", "swiglu", {}, (17, 33), "bf16", {}, 17 * 33),
]


def _argument(value):
    if isinstance(value, TensorSpec):
        return TensorArg(value.shape, value.dtype, value.strides)
    return value


@pytest.fixture(scope="module")
def pool():
    """One warm compile worker for all cases."""
    with CompilePool() as found:
        yield found


def _counted(pool, name, shape, dtype, config):
    import importlib

    path = ROOT / "kernels" / f"{name}.py"
    (compiled,) = pool.compile(CompileRequest(OpCase(str(path), shape, dtype, config), "sm_90", disassemble=False))
    module = importlib.import_module("kopt_kb.kernels." + name.replace("/", "."))
    (case,) = module.static_cases(shape, dtype, config)
    names = [one for one in case.kernel.arg_names if one not in case.constexprs]
    given = dict(zip(names, map(_argument, case.args), strict=True))
    arguments = {key: value for key, value in given.items() if key not in compiled.constexprs}
    return count_ir(compiled.ttir, case.grid, arguments, mode="exact").kernels[0]


@pytest.mark.parametrize(("name", "op", "options", "shape", "dtype", "config", "extra"), EQUAL)
def test_useful_flops_and_distinct_bytes_of_the_ir_equal_the_closed_form(
    pool, name, op, options, shape, dtype, config, extra
):
    """Masks, padding and edge tiles count nothing."""
    closed = work(op, shape, dtype, **options)
    found = _counted(pool, name, shape, dtype, config)
    expected = {key: value + extra for key, value in closed.flops_by_engine().items()}
    assert {(one.dtype, one.engine): one.amount.value for one in found.useful} == expected
    assert {one.function: one.useful.value for one in found.special} == closed.special_functions()
    assert found.read.compulsory.value == closed.compulsory_bytes("dram", "read")
    assert found.written.compulsory.value == closed.compulsory_bytes("dram", "write")


def test_the_naive_kernel_does_more_than_the_operation_asks_for(pool):
    """Three passes: each of 5*70 elements is squared into a wide partial sum, and the output is read again."""
    closed = work("rms_norm", (5, 70), "bf16")
    found = _counted(pool, "naive/rms_norm", (5, 70), "bf16", {})
    assert found.useful[0].amount.value > closed.flops_of("fp32", "vector").value
    assert found.read.compulsory.value == closed.compulsory_bytes("dram", "read") + 5 * 70 * 2
