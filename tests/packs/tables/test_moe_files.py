"""Files and settings that a row is recorded from."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.tables.moe_files import planned_launches, write_op_files
from tests.packs.tables.simulated import ENGINE, ROW
from tests.packs.tables.test_moe_problem import problem


def launches(settings: dict[str, Any], **more: Any) -> Any:
    """Both products of a row."""
    return planned_launches(problem(**more), settings, ENGINE)["products"]


def test_the_kernel_is_the_engines_and_the_reference_has_none_of_it(tmp_path: Path) -> None:
    """As published, letter by letter; constants of the problem behind it, a tolerance where 8 bits are in between."""
    made = write_op_files(problem(), ENGINE, tmp_path / "a")
    text = made.kernel.read_text()
    published = (ENGINE / "vllm/model_executor/layers/fused_moe/fused_moe.py").read_text()
    body = published[published.index("@triton.jit") : published.index("\n\n\ndef get_default")]
    assert body in text and "get_default_config" not in text
    reference = made.reference.read_text()
    assert "def fused_moe_kernel" not in reference and "TOLERANCE" not in reference
    told = ast.literal_eval(reference.rpartition("\nPROBLEM = ")[2].strip())
    assert told["counts"] == (4, 4, 4, 4) and told["dtype"] == "bf16"
    scaled = write_op_files(problem(",dtype=fp8_w8a8"), ENGINE, tmp_path / "b")
    assert "TOLERANCE = " in scaled.reference.read_text()


def test_both_products_as_the_launcher_calls_them() -> None:
    """16 rows of 4 experts: at most 16 + 4 x 15 places for tiles 16 high, five columns of tiles and so on."""
    first, second = launches(ROW)
    assert (first["scalars"]["EM"], second["scalars"]["EM"]) == (76, 76)
    assert (first["grid"], second["grid"]) == (5 * 4, 5 * 4)
    assert first["constants"]["compute_type"] == {"triton": "bfloat16"}
    assert first["options"] == {"num_warps": 4, "num_stages": 3}
    assert "sorted_token_ids_ptr" in first["tensors"] and "a_scale_ptr" not in first["tensors"]
    tall = launches({**ROW, "BLOCK_SIZE_M": 64})
    assert [one["scalars"]["EM"] for one in tall] == [268, 268]
    assert [one["scalars"]["EM"] for one in launches({**ROW, "BLOCK_SIZE_M": 64}, tokens=1)] == [128, 128]


def test_rows_with_tiles_of_their_own() -> None:
    """No order of rows is passed, and there is a tile each."""
    few = problem(tokens=2)
    few = replace(few, naive=True)
    first = planned_launches(few, ROW, ENGINE)["products"][0]  # type: ignore[index]
    assert "sorted_token_ids_ptr" not in first["tensors"]  # type: ignore[index]
    assert first["scalars"]["sorted_token_ids_ptr"] is None and first["grid"] == 4 * 4  # type: ignore[index]
    assert first["constants"]["naive_block_assignment"] is True  # type: ignore[index]


def test_what_is_not_recorded(tmp_path: Path) -> None:
    """A tile of a height that tokens are not ordered for; descriptors; an engine without the kernel."""
    with pytest.raises(BadInput, match="BLOCK_SIZE_M is 24"):
        launches({**ROW, "BLOCK_SIZE_M": 24})
    place = tmp_path / "sglang/kernels/ops/moe/fused_moe_triton_kernels.py"
    place.parent.mkdir(parents=True)
    place.write_text("")
    with pytest.raises(BadInput, match="descriptors are not recorded"):
        planned_launches(problem(engine="sglang"), {**ROW, "USE_TMA": True}, tmp_path)
    with pytest.raises(BadInput, match="has no fused_moe_kernel"):
        write_op_files(problem(), tmp_path, tmp_path / "c")
