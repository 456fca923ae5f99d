"""Tile kernels to machine code with tileiras, without a GPU: cuTile's own front end, then the assembler of Tile IR.

`cuda.tile` writes Tile IR bytecode; tileiras, ptxas and libnvvm of the same CUDA release make a code object of it and
say which instructions they chose for loads, stores and matrix products. Which targets a release has is asked of it.
"""

from __future__ import annotations

import importlib.util
import io
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.launch.compile.remarks import CompilerRemark
from kopt_kb.launch.compile.request import CompileFailed
from kopt_kb.packs.cutile.compile.remarks import read_remarks
from kopt_kb.packs.cutile.compile.signature import Signature
from kopt_kb.sandbox.process import ChildLimits, environment, run

__all__ = ["INSTALL", "CompiledTile", "Tileiras", "compile_tile", "kernel_place", "tileiras"]

INSTALL = "install kopt-kb[cutile]"
_LIMIT_S = 300.0
_REMARKS_SINCE = (13, 4)
"""Release of tileiras that has `--remarks`: not in 13.2 and 13.3."""

_RELEASE = re.compile(r"release\s+(\d+)\.(\d+)(?:,\s*V([\d.]+))?")
_TARGET = re.compile(r"^\s*=(sm_\d+)\s", re.MULTILINE)
_PLACE = re.compile(r'loc\((?:[^)]*?\[)?"([^"]+)"(?::(\d+):\d+)?\]?\):\s*error:\s*(.*)', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Tileiras:
    """An installed assembler of Tile IR.

    Attributes:
        path: The program.
        version: Such as 13.4.92.
        release: Its first two numbers.
        targets: What it compiles for, such as sm_90.
    """

    path: Path
    version: str
    release: tuple[int, int]
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CompiledTile:
    """What a tile kernel was made to.

    Attributes:
        code: The code object as tileiras wrote it, with its code for the host.
        text: Tile IR as text; empty where tileirdisasm is not installed (before 13.4).
        remarks: What tileiras says of the instructions that it chose.
        opt_level: Optimisation level that it was asked for.
        versions: cuda-tile and tileiras.
    """

    code: bytes
    text: str
    remarks: tuple[CompilerRemark, ...]
    opt_level: int
    versions: Mapping[str, str]


@cache
def tileiras() -> Tileiras:
    """Return the assembler: the package's, else the one on PATH or below CUDA_HOME.

    Raises:
        MissingTool: There is none.
    """
    path = (
        _packaged()
        or shutil.which("tileiras")
        or shutil.which("tileiras", path=f"{os.environ.get('CUDA_HOME', '')}/bin")
    )
    if path is None:
        raise MissingTool("tileiras is not installed", where="cuTile", fix=INSTALL, code="KB120")
    said = _said([str(path), "--version"])
    match = _RELEASE.search(said)
    if match is None:
        raise MissingTool(f"{path} does not say its version", where="cuTile", fix=INSTALL, code="KB120")
    targets = tuple(dict.fromkeys(_TARGET.findall(_said([str(path), "--help-hidden"]))))
    release = int(match[1]), int(match[2])
    return Tileiras(Path(path), match[3] or f"{release[0]}.{release[1]}", release, targets)


def _packaged() -> str | None:
    spec = importlib.util.find_spec("nvidia")
    folders = [Path(one) / "cu13" / "bin" for one in (spec.submodule_search_locations or ())] if spec else []
    return next((found for one in folders if (found := shutil.which("tileiras", path=str(one)))), None)


def _said(command: list[str]) -> str:
    return run(command, env=environment(), limits=ChildLimits(60.0)).stdout.decode(errors="replace")


def compile_tile(kernel: Any, signature: Signature, target: str) -> CompiledTile:
    """Return a kernel's machine code for a signature.

    Args:
        kernel: A `@ct.kernel`.
        signature: What it is compiled for.
        target: Such as sm_90.

    Raises:
        BadInput: The installed tileiras has no such target.
        CompileFailed: The front end or tileiras refuses the kernel; the error names the line.
        MissingTool: tileiras is not installed.
    """
    tool = tileiras()
    where = kernel_place(kernel)
    if target not in tool.targets:
        fix = f"tileiras {tool.version} has {', '.join(tool.targets)}"
        raise BadInput(f"tileiras has no target {target}", where=where, fix=fix, code="KB106")
    level = kernel._compiler_options.opt_level_for_target(target)
    with tempfile.TemporaryDirectory() as folder:
        bytecode = _bytecode(kernel, signature, target, folder)
        code, remarks = _assembled(tool, bytecode, target, level, where)
        text = _text(tool, bytecode)
    versions = {"cuda-tile": metadata.version("cuda-tile"), "tileiras": tool.version}
    return CompiledTile(code, text, remarks, level, versions)


def _bytecode(kernel: Any, signature: Signature, target: str, folder: str) -> Path:
    """Return a file with the kernel's Tile IR."""
    from cuda.tile import TileError
    from cuda.tile._cext import default_tile_context
    from cuda.tile.compilation import CallingConvention, KernelSignature, export_kernel

    default_tile_context.config.temp_dir = folder  # what it probes tileiras with is written there
    convention = CallingConvention.cutile_python_v2() if signature.tuples else CallingConvention.cutile_python_v1()
    held = io.BytesIO()
    try:
        asked = KernelSignature(list(signature.constraints), convention, kernel._annotated_function.pyfunc.__name__)
        export_kernel(kernel, [asked], held, gpu_code=target, output_format="tileir_bytecode")
    except TileError as error:
        place: Any = getattr(error, "loc", None)
        line = f"{place.filename}:{place.line}" if getattr(place, "filename", None) else kernel_place(kernel)
        raise CompileFailed.of("compiler", f"{type(error).__name__}: {_line(error)}", where=line) from error
    except (TypeError, ValueError, NotImplementedError) as error:
        raise CompileFailed.of(
            "compiler", f"{type(error).__name__}: {_line(error)}", where=kernel_place(kernel)
        ) from error
    file = Path(folder) / "kernel.tileirbc"
    file.write_bytes(held.getvalue())
    return file


def _line(error: BaseException) -> str:
    """Return an error's own words in one line, without the picture of the source that cuTile draws."""
    words = " ".join(str(getattr(error, "message", "") or error).split())
    return words.removesuffix("Unknown location").strip()[:400]


def _assembled(
    tool: Tileiras, bytecode: Path, target: str, level: int, where: str
) -> tuple[bytes, tuple[CompilerRemark, ...]]:
    made, said = bytecode.with_suffix(".cubin"), bytecode.with_suffix(".yaml")
    command = [str(tool.path), str(bytecode), "-o", str(made), "--gpu-name", target, f"-O{level}", "--lineinfo"]
    if tool.release >= _REMARKS_SINCE:
        command += ["--remarks=all", "--remark-format=yaml", f"--remarks-output-file={said}"]
    done = run(command, env=environment(), limits=ChildLimits(_LIMIT_S))
    if done.passed:
        raise CompileFailed.of("time_limit", f"tileiras took over {_LIMIT_S:g} s", where=where, fix="smaller tiles")
    if done.code != 0 or not made.is_file():
        raise _refused(done.stderr.decode(errors="replace"), where)
    text = said.read_text(encoding="utf-8", errors="replace") if said.is_file() else ""
    return made.read_bytes(), read_remarks(text)


def _refused(said: str, where: str) -> CompileFailed:
    found = _PLACE.search(said)
    place = f"{found[1]}:{found[2]}" if found and found[2] else where
    words = found[3] if found else said
    what = f"tileiras refuses it: {' '.join(words.split())[:400] or 'without a word'}"
    return CompileFailed.of("compiler", what, where=place, fix="kb cutile causes lists what errors come from")


def _text(tool: Tileiras, bytecode: Path) -> str:
    reader = tool.path.with_name("tileirdisasm")
    if not reader.is_file():
        return ""
    done = run([str(reader), str(bytecode)], env=environment(), limits=ChildLimits(_LIMIT_S))
    return done.stdout.decode(errors="replace") if done.code == 0 else ""


def kernel_place(kernel: Any) -> str:
    """Return file and line of a `@ct.kernel`."""
    code = kernel._annotated_function.pyfunc.__code__
    return f"{code.co_filename}:{code.co_firstlineno}"
