"""The work of launches of Tile IR against what follows from the kernels' shapes."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.analysis.ir.triton.model import IrError
from kopt_kb.analysis.ir.triton.result import KernelCount
from kopt_kb.packs.cutile.source.tile_count import TileArray, count_tile_ir

DATA = Path(__file__).resolve().parents[3] / "data" / "tile_ir"
HEAD = "entry @k(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<i32>) {\n"
VIEW = """  %v = make_tensor_view %arg0, shape = [%arg1], strides = [%arg2] : tile<i32> -> tensor_view<?xf32, strides=[?]>
  %p = make_partition_view %v : partition_view<tile=(16), tensor_view<?xf32, strides=[?]>>
  %x, %y, %z = get_tile_block_id : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
"""
LOAD = "  %t, %k = load_view_tko weak %p[{}] token = %0 : partition_view<tile=(16), tensor_view<?xf32, strides=[?]>>, tile<i32> -> tile<16xf32>, token\n"  # fmt: skip


def _array(*shape: int) -> TileArray:
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * extent)
    return TileArray(shape, tuple(strides))


def _packaged(name: str, grid: tuple[int, ...], *arrays: TileArray) -> KernelCount:
    (found,) = count_tile_ir((DATA / f"{name}.tileir").read_text(), grid, arrays).kernels
    return found


def _small(body: str, blocks: int, extent: int) -> KernelCount:
    text = f"{HEAD}{VIEW}{body}  return\n}}\n"
    (found,) = count_tile_ir(text, (blocks,), [_array(extent)]).kernels
    return found


def test_a_norm_counts_as_its_triton_ir_does() -> None:
    """4N + 1 operations and a root a row, read and written once; the weight is asked for in each block."""
    found = _packaged("rms_norm", (8192,), _array(8192, 4096), _array(4096), _array(8192, 4096))
    (flops,) = found.useful
    assert (flops.dtype, flops.engine, flops.amount.value, flops.amount.exactness) == (
        "fp32", "vector", 8192 * (4 * 4096 + 1), "exact",
    )  # fmt: skip
    assert [(one.function, one.executed.value) for one in found.special] == [("rsqrt", 8192)]
    assert found.read.compulsory.value == 2 * (8192 * 4096 + 4096)
    assert found.read.requested.value == 2 * 2 * 8192 * 4096
    assert found.written.compulsory.value == found.written.requested.value == 2 * 8192 * 4096
    assert found.exactness == "exact"


def test_a_product_with_edges() -> None:
    """Whole tiles are multiplied, what lies within the arrays is moved; useful operations are at most those."""
    rows, columns, depth = 1000, 1032, 520
    found = _packaged("matmul", (16 * 17,), _array(rows, depth), _array(depth, columns), _array(rows, columns))
    (done,), (useful,) = found.executed, found.useful
    assert (done.dtype, done.engine, done.amount.value) == ("bf16", "matrix", 2 * 1024 * 1088 * 544)
    assert useful.amount.exactness == "upper"
    assert found.read.compulsory.value == 2 * (rows * depth + depth * columns)
    assert found.read.requested.value == 2 * (17 * rows * depth + 16 * depth * columns)
    assert found.written.compulsory.value == 2 * rows * columns
    assert "beyond" in found.notes[0].text


def test_loops_end_where_each_block_says() -> None:
    """Causal attention: block i of 128 rows walks 2(i + 1) tiles of 64 keys."""
    found = _packaged("attention", (8, 2), *[_array(1, 2, 1000, 64)] * 4)
    trips = 2 * sum(2 * (block + 1) for block in range(8))
    matrix = next(one for one in found.executed if one.engine == "matrix")
    assert matrix.amount.value == trips * 2 * 2 * 128 * 64 * 64
    assert found.read.compulsory.value == 3 * 2 * 1000 * 64 * 2
    assert next(one for one in found.special if one.function == "exp2").executed.value == trips * (128 * 64 + 128)


def test_branches_and_steps() -> None:
    """One block of two reads behind a branch; a loop over the grid's stride reads each tile once."""
    branch = "  %c = cmpi equal %x, %zero, signed : tile<i32> -> tile<i1>\n  if %c {\n" + LOAD.format("%x") + "  }\n"
    assert _small(branch, 2, 32).read.requested.value == 16 * 4
    walk = (
        "  %gx, %gy, %gz = get_num_tile_blocks : tile<i32>\n  %n = get_index_space_shape %p : x -> tile<i32>\n"
        "  for %i in (%x to %n, step %gx) : tile<i32> {\n" + LOAD.format("%i") + "    continue\n  }\n"
    )
    found = _small(walk, 3, 100)
    assert (found.read.requested.value, found.read.compulsory.value) == (400, 400)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("  loop {\n    break\n  }\n", "depend on data"),
        (LOAD.format("%unknown"), "depends on data"),
        ("  ??\n", "no operation"),
        ("  %r = reduce %x : tile<16xf32> -> tile<f32>\n", "form that is not known"),
        ("  %m = mini %zero : tile<i32>\n", "form that is not known"),
    ],
)
def test_what_is_not_counted_is_said_with_its_line(body: str, words: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(IrError, match=words) as caught:
        _small(body, 1, 16)
    assert caught.value.where.endswith(":7")


def test_pointers_are_bounds_and_arguments_have_to_fit() -> None:
    """Accesses by pointers are at most what they ask for, of addresses that nobody knows."""
    found = _small("  %t, %k = load_ptr_tko weak %q : tile<16xptr<f32>> -> tile<16xf32>, token\n", 2, 32)
    assert (found.read.requested.value, found.read.requested.exactness) == (128, "upper")
    assert found.read.compulsory.exactness == "unknown"
    with pytest.raises(IrError, match="has 3 parameters, the arguments make 2"):
        count_tile_ir(f"{HEAD}  return\n}}\n", (1,), [1, 2])
    for text in ("", f"{HEAD}  return\n", HEAD + HEAD):
        with pytest.raises(IrError):
            count_tile_ir(text, (1,), [_array(4)])
