"""A code object that is given instead of source: a cubin as it is, or the one for a target out of a fat binary."""

from __future__ import annotations

import tempfile
from pathlib import Path

from kopt_kb.errors import BadInput
from kopt_kb.kernels.compile.disassemble import tool
from kopt_kb.kernels.record.bounds import MAX_CODE_BYTES, check_code
from kopt_kb.process import Limits, environment, run

__all__ = ["code_given"]

_TOOL_LIMIT_S = 60.0
_FAT = b"\x50\xed\x55\xba"
"""First bytes of a fat binary."""


def code_given(file: Path, target: str) -> bytes:
    """Return the machine code for a target that a file holds.

    Raises:
        BadInput: It is no cubin and no fat binary, or holds nothing for the target: PTX alone is none.
        MissingTool: A fat binary, and there is no cuobjdump.
    """
    if not file.is_file():
        raise BadInput("no such file", where=str(file), fix="put it beside the header that names it", code="KB110")
    if file.stat().st_size > MAX_CODE_BYTES:
        raise BadInput(f"more than {MAX_CODE_BYTES} bytes", where=str(file), code="KB455")
    code = file.read_bytes()
    if code[:4] == _FAT:
        return _out_of(file, target)
    check_code(code, target, str(file))
    return code


def _out_of(file: Path, target: str) -> bytes:
    command = [str(tool("cuobjdump")), "-xelf", "all", str(file.resolve())]
    with tempfile.TemporaryDirectory() as folder:
        done = run(command, env=environment(), limits=Limits(_TOOL_LIMIT_S, printed_bytes=0), folder=Path(folder))
        objects = sorted(Path(folder).glob("*.cubin"))
        for one in reversed(objects):  # what is for one architecture alone comes last
            try:
                code = one.read_bytes()
                check_code(code, target, str(file))
            except BadInput:
                continue
            return code
        held = ", ".join(sorted({one.name.split(".")[-2] for one in objects})) or "no machine code"
    why = f"; cuobjdump ended with {done.code}" if done.code else ""
    raise BadInput(
        f"holds {held}, nothing for {target}{why}", where=str(file), fix=f"build it for {target}", code="KB455"
    )
