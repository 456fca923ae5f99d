"""Writes kopt_kb/launch/record/move_ptx.py: the judge's own copy, move.cu beside it, made PTX by NVRTC.

python tools/move_ptx.py
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

VERSION = "7.0"
"""ISA that drivers of CUDA 11 and newer compile; nothing in the text is younger."""


MOST_CHARS = 110
"""Of a line: the text has no comments, and white space means nothing in it."""


def ptx_of(source: str) -> str:
    """Return the PTX of the source for sm_75 and newer, without the compiler's comments."""
    from kopt_kb.launch.cuda.nvrtc import compile_cuda

    text = compile_cuda(source, "move.cu", 75, options=["--ptxas-options=-O3"]).ptx
    text = re.sub(r"^\.version .*$", f".version {VERSION}", text, flags=re.MULTILINE)
    lines = [" ".join(line.partition("//")[0].split()) for line in text.splitlines()]
    wrapped = [""]
    for line in lines:
        together = f"{wrapped[-1]} {line}".strip()
        if len(together) > MOST_CHARS or line.startswith("."):
            wrapped.append(line)
        else:
            wrapped[-1] = together
    return "\n".join(filter(None, wrapped)) + "\n"


def main() -> None:
    """Write the module."""
    from kopt_kb.launch.cuda.nvrtc import nvrtc_version

    folder = ROOT / "kopt_kb" / "launch" / "record"
    body = ptx_of((folder / "move.cu").read_text(encoding="utf-8"))
    what = f"PTX of the judge's own copy; written by tools/move_ptx.py from move.cu, NVRTC {nvrtc_version()}."
    head = f'"""{what}"""\n\n'
    text = f'{head}from __future__ import annotations\n\n__all__ = ["PTX"]\n\nPTX = """\\\n{body}"""\n'
    (folder / "move_ptx.py").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
