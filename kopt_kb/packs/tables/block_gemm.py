"""Tables of products with block scales of vLLM and SGLang: JSON, rows of the activations → settings of the kernel.

`N=1536,K=7168,device_name=NVIDIA_H200,dtype=fp8_w8a8,block_shape=[128,128].json`: columns and depth of the weights,
device, type of weights and activations, block of their scales.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.launch.compile.request import Given, KernelCase
from kopt_kb.packs.tables.engine import TableEngine
from kopt_kb.packs.tables.ladder import ENTRIES, Ladder, write_ladder
from kopt_kb.packs.tables.moe_launch import MoeLayer
from kopt_kb.problem.tuned_table import TunedRow, TunedTable, nearest_row

__all__ = [
    "FORM", "SETTINGS", "asks_block_gemm", "is_block_gemm", "launches_block_gemm", "read_block_gemm",
    "serves_block_gemm", "write_block_gemm",
]  # fmt: skip

FORM = "block-gemm"
SETTINGS = frozenset(
    {
        "BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M", "SPLIT_K", "SWAP_AB", "num_warps", "num_stages",
        "num_ctas", "waves_per_eu", "matrix_instr_nonkdim", "kpack", "grf_mode",
    }
)  # fmt: skip
_LADDER = Ladder(
    form=FORM,
    kernel="block_scaled_gemm",
    name=re.compile(rf"(?P<shape>N=\d+,K=\d+),device_name=(?P<device>[^,]*?)(?P<more>{ENTRIES})\.json"),
    called="N=<columns>,K=<depth>,device_name=<device>,dtype=…,block_shape=[…].json",
    counts="M",
    needed=("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K"),
)
_OPERATION = re.compile(r"w8a8_(?:triton_)?block_(?:scaled_mm|fp8_matmul|int8_matmul)")
_KERNELS: Mapping[tuple[str, str], tuple[str, str]] = {
    ("vllm", "fp8_w8a8"): (
        "vllm/model_executor/layers/quantization/utils/fp8_utils.py", "_w8a8_triton_block_scaled_mm",
    ),
    ("sglang", "fp8_w8a8"): ("sglang/kernels/ops/gemm/fp8_kernel.py", "_w8a8_block_fp8_matmul"),
    ("sglang", "int8_w8a8"): ("sglang/kernels/ops/gemm/int8_kernel.py", "_w8a8_block_int8_matmul"),
}  # fmt: skip


def is_block_gemm(name: str, head: bytes) -> bool:
    """Return whether a file is such a table, by its name."""
    return _LADDER.recognises(name, head)


def read_block_gemm(data: bytes, path: Path) -> TunedTable:
    """Return the table of a file; raises `BadInput` as `Ladder.read` does."""
    return _LADDER.read(data, path)


def write_block_gemm(table: TunedTable) -> bytes:
    """Return the bytes of a table; rows that a file has are written as they stand there."""
    return write_ladder(table, _LADDER)


def serves_block_gemm(table: TunedTable, extents: Mapping[str, int]) -> TunedRow | None:
    """Return the row of the nearest M, as both engines choose it: the file's first among equals."""
    return nearest_row(table, "M", extents["M"])


def asks_block_gemm(operation: str, inputs: tuple[tuple[int, ...], ...]) -> dict[str, int] | None:
    """Return M, N and K of the engines' block-scaled products by their two operands; None for any other operation."""
    if not _OPERATION.search(operation) or [len(one) for one in inputs[:2]] != [2, 2]:
        return None
    (rows, depth), (columns, _) = inputs[:2]
    return {"N": columns, "K": depth, "M": rows}


def launches_block_gemm(table: TunedTable, row: TunedRow, root: Path, target: str) -> tuple[KernelCase, ...]:
    """Return the launch of a row for a target.

    Raises:
        BadInput: The settings make the kernel wrong (KB081); or the engine has no such kernel, or several.
    """
    if not table.block_shape:
        raise BadInput("its name has no block_shape", where=table.file, code="KB116")
    if any(name in row.settings for name in ("SWAP_AB", "SPLIT_K")):
        what = "rows that set SWAP_AB or SPLIT_K are for a kernel that the engine chooses at run time"
        raise BadInput(what, where=table.file, code="KB116")
    place, kernel = _KERNELS.get((table.engine, table.dtype), ("", ""))
    path = TableEngine(table.engine, root).file([place]) if place else None
    if path is None:
        what = f"no kernel of {table.engine} is known for {table.dtype} with block scales"
        raise BadInput(what, where=table.file, code="KB116")
    block_n, block_k = table.block_shape
    deep = row.settings["BLOCK_SIZE_K"]
    if isinstance(deep, int) and block_k % deep:
        what = f"a tile {deep} deep takes one scale, of which a block {block_k} deep has its own"
        raise BadInput(what, where=table.file, fix=f"a BLOCK_SIZE_K that divides {block_k}", code="KB081")
    rows, columns, depth = row.sizes["M"], table.shape["N"], table.shape["K"]
    layer = MoeLayer(table, target)
    groups = -(-depth // block_k)
    arguments: dict[str, Given] = {
        "A": TensorSpec((rows, depth), layer.activation), "B": TensorSpec((columns, depth), layer.element),
        "C": TensorSpec((rows, columns), "bfloat16"), "As": TensorSpec((rows, groups), "float32"),
        "Bs": TensorSpec((-(-columns // block_n), groups), "float32"),
        "M": rows, "N": columns, "K": depth, "group_n": block_n, "group_k": block_k,
        "stride_am": depth, "stride_ak": 1, "stride_bk": 1, "stride_bn": depth, "stride_cm": columns, "stride_cn": 1,
        "stride_As_m": groups, "stride_As_k": 1, "stride_Bs_k": 1, "stride_Bs_n": groups,
    }  # fmt: skip
    constants = {name: value for name, value in row.settings.items() if name.isupper()}
    constants["needs_masking"] = isinstance(deep, int) and depth % deep != 0
    options = {name: value for name, value in row.settings.items() if not name.isupper()}
    return (KernelCase(str(path), kernel, arguments, constants, options),)
