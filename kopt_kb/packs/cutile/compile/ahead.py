"""Tile kernels that were compiled ahead: where tileiras is missing, its work may be at hand in `KOPT_CODE`.

The front end of cuTile is a small wheel, tileiras, ptxas and nvvm are 180 MB. A kernel of the same file, for the same
constraints, constants and hints, by the same cuTile, finds here what they made of it elsewhere.
"""

from __future__ import annotations

import hashlib
import os
from importlib import metadata
from pathlib import Path
from typing import Any

from kopt_kb.base.wire import canonical
from kopt_kb.launch.cuda.ahead import CODE_FOLDER, code_ahead, keep_code
from kopt_kb.packs.cutile.compile.compiler import CompiledTile
from kopt_kb.packs.cutile.compile.plain import Plain, plain_again

__all__ = ["keep_tile", "tile_ahead", "tile_key"]

_TUNED = "\n# kb tuned configurations: begin"
"""What a search leaves at a file's end reaches a kernel as constants and hints, which the key has."""


def tile_key(kernel: Any, asked: str, target: str) -> str:
    """Return what tells a compilation from others.

    Args:
        kernel: A `@ct.kernel`.
        asked: The key of its signature.
        target: Such as sm_90.
    """
    code = kernel._annotated_function.pyfunc.__code__
    text = Path(code.co_filename).read_text(encoding="utf-8").partition(_TUNED)[0].rstrip()
    hints = repr(kernel._compiler_options)
    words = ["cutile", hashlib.sha256(text.encode()).hexdigest(), code.co_name, asked, hints, target]
    return hashlib.sha256(canonical([*words, metadata.version("cuda-tile")])).hexdigest()


def keep_tile(folder: Path, key: str, compiled: CompiledTile, plain: Plain) -> None:
    """Put what was made of a kernel into a folder: as tileiras wrote it, and the ordinary code object."""
    keep_code(folder, key, compiled.code, {**compiled.versions, "opt_level": str(compiled.opt_level)})
    keep_code(folder, f"{key}-plain", plain.code, {"log": plain.log})


def tile_ahead(kernel: Any, asked: str, target: str, where: str) -> tuple[CompiledTile, Plain] | None:
    """Return what was made ahead of a kernel, or None where nothing was.

    Raises:
        BadInput: What lies there is no whole code object.
        CompileFailed: The two code objects have other instructions.
    """
    if not os.environ.get(CODE_FOLDER) or not Path(kernel._annotated_function.pyfunc.__code__.co_filename).is_file():
        return None
    key = tile_key(kernel, asked, target)
    made, ordinary = code_ahead(key), code_ahead(f"{key}-plain")
    if made is None or ordinary is None:
        return None
    code, said = made
    versions = {name: one for name, one in said.items() if name != "opt_level"}
    plain = plain_again(code, ordinary[0], ordinary[1].get("log", ""), where)
    return CompiledTile(code, "", (), int(said.get("opt_level", "3")), versions), plain
