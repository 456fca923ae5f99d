"""A fused-MoE layer as a problem: shape, constants, work by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.tables.fused_moe import read_fused_moe
from kopt_kb.packs.tables.moe_launch import Assumed
from kopt_kb.packs.tables.moe_problem import MoeProblem, problem_of
from kopt_kb.packs.tables.routing import BALANCED, Routing


def problem(more: str = "", tokens: int = 8, engine: str = "vllm", routing: Routing = BALANCED) -> MoeProblem:
    """A layer of 4 experts, 256 deep and 128 wide, two experts a token."""
    text = b'{"1": {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 64}}'
    table = read_fused_moe(text, Path("/x") / engine / f"E=4,N=128,device_name=NVIDIA_H200{more}.json")
    return problem_of(table, tokens, "sm_90", Assumed(256, 2), routing)


def test_the_work_of_a_layer_by_hand() -> None:
    """16 rows: 6 x 128 x 256 each; all four experts' three matrices of 2-byte weights; rows in and out."""
    found = problem().work()
    assert found.shape == (8, 4, 2, 256, 128)
    assert found.flops_of("bf16", "matrix").value == 16 * 6 * 128 * 256
    assert found.flops_of("fp32", "vector").value == 16 * (5 * 128 + 2 * 256)
    assert found.compulsory_bytes("dram", "read") == 8 * 256 * 2 + 4 * 3 * 128 * 256 * 2 + 16 * 8
    assert found.compulsory_bytes("dram", "write") == 8 * 256 * 2
    assert found.special_functions() == {"exp": 16 * 128}


def test_experts_without_tokens_are_not_read() -> None:
    """One token goes to two experts; with a skew all of eight tokens to the same two."""
    one = problem(tokens=1).work()
    assert one.compulsory_bytes("dram", "read") == 256 * 2 + 2 * 3 * 128 * 256 * 2 + 2 * 8
    skewed = problem(routing=Routing("skew:8", 8.0))
    assert skewed.rows == (8, 8, 0, 0)
    assert skewed.work().compulsory_bytes("dram", "read") == 8 * 256 * 2 + 2 * 3 * 128 * 256 * 2 + 16 * 8


@pytest.mark.parametrize(
    ("more", "scales", "element", "engine_type", "scale_bytes"),
    [
        (",dtype=fp8_w8a8", "tensor", 1, "fp8", 4 * (2 + 2 * 4)),
        (",dtype=fp8_w8a8,block_shape=[128,128]", "block", 1, "fp8", 4 * (8 * 2 + 4 * (2 * 2 + 2 * 1))),
        (",dtype=int8_w8a8", "channel", 1, "int8", 4 * (8 + 4 * (2 * 128 + 256))),
        (",dtype=int8_w8a16", "channel", 1, "bf16", 4 * 4 * (2 * 128 + 256)),
    ],
    ids=["a tensor", "blocks", "channels", "weights alone"],
)
def test_scales_are_bytes_too(more: str, scales: str, element: int, engine_type: str, scale_bytes: int) -> None:
    """Weights of one byte; activations of one or two."""
    found = problem(more)
    work = found.work()
    assert found.scales == scales
    assert work.flops_of(engine_type, "matrix").value == 16 * 6 * 128 * 256
    activation = 2 if engine_type == "bf16" else 1
    assert work.compulsory_bytes("dram", "read") == (
        8 * 256 * activation + 4 * 3 * 128 * 256 * element + 16 * 8 + scale_bytes
    )


def test_what_the_op_file_is_told() -> None:
    """Types, scales, rows of experts, and whether which expert has them is the log's."""
    found = problem(",dtype=fp8_w8a8,block_shape=[128,64]").constants()
    assert (found["element"], found["activation"], found["scales"]) == ("float8_e4m3fn", "float8_e4m3fn", "block")
    assert (found["block"], found["counts"], found["fixed"]) == ((128, 64), (4, 4, 4, 4), False)
    assert problem(routing=Routing("log", counted=(1, 2, 3, 4))).constants()["fixed"] is True


def test_few_tokens_have_tiles_of_their_own_in_vllm() -> None:
    """As its launcher decides: rows times four are no more than the experts there are."""
    few = replace(problem().layer.table, shape={"E": 16, "N": 128})
    given = Assumed(256, 2), BALANCED
    assert [problem_of(few, tokens, "sm_90", *given).naive for tokens in (2, 3)] == [True, False]
    assert not problem_of(replace(few, engine="sglang"), 2, "sm_90", *given).naive


@pytest.mark.parametrize(
    ("more", "engine", "says"), [("_down", "sglang", "second product alone"), ("", "configs", "which engine reads it")]
)
def test_what_is_not_timed(more: str, engine: str, says: str) -> None:
    """Refused with what to give instead."""
    with pytest.raises(BadInput, match=says):
        problem(more, engine=engine)


def test_a_type_that_is_not_known() -> None:
    """No bytes are guessed."""
    found = problem()
    found = replace(found, layer=replace(found.layer, assumed=Assumed(256, 2, "bfloat17")))
    with pytest.raises(BadInput, match="no type that is known"):
        found.work()
