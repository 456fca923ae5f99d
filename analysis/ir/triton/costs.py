"""How many operations one execution of an IR operation is worth, by dtype and engine.

Counting rules (the usual ones of roofline work): add, subtract, multiply, divide, remainder, minimum and
maximum are one FLOP a lane, a fused multiply-add two; comparisons, selects, negation, absolute value, rounding
and conversions are none. `tt.dot` of M×K by K×N is 2·M·N·K on the matrix engine (three or six times that for the
split precisions tf32x3, bf16x3 and bf16x6, which issue as many products). A reduction is its combine function
times (inputs − outputs), so is a scan along each row. Exponentials, logarithms, roots, trigonometric functions,
erf and library calls are special-function operations, one a lane, kept apart from FLOPs. Atomics are no FLOPs.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from kopt_kb.analysis.ir.triton.irtypes import IrType
from kopt_kb.analysis.ir.triton.model import Module, Op
from kopt_kb.problem.dtypes import MX_ELEMENTS

__all__ = ["Cost", "CostKey", "combine_cost", "combine_ops", "cost_per_lane", "dot_dims", "dot_key", "op_cost"]

CostKey = tuple[str, str, str]
"""(`flops`, dtype, engine) or (`special`, dtype, function)."""
Cost = Mapping[CostKey, int]

_ONE_FLOP = (
    "arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.remf", "arith.maxnumf", "arith.minnumf",
    "arith.maximumf", "arith.minimumf", "tt.precise_divf", "tt.approx_divf",
)  # fmt: skip
_FLOPS = {**dict.fromkeys(_ONE_FLOP, 1), "math.fma": 2, "tt.clampf": 2, "math.clampf": 2}
_SPECIAL = {
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin",
    "acos", "atan", "atan2", "asinh", "acosh", "atanh", "sqrt", "rsqrt", "cbrt", "erf", "erfc", "powf", "fpowi",
    "sincos",
}  # fmt: skip
_PRODUCTS = {"tf32x3": ("tf32", 3), "bf16x3": ("bf16", 3), "bf16x6": ("bf16", 6), "tf32": ("tf32", 1)}
_WIDTH = ("fp4", "mxfp4", "nvfp4", "mxfp6", "mxfp8", "fp8", "fp16", "bf16")


def cost_per_lane(op: Op, result: IrType) -> Cost:
    """Operations a lane of an elementwise operation; empty for those that count nothing."""
    if op.name in _FLOPS and result.is_float:
        return {("flops", result.dtype, "vector"): _FLOPS[op.name]}
    if op.name.startswith("math.") and op.name[5:] in _SPECIAL:
        return {("special", result.dtype, op.name[5:]): 1}
    if op.name == "tt.precise_sqrt":
        return {("special", result.dtype, "sqrt"): 1}
    if op.name == "tt.extern_elementwise":
        return {("special", result.dtype, op.attributes.get("symbol", "extern")): 1}
    return {}


def combine_ops(op: Op, module: Module) -> list[Op]:
    """The operations of a reduce, scan or map function, its calls opened up, its terminator left out."""
    return _opened(op.regions[0].entry.ops, module)


def _opened(ops: tuple[Op, ...], module: Module) -> list[Op]:
    found: list[Op] = []
    for op in ops:
        if op.name == "tt.call":
            found.extend(_opened(module.function(op.detail["callee"]).body.entry.ops, module))
        elif not op.name.endswith("return"):
            found.append(op)
            for region in op.regions:
                found.extend(_opened(region.entry.ops, module))
    return found


def combine_cost(op: Op, module: Module) -> Cost:
    """Operations of one application of a reduce, scan or map function; both sides of a branch in it count."""
    total: dict[CostKey, int] = {}
    for inner in combine_ops(op, module):
        for key, count in op_cost(inner, module).items():
            total[key] = total.get(key, 0) + count
    return total


def dot_dims(op: Op, module: Module) -> tuple[int, int, int, int]:
    """(batch, M, N, K) of a dot; K counts elements, also where two of them share a byte."""
    left, out = module.types[op.operands[0]], module.types[op.results[0]]
    packed = 2 if op.detail.get("lhs") == "e2m1" and op.attributes.get("lhs_k_pack", "true") != "false" else 1
    *batch, rows, columns = out.shape
    return prod(batch), rows, columns, left.shape[-1] * packed


def dot_key(op: Op, module: Module) -> tuple[CostKey, int]:
    """The (dtype, engine) a dot counts under and how many products each multiply issues."""
    left, right = (module.types[op.operands[i]] for i in (0, 1))
    if op.name == "tt.dot_scaled":
        right = module.types[op.operands[2 if op.detail.get("a_scaled") == "True" else 1]]
        names = [_scaled_dtype(op, side, kind) for side, kind in (("lhs", left), ("rhs", right))]
        return ("flops", max(names, key=_WIDTH.index), "matrix"), 1
    if left.element == "f32":
        dtype, products = _PRODUCTS.get(op.detail.get("precision", "ieee"), ("fp32", 1))
        return ("flops", dtype, "matrix"), products
    return ("flops", left.dtype, "matrix"), 1


def _scaled_dtype(op: Op, side: str, kind: IrType) -> str:
    element = op.detail.get(side, "")
    return MX_ELEMENTS.get(element, element if element in {"fp16", "bf16"} else kind.dtype)


def _dot_cost(op: Op, module: Module) -> Cost:
    key, products = dot_key(op, module)
    return {key: 2 * prod(dot_dims(op, module)) * products}


def op_cost(op: Op, module: Module) -> Cost:
    """Operations of one execution, all lanes; control flow and calls cost nothing themselves."""
    if op.name in ("tt.dot", "tt.dot_scaled"):
        return _dot_cost(op, module)
    if not op.results:
        return {}
    result = module.types[op.results[0]]
    if op.name in ("tt.reduce", "tt.scan"):
        source = module.types[op.operands[0]]
        rows = source.lanes // source.shape[op.integer("axis")]
        return {key: count * (source.lanes - rows) for key, count in combine_cost(op, module).items()}
    if op.name == "tt.map_elementwise":
        times = result.lanes // op.integer("pack", 1)
        return {key: count * times for key, count in combine_cost(op, module).items()}
    return {key: count * result.lanes for key, count in cost_per_lane(op, result).items()}
