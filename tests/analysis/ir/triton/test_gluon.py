"""TTGIR is counted like Triton IR: copies to shared memory, products of buffers, roles."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.ir.triton import IrError, TensorArg, count_ir, parse_ttir
from kopt_kb.analysis.ir.triton.gluon import is_ttgir
from kopt_kb.analysis.ir.triton.result import KernelCount

HEAD = """#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
"""

ROLES = """  tt.func public @roles(%a: !tt.tensordesc<tensor<64x32xf16, #shared>> loc("a"), %b: !tt.tensordesc<tensor<32x64xf16, #shared>>, %c: !tt.tensordesc<tensor<64x64xf16, #shared>>, %k: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<2x64x32xf16, #shared, #smem, mutable> loc(#loc)
    %1 = ttg.local_alloc : () -> !ttg.memdesc<2x32x64xf16, #shared, #smem, mutable>
    %2 = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    %c2_i32 = arith.constant 2 : i32
    %c64_i32 = arith.constant 64 : i32
    ttg.warp_specialize(%0, %1, %2, %a, %b, %k, %bar) attributes {requestedRegisters = array<i32: 24>}
    default {
      %zero = arith.constant 0 : i32
      %step = arith.constant 32 : i32
      %true = arith.constant true
      %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #ttg.slice<{dim = 0, parent = #blocked}>>
      %pid = tt.get_program_id x : i32
      %acc = scf.for %i = %zero to %k step %step iter_args(%sum = %cst) -> (tensor<64x64xf32, #blocked>)  : i32 {
        %stage = arith.remsi %i, %c2_i32 : i32
        ttng.wait_barrier %bar, %stage, %true : !ttg.memdesc<1xi64, #shared, #smem, mutable>
        %l = ttg.memdesc_index %0[%stage] : !ttg.memdesc<2x64x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
        %r = ttg.memdesc_index %1[%stage] : !ttg.memdesc<2x32x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x64xf16, #shared, #smem, mutable>
        %d = ttng.warp_group_dot %l, %r, %sum, %true {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x32xf16, #shared, #smem, mutable> * !ttg.memdesc<32x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #blocked>
        %w:2 = ttng.warp_group_dot_wait %d, %cst {pendings = 0 : i32} : tensor<64x64xf32, #blocked>, tensor<64x64xf32, #blocked>
        scf.yield %w#0 : tensor<64x64xf32, #blocked>
      }
      %h = arith.truncf %acc : tensor<64x64xf32, #blocked> to tensor<64x64xf16, #blocked>
      %g = ttg.convert_layout %h : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #blocked>
      ttg.local_store %g, %2 : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %row = arith.muli %pid, %c64_i32 : i32
      ttng.async_tma_copy_local_to_global %c[%row, %zero] %2 : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      ttg.warp_yield
    }
    partition0(%l: !ttg.memdesc<2x64x32xf16, #shared, #smem, mutable>, %r: !ttg.memdesc<2x32x64xf16, #shared, #smem, mutable>, %o: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %x: !tt.tensordesc<tensor<64x32xf16, #shared>> loc(unknown), %y: !tt.tensordesc<tensor<32x64xf16, #shared>>, %n: i32, %full: !ttg.memdesc<1xi64, #shared, #smem, mutable>) num_warps(1) {
      %zero = arith.constant 0 : i32
      %height = arith.constant 64 : i32
      %step = arith.constant 32 : i32
      %true = arith.constant true
      %pid = tt.get_program_id x : i32
      %row = arith.muli %pid, %height : i32
      scf.for %i = %zero to %n step %step  : i32 {
        %s = ttg.memdesc_index %l[%zero] : !ttg.memdesc<2x64x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
        %t = ttg.memdesc_index %r[%zero] : !ttg.memdesc<2x32x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x64xf16, #shared, #smem, mutable>
        ttng.barrier_expect %full, 8192, %true : !ttg.memdesc<1xi64, #shared, #smem, mutable>
        ttng.async_tma_copy_global_to_local %x[%row, %i] %s, %full, %true : !tt.tensordesc<tensor<64x32xf16, #shared>>, !ttg.memdesc<1xi64, #shared, #smem, mutable> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
        ttng.async_tma_copy_global_to_local %y[%i, %zero] %t, %full, %true : !tt.tensordesc<tensor<32x64xf16, #shared>>, !ttg.memdesc<1xi64, #shared, #smem, mutable> -> !ttg.memdesc<32x64xf16, #shared, #smem, mutable>
      }
      ttg.warp_return
    } : (!ttg.memdesc<2x64x32xf16, #shared, #smem, mutable>, i32) -> ()
    tt.return
  }
}
"""

BODY = """  tt.func public @one(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %m: i32) {{
    %r = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32, #blocked>
    %ms = tt.splat %m : i32 -> tensor<64xi32, #blocked>
    %in = arith.cmpi slt, %r, %ms : tensor<64xi32, #blocked>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>, #blocked>
    %at = tt.addptr %ps, %r : tensor<64x!tt.ptr<f16>, #blocked>, tensor<64xi32, #blocked>
    %qs = tt.splat %q : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>, #blocked>
    %to = tt.addptr %qs, %r : tensor<64x!tt.ptr<f16>, #blocked>, tensor<64xi32, #blocked>
    %yes = arith.constant true
{body}
    tt.return
  }}
}}
"""

THROUGH_SHARED = """    %s = ttg.local_alloc : () -> !ttg.memdesc<64xf16, #shared, #smem, mutable>
    %t = ttg.async_copy_global_to_local %at, %s mask %in : tensor<64x!tt.ptr<f16>, #blocked> -> <64xf16, #shared, #smem, mutable>
    %g = ttg.async_commit_group tokens %t
    %w = ttg.async_wait %g {num = 0 : i32}
    %v = ttg.local_load %s token %w : !ttg.memdesc<64xf16, #shared, #smem, mutable> -> tensor<64xf16, #blocked>
    %z = arith.mulf %v, %v : tensor<64xf16, #blocked>
    tt.store %to, %z, %in : tensor<64x!tt.ptr<f16>, #blocked>"""

BUFFERS = """    %v = amdg.buffer_load %p[%r], %in stride = %m : tensor<64xf16, #blocked>
    %z = arith.mulf %v, %v : tensor<64xf16, #blocked>
    amdg.buffer_store %z, %q[%r], %in : tensor<64xf16, #blocked>"""

TENSOR_MEMORY = """    %l = ttg.local_alloc : () -> !ttg.memdesc<128x64x{left}, #shared, #smem, mutable>
    %rr = ttg.local_alloc : () -> !ttg.memdesc<64x32x{left}, #shared, #smem, mutable>
    %sc = ttng.tmem_alloc : () -> !ttg.memdesc<128x2xi8, #shared, #ttng.tensor_memory, mutable>
    %d, %tok = ttng.tmem_alloc : () -> (!ttg.memdesc<128x32xf32, #shared, #ttng.tensor_memory, mutable>, !ttg.async.token)
    {product}
    %v, %tok2 = ttng.tmem_load %d[%tok] : !ttg.memdesc<128x32xf32, #shared, #ttng.tensor_memory, mutable> -> tensor<128x32xf32, #blocked>"""


def one(body: str, m: int = 64) -> KernelCount:
    """The count of one program with that body."""
    tensors = {"p": TensorArg((64,), "fp16"), "q": TensorArg((64,), "fp16"), "m": m}
    return count_ir(HEAD + BODY.format(body=body), 1, tensors, mode="exact").kernels[0]


def roles(m: int, k: int) -> KernelCount:
    """The count of the product of m x k by k x 64."""
    given = {"a": TensorArg((m, k), "fp16"), "b": TensorArg((k, 64), "fp16"), "c": TensorArg((m, 64), "fp16"), "k": k}
    return count_ir(HEAD + ROLES, -(-m // 64), given, mode="exact").kernels[0]


def test_a_stage_is_told_by_its_module() -> None:
    """Number of warps: nothing in Triton IR has one."""
    assert is_ttgir(HEAD)
    assert not is_ttgir("module {")


def test_each_role_runs_once_and_the_product_is_the_closed_form() -> None:
    """One role copies both operands, another multiplies and stores."""
    count = roles(256, 128)
    assert [(f.dtype, f.engine, f.amount.value, f.amount.exactness) for f in count.useful] == [
        ("fp16", "matrix", 2 * 256 * 64 * 128, "exact")
    ]
    assert (count.read.compulsory.value, count.read.compulsory.exactness) == ((256 * 128 + 128 * 64) * 2, "exact")
    assert count.read.requested.value == (256 * 128 + 4 * 128 * 64) * 2
    assert (count.written.requested.value, count.notes) == (256 * 64 * 2, ())


def test_padding_in_shared_memory_makes_useful_work_a_bound() -> None:
    """Rows outside the tensor can't be told from others any more; bytes are exact."""
    count = roles(200, 128)
    assert [(f.amount.value, f.amount.exactness) for f in count.useful] == [(2 * 256 * 64 * 128, "upper")]
    assert (count.read.compulsory.value, count.written.compulsory.value) == ((200 * 128 + 128 * 64) * 2, 200 * 64 * 2)
    assert "upper bound" in count.notes[0].text


@pytest.mark.parametrize(("body", "bound"), [(THROUGH_SHARED, "upper"), (BUFFERS, "exact")])
def test_copies_by_pointer_and_by_buffer(body: str, bound: str) -> None:
    """50 of 64 lanes are inside."""
    count = one(body, 50)
    assert (count.read.compulsory.value, count.written.compulsory.value) == (100, 100)
    assert [(f.amount.value, f.amount.exactness) for f in count.useful] == [(50, bound)]


@pytest.mark.parametrize(
    ("product", "left", "dtype", "depth"),
    [
        ("%x = ttng.tc_gen5_mma %l, %rr, %d[%tok], %yes, %yes : A, B, C", "f16", "fp16", 64),
        ("ttng.tc_gen5_mma %l, %rr, %d[], %yes, %yes {is_async} : A, B, C", "f8E4M3FN", "fp8", 64),
        (
            "ttng.tc_gen5_mma_scaled %l, %rr, %d[], %sc, %sc, %yes, %yes lhs = e2m1 rhs = e4m3 : A, B, C, D, E",
            "i8",
            "mxfp8",
            128,
        ),
    ],
)
def test_products_onto_tensor_memory(product: str, left: str, dtype: str, depth: int) -> None:
    """The product is needed whoever reads it there; two elements of four bits share a byte."""
    body = TENSOR_MEMORY.format(left=left, product=product.replace("A, B, C", "i32, i32, i32"))
    (flops,) = one(body.replace(", D, E", ", i32, i32")).useful
    assert (flops.dtype, flops.engine, flops.amount.value) == (dtype, "matrix", 2 * 128 * 32 * depth)


WORK_COUNTER = """    %one = arith.constant 1 : i32
    %first = tt.atomic_rmw add, acq_rel, gpu, %n, %one, %yes : (!tt.ptr<i32>, i32, i1) -> i32
    %last = scf.while (%tile = %first) : (i32) -> (i32) {{
      %more = arith.cmpi slt, %tile, %m : i32
      scf.condition(%more) %tile : i32
    }} do {{
    ^bb0(%tile: i32):
      %mine = tt.splat %tile : i32 -> tensor<64xi32, #blocked>
      %on = arith.cmpi slt, %r, %mine : tensor<64xi32, #blocked>
{body}
      %next = tt.atomic_rmw add, acq_rel, gpu, %n, %one, %yes : (!tt.ptr<i32>, i32, i1) -> i32
      scf.yield %next : i32
    }}"""


def test_a_loop_that_ends_by_a_work_counter_is_a_lower_bound_that_says_what_a_trip_costs() -> None:
    """What was tried of its body leaves no other mark: useful work is a bound, not unknown."""
    inner = THROUGH_SHARED.replace("%in", "%on").replace("    ", "      ")
    text = HEAD + BODY.format(body=WORK_COUNTER.format(body=inner)).replace("%m: i32)", "%m: i32, %n: !tt.ptr<i32>)")
    tensors = {"p": TensorArg((64,), "fp16"), "q": TensorArg((64,), "fp16"), "n": TensorArg((1,), "int32"), "m": 4}
    count = count_ir(text, 8, tensors, mode="exact").kernels[0]
    assert [(f.amount.value, f.amount.exactness) for f in count.useful] == [(0, "lower")]
    (note,) = count.notes
    assert "one trip of one program costs 64 FLOP" in note.text


def test_a_form_that_is_not_known_is_an_error_with_its_line() -> None:
    """Never a silent zero."""
    with pytest.raises(IrError, match="a form this reader does not know"):
        one("    ttng.async_tma_copy_global_to_local %p %q : i32")
    with pytest.raises(IrError, match="buffer_atomic_rmw is not counted yet"):
        one("    %x = amdg.buffer_atomic_rmw fadd, acq_rel, gpu, %at, %p[%r] : tensor<64xf16, #blocked>")
    with pytest.raises(IrError, match="without its default role"):
        parse_ttir(HEAD + BODY.format(body="    ttg.warp_specialize(%p)\n    }"))
