"""The assembler tools inside the Triton wheel: versions, and SASS from a cubin."""

from __future__ import annotations

import importlib.util
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.sandbox.process import ChildLimits, environment, run

__all__ = ["amdgcn_of", "binary_text", "objdump_version", "sass_of", "tool", "tool_version"]

_ELF = b"\x7fELF"
_EM_CUDA, _EM_AMDGPU = 190, 224
_MACHINE_OFFSET = 18
_RELEASE = re.compile(r"release\s+([\d.]+)(?:,\s*V([\d.]+))?")
_TOOL_LIMIT_S = 60.0


@cache
def tool(name: str) -> Path:
    """Return the path of ptxas, nvdisasm or cuobjdump: Triton's own copy, else the one on PATH.

    Raises:
        MissingTool: Neither exists.
    """
    spec = importlib.util.find_spec("triton")
    if spec and spec.origin:
        inside = Path(spec.origin).parent / "backends" / "nvidia" / "bin" / name
        if inside.is_file():
            return inside
    if found := shutil.which(name):
        return Path(found)
    raise MissingTool(f"{name} not found", where="compile", fix="install kopt-kb[static]", code="KB121")


@cache
def tool_version(name: str) -> str:
    """Return the release of that tool, such as `12.8.93`."""
    text = _ran([str(tool(name)), "--version"])[1]
    found = _RELEASE.search(text)
    return (found[2] or found[1]) if found else text.strip().splitlines()[-1]


def sass_of(cubin: bytes) -> str:
    """Return nvdisasm's listing of a cubin, without data-flow analysis, which costs most of its time.

    Raises:
        BadInput: nvdisasm refuses the file.
    """
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        reason, listing = _ran([str(tool("nvdisasm")), "-c", "-ndf", "-novliw", file.name])
    if reason:
        raise BadInput(f"nvdisasm refuses the cubin: {reason}", where="cubin", code="KB083")
    return listing


def _ran(command: list[str]) -> tuple[str, str]:
    """Return why a tool failed, in one line of at most 200 characters or empty, and what it printed."""
    done = run(command, env=environment(), limits=ChildLimits(_TOOL_LIMIT_S, printed_bytes=0))
    words = (
        f"it took over {_TOOL_LIMIT_S:g} s" if done.passed else " ".join(done.stderr.decode(errors="replace").split())
    )
    failed = words[:200] or f"status {done.code}"
    return failed if done.code else "", done.stdout.decode(errors="replace")


def binary_text(path: Path) -> str:
    """Return the instruction listing of a cubin or hsaco file.

    Raises:
        BadInput: The file is neither.
        MissingTool: An hsaco, and no llvm-objdump is installed (the Triton wheel has none).
    """
    data = path.read_bytes()
    if data[:4] != _ELF:
        raise BadInput(
            "neither a cubin nor an hsaco", where=str(path), fix="give an ELF file of one of them", code="KB083"
        )
    machine = int.from_bytes(data[_MACHINE_OFFSET : _MACHINE_OFFSET + 2], "little")
    if machine == _EM_CUDA:
        return sass_of(data)
    if machine != _EM_AMDGPU:
        raise BadInput(f"ELF file of machine {machine}", where=str(path), fix="give a cubin or an hsaco", code="KB083")
    return _amdgcn(str(path), str(path))


def amdgcn_of(code: bytes) -> str:
    """Return llvm-objdump's listing of an AMD code object; raises like `binary_text`."""
    with tempfile.NamedTemporaryFile(suffix=".hsaco") as file:
        file.write(code)
        file.flush()
        return _amdgcn(file.name, "code object")


def _amdgcn(path: str, where: str) -> str:
    reason, listing = _ran([_objdump(), "-d", "--no-show-raw-insn", path])
    if "target" in reason:
        fix = "put one on PATH that knows its processor, such as ROCm's; kb occupancy FILE needs none"
        raise MissingTool(f"llvm-objdump refuses it: {reason}", where=where, fix=fix, code="KB121")
    if reason:
        raise BadInput(f"llvm-objdump refuses it: {reason}", where=where, code="KB083")
    return listing


@cache
def objdump_version() -> str:
    """Return the LLVM release of llvm-objdump; raises `MissingTool` where there is none."""
    found = re.search(r"LLVM version (\S+)", _ran([_objdump(), "--version"])[1])
    return found[1] if found else "unknown"


def _objdump() -> str:
    candidates = ["llvm-objdump", "/opt/rocm/llvm/bin/llvm-objdump"]
    found = next((path for name in candidates if (path := shutil.which(name))), None)
    if found is None:
        raise MissingTool(
            "llvm-objdump not found",
            where="hsaco",
            fix="install ROCm's LLVM, or give the AMDGCN text of the compiler instead",
            code="KB121",
        )
    return found
