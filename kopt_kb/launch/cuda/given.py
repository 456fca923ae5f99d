"""A code object that is given instead of source: NVIDIA's or AMD's as it is, or one out of a fat binary."""

from __future__ import annotations

import tempfile
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.compile.disassemble import tool
from kopt_kb.launch.cuda.cubin import Cubin, CubinKernel, read_cubin
from kopt_kb.launch.record.bounds import MAX_CODE_BYTES, check_code
from kopt_kb.launch.record.code_object import is_code_object, read_code_object
from kopt_kb.sandbox.process import ChildLimits, environment, run

__all__ = ["code_given", "read_given"]

_TOOL_LIMIT_S = 60.0
_FAT = b"\x50\xed\x55\xba"
"""First bytes of a fat binary."""


def code_given(file: Path, target: str) -> bytes:
    """Return the machine code for a target that a file holds.

    Raises:
        BadInput: It is no code object and no fat binary, or holds nothing for the target: PTX alone is none.
        MissingTool: A fat binary, and there is no cuobjdump.
    """
    if not file.is_file():
        raise BadInput("no such file", where=str(file), fix="put it beside the header that names it", code="KB110")
    if file.stat().st_size > MAX_CODE_BYTES:
        raise BadInput(f"more than {MAX_CODE_BYTES} bytes", where=str(file), code="KB455")
    code = file.read_bytes()
    if code[:4] == _FAT:
        return _out_of(file, target)
    try:
        check_code(code, target, str(file))
    except BadInput as error:
        what, fix = f"nothing for {target}: {error.what}", f"give a code object that was built for {target}"
        raise BadInput(what, where=str(file), fix=fix, code="KB455") from None
    return code


def read_given(code: bytes, where: str) -> Cubin:
    """Return what machine code of either vendor says of itself; raises `BadInput` for a file that is none, or cut.

    Of AMD's the stack is a lane's private memory, registers are its architectural ones.
    """
    if not is_code_object(code):
        return read_cubin(code, where)
    said = read_code_object(code, where)
    entries = {
        name: CubinKernel(
            name, one.vgprs, one.scratch_bytes, one.lds_bytes, 1, parameters=one.parameters,
            most_threads=one.most_threads,
        )
        for name, one in said.entries.items()
    }  # fmt: skip
    return Cubin(entries, said.memory, said.imports)


def _out_of(file: Path, target: str) -> bytes:
    command = [str(tool("cuobjdump")), "-xelf", "all", str(file.resolve())]
    with tempfile.TemporaryDirectory() as folder:
        done = run(command, env=environment(), limits=ChildLimits(_TOOL_LIMIT_S, printed_bytes=0), folder=Path(folder))
        objects = sorted(Path(folder).glob("*.cubin"))
        for object_ in reversed(objects):  # what is for one architecture alone comes last
            try:
                code = object_.read_bytes()
                check_code(code, target, str(file))
            except BadInput:
                continue
            return code
        held = ", ".join(sorted({one.name.split(".")[-2] for one in objects})) or "no machine code"
    why = f"; cuobjdump ended with {done.code}" if done.code else ""
    raise BadInput(
        f"holds {held}, nothing for {target}{why}", where=str(file), fix=f"build it for {target}", code="KB455"
    )
