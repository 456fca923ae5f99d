"""Closed form and Triton IR agree on the shipped kernels: the third independent count beside torch's."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

import triton

from kopt_kb.analysis.ir.triton import TensorArg, count_ir
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.launch.compile import CompilePool, CompileRequest, OpCase
from kopt_kb.problem.work import work

pytestmark = [pytest.mark.torch, pytest.mark.triton]

ROOT = Path(__file__).resolve().parents[2]
NEGATES = tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 8)
"""Whether the IR has a negation of its own."""

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
    ("naive/matmul", "gemm", {}, (17, 20, 33), "fp32", {}, 0),
    # -a is a subtraction from zero in the IR, one more an element, up to triton 3.7.
    ("swiglu", "swiglu", {}, (17, 33), "bf16", {}, 17 * 33),
]

ROWS = ((7, 33), (64, 1000), (16, 1024), (3, 4096), (129, 257))
FLOATS = ("bf16", "fp16", "fp32")
TABLE = [
    *((name, name, {}, shape, dtype) for name in ("rms_norm", "layer_norm", "softmax") for shape in ROWS for dtype in FLOATS),
    *(("elementwise", "elementwise", {}, shape, dtype) for shape in ((1003,), (4096,), (65, 129)) for dtype in FLOATS),
    *(("matmul", "gemm", {}, shape, dtype) for shape in ((100, 70, 50), (64, 64, 64), (17, 20, 33), (128, 256, 96)) for dtype in FLOATS),
]  # fmt: skip
"""Cases counted by closed form, Triton IR and torch: odd and even shapes, masks on and off."""

BOUND = {("softmax", (7, 33)), ("softmax", (129, 257))}
"""Rows of the last, partly filled block hold NaN in lanes that are never stored: the IR count is an upper bound."""


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


def _operations(found):
    """Operations by type and engine; an IR's product of fp32 has no engine yet, the closed form says the vector's."""
    return {(one.dtype, "vector" if one.dtype == "fp32" else one.engine): one.amount.value for one in found.useful}


@pytest.mark.parametrize(("name", "op", "options", "shape", "dtype", "config", "extra"), EQUAL)
def test_useful_flops_and_distinct_bytes_of_the_ir_equal_the_closed_form(
    pool, name, op, options, shape, dtype, config, extra
):
    """Masks, padding and edge tiles count nothing."""
    closed = work(op, shape, dtype, **options)
    found = _counted(pool, name, shape, dtype, config)
    more = 0 if NEGATES else extra
    expected = {key: value + more for key, value in closed.flops_by_engine().items()}
    assert _operations(found) == expected
    assert {one.function: one.useful.value for one in found.special} == closed.special_functions()
    assert found.read.compulsory.value == closed.compulsory_bytes("dram", "read")
    assert found.written.compulsory.value == closed.compulsory_bytes("dram", "write")


def test_the_naive_kernel_does_more_than_the_operation_asks_for(pool):
    """Three passes: each of 5*70 elements is squared into a wide partial sum, and the output is read again."""
    closed = work("rms_norm", (5, 70), "bf16")
    found = _counted(pool, "naive/rms_norm", (5, 70), "bf16", {})
    assert found.useful[0].amount.value > closed.flops_of("fp32", "vector").value
    assert found.read.compulsory.value == closed.compulsory_bytes("dram", "read") + 5 * 70 * 2


def _torch_function(op):
    import torch

    functional = torch.nn.functional
    return {
        "rms_norm": lambda x, w: functional.rms_norm(x, x.shape[-1:], w),
        "layer_norm": lambda x, w, b: functional.layer_norm(x, x.shape[-1:], w, b),
        "softmax": lambda x: torch.softmax(x, -1),
        "elementwise": torch.add,
        "gemm": torch.matmul,
    }[op]


def _torch_inputs(op, shape, dtype):
    if op == "gemm":
        rows, cols, depth = shape
        return [((rows, depth), dtype), ((depth, cols), dtype)]
    vectors = {"rms_norm": 1, "layer_norm": 2}.get(op, 0)
    return [(shape, dtype)] * (2 if op == "elementwise" else 1) + [(shape[-1:], dtype)] * vectors


def test_the_table_is_large_enough():
    """At least sixty cases, of which at least fifty have to be equal."""
    assert len(TABLE) >= 60
    assert sum((op, shape) not in BOUND for _, op, _, shape, _ in TABLE) >= 50


@pytest.mark.parametrize(("name", "op", "options", "shape", "dtype"), TABLE)
def test_closed_form_ir_and_torch_agree(pool, name, op, options, shape, dtype):
    """Three ways that share no code give the same operations, special functions and bytes."""
    from kopt_kb.packs.problem_sets.torch_count import count_torch

    closed = work(op, shape, dtype, **options)
    ir = _counted(pool, name, shape, dtype, {})
    by_torch = count_torch(_torch_function(op), *_torch_inputs(op, shape, dtype))
    operations = closed.flops_by_engine()
    counted = _operations(ir)
    if (op, shape) in BOUND:
        assert {one.amount.exactness for one in ir.useful} == {"upper"}
        assert all(counted[key] >= value for key, value in operations.items())
    else:
        assert counted == operations
        assert {one.function: one.useful.value for one in ir.special} == closed.special_functions()
    assert {(one.dtype, one.engine): one.useful.value for one in by_torch.flops if one.useful.value} == operations
    assert {one.function: one.count.value for one in by_torch.special} == closed.special_functions()
    moved = tuple(closed.compulsory_bytes("dram", direction) for direction in ("read", "write"))
    assert (ir.read.compulsory.value, ir.written.compulsory.value) == moved
    assert (by_torch.read_bytes.value, by_torch.write_bytes.value) == moved
