"""A scripted agent for `kb tune run --proposer`: it reads the state, obeys it, and prints one hypothesis.

    kb init soft --platform H200_SXM --framework Triton --kernel-demo kernels/naive/softmax.py \
        --op softmax --shape 4096x1024 --dtype bf16
    kb tune run kernel_opt_soft --simulate --yes --proposer "python examples/softmax_agent.py"

Leave --simulate out on a machine with a GPU. What a real agent would do with a model this one does with a list: it
takes the categories in the order of the state's table, leaves out those that stagnated and what was tried, and answers
with a whole file or with a patch of the kernel it was shown. Nothing printed means that it has no idea left.
"""

from __future__ import annotations

import difflib
import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
WHOLE = [("memory_traffic", "hold the whole row in registers, so that it is read once", "softmax_single_pass.py")]
"""Category, claim and file."""

EDITS = [
    ("caching", "results are not read again: let them leave the cache first",
     "mask=col < cols)\n\n\ndef make_inputs", 'mask=col < cols, eviction_policy="evict_first")\n\n\ndef make_inputs'),
    ("compute", "exp2 of a scaled argument in place of exp",
     "tl.exp(x - tl.max(x, axis=0))", "tl.exp2((x - tl.max(x, axis=0)) * 1.4426950408889634)"),
    ("launch_configuration", "eight warps a row", 'return {"num_warps": 4}', 'return {"num_warps": 8}'),
    ("memory_access", "more elements a thread in the passes over a row", '{"BLOCK": 32,', '{"BLOCK": 128,'),
]  # fmt: skip
"""Category, claim, and what replaces what; an edit whose text the kernel lacks does not apply."""


def patched(kernel: str, old: str, new: str) -> str:
    """Return a unified diff of kernel.py, empty where the text is not there."""
    if old not in kernel:
        return ""
    lines = kernel.splitlines(keepends=True), kernel.replace(old, new, 1).splitlines(keepends=True)
    return "".join(difflib.unified_diff(*lines, "a/kernel.py", "b/kernel.py"))


def ideas(kernel: str) -> list[dict[str, str]]:
    """Return the answers that fit the kernel as it stands."""
    found = [
        {"category": category, "claim": claim, "source": (HERE / file).read_text(encoding="utf-8")}
        for category, claim, file in WHOLE
    ]
    for category, claim, old, new in EDITS:
        patch = patched(kernel, old, new)
        found += [{"category": category, "claim": claim, "patch": patch}] if patch else []
    return [{**one, "expected": "less time on every shape"} for one in found]


def main() -> None:
    """Print the first idea in the order of the state's categories."""
    state = json.load(sys.stdin)
    order = [row["category"] for row in state["categories"]]
    tried = {(one["category"], one["claim"]) for one in state["tried"]}
    left = [
        one
        for one in ideas(state["kernel"])
        if (one["category"], one["claim"]) not in tried and one["category"] not in state["avoid_categories"]
    ]
    left.sort(key=lambda one: order.index(one["category"]) if one["category"] in order else len(order))
    if left:
        print(json.dumps(left[0]))


if __name__ == "__main__":
    main()
