"""Compare in one run: the naive kernel, the tuned one of a workspace, torch eager, torch.compile, Liger, and a copy.

python benchmarks/campaigns/compare.py OP NAIVE TUNED SHAPE...   prints one JSON document

Every contender is checked against the naive file's float64 reference first; one that is absent or wrong is named with
the reason and has no time.
"""

from __future__ import annotations

import importlib.metadata
import json
import statistics
import sys

import torch

from kopt_kb.kernels.ceilings import environment
from kopt_kb.kernels.comparison import compare
from kopt_kb.kernels.compile.loader import load_module
from kopt_kb.kernels.timing import measure
from kopt_kb.problem.tolerances import tolerance_of

ROUNDS, FLUSH_BYTES, DTYPE = 100, 1 << 29, "bf16"
OTHERS = ("torch_eager", "torch_compile", "liger")


def rms_norm(x, weight):
    return torch.nn.functional.rms_norm(x, (x.shape[1],), weight, 1e-6)


def softmax(x):
    return torch.softmax(x, dim=-1)


def gemm(a, b):
    return torch.mm(a, b)


EAGER = {"rms_norm": rms_norm, "softmax": softmax, "gemm": gemm}


def liger(op):
    """Return Liger's function of an operation; raises ImportError where it has none or is not installed."""
    if op == "rms_norm":
        from liger_kernel.ops.rms_norm import LigerRMSNormFunction

        return lambda x, weight: LigerRMSNormFunction.apply(x, weight, 1e-6)
    if op == "softmax":
        from liger_kernel.ops.softmax import LigerSoftmaxFunction

        return LigerSoftmaxFunction.apply
    raise ImportError(f"Liger has no {op}")


def contenders(op, naive, tuned, inputs):
    """Return name → (function, or the reason why there is none)."""
    eager = EAGER[op]
    compiled = torch.compile(eager, mode="max-autotune-no-cudagraphs", dynamic=False)
    outs = [module.launch(*inputs) for module in (naive, tuned)]
    source, target = torch.empty_like(inputs[0]), torch.empty_like(inputs[0])
    found = {
        "naive": lambda: naive.launch(*inputs, out=outs[0]),
        "tuned": lambda: tuned.launch(*inputs, out=outs[1]),
        "torch_eager": lambda: eager(*inputs),
        "torch_compile": lambda: compiled(*inputs),
        "copy": lambda: target.copy_(source),
    }
    try:
        function = liger(op)
        found["liger"] = lambda: function(*inputs)
    except ImportError as error:
        found["liger"] = str(error)
    return found


def checked(naive, inputs, functions):
    """Return name → reason for the contenders whose result is not right, and the rest as functions."""
    reference, good, out = naive.reference(*inputs), {}, {}
    for name, function in functions.items():
        if isinstance(function, str):
            out[name] = function
            continue
        wrong = "" if name == "copy" else compare(function(), reference).failure(tolerance_of(DTYPE))
        if wrong:
            out[name] = wrong
        else:
            good[name] = function
    return good, out


def ratios(medians):
    best = min(medians[name] for name in OTHERS if name in medians)
    found = {"speedup_over_naive": medians["naive"] / medians["tuned"], "speedup_over_best": best / medians["tuned"]}
    found |= {f"speedup_over_{name}": medians[name] / medians["tuned"] for name in OTHERS if name in medians}
    return found


def main(words):
    op, naive, tuned = words[0], load_module(words[1]), load_module(words[2])
    found = {"op": op, "dtype": DTYPE, "environment": environment(), "rounds": ROUNDS, "shapes": {}}
    try:
        found["liger"] = importlib.metadata.version("liger_kernel")
    except importlib.metadata.PackageNotFoundError:
        found["liger"] = None
    for text in words[3:]:
        inputs = naive.make_inputs(tuple(map(int, text.split("x"))), DTYPE, "cuda", 1)
        functions, left_out = checked(naive, inputs, contenders(op, naive, tuned, inputs))
        samples = measure(list(functions.values()), rounds=ROUNDS, warmup=10, flush_bytes=FLUSH_BYTES)
        medians = {name: statistics.median(one) for name, one in zip(functions, samples, strict=True)}
        one = {"median_s": medians, "left_out": left_out, **ratios(medians)}
        if op != "gemm":
            one |= {f"{name}_over_copy": medians["copy"] / medians[name] for name in medians if name != "copy"}
        found["shapes"][text] = one
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
