"""Does a warp-specialised Triton matrix product finish on this GPU? Each case runs in a child with a time limit.

python benchmarks/warp_specialize.py [--limit-s 30]
"""

from __future__ import annotations

import argparse
import subprocess
import sys

import torch
import triton
import triton.language as tl

SIZE = 512


@triton.jit
def product(
    a_desc, b_desc, c_ptr, n, k,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, SPECIALISED: tl.constexpr,
):  # fmt: skip
    """One tile of C a program; loads in warps of their own when the loop is specialised."""
    row = tl.program_id(0) * BLOCK_M
    col = tl.program_id(1) * BLOCK_N
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in tl.range(0, tl.cdiv(k, BLOCK_K), warp_specialize=SPECIALISED):
        a = a_desc.load([row, step * BLOCK_K])
        b = b_desc.load([step * BLOCK_K, col])
        acc = tl.dot(a, b, acc)
    rows = row + tl.arange(0, BLOCK_M)
    cols = col + tl.arange(0, BLOCK_N)
    tl.store(c_ptr + rows[:, None] * n + cols[None, :], acc.to(c_ptr.dtype.element_ty))


def case(specialised, warps, stages):
    """Run once and print whether the result is right, and what the compiler made of it."""
    from triton.tools.tensor_descriptor import TensorDescriptor

    block_m, block_n, block_k = 128, 128, 64
    a, b = (torch.randn(SIZE, SIZE, device="cuda").bfloat16() for _ in range(2))
    c = torch.full_like(a, float("nan"))
    descriptors = (
        TensorDescriptor.from_tensor(a, [block_m, block_k]),
        TensorDescriptor.from_tensor(b, [block_k, block_n]),
    )
    options = {"num_warps": warps, "num_stages": stages}
    blocks = {"BLOCK_M": block_m, "BLOCK_N": block_n, "BLOCK_K": block_k, "SPECIALISED": specialised}
    grid = (SIZE // block_m, SIZE // block_n)
    compiled = product.warmup(*descriptors, c, SIZE, SIZE, **blocks, **options, grid=grid)
    text = compiled.asm["ptx"]
    print(f"wgmma {text.count('wgmma.mma_async')}, setmaxnreg {text.count('setmaxnreg')}", end=", ", flush=True)
    product[grid](*descriptors, c, SIZE, SIZE, **blocks, **options)
    torch.cuda.synchronize()
    wide = a.double() @ b.double()
    print(f"finished, relative error {((c.double() - wide).norm() / wide.norm()).item():.2e}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit-s", type=float, default=30.0)
    parser.add_argument("--case", nargs=3, type=int)
    args = parser.parse_args()
    if args.case:
        case(bool(args.case[0]), *args.case[1:])
        return
    print(f"{torch.cuda.get_device_name(0)}, torch {torch.__version__}, triton {triton.__version__}")
    for words in ((0, 4, 3), (0, 8, 3), (1, 8, 3), (1, 4, 3)):
        label = f"{'specialised' if words[0] else 'plain'}, {words[1]} warps, {words[2]} stages"
        command = [sys.executable, __file__, "--case", *map(str, words)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=args.limit_s, check=False)
            print(f"{label}: {done.stdout.strip() or done.stderr.strip().splitlines()[-1]}", flush=True)
        except subprocess.TimeoutExpired as error:
            text = (error.stdout or b"").decode()
            print(f"{label}: {text}not finished after {args.limit_s:g} s", flush=True)


if __name__ == "__main__":
    main()
