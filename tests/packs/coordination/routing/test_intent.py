"""What requests ask for, by their words."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.coordination.routing.intent import read_intent


@pytest.mark.parametrize(
    ("text", "category", "has_kernel", "op"),
    [
        ("Generate TileIR kernel", "tileir", False, ""),
        ("run it with ENABLE_TILE=1", "tileir", None, ""),
        ("use nvtriton for softmax", "tileir", None, "softmax"),
        ("Convert Triton kernel to TileIR", "tileir", True, ""),
        ("Convert my CuTe DSL kernel to TileIR", "tileir", False, ""),
        ("Add TileIR configs to fused_gelu.py for Blackwell", "tileir", True, ""),
        ("Generate CuTe DSL kernel for the SiLU-mul element-wise op", "cute_dsl", False, "swiglu"),
        ("a CuTe DSL GEMM, not TileIR", "cute_dsl", None, "gemm"),
        ("tune this cuTile kernel", "cutile", None, ""),
        ("Write a Triton kernel", "triton", False, ""),
        ("Triton fusion", "triton", None, ""),
        ("Write a Triton kernel for softmax fused with dropout", "triton", False, ""),
        ("Apply CUDA Graph to my model", "cuda_graph", None, ""),
        ("less time between steps by cudaGraphLaunch", "cuda_graph", None, ""),
        ("Enable FlashAttention", "kernel", None, "attention"),
        ("kernel fusion", "kernel", None, ""),
        ("why is this so slow", "profiling", None, ""),
        ("Comm overlap for DDP", "distributed", None, ""),
        ("FSDP configuration", "parallelism", None, ""),
        ("a rms_norm in HIP", "other_language", None, "rms_norm"),
        ("good morning", None, None, ""),
    ],
)  # fmt: skip
def test_the_words_of_a_request(text: str, category: str | None, has_kernel: bool | None, op: str) -> None:
    """Each row of the playbook's table, and what was confused before: TileIR is Triton, CuTe DSL is not, cuTile neither."""
    found = read_intent(text)
    assert (found.category, found.has_kernel, found.op) == (category, has_kernel, op)


@pytest.mark.parametrize("text", ["", "  \n", "a CuTe DSL and TileIR kernel", "in Triton or in HIP"])
def test_two_languages_are_asked_back(text: str) -> None:
    """Nobody guesses which of two was meant."""
    with pytest.raises(BadInput):
        read_intent(text)
