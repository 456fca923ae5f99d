"""Kernel files for tests: honest ones, and those that make another kernel of what their text says."""

from __future__ import annotations

_HEAD = """
import os
import torch
import triton
import triton.language as tl
"""
_KERNEL = """
@triton.jit
def scaled(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, {value}, mask=at < count)
"""
_LAUNCHER = """
OP = "elementwise"

def make_inputs(shape, dtype, device="cuda", seed=0):
    return tuple(torch.zeros(shape, dtype=torch.bfloat16, device=device) for _ in range(2))

def reference(x, y):
    return x.double() + y.double()

def launch(x, y):
    out = torch.empty_like(x)
    {name}[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), 128)
    return out
"""
_LOAD = "tl.load(x_ptr + at, mask=at < count)"


def source(value: str = _LOAD, *, head: str = "", tail: str = "", decorator: str = "", name: str = "scaled") -> str:
    """Return a kernel file whose kernel stores a value."""
    kernel = _KERNEL.format(value=value)
    return "\n".join([_HEAD, head, f"{decorator}{kernel}" if decorator else kernel, tail, _LAUNCHER.format(name=name)])


HONEST = {
    "plain": source(),
    "constants": source(f"{_LOAD} * SCALE", head="BASE = 4.0\nSCALE = tl.constexpr(BASE / 2 if BASE > 1 else BASE)"),
    "environment": source(
        f"{_LOAD} * SCALE",
        head='if os.environ.get("FAST_MATH", "0") == "1":\n    SCALE = tl.constexpr(2.0)\n'
        "else:\n    SCALE = tl.constexpr(3.0)",
    ),
    "helpers": source(
        f"doubled({_LOAD})",
        head="try:\n    from absent_helpers import doubled\nexcept ImportError:\n    from helpers import doubled",
    ),
    "a decorator that is left out": source(decorator="@(lambda kernel: kernel)"),
    "a choice of the compiler's functions": source(
        f"root({_LOAD}.to(tl.float32))",
        head="if torch.__version__ > '1':\n    from triton.language.extra.libdevice import rsqrt as root\n"
        "else:\n    from triton.language import sqrt as root",
    ),
}
"""Name → a file that is what it says."""

HELPERS = {
    "helpers.py": "from further import *\n",
    "further.py": "import triton\nimport triton.language as tl\n\nFACTOR = tl.constexpr(2.0)\n\n"
    "@triton.jit\ndef doubled(x):\n    return x * FACTOR\n",
}
"""Files beside it: a re-export with a star, and what it exports."""

_OTHER = (
    "\n@triton.jit\ndef other(x_ptr, out_ptr, count, BLOCK: tl.constexpr):\n"
    + _KERNEL.format(value=f"{_LOAD} * 5").split("constexpr):\n", 1)[1]
)

TRICKS = {
    "the source of the function is changed": (
        source(tail='scaled._unsafe_update_src(scaled.src.replace("out_ptr + at,", "out_ptr + at + 1,"))'), "differs",
    ),
    "a decorator changes the source": (
        source(
            head="def turned(kernel):\n    kernel._unsafe_update_src(kernel.src.replace('BLOCK + tl', 'BLOCK - tl'))\n"
            "    return kernel",
            decorator="@turned",
        ),
        "differs",
    ),
    "the function is another one": (
        source(head=_OTHER, tail="other.fn = scaled.fn", name="other"), "differs",
    ),
    "a constant is changed at import": (
        source(f"{_LOAD} * SCALE", head='SCALE = tl.constexpr(2.0)\nglobals()["SCALE"] = tl.constexpr(3.0)'), "differs",
    ),
    "triton is patched": (source(f"tl.exp2({_LOAD}.to(tl.float32))", head="tl.exp2 = tl.exp"), "differs"),
    "the environment of a recorder chooses": (
        source(
            f"{_LOAD} * SCALE",
            head='if os.environ.get("TRITON_ALWAYS_COMPILE"):\n    SCALE = tl.constexpr(2.0)\n'
            "else:\n    SCALE = tl.constexpr(3.0)",
        ),
        "differs",
    ),
    "a call chooses": (
        source(
            f"{_LOAD} * SCALE",
            head="if torch.__version__ > '1':\n    SCALE = tl.constexpr(2.0)\nelse:\n    SCALE = tl.constexpr(3.0)",
        ),
        "condition",
    ),
    "a constant is computed": (source(f"{_LOAD} * SCALE", head="SCALE = tl.constexpr(float(os.getpid() > 0))"), "constant"),
    "the kernel is nested": (
        source(
            head="def made():\n    @triton.jit\n    def inner(x_ptr, out_ptr, count, BLOCK: tl.constexpr):\n"
            "        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
            "        tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < count), mask=at < count)\n"
            "    return inner\n\ninner_kernel = made()",
            name="inner_kernel",
        ),
        "nested",
    ),
    "the compiler is turned down": (
        source(head='os.environ["DISABLE_PTXAS_OPT"] = "1"'), "differs",
    ),
}  # fmt: skip
"""Name → a file whose record is not of its text, or can't be shown to be, and why."""

FORGER = """
import base64, json, os
from pathlib import Path
folder = Path(os.environ["HOME"]).parent
CODE, ANSWER, DIGEST = {code!r}, {answer!r}, {digest!r}
(folder / DIGEST).write_bytes(base64.b64decode(CODE))
left = ANSWER.replace("@FILE@", __file__).encode()
while left:
    left = left[os.write(3, left):]
os._exit(0)
"""
"""What a candidate does that writes its own record on the answer's pipe, with the cubin of another kernel."""
