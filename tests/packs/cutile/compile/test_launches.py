"""A launcher of tile kernels becomes a record that any judge can replay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.launch.cuda.cubin import host_sections
from kopt_kb.launch.record.bounds import check_record
from kopt_kb.launch.record.maker import answer
from kopt_kb.launch.record.model import Launch, TensorMapArg
from kopt_kb.launch.record.request import CallRequest, MakerRequest, OpRequest, TensorArgument


def _request(file: Path, folder: Path) -> MakerRequest:
    return MakerRequest(OpRequest(str(file), (128, 192, 64), "fp16"), "sm_90", "sm_90", {}, str(folder), statics=True)


def test_a_matrix_product(tile_file: Path, tmp_path: Path) -> None:
    """One launch, 18 parameters; the code object runs nothing on the host."""
    made = answer(_request(tile_file, tmp_path)).record
    assert made is not None
    assert not made.not_replayable
    check_record(made, "record")
    (step,) = made.steps
    assert isinstance(step, Launch)
    assert (step.entry, step.grid, step.cluster, len(step.arguments)) == ("product", (2, 3, 1), (1, 1, 1), 18)
    maps = [one for one in step.arguments if isinstance(one, TensorMapArg)]
    assert [(one.name, one.view.buffer, one.view.shape) for one in maps] == [
        ("x.map", "x", (128, 64)),
        ("y.map", "y", (64, 192)),
        ("out.map", "out", (128, 192)),
    ]
    assert host_sections((tmp_path / step.code).read_bytes()) == []
    assert set(made.versions) == {"cuda-tile", "tileiras"}
    assert (tmp_path / "static.json").is_file()


def test_what_does_not_fit_or_compile(tile_file: Path, tmp_path: Path) -> None:
    """Shared memory beyond the device's, tiles that are no powers of two, a target that there is not."""
    small = replace(_request(tile_file, tmp_path), facts={"shared_memory_per_block_optin": 1000})
    refusal = answer(small).refusal
    assert refusal is not None
    assert "a block may use 1000 B" in refusal.what
    odd = replace(small, facts={}, what=OpRequest(str(tile_file), (128, 192, 64), "fp16", {"ROWS": 48}))
    refusal = answer(odd).refusal
    assert refusal is not None
    assert refusal.code == "KB070"
    assert "tile_kernels.py:" in refusal.where
    refusal = answer(replace(small, facts={}, target="sm_75")).refusal
    assert refusal is not None
    assert "no target sm_75" in refusal.what


SEARCHED = """
import cuda.tile as ct
import torch
from cuda.tile.tune import exhaustive_search


@ct.kernel
def twice(x, out, size: ct.Constant[int]):
    at = ct.bid(0)
    ct.store(out, index=(at,), tile=ct.load(x, index=(at,), shape=(size,)) * 2)


def double(x):
    out = torch.empty_like(x)
    stream = torch.cuda.current_stream()
    found = exhaustive_search(
        [{"size": 100}, {"size": 256}, {"size": 512}], stream, lambda c: (ct.cdiv(x.numel(), c["size"]),), twice,
        lambda c: (x, out.clone(), c["size"]), lambda c: {"occupancy": 2},
    )
    size = found.best.config["size"]
    ct.launch(stream, (ct.cdiv(x.numel(), size),), twice.replace_hints(occupancy=2), (x, out, size))
    return out
"""


AUTOTUNED = (
    SEARCHED.partition("    found = exhaustive_search(")[0].replace(
        "from cuda.tile.tune import exhaustive_search", "from cuda.tile_experimental import autotune_launch"
    )
    + """    found = autotune_launch(
        stream, grid_fn=lambda c: (ct.cdiv(x.numel(), c["size"]),), kernel=twice,
        args_fn=lambda c: (x, out.clone(), c["size"]), launch_args_fn=lambda c: (x, out, c["size"]),
        hints_fn=lambda c: {"occupancy": 2}, search_space=lambda: ({"size": one} for one in (100, 256, 512)),
    )
    assert found.tuned_config["size"] in (256, 512)
    return out
"""
)


@pytest.mark.parametrize("text", [SEARCHED, AUTOTUNED], ids=["search", "launch"])
@pytest.mark.parametrize(("number", "blocks"), [(0, 16), (2, 8)])
def test_a_search_takes_the_first_that_compiles(
    tile_file: Path, tmp_path: Path, number: int, blocks: int, text: str
) -> None:
    """Its own launches and clones are no steps of the launcher."""
    file = tmp_path / "searched.py"
    file.write_text(text)
    call = CallRequest(f"{file}:double", {"x": TensorArgument((4096,), "fp32")})
    made = answer(MakerRequest(call, "sm_90", "sm_90", {}, str(tmp_path), autotune=number)).record
    assert made is not None
    (step,) = made.steps
    assert isinstance(step, Launch)
    assert step.grid == (blocks, 1, 1)
