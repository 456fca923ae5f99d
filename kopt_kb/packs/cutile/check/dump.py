"""Tile IR, machine code and remarks of a file's kernels, made by a compile worker and written side by side."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire
from kopt_kb.launch.compile.pool import CompilePool
from kopt_kb.launch.compile.remarks import CompilerRemark
from kopt_kb.launch.compile.request import CompileRequest, OpCase
from kopt_kb.packs.cutile.compile import DIALECT

__all__ = ["DumpedKernel", "DumpedTiles", "dump_tiles", "operations_of", "written"]

_OPERATION = re.compile(r"^\s*(?:%[\w:, %]+ = )?([a-z_]\w*)\b", re.MULTILINE)
_SHOWN = ("mmaf", "mmai", "load_view_tko", "store_view_tko", "load_ptr_tko", "store_ptr_tko", "atomic_rmw_tko",
          "reduce", "scan", "exp", "exp2", "for", "make_token", "join_tokens")  # fmt: skip
"""Operations that say where time goes: products, accesses, reductions, loops, and tokens that order accesses."""


@dataclass(frozen=True, slots=True)
class DumpedKernel(Wire):
    """One kernel: its Tile IR, how often each telling operation stands in it, remarks, SASS and code object."""

    name: str
    tile_ir: str
    operations: Mapping[str, int]
    remarks: tuple[CompilerRemark, ...]
    sass: str
    code: bytes

    WIRE: ClassVar = ("name", "tile_ir", "operations", "remarks")


@dataclass(frozen=True, slots=True)
class DumpedTiles(Wire):
    """The kernels that a file launches for a shape."""

    file: str
    target: str
    kernels: tuple[DumpedKernel, ...]


def dump_tiles(file: str, shape: tuple[int, ...], dtype: str, target: str, facts: Mapping[str, int]) -> DumpedTiles:
    """Return what tileiras makes of the kernels that a file launches.

    Raises:
        BadInput: The file launches no tile kernel.
        CompileFailed: A kernel does not compile.
        MissingTool: cuTile or tileiras is not installed.
    """
    with CompilePool() as pool:
        made = pool.compile(CompileRequest(OpCase(file, shape, dtype), target, facts=facts))
    tiles = [one for one in made if one.dialects.get(DIALECT) or "cuda-tile" in one.versions]
    if not tiles:
        fix = "kb compile takes kernels of other languages"
        raise BadInput("the file launches no tile kernel", where=file, fix=fix, code="KB116")
    kernels = []
    for tile in tiles:
        text = tile.dialects.get(DIALECT, "")
        kernels.append(DumpedKernel(tile.name, text, operations_of(text), tile.remarks, tile.assembly, tile.binary))
    return DumpedTiles(file, target, tuple(kernels))


def operations_of(text: str) -> dict[str, int]:
    """Return how often each telling operation stands in Tile IR."""
    counted = Counter(_OPERATION.findall(text))
    return {name: counted[name] for name in _SHOWN if counted[name]}


def written(tiles: DumpedTiles, folder: Path) -> list[Path]:
    """Write what was made, and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, one in enumerate(tiles.kernels):
        name = re.sub(r"[^\w.-]", "_", one.name)[:80]
        said = [f"{each.file}:{each.line}: {each.what}: {each.instruction} {each.shape}" for each in one.remarks]
        contents = {"tileir": one.tile_ir.encode(), "sass": one.sass.encode(), "cubin": one.code,
                    "remarks": "\n".join([*said, ""]).encode()}  # fmt: skip
        for suffix, content in contents.items():
            path = folder / f"{number}.{name}.{tiles.target}.{suffix}"
            path.write_bytes(content)
            paths.append(path)
    return paths
