"""The code object of a tile kernel made an ordinary one: every parameter declared, no code for the host in it.

A code object of tileiras brings x86 code along (`.nv.host`), which the driver runs in the process that launches, when
the module is loaded and when arguments change: it fills tensor maps, parameters that the kernel hides. A judge runs
nobody's code but on the device. tileiras keeps the PTX that it gave ptxas (`.nv_debug_ptx_txt`); the same ptxas with
the same options makes the same instructions of it when the hidden parameters are declared and the language is not said
to be Tile IR. That they are the same, byte for byte, is looked at each time.
"""

from __future__ import annotations

import re
import struct
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.compile.request import CompileFailed
from kopt_kb.launch.cuda.cubin import CubinKernel, host_sections, read_cubin, sections
from kopt_kb.sandbox.process import ChildLimits, environment, run

__all__ = ["TENSOR_MAP_BYTES", "Plain", "host_code", "plain_again", "plain_code", "plain_text"]

TENSOR_MAP_BYTES = 128
_PTX, _TEXT = ".nv_debug_ptx_txt", ".text."
_SOURCE = ".nv_intermediate_source_section"
"""Behind it the PTX holds Tile IR, for debuggers; ptxas wants a table of files for that."""

_HIDDEN = re.compile(r"\.hidden\s+(\.param\s[^\n]*)")
_LANGUAGE = re.compile(r"^\.language[^\n]*$", re.MULTILINE)
_LAUNCH_DATA = re.compile(r"^\.visible \.global [^\n]*___NV_TILE_LAUNCH_META_DATA___[^\n]*$", re.MULTILINE)
_TARGET = re.compile(r"^\.target\s+(\w+)", re.MULTILINE)
_TENSOR_MAP = re.compile(rf"\.param \.align 64 \.b8 \w+\[{TENSOR_MAP_BYTES}\]")
_OPTIONS = ("--opt-level", "3", "--enable-extended-smem=true", "-uumn", "-v")
"""What tileiras 13.4 gives ptxas, and the report of registers and spills."""

_LIMIT_S = 300.0


@dataclass(frozen=True, slots=True)
class Plain:
    """An ordinary code object.

    Attributes:
        code: Its bytes.
        entry: Its kernel.
        declared: How many parameters the kernel's source has; tensor maps follow.
        log: What ptxas says of registers, shared memory and spills.
    """

    code: bytes
    entry: CubinKernel
    declared: int
    log: str


def plain_code(code: bytes, ptxas: Path, where: str) -> Plain:
    """Return the ordinary code object of a tile kernel's.

    Args:
        code: What tileiras wrote.
        ptxas: Of the same release.
        where: What errors name.

    Raises:
        BadInput: It has no PTX, not exactly one kernel, or hidden parameters that are no tensor maps.
        CompileFailed: ptxas refuses the PTX, or makes other instructions of it.
    """
    made, _ = plain_text(_ptx(code, where), where)
    new, log = _assembled(made, ptxas, where)
    return plain_again(code, new, log, where)


def plain_again(code: bytes, made: bytes, log: str, where: str) -> Plain:
    """Return an ordinary code object that was made before, held against what tileiras wrote.

    Args:
        code: What tileiras wrote.
        made: The ordinary code object.
        log: What ptxas said of it.
        where: What errors name.

    Raises:
        BadInput: One of them is no whole code object, or not of exactly one kernel.
        CompileFailed: They have other instructions.
    """
    _, hidden = plain_text(_ptx(code, where), where)
    if _instructions(made, where) != _instructions(code, where):
        fix = "install ptxas, tileiras and nvvm of one release"
        raise CompileFailed.of("compiler", "ptxas makes other instructions than tileiras did", where=where, fix=fix)
    entries = list(read_cubin(made, where).entries.values())
    if len(entries) != 1:
        raise BadInput(f"{len(entries)} kernels in one code object of Tile IR", where=where, code="KB083")
    return Plain(made, entries[0], len(entries[0].parameters) - hidden, log)


def _ptx(code: bytes, where: str) -> str:
    try:
        text = b"".join(code[one.offset :][: one.size] for one in sections(code) if one.name == _PTX)
    except (ValueError, IndexError, struct.error, UnicodeDecodeError) as error:
        raise _damaged(where) from error
    return text.replace(b"\0", b"\n").decode(errors="replace")


def _damaged(where: str) -> BadInput:
    return BadInput("no whole code object", where=where, fix="compile it again", code="KB083")


def host_code(code: bytes) -> bytes:
    """Return the code for the host that a code object brings along; empty where it has none."""
    found = host_sections(code)
    return code[found[0].offset : found[0].offset + found[0].size] if found else b""


def plain_text(ptx: str, where: str) -> tuple[str, int]:
    """Return the PTX of an ordinary kernel, and how many parameters were hidden before.

    Raises:
        BadInput: There is none, or a hidden parameter is no tensor map.
    """
    kept = ptx.partition(_SOURCE)[0]
    hidden = _HIDDEN.findall(kept)
    strange = [one for one in hidden if not _TENSOR_MAP.match(one)]
    if not _TARGET.search(kept) or strange:
        what = (
            f"a hidden parameter that is no tensor map: {strange[0].strip()}"
            if strange
            else "no PTX in the code object"
        )
        fix = "this version of tileiras writes code objects in a way that is not known here"
        raise BadInput(what, where=where, fix=fix, code="KB083")
    made = _LAUNCH_DATA.sub("", _LANGUAGE.sub("", _HIDDEN.sub(r"\1", kept)))
    return made, len(hidden)


def _instructions(code: bytes, where: str) -> dict[str, bytes]:
    try:
        return {one.name: code[one.offset :][: one.size] for one in sections(code) if one.name.startswith(_TEXT)}
    except (ValueError, IndexError, struct.error, UnicodeDecodeError) as error:
        raise _damaged(where) from error


def _assembled(text: str, ptxas: Path, where: str) -> tuple[bytes, str]:
    target = _TARGET.search(text)
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder) / "kernel.ptx", Path(folder) / "kernel.cubin"
        source.write_text(text)
        command = [str(ptxas), "-arch", target[1] if target else "", str(source), "-o", str(made), *_OPTIONS]
        done = run(command, env=environment(), limits=ChildLimits(_LIMIT_S))
        said = done.stderr.decode(errors="replace")
        if done.code != 0 or not made.is_file():
            words = " ".join(said.split())[:300] or f"status {done.code}"
            raise CompileFailed.of("compiler", f"ptxas refuses the PTX of tileiras: {words}", where=where)
        return made.read_bytes(), said
