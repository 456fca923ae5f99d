"""What recipes say of the naive kernels, and what a text computes under the emulator."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import torch

from kopt_kb.packs.cutile.source.answer import Situation
from kopt_kb.packs.cutile.source.recipes import RecipeWord, recipe_words
from kopt_kb.packs.cutile.source.source import read_cutile
from tests.cutile_emulator import install

NAIVE = (Path(__file__).parent / "naive_kernels.py").read_text()


def words(text: str, situation: Situation | None = None) -> dict[str, RecipeWord]:
    return {one.recipe: one for one in recipe_words(read_cutile(text), situation or Situation(target="sm_90"))}


def run(text: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Results of both launchers of a text, under the emulator."""
    draw = torch.Generator().manual_seed(1)
    x, w, a, b = (torch.randn(*size, generator=draw) for size in ((5, 13), (13,), (37, 21), (21, 43)))
    with install():
        module = ModuleType("given")
        exec(compile(text, "given", "exec"), vars(module))
        rows, product = vars(module)["launch_rows"](x, w), vars(module)["launch_product"](a, b)
    assert isinstance(rows, torch.Tensor) and isinstance(product, torch.Tensor)
    return rows, product
