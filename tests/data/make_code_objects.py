"""Makes the code objects beside it: `TRITON_DISABLE_LINE_INFO=1 python tests/data/make_code_objects.py`, Triton 3.6."""

from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def axpy(x, y, out, a, n, size: tl.constexpr):
    i = tl.program_id(0) * size + tl.arange(0, size)
    m = i < n
    tl.store(out + i, a * tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)


@triton.jit
def tile_product(a, b, c, depth, size: tl.constexpr):
    r = tl.arange(0, size)
    acc = tl.zeros((size, size), tl.float32)
    for k in range(0, depth, size):
        acc += tl.dot(
            tl.load(a + r[:, None] * depth + k + r[None, :]), tl.load(b + (k + r[:, None]) * size + r[None, :])
        )
    tl.store(c + r[:, None] * size + r[None, :], acc)


AXPY = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "a": "fp32", "n": "i32", "size": "constexpr"}
PRODUCT = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "depth": "i32", "size": "constexpr"}


def main() -> None:
    """Compile each for its processors."""
    folder = Path(__file__).parent / "code_objects"
    for kernel, types, config, processors in (
        (axpy, AXPY, {"size": 256}, ("gfx942",)),
        (tile_product, PRODUCT, {"size": 64}, ("gfx90a", "gfx942", "gfx1100", "gfx1201")),
    ):
        for one in processors:
            target = GPUTarget("hip", one, 64 if one.startswith("gfx9") else 32)
            made = triton.compile(ASTSource(kernel, types, config), target=target)
            (folder / f"{kernel.__name__}.{one}.hsaco").write_bytes(made.asm["hsaco"])


if __name__ == "__main__":
    main()
