"""Compile the test kernels to TTIR text; run as a script it rewrites tests/data/ttir for the triton it finds.

python tests/data/make_ttir.py OUT_FOLDER [KERNEL ...]
"""

from __future__ import annotations

import importlib.util
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Recipe:
    """How one kernel is specialised: argument types, constants and the arguments divisible by 16."""

    signature: dict[str, str]
    constants: dict[str, int]
    aligned: tuple[str, ...] = ()
    target: tuple[str, Any, int] = ("cuda", 90, 32)
    kernel: str = ""


def _sig(text: str) -> dict[str, str]:
    return dict(item.split(":") for item in text.split())


_GEMM = _sig("a_ptr:*fp16 b_ptr:*fp16 c_ptr:*fp16 m:i32 n:i32 k:i32 stride_am:i32 stride_bk:i32 stride_cm:i32")
_GEMM3 = _sig("a_ptr:*fp16 b_ptr:*fp16 c_ptr:*fp16 m:i32 n:i32 k:i32")
_TILE = {"BM": 128, "BN": 128, "BK": 64}

RECIPES = {
    "vadd": Recipe(_sig("x_ptr:*fp32 y_ptr:*fp32 out_ptr:*fp32 n:i32"), {"BLOCK": 1024}, ("x_ptr", "y_ptr", "out_ptr")),
    "softmax": Recipe(_sig("x_ptr:*fp16 out_ptr:*fp16 cols:i32"), {"BLOCK": 4096}),
    "rmsnorm": Recipe(_sig("x_ptr:*fp16 w_ptr:*fp16 out_ptr:*fp16 cols:i32 eps:fp32"), {"BLOCK": 4096}),
    "gemm": Recipe(_GEMM, _TILE),
    "gemm_wrapped": Recipe(_GEMM3, _TILE),
    "gemm_moving_pointers": Recipe(_GEMM, _TILE),
    "gemm_desc": Recipe(_GEMM3, _TILE),
    "gemm_host_desc": Recipe(
        {
            "a_desc": "tensordesc<fp16[128, 64]>",
            "b_desc": "tensordesc<fp16[64, 128]>",
            "c_desc": "tensordesc<fp16[128, 128]>",
            "n": "i32",
            "k": "i32",
        },
        _TILE,
    ),
    "gemm_block_pointers": Recipe(_GEMM3, _TILE),
    "gemm_persistent": Recipe(_GEMM3, _TILE),
    "flash": Recipe(
        _sig("q_ptr:*fp16 k_ptr:*fp16 v_ptr:*fp16 out_ptr:*fp16 seq:i32 scale:fp32"),
        {"D": 64, "BM": 128, "BN": 64},
    ),
    "early_return": Recipe(_sig("x_ptr:*fp32 out_ptr:*fp32 n:i32 limit:i32"), {"BLOCK": 256}),
    "early_return_data": Recipe(_sig("x_ptr:*fp32 flag_ptr:*i32 out_ptr:*fp32 n:i32"), {"BLOCK": 256}),
    "while_countable": Recipe(_sig("x_ptr:*fp32 out_ptr:*fp32 n:i32"), {"BLOCK": 256}),
    "while_data": Recipe(_sig("x_ptr:*fp32 next_ptr:*i32 out_ptr:*fp32"), {"BLOCK": 256}),
    "gather_rows": Recipe(_sig("table_ptr:*fp16 index_ptr:*i32 out_ptr:*fp16 cols:i32"), {"BLOCK": 1024}),
    "masked_by_data": Recipe(_sig("x_ptr:*fp32 label_ptr:*i32 out_ptr:*fp32 n:i32"), {"BLOCK": 256}),
    "select_pointer": Recipe(_sig("x_ptr:*fp32 y_ptr:*fp32 out_ptr:*fp32 n:i32 split:i32"), {"BLOCK": 256}),
    "where_pointer": Recipe(_sig("x_ptr:*fp32 y_ptr:*fp32 out_ptr:*fp32 n:i32 split:i32"), {"BLOCK": 256}),
    "calls_function": Recipe(_sig("x_ptr:*fp32 w_ptr:*fp32 out_ptr:*fp32 n:i32 scale:fp32"), {"BLOCK": 256}),
    "scan_and_argmax": Recipe(_sig("x_ptr:*fp32 sum_ptr:*fp32 arg_ptr:*i32 cols:i32"), {"BLOCK": 1024}),
    "histogram_atomic": Recipe(_sig("x_ptr:*i32 bins_ptr:*i32 count_ptr:*fp32 n:i32"), {"BLOCK": 256, "BINS": 16}),
    "activations": Recipe(_sig("x_ptr:*fp32 out_ptr:*fp32 n:i32"), {"BLOCK": 256}),
    "gather_lanes": Recipe(_sig("x_ptr:*fp32 i_ptr:*i32 out_ptr:*fp32"), {"BLOCK": 128}),
    "dot_scaled": Recipe(
        _sig("a_ptr:*fp8e4nv sa_ptr:*u8 b_ptr:*u8 sb_ptr:*u8 c_ptr:*fp32"),
        {"BM": 128, "BN": 128, "BK": 128},
        target=("cuda", 100, 32),
    ),
    "nested_if": Recipe(_sig("x_ptr:*fp32 out_ptr:*fp32 n:i32 mode:i32"), {"BLOCK": 256}),
    "shuffles": Recipe(_sig("x_ptr:*fp32 out_ptr:*fp32"), {"BLOCK": 128}),
    "column_sums": Recipe(_sig("x_ptr:*fp32 out_ptr:*fp32 rows:i32 cols:i32"), {"BM": 32, "BN": 64}),
    "grouped_gemm_tiles": Recipe(_sig("sizes_ptr:*i32 x_ptr:*fp32 out_ptr:*fp32 groups:i32"), {"BLOCK": 256}),
    "desc_gather": Recipe(
        _sig("table_ptr:*fp16 index_ptr:*i32 out_ptr:*fp16 rows:i32 cols:i32"),
        {"BM": 32, "BN": 64},
        target=("cuda", 100, 32),
    ),
    "random_bits": Recipe(_sig("out_ptr:*fp32 n:i32 seed:i32"), {"BLOCK": 256}),
}
RECIPES["gemm_host_desc_sm80"] = replace(RECIPES["gemm_host_desc"], target=("cuda", 80, 32), kernel="gemm_host_desc")


def load_kernels() -> Any:
    """The kernel module, by path: tests/ is no package."""
    spec = importlib.util.spec_from_file_location("kernels_for_ir", HERE / "kernels_for_ir.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["kernels_for_ir"] = module
    spec.loader.exec_module(module)
    return module


def ttir_text(name: str, constants: dict[str, int] | None = None, *, optimised: bool = True) -> str:
    """TTIR of one kernel, after triton's own TTIR passes or before them, without locations."""
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.compiler.compiler import make_backend

    recipe = RECIPES[name]
    consts = {**recipe.constants, **(constants or {})}
    fn = getattr(load_kernels(), recipe.kernel or name)
    ordered = {arg: recipe.signature.get(arg, "constexpr") for arg in fn.arg_names}
    attrs = {(fn.arg_names.index(arg),): [["tt.divisibility", 16]] for arg in recipe.aligned}
    source = ASTSource(fn, ordered, constexprs=consts, attrs=attrs)
    target = GPUTarget(*recipe.target)
    backend = make_backend(target)
    options = backend.parse_options({"num_warps": 4, "num_stages": 2, "debug": name == "activations"})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = source.make_ir(
        target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context
    )
    if not optimised:
        return strip_locations(str(module))
    stages: dict[str, Any] = {}
    backend.add_stages(stages, options, source.language)
    return strip_locations(str(stages["ttir"](module, {})))


def strip_locations(text: str) -> str:
    """Drop `loc(…)` and the `#loc` table: they name files of the machine that compiled."""
    kept = "\n".join(line for line in text.splitlines() if not line.startswith("#loc"))
    nested = re.compile(r" loc\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
    return nested.sub("", kept) + "\n"


def main(arguments: list[str]) -> None:
    """Write `<kernel>.<triton version>.ttir` and, before the passes, `….source.ttir` for each kernel."""
    import triton

    out = Path(arguments[0])
    for name in arguments[1:] or list(RECIPES):
        for suffix, optimised in (("", True), (".source", False)):
            try:
                text = ttir_text(name, optimised=optimised)
            except triton.CompilationError as error:
                sys.stderr.write(f"{name}: {str(error).splitlines()[-1]}\n")
                continue
            out.joinpath(f"{name}.{triton.__version__}{suffix}.ttir").write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
