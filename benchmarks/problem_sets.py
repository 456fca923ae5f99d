"""Ten KernelBench and five SOL-ExecBench problems from their files to a checked, timed baseline on a GPU.

python benchmarks/problem_sets.py --problems DIR --platform H100_SXM --out DIR --budget-s 1500

DIR holds files of both as published (KernelBench/level*/…, examples/*/*/definition.json); what is not there is left
out.
The kernels below are plain Triton: what is shown is the way, not speed. Results are saved after each problem.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HEAD = "import torch\nimport torch.nn as nn\nimport triton\nimport triton.language as tl\n\n\n"

PRODUCT = """@triton.jit
def _product(a, b, bias, c, M, N, K, am, ak, bk, bn, ONE: tl.constexpr, TWO: tl.constexpr, HAS_BIAS: tl.constexpr,
             ACT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + inner
        in_a = (rows[:, None] < M) & (k[None, :] < K)
        in_b = (k[:, None] < K) & (cols[None, :] < N)
        left = tl.load(a + rows[:, None] * am + k[None, :] * ak, mask=in_a, other=0.0)
        right = tl.load(b + k[:, None] * bk + cols[None, :] * bn, mask=in_b, other=0.0)
        total = tl.dot(left, right, total, input_precision="ieee")
    if HAS_BIAS:
        total += tl.load(bias + cols, mask=cols < N, other=0.0)[None, :]
    if ACT == "scale_leaky":
        total = total * ONE
        total = tl.where(total > 0, total, total * TWO)
    if ACT == "relu":
        total = tl.maximum(total, 0.0)
    if ACT == "relu_divide":
        total = tl.maximum(total, 0.0) / ONE
    tl.store(c + rows[:, None] * N + cols[None, :], total, mask=(rows[:, None] < M) & (cols[None, :] < N))


def product(a, b, bias=None, act="", one=0.0, two=0.0):
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(M, 64), triton.cdiv(N, 64))
    _product[grid](a, b, c if bias is None else bias, c, M, N, K, a.stride(0), a.stride(1), b.stride(0), b.stride(1),
                   ONE=one, TWO=two, HAS_BIAS=bias is not None, ACT=act, BM=64, BN=64, BK=32, num_warps=4)
    return c


"""

MATRIX = """class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, A, B):
        {body}
"""

LINEAR = """class ModelNew(nn.Module):
    def __init__(self, in_features, out_features, {more}):
        super().__init__()
        self.{name} = nn.Linear(in_features, out_features{bias})
        {keep}

    def forward(self, x):
        return {body}
"""

KERNELBENCH = {
    "1_Square_matrix_multiplication_": PRODUCT + MATRIX.format(body="return product(A, B)"),
    "16_Matmul_with_transposed_A": PRODUCT + MATRIX.format(body="return product(A.T, B)"),
    "10_3D_tensor_matrix_multiplication": PRODUCT
    + MATRIX.format(body="return product(A.view(-1, A.shape[-1]), B).view(A.shape[0], A.shape[1], B.shape[1])"),
    "12_Matmul_with_diagonal_matrices_": """@triton.jit
def _scaled(a, b, c, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tl.store(c + row * N + col, tl.load(a + row) * tl.load(b + row * N + col, mask=col < N), mask=col < N)


"""
    + MATRIX.format(
        body="""C = torch.empty_like(B)
        _scaled[(B.shape[0], triton.cdiv(B.shape[1], 1024))](A, B, C, B.shape[1], BLOCK=1024)
        return C"""
    ),
    "88_MinGPTNewGelu": """@triton.jit
def _gelu(x, y, N, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < N, other=0.0)
    inner = 0.7978845608028654 * (v + 0.044715 * v * v * v)
    small = tl.abs(inner)
    e = tl.exp(-2.0 * small)
    t = (1.0 - e) / (1.0 + e)
    tl.store(y + at, 0.5 * v * (1.0 + tl.where(inner < 0, -t, t)), mask=at < N)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        y = torch.empty_like(x)
        _gelu[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
        return y
""",
    "95_CrossEntropyLoss": """@triton.jit
def _losses(x, t, out, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    v = tl.load(x + row * N + col, mask=col < N, other=-float("inf"))
    most = tl.max(v, axis=0)
    total = tl.log(tl.sum(tl.exp(v - most), axis=0)) + most
    tl.store(out + row, total - tl.load(x + row * N + tl.load(t + row)))


@triton.jit
def _mean(x, out, M, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, M, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x + at, mask=at < M, other=0.0)
    tl.store(out, tl.sum(total, axis=0) / M)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, predictions, targets):
        M, N = predictions.shape
        losses = torch.empty((M,), dtype=predictions.dtype, device=predictions.device)
        out = torch.empty((), dtype=predictions.dtype, device=predictions.device)
        _losses[(M,)](predictions, targets, losses, N, BLOCK=triton.next_power_of_2(N))
        _mean[(1,)](losses, out, M, BLOCK=4096)
        return out
""",
    "12_Gemm_Multiply_LeakyReLU": PRODUCT
    + LINEAR.format(
        more="multiplier, negative_slope",
        name="gemm",
        bias="",
        keep="self.multiplier, self.slope = multiplier, negative_slope",
        body='product(x, self.gemm.weight.T, self.gemm.bias, "scale_leaky", self.multiplier, self.slope)',
    ),
    "76_Gemm_Add_ReLU": PRODUCT
    + LINEAR.format(
        more="bias_shape",
        name="gemm",
        bias=", bias=False",
        keep="self.bias = nn.Parameter(torch.randn(bias_shape))",
        body='product(x, self.gemm.weight.T, self.bias, "relu")',
    ),
    "63_Gemm_ReLU_Divide": PRODUCT
    + LINEAR.format(
        more="divisor",
        name="linear",
        bias="",
        keep="self.divisor = divisor",
        body='product(x, self.linear.weight.T, self.linear.bias, "relu_divide", self.divisor)',
    ),
    "3_DeepNarrowMLP": PRODUCT
    + """class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_layer_sizes, output_size):
        super().__init__()
        sizes, layers = [input_size, *hidden_layer_sizes], []
        for one, two in zip(sizes, sizes[1:]):
            layers += [nn.Linear(one, two), nn.ReLU()]
        self.network = nn.Sequential(*layers, nn.Linear(sizes[-1], output_size))

    def forward(self, x):
        linear = self.network[::2]
        for one in linear[:-1]:
            x = product(x, one.weight.T, one.bias, "relu")
        return product(x, linear[-1].weight.T, linear[-1].bias)
""",
}
"""Stem of a KernelBench file → its candidate."""

NORM = """@triton.jit
def _norm(x, r, w, y, eps, N, BEFORE: tl.constexpr, AFTER: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * N
    col = tl.arange(0, BLOCK)
    v = tl.load(x + row + col, mask=col < N, other=0.0).to(tl.float32)
    if BEFORE:
        v += tl.load(r + row + col, mask=col < N, other=0.0).to(tl.float32)
    v = v * tl.rsqrt(tl.sum(v * v, axis=0) / N + eps)
    v = v * tl.load(w + col, mask=col < N, other=0.0).to(tl.float32)
    if AFTER:
        v += tl.load(r + row + col, mask=col < N, other=0.0).to(tl.float32)
    tl.store(y + row + col, v.to(y.dtype.element_ty), mask=col < N)


def norm(x, r, w, eps, before, after):
    y = torch.empty_like(x)
    N = x.shape[-1]
    block = triton.next_power_of_2(N)
    _norm[(x.numel() // N,)](x, r, w, y, eps, N, BEFORE=before, AFTER=after, BLOCK=block, num_warps=8)
    return y


"""

SOL = {
    "rmsnorm": NORM
    + "def run(hidden_states, weight):\n    return norm(hidden_states, hidden_states, weight, 1e-5, False, False)\n",
    "olmo3_post_norm": NORM
    + "def run(x, residual, weight, eps):\n    return norm(x, residual, weight, eps, False, True)\n",
    "nemotron_rms_norm": NORM
    + "def run(x, residual, weight, eps):\n    return norm(x, residual, weight, eps, True, False)\n",
    "softmax": """@triton.jit
def _softmax(x, y, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * N
    col = tl.arange(0, BLOCK)
    v = tl.load(x + row + col, mask=col < N, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row + col, e / tl.sum(e, axis=0), mask=col < N)


def run(input):
    y = torch.empty_like(input)
    N = input.shape[-1]
    _softmax[(input.numel() // N,)](input, y, N, BLOCK=triton.next_power_of_2(N), num_warps=8)
    return y
""",
    "flux_rope": """@triton.jit
def _rope(x, cos, sin, y, S, H, D: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = (row // H) % S * D
    pair = tl.arange(0, D // 2) * 2
    a = tl.load(x + row * D + pair).to(tl.float32)
    b = tl.load(x + row * D + pair + 1).to(tl.float32)
    one = a * tl.load(cos + at + pair).to(tl.float32) - b * tl.load(sin + at + pair).to(tl.float32)
    two = a * tl.load(sin + at + pair + 1).to(tl.float32) + b * tl.load(cos + at + pair + 1).to(tl.float32)
    tl.store(y + row * D + pair, one.to(y.dtype.element_ty))
    tl.store(y + row * D + pair + 1, two.to(y.dtype.element_ty))


def run(query_or_key, freqs_cos, freqs_sin):
    y = torch.empty_like(query_or_key)
    B, S, H, D = query_or_key.shape
    _rope[(B * S * H,)](query_or_key, freqs_cos, freqs_sin, y, S, H, D=D)
    return y
""",
}
"""Folder of a SOL-ExecBench problem → its candidate."""


def main() -> int:
    """Write the candidates, then run both sets as suites; the exit status is that of the worse."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=Path, required=True)
    parser.add_argument("--platform", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--budget-s", type=float, default=1500.0, help="begin no problem after so long")
    parser.add_argument("--problem-s", type=float, default=240.0)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("words", nargs="*", help="further words of kb suite, such as --simulate, after --")
    args = parser.parse_args()
    worst = 0
    for name, sources, share in (("sol", SOL, 0.35), ("kernelbench", KERNELBENCH, 0.65)):
        kernels = args.out / f"{name}_kernels"
        kernels.mkdir(parents=True, exist_ok=True)
        for stem, source in sources.items():
            (kernels / f"{stem}.py").write_text(HEAD + source)
        wanted = [one for one in sources if not args.only or one in args.only]
        if not wanted:
            continue
        parts = [f"/{one}/" if name == "sol" else f"/{one}.py" for one in wanted]
        command = [
            sys.executable, "-m", "kopt_kb", "suite", str(args.problems), "--platform", args.platform, "--kernels",
            str(kernels), "--out", str(args.out / name), "--budget-s", str(args.budget_s * share), "--problem-s",
            str(args.problem_s), "--results", "--shapes", "2", *(word for one in parts for word in ("--only", one)),
            *args.words,
        ]  # fmt: skip
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        (args.out / f"{name}.txt").write_text(done.stdout)
        print(done.stdout, flush=True)
        worst = max(worst, done.returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main())
