"""Tables of block-scaled products: names, rows, launches."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.packs.tables.block_gemm import (
    asks_block_gemm,
    is_block_gemm,
    launches_block_gemm,
    read_block_gemm,
    serves_block_gemm,
    write_block_gemm,
)
from kopt_kb.problem.tuned_table import TunedTable

NAME = "N=1536,K=7168,device_name=NVIDIA_H200,dtype=fp8_w8a8,block_shape=[128,128].json"
ROW = {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 128, "GROUP_SIZE_M": 8, "num_warps": 4, "num_stages": 3}
FILE = Path("vllm/model_executor/layers/quantization/utils/fp8_utils.py")


def read(rows: Mapping[str, object], name: str = NAME) -> TunedTable:
    """A table of vLLM's folder."""
    return read_block_gemm(json.dumps(rows, indent=4).encode(), Path("/x/vllm") / name)


def test_a_table_says_columns_depth_and_rows() -> None:
    """And is written as it was; the nearest M serves."""
    table = read({"1": ROW, "64": {**ROW, "BLOCK_SIZE_M": 64}})
    assert (table.shape, table.block_shape, table.dtype) == ({"N": 1536, "K": 7168}, (128, 128), "fp8_w8a8")
    assert [row.sizes for row in table.rows] == [{"M": 1}, {"M": 64}]
    assert write_block_gemm(table) == json.dumps({"1": ROW, "64": {**ROW, "BLOCK_SIZE_M": 64}}, indent=4).encode()
    row = serves_block_gemm(table, {"M": 40})
    assert row is not None and row.key == "64"
    assert is_block_gemm(NAME, b"{") and not is_block_gemm("E=1,N=2,device_name=X.json", b"{")


def test_a_launch_has_the_shape_of_the_table(tmp_path: Path) -> None:
    """Extents, scales by block and the row's tile."""
    (tmp_path / FILE).parent.mkdir(parents=True)
    (tmp_path / FILE).write_text("")
    table = read({"16": ROW})
    (case,) = launches_block_gemm(table, table.rows[0], tmp_path, "gfx942")
    assert case.kernel == "_w8a8_triton_block_scaled_mm" and isinstance(case.args, Mapping)
    assert (case.args["M"], case.args["N"], case.args["K"], case.args["stride_Bs_n"]) == (16, 1536, 7168, 56)
    scales, weights = case.args["Bs"], case.args["B"]
    assert isinstance(scales, TensorSpec) and scales.shape == (12, 56)
    assert isinstance(weights, TensorSpec) and weights.dtype == "float8_e4m3fnuz"
    assert case.options == {"num_warps": 4, "num_stages": 3}
    deep = replace(table.rows[0], settings={**ROW, "BLOCK_SIZE_K": 256})
    with pytest.raises(BadInput) as caught:
        launches_block_gemm(table, deep, tmp_path, "sm_90")
    assert caught.value.error_code == "KB081" and "256 deep" in caught.value.what


@pytest.mark.parametrize(
    ("name", "row", "says"),
    [
        (NAME.replace(",block_shape=[128,128]", ""), ROW, "no block_shape"),
        (NAME.replace("fp8_w8a8", "int8_w8a8"), ROW, "no kernel of vllm is known"),
        (NAME, {**ROW, "SPLIT_K": 4}, "chooses at run time"),
        (NAME, ROW, "no kernel of vllm is known"),
    ],
)
def test_what_can_not_be_told_is_said(tmp_path: Path, name: str, row: dict[str, int], says: str) -> None:
    """No other launch is guessed."""
    table = read({"16": row}, name)
    with pytest.raises(BadInput, match=says) as caught:
        launches_block_gemm(table, table.rows[0], tmp_path, "sm_90")
    assert caught.value.error_code == "KB116"


def test_operations_ask_by_their_operands() -> None:
    """A times B transposed; anything else asks for nothing."""
    assert asks_block_gemm("vllm::w8a8_triton_block_scaled_mm_func", ((3, 512), (64, 512), (3, 4))) == {
        "N": 64, "K": 512, "M": 3,
    }  # fmt: skip
    assert asks_block_gemm("aten::mm", ((3, 512), (64, 512))) is None
    assert asks_block_gemm("w8a8_block_fp8_matmul", ((3, 512),)) is None
