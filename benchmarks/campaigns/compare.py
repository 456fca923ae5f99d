"""Compare in one run: the naive kernel, the tuned one of a workspace, torch eager and torch.compile, and a copy.

python benchmarks/campaigns/compare.py OP NAIVE TUNED SHAPE...   prints one JSON document
"""

from __future__ import annotations

import json
import statistics
import sys

import torch

from kopt_kb.kernels.ceilings import environment
from kopt_kb.kernels.compile.loader import load_module
from kopt_kb.kernels.timing import measure

ROUNDS, FLUSH_BYTES = 100, 1 << 29


def rms_norm(x, weight):
    return torch.nn.functional.rms_norm(x, (x.shape[1],), weight, 1e-6)


def softmax(x):
    return torch.softmax(x, dim=-1)


def contenders(op, naive, tuned, inputs):
    eager = {"rms_norm": rms_norm, "softmax": softmax}[op]
    compiled = torch.compile(eager, mode="max-autotune-no-cudagraphs", dynamic=False)
    outs = [module.launch(*inputs) for module in (naive, tuned)]
    source, target = torch.empty_like(inputs[0]), torch.empty_like(inputs[0])
    return {
        "naive": lambda: naive.launch(*inputs, out=outs[0]),
        "tuned": lambda: tuned.launch(*inputs, out=outs[1]),
        "torch_eager": lambda: eager(*inputs),
        "torch_compile": lambda: compiled(*inputs),
        "copy": lambda: target.copy_(source),
    }


def main(words):
    op, naive, tuned = words[0], load_module(words[1]), load_module(words[2])
    found = {"op": op, "dtype": "bf16", "environment": environment(), "rounds": ROUNDS, "shapes": {}}
    for text in words[3:]:
        inputs = naive.make_inputs(tuple(map(int, text.split("x"))), "bf16", "cuda", 1)
        functions = contenders(op, naive, tuned, inputs)
        samples = measure(list(functions.values()), rounds=ROUNDS, warmup=10, flush_bytes=FLUSH_BYTES)
        medians = {name: statistics.median(one) for name, one in zip(functions, samples, strict=True)}
        best = min(medians[name] for name in ("torch_eager", "torch_compile"))
        found["shapes"][text] = {
            "median_s": medians,
            "tuned_over_copy": medians["copy"] / medians["tuned"],
            "naive_over_copy": medians["copy"] / medians["naive"],
            "speedup_over_naive": medians["naive"] / medians["tuned"],
            "speedup_over_best_torch": best / medians["tuned"],
        }
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
