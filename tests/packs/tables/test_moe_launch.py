"""What a row of a fused-MoE table launches."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.launch.compile.request import KernelCase
from kopt_kb.packs.tables.fused_moe import read_fused_moe
from kopt_kb.packs.tables.moe_launch import launches_fused_moe, unread_fused_moe
from kopt_kb.problem.tuned_table import TunedTable

ROW = {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 128, "GROUP_SIZE_M": 1, "num_warps": 4, "num_stages": 3}
SGLANG = Path("sglang/kernels/ops/moe/fused_moe_triton_kernels.py")


def table(more: str = "", engine: str = "vllm", **settings: object) -> TunedTable:
    """A table with one row for 64 tokens; 200 wide, which 128 does not divide."""
    name = f"E=8,N=200,device_name=NVIDIA_H200{more}.json"
    return read_fused_moe(json.dumps({"64": {**ROW, **settings}}).encode(), Path("/x") / engine / name)


def launches(one: TunedTable, root: Path, target: str = "sm_90") -> tuple[KernelCase, ...]:
    """The launches of its row."""
    return launches_fused_moe(one, one.rows[0], root, target)


def argument(case: KernelCase, name: str) -> object:
    """A run-time argument by name."""
    assert isinstance(case.args, Mapping)
    return case.args[name]


@pytest.fixture
def sglang(tmp_path: Path) -> Path:
    """A folder in which SGLang's kernel has its place."""
    (tmp_path / SGLANG).parent.mkdir(parents=True)
    (tmp_path / SGLANG).write_text("")
    return tmp_path


def test_a_layer_has_two_products(engine: Path) -> None:
    """Gate and up side by side, then down, whose depth the name says; weights of experts come in the second."""
    first, second = launches(table(), engine)
    assert [argument(one, "N") for one in (first, second)] == [400, 4096]
    assert [argument(one, "K") for one in (first, second)] == [4096, 200]
    assert [one.constexprs["MUL_ROUTED_WEIGHT"] for one in (first, second)] == [False, True]
    assert [one.constexprs["top_k"] for one in (first, second)] == [8, 1]
    assert [one.constexprs["even_Ks"] for one in (first, second)] == [True, False]
    assert first.options == {"num_warps": 4, "num_stages": 3}
    weights = argument(first, "b_ptr")
    assert isinstance(weights, TensorSpec) and (weights.shape, weights.dtype) == ((8, 400, 4096), "bfloat16")
    assert argument(first, "b_scale_ptr") is None


def test_a_table_of_the_second_product_launches_that_alone(sglang: Path) -> None:
    """Its name says so."""
    (only,) = launches(table("_down", "sglang"), sglang)
    assert only.constexprs["MUL_ROUTED_WEIGHT"] is True


@pytest.mark.parametrize(
    ("more", "target", "element", "strides"),
    [
        (",dtype=fp8_w8a8", "sm_90", "float8_e4m3fn", (0, 0, 1, 0, 0)),
        (",dtype=fp8_w8a8", "gfx942", "float8_e4m3fnuz", (0, 0, 1, 0, 0)),
        (",dtype=fp8_w8a8,block_shape=[128,128]", "gfx950", "float8_e4m3fn", (32, 1, 128, 1, 32)),
        (",dtype=fp8_w8a8,per_channel_quant=True", "sm_90", "float8_e4m3fn", (1, 1, 400, 0, 1)),
        (",dtype=int8_w8a8", "sm_80", "int8", (1, 1, 400, 0, 1)),
        (",dtype=int8_w8a16", "sm_80", "int8", (0, 0, 400, 0, 1)),
    ],
)
def test_scales_are_passed_as_the_type_says(
    engine: Path, more: str, target: str, element: str, strides: tuple[int, ...]
) -> None:
    """A block, a channel or a tensor shares one."""
    first, _ = launches(table(more), engine, target)
    weights, activations = argument(first, "b_ptr"), argument(first, "a_ptr")
    assert isinstance(weights, TensorSpec) and weights.dtype == element
    assert isinstance(activations, TensorSpec)
    assert (activations.dtype == "bfloat16") == ("w8a16" in more)
    names = ("stride_asm", "stride_ask", "stride_bse", "stride_bsk", "stride_bsn")
    assert tuple(argument(first, name) for name in names) == strides


@pytest.mark.parametrize(
    ("target", "block_n", "expected"), [("sm_90", 64, True), ("sm_90", 32, False), ("sm_80", 64, False)]
)
def test_a_narrow_tile_is_swapped_on_hopper(engine: Path, target: str, block_n: int, expected: bool) -> None:
    """For 8-bit floating point alone."""
    first, _ = launches(table(",dtype=fp8_w8a8", BLOCK_SIZE_N=block_n), engine, target)
    assert first.constexprs["SWAP_AB"] is expected
    assert launches(table(BLOCK_SIZE_N=block_n), engine, target)[0].constexprs["SWAP_AB"] is False


def test_a_tile_deeper_than_a_block_of_scales(engine: Path, sglang: Path) -> None:
    """One launcher makes it less deep, with the other engine the kernel reads a wrong scale."""
    blocks = ",dtype=fp8_w8a8,block_shape=[128,64]"
    assert launches(table(blocks), engine)[0].constexprs["BLOCK_SIZE_K"] == 64
    with pytest.raises(BadInput, match="128 deep") as caught:
        launches(table(blocks, "sglang"), sglang)
    assert caught.value.error_code == "KB081"


def test_descriptors_and_early_launches_are_passed_where_the_engine_does(sglang: Path) -> None:
    """From Hopper on; no constant of that name reaches the kernel."""
    blocks = ",dtype=fp8_w8a8,block_shape=[128, 128]_down"
    (case,) = launches(table(blocks, "sglang", USE_TMA=True), sglang)
    weights, activations = argument(case, "b_desc"), argument(case, "a_desc")
    assert isinstance(weights, TensorSpec) and weights.block_shape == (1, 64, 128)
    assert isinstance(activations, TensorSpec) and activations.block_shape == (16, 128)
    assert case.constexprs["c_sorted"] is True and case.constexprs["GDC_EARLY"] is True
    assert case.options["launch_pdl"] is True and "USE_TMA" not in case.constexprs
    (older,) = launches(table(blocks, "sglang", USE_TMA=True), sglang, "sm_80")
    assert argument(older, "b_desc") is None and "launch_pdl" not in older.options
    up, _ = launches(table("", "sglang", USE_TMA=True), sglang)
    assert argument(up, "a_desc") is None and argument(up, "b_desc") is not None


@pytest.mark.parametrize(
    ("one", "says"),
    [
        (",dtype=int4_w4a16", "how many weights share a scale"),
        (",dtype=float8", "no type whose arguments are known"),
        (",dtype=int4_w4a16,backend=flydsl", "no Triton kernel"),
        ("", "has no fused_moe_kernel"),
    ],
)
def test_what_can_not_be_told_is_said(tmp_path: Path, one: str, says: str) -> None:
    """Nothing is guessed."""
    settings: dict[str, object] = {"tile_m": 1, "tile_n": 1, "tile_k": 1} if "flydsl" in one else {}
    with pytest.raises(BadInput, match=says):
        launches(table(one, "vllm", **settings), tmp_path)


@pytest.mark.parametrize(
    ("more", "name", "says"),
    [
        (",dtype=float8", "vllm", "no type that _get_config_dtype_str of vllm returns"),
        (",dtype=fp8_w8a8,block_shape=[128, 128]", "vllm", "vllm writes block_shape=[128,128]"),
        (",dtype=fp8_w8a8,block_shape=[128,128]", "sglang", "sglang writes block_shape=[128, 128]"),
        ("_down", "vllm", "second product alone"),
        (",dtype=int4_w4a16,backend=flydsl", "vllm", ""),
        (",dtype=fp8_w8a8,block_shape=[128,128]", "vllm", ""),
        ("", "vllm", ""),
    ],
)
def test_a_name_that_is_never_asked_for(engine: Path, more: str, name: str, says: str) -> None:
    """By the words that the engine's own code returns, and how it writes a block."""
    settings: dict[str, object] = {"tile_m": 1, "tile_n": 1, "tile_k": 1} if "flydsl" in more else {}
    found = unread_fused_moe(table(more, name, **settings), engine)
    assert (says in found) if says else (found == "")
