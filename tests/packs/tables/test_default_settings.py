"""An engine's own default, read out of its text."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.tables.default_settings import default_settings
from kopt_kb.packs.tables.moe_launch import Assumed
from kopt_kb.packs.tables.moe_problem import problem_of
from kopt_kb.packs.tables.routing import BALANCED
from tests.packs.tables.simulated import ENGINE
from tests.packs.tables.test_moe_problem import problem

PLACE = "vllm/model_executor/layers/fused_moe/fused_moe.py"


def of(body: str, folder: Path, tokens: int = 8, more: str = "") -> object:
    """What a function with this body gives."""
    path = folder / PLACE
    path.parent.mkdir(parents=True, exist_ok=True)
    head = "def get_default_config(M, E, N, K, topk, dtype, is_marlin=False, block_shape=None):\n"
    path.write_text(head + "\n".join(f"    {line}" for line in body.splitlines()) + "\n")
    return default_settings(problem(more, tokens), folder)


def test_the_stand_in_engines_default() -> None:
    """By tokens, type and block; an AMD target has fewer stages."""
    assert default_settings(problem(), ENGINE) == {
        "BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 64, "GROUP_SIZE_M": 1, "num_warps": 4, "num_stages": 3,
    }  # fmt: skip
    assert default_settings(problem(tokens=9), ENGINE)["BLOCK_SIZE_K"] == 32
    assert default_settings(problem(",dtype=fp8_w8a8,block_shape=[128,128]"), ENGINE)["BLOCK_SIZE_K"] == 128
    amd = problem_of(problem().layer.table, 8, "gfx942", Assumed(256, 2), BALANCED)
    assert default_settings(amd, ENGINE)["num_stages"] == 2


def test_what_such_functions_are_made_of(tmp_path: Path) -> None:
    """Choices, arithmetic, tables, switches that are off."""
    body = """'''Says something.'''
if envs.VLLM_BATCH_INVARIANT or (is_marlin and M <= 32):
    return {}
low = M // E + M % 3 - 1 * 2
sizes = [16, 32, 64]
deep = sizes[1] if not low > 5 and dtype is None and dtype not in ["x"] else 128
if M >= 1 and M != 7 and M < 64 and N == 128 and dtype in [None]:
    config = {"BLOCK_SIZE_M": max(16, next_power_of_2(M)), "BLOCK_SIZE_N": sizes[2], "BLOCK_SIZE_K": deep}
elif M:
    config = {}
else:
    config = {}
return config"""
    assert of(body, tmp_path) == {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 32}
    assert of(body, tmp_path, 26) == {
        "BLOCK_SIZE_M": 32, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 128
    }  # fmt: skip


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("return tuned(M)", "not known here: tuned"),
        ("return {'BLOCK_SIZE_M': 16}", "no block sizes"),
        ("return {'BLOCK_SIZE_M': 'a', 'BLOCK_SIZE_N': 1, 'BLOCK_SIZE_K': 1}", "no block sizes"),
        ("return 3", "returns no table"),
        ("pass", "not known here: pass"),
        ("return {'BLOCK_SIZE_M': M // 0}", "not known here"),
        ("return block_shape[0]", "not known here"),
        ("return -M", "not known here"),
        ("if dtype < 3:\n    return {}", "no number"),
        ("x = unheard_of", "not known here: unheard_of"),
    ],
    ids=[
        "a call",
        "too little",
        "a word",
        "no table",
        "a statement",
        "by zero",
        "no block",
        "a sign",
        "no number",
        "a name",
    ],
)
def test_anything_else_is_refused(tmp_path: Path, body: str, says: str) -> None:
    """With its line; no default is guessed."""
    with pytest.raises(BadInput, match=says):
        of(body, tmp_path)


def test_an_engine_without_the_function(tmp_path: Path) -> None:
    """No file, no function, no Python, an argument that nobody knows."""
    with pytest.raises(BadInput, match="has no get_default_config"):
        default_settings(problem(), tmp_path)
    path = tmp_path / PLACE
    path.parent.mkdir(parents=True)
    for text, says in (("x = 1", "has no get_default"), ("def", "no.*valid Python|valid Python"),
                       ("def get_default_config(M, colour):\n    return {}", "takes colour")):  # fmt: skip
        path.write_text(text)
        with pytest.raises(BadInput, match=says):
            default_settings(problem(), tmp_path)
