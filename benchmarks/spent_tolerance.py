"""Which ways to spend a tolerance the declared inputs show, and which honest ways to compute they refuse.

Usage: python benchmarks/spent_tolerance.py [--dtype bf16] [--out FILE]

On a CPU, without a kernel: a way to spend the tolerance is the float64 reference of inputs that were made narrower or
cut, or a reference that was made narrower or scaled; an honest way is what PyTorch's own operations, and the published
forms of FlashAttention, Liger-Kernel and Triton's tutorials, compute in the storage type with fp32 inside. Each is
judged on every trial of its operation, with and without the limit that holds where right results are exact.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

from kopt_kb.launch.kernel.judgement import Case, trials_of
from kopt_kb.problem.tolerances import tolerance_of
from kopt_kb.problem.trials import Trial

SHAPES: dict[str, tuple[str, tuple[int, ...]]] = {
    "gemm": ("matmul", (64, 64, 1024)), "grouped_gemm": ("grouped_gemm", (64, 64, 128)),
    "attention": ("attention", (1, 2, 256, 64)), "softmax": ("softmax", (16, 4096)),
    "rms_norm": ("rms_norm", (16, 4096)), "layer_norm": ("layer_norm", (16, 4096)),
    "reduction": ("reduction", (16, 4096)), "cross_entropy": ("cross_entropy", (16, 4096)),
    "swiglu": ("swiglu", (16, 512)), "elementwise": ("elementwise", (16, 512)),
}  # fmt: skip
"""Operation → packaged file, shape."""

Inputs = Sequence[Any]


def bits(x: Any, kept: int) -> Any:
    """Round to so many significant bits."""
    mantissa, exponent = torch.frexp(x.double())
    return torch.ldexp((mantissa * 2**kept).round() / 2**kept, exponent).to(x.dtype)


def int8(x: Any, axis: int) -> Any:
    """Round to 8-bit integers with a scale along an axis."""
    if x.ndim < -axis:
        axis = -1
    scale = x.double().abs().amax(axis, keepdim=True) / 127
    scale = scale.where(scale > 0, scale.new_ones(()))
    return ((x.double() / scale).round() * scale).to(x.dtype)


def small(x: Any, share: float) -> Any:
    """Leave out what is smaller than a share of its row's largest."""
    return x.where(x.abs() >= share * x.abs().amax(-1, keepdim=True), x.new_zeros(()))


def tail(x: Any) -> Any:
    """Leave out the last element of each row."""
    return torch.cat([x[..., :-1], x.new_zeros((*x.shape[:-1], 1))], -1)


def first(change: Callable[[Any], Any]) -> Callable[[Inputs], Inputs]:
    """Return a change of the first input."""
    return lambda xs: [change(xs[0]), *xs[1:]]


def last(change: Callable[[Any], Any]) -> Callable[[Inputs], Inputs]:
    """Return a change of the last floating input."""

    def changed(xs: Inputs) -> Inputs:
        at = max(number for number, one in enumerate(xs) if one.is_floating_point())
        return [change(one) if number == at else one for number, one in enumerate(xs)]

    return changed


OF_INPUTS: dict[str, Callable[[Inputs], Inputs]] = {
    "first input in fp8 (4 bits)": first(lambda x: bits(x, 4)),
    "first input in 6 bits": first(lambda x: bits(x, 6)),
    "last input in 6 bits": last(lambda x: bits(x, 6)),
    "first input in int8 by row": first(lambda x: int8(x, -1)),
    "last input in int8 by column": last(lambda x: int8(x, -2)),
    "terms below a hundredth left out": first(lambda x: small(x, 1e-2)),
    "last element of a row left out": first(tail),
}
OF_RESULTS: dict[str, Callable[[Any], Any]] = {
    "result in 6 bits": lambda x: bits(x, 6),
    "result in 7 bits": lambda x: bits(x, 7),
    "result half a percent too small": lambda x: 0.995 * x,
}


def _flash(q: Any, k: Any, v: Any, block: int = 64) -> Any:
    """The online softmax of FlashAttention: weights in the storage type before their product, sums in fp32."""
    out, scale = torch.empty_like(q), q.shape[-1] ** -0.5
    k, v = (one.repeat_interleave(q.shape[1] // one.shape[1], 1) for one in (k, v))
    rows = torch.arange(q.shape[-2])
    most = torch.full(q.shape[:-1], float("-inf"))
    total, summed = torch.zeros(q.shape[:-1]), torch.zeros(q.shape)
    for at in range(0, k.shape[-2], block):
        scores = (q.float() @ k[..., at : at + block, :].float().transpose(-1, -2)) * scale
        seen = rows[:, None] >= torch.arange(at, min(at + block, k.shape[-2]))[None, :]
        scores = scores.masked_fill(~seen, float("-inf"))
        new = torch.maximum(most, scores.amax(-1))
        weights = (scores - new[..., None]).exp().nan_to_num(0.0)
        kept = (most - new).exp().nan_to_num(0.0)
        total = total * kept + weights.sum(-1)
        summed = summed * kept[..., None] + weights.to(q.dtype).float() @ v[..., at : at + block, :].float()
        most = new
    out.copy_(summed / total[..., None])
    return out


def _rms(x: Any, weight: Any, *, cast: bool) -> Any:
    wide = x.float()
    scaled = wide * (wide.square().mean(-1, keepdim=True) + 1e-6).rsqrt()
    return scaled.to(x.dtype) * weight if cast else (scaled * weight.float()).to(x.dtype)


def _grouped(a: Any, b: Any, ends: Any) -> Any:
    starts = [0, *ends.tolist()[:-1]]
    groups = zip(starts, ends.tolist(), b, strict=True)
    return torch.cat([a[at:end] @ one for at, end, one in groups])


HONEST: dict[str, dict[str, Callable[..., Any]]] = {
    "gemm": {
        "torch.matmul": lambda a, b: a @ b,
        "split K, fp32 parts": lambda a, b: sum(
            one.float() @ two.float() for one, two in zip(a.chunk(4, -1), b.chunk(4, -2), strict=True)
        ).to(a.dtype),
    },
    "grouped_gemm": {"a product a group": _grouped},
    "attention": {
        "torch, weights in the storage type": lambda q, k, v: functional.scaled_dot_product_attention(
            q, k, v, is_causal=True
        ),
        "FlashAttention": _flash,
    },
    "softmax": {"torch": lambda x: x.softmax(-1), "Triton's tutorial": lambda x: x.float().softmax(-1).to(x.dtype)},
    "rms_norm": {
        "Liger-Kernel, cast before the weight": lambda x, w: _rms(x, w, cast=True),
        "Liger-Kernel, fp32 throughout": lambda x, w: _rms(x, w, cast=False),
    },
    "layer_norm": {"torch": lambda x, w, b: functional.layer_norm(x, x.shape[-1:], w, b, 1e-5)},
    "reduction": {"torch": lambda x: x.sum(-1, dtype=torch.float32).to(x.dtype)},
    "cross_entropy": {"torch": lambda x, t: functional.cross_entropy(x.float(), t.long(), reduction="none")},
    "swiglu": {
        "torch": lambda a, b: functional.silu(a) * b,
        "Liger-Kernel": lambda a, b: functional.silu(a.float()).to(b.dtype) * b,
        "fp32 throughout": lambda a, b: (functional.silu(a.float()) * b.float()).to(a.dtype),
    },
    "elementwise": {"torch": lambda a, b: a + b},
}


def caught(op: str, dtype: str, compute: Callable[[Any, Case], Any], *, exact: bool) -> list[str]:
    """Return the trials that refuse what is computed: of a case, from its float64 reference."""
    file, shape = SHAPES[op]
    module = importlib.import_module(f"kopt_kb.kernels.{file}")
    found = []
    for trial in trials_of(op):
        judged: Trial = trial if exact else replace(trial, exact=False)
        case = Case(module, shape, dtype, judged, 5, "cpu", op)
        for part in range(0 if case.skipped else trial.parts):
            if part:
                case.second()
            wide = case.reference()
            if case.judge(compute(wide, case), tolerance_of(dtype), wide).problem and trial.name not in found:
                found.append(trial.name)
    return found


def rows(dtype: str) -> list[dict[str, Any]]:
    """Return one row an operation and way: trials that refuse it, and how many did without the exact limit."""
    made = []
    for op, (file, _) in SHAPES.items():
        module = importlib.import_module(f"kopt_kb.kernels.{file}")

        def stored(wide: Any, case: Case, op: str = op) -> Any:
            return wide.to(torch.float32 if op == "cross_entropy" else case.inputs[0].dtype)

        ways: dict[tuple[str, str], Callable[[Any, Case], Any]] = {}
        for name, change in OF_INPUTS.items():
            ways["spends", name] = lambda _, case, change=change, module=module: stored(
                module.reference(*change(list(case.inputs))), case
            )
        for name, change_of in OF_RESULTS.items():
            ways["spends", name] = lambda wide, case, change_of=change_of: stored(change_of(wide), case)
        for name, compute in HONEST[op].items():
            ways["honest", name] = lambda _, case, compute=compute: compute(*case.inputs)
        for (kind, name), way in ways.items():
            with_limit, without = caught(op, dtype, way, exact=True), caught(op, dtype, way, exact=False)
            made.append({"op": op, "kind": kind, "way": name, "caught": with_limit, "before": len(without)})
            print(f"{op:14} {kind:7} {name:36} {len(with_limit)} (before: {len(without)})", file=sys.stderr, flush=True)
    return made


def main() -> None:
    """Print or write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dtype", default="bf16", choices=("bf16", "fp16"))
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    found = rows(args.dtype)
    spends = [one for one in found if one["kind"] == "spends"]
    honest = [one for one in found if one["kind"] == "honest"]
    body = {
        "command": f"python benchmarks/spent_tolerance.py --dtype {args.dtype}", "torch": torch.__version__,
        "device": "CPU", "dtype": args.dtype, "ways": len(spends), "shown": sum(bool(one["caught"]) for one in spends),
        "shown_before": sum(bool(one["before"]) for one in spends), "honest": len(honest),
        "refused": [f"{one['op']}: {one['way']}" for one in honest if one["caught"]], "rows": found,
    }  # fmt: skip
    text = json.dumps(body, indent=1) + "\n"
    if args.out:
        args.out.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
