"""What a row of a fused-MoE table is recorded from: an op file with the engine's kernel as published, and its settings.

The engine's text stands in the op file alone, which a maker runs behind its walls; the reference has none of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import read_input
from kopt_kb.base.wire import JsonMap
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.launch.compile.request import KernelCase
from kopt_kb.packs.tables.kernel_source import standalone
from kopt_kb.packs.tables.moe_launch import launches_fused_moe
from kopt_kb.packs.tables.moe_problem import MoeProblem
from kopt_kb.problem.tuned_table import Setting, TunedRow

__all__ = ["OpFiles", "planned_launches", "write_op_files"]

_TEMPLATE = Path(__file__).with_name("moe_layer.py")
_TILES = (16, 32, 64, 128, 256)
_MOST_BYTES = 1 << 20
_QUANTISED = ("5e-2", "2e-1", "operands of 8 bits, rounded between the products too")


@dataclass(frozen=True, slots=True)
class OpFiles:
    """Files of one problem: `kernel` has the engine's text, `reference` makes inputs and float64 results."""

    kernel: Path
    reference: Path


def write_op_files(problem: MoeProblem, root: Path, folder: Path) -> OpFiles:
    """Write both files of a problem into a folder.

    Args:
        problem: The problem.
        root: Folder that the engine's imports start from.
        folder: Where; it is made.

    Raises:
        BadInput: The engine's kernel can't be taken out of its file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    row = TunedRow("0", dict.fromkeys(("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K"), 16), sizes={"tokens": 1})
    layer = problem.layer
    case = launches_fused_moe(layer.table, row, root, layer.target, layer.assumed)[0]
    text = read_input(_TEMPLATE, _MOST_BYTES).decode()
    told = f"\n\nPROBLEM = {dict(problem.constants())!r}\n"
    if layer.activation == layer.element and problem.scales:
        told += f"TOLERANCE = {_QUANTISED!r}\n"
    kernel, reference = folder / "moe_kernel.py", folder / "moe_reference.py"
    kernel.write_text(text + "\n\n" + standalone(Path(case.file), case.kernel, root) + told, encoding="utf-8")
    reference.write_text(text + told, encoding="utf-8")
    return OpFiles(kernel, reference)


def planned_launches(problem: MoeProblem, settings: Mapping[str, Setting], root: Path) -> JsonMap:
    """Return the configuration that the op file is called with: both products as the engine's launcher calls them.

    Raises:
        BadInput: The settings make the kernel wrong, or a tile's height is none that tokens are ordered for.
    """
    layer = problem.layer
    tile = settings.get("BLOCK_SIZE_M")
    if not isinstance(tile, int) or tile not in _TILES:
        what = f"BLOCK_SIZE_M is {tile}"
        fix = f"tokens are ordered for tiles of {', '.join(map(str, _TILES))} rows"
        raise BadInput(what, where=layer.table.file, fix=fix, code="KB081")
    row = TunedRow(str(problem.tokens), settings, sizes={"tokens": problem.tokens})
    cases = launches_fused_moe(layer.table, row, root, layer.target, layer.assumed)
    return {"tile": tile, "products": [_planned(problem, one, tile, place) for place, one in enumerate(cases)]}


def _planned(problem: MoeProblem, case: KernelCase, tile: int, place: int) -> JsonMap:
    tokens, experts, top_k, *_ = problem.shape
    arguments = case.args if isinstance(case.args, Mapping) else {}
    given = {name: one for name, one in arguments.items() if not isinstance(one, TensorSpec)}
    tensors = [name for name, one in arguments.items() if isinstance(one, TensorSpec)]
    if any(name.endswith("_desc") for name in tensors):
        what = "asks for tensor memory access, whose descriptors are not recorded here"
        raise BadInput(what, where=problem.layer.table.file, fix="leave USE_TMA out", code="KB081")
    constants = dict(case.constexprs)
    places = _places(tokens * top_k, experts, tile)
    rows = tokens * top_k if place else tokens
    if rows < tile:
        places = min(places, tokens * top_k * tile)
    if problem.naive:
        tensors.remove("sorted_token_ids_ptr")
        given["sorted_token_ids_ptr"] = None
        constants["naive_block_assignment"] = True
        places = tokens * top_k * tile
    given["EM"] = places
    columns, block_n = given["N"], constants["BLOCK_SIZE_N"]
    assert isinstance(columns, int)  # noqa: S101 - the launch says it
    assert isinstance(block_n, int)  # noqa: S101 - the form refuses any other
    constants["compute_type"] = {"triton": problem.layer.assumed.dtype}
    return {
        "tensors": tensors, "scalars": given, "constants": constants, "options": dict(case.options),
        "grid": -(-places // tile) * -(-columns // block_n),
    }  # fmt: skip


def _places(rows: int, experts: int, tile: int) -> int:
    """Return how many places rows take at most that are filled up to whole tiles, as the engines allocate them."""
    most = rows + experts * (tile - 1)
    return min(rows * tile, most) if rows < experts else most
