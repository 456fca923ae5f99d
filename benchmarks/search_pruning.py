"""How many configurations of the packaged matrix product can't launch on an H200, and what finding out costs.

`python benchmarks/search_pruning.py [--sample 96]` judges a seeded sample of each variant's space as a search does:
cross-compiled for the platform's target, by the limits of its page.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import random
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from kopt_kb.launch.candidate.job import PruningRules
from kopt_kb.launch.candidate.search_pruning import SearchPruner, pruner_of, pruning_rules
from kopt_kb.launch.counts.pruning import configurations
from kopt_kb.launch.kernel.declared import read_declared
from kopt_kb.wiki.registry import Registry

KERNEL = Path(__file__).resolve().parent.parent / "kernels" / "matmul.py"
SHAPE = "8192x8192x8192"
VARIANTS = ("pointers", "descriptors", "persistent")


def judge(rules: PruningRules, configs: list[dict[str, object]]) -> tuple[Counter[str], float, int]:
    """Return the words on the configurations, the seconds they took, and the processes that compiled."""
    pruner = pruner_of(replace(rules, seconds=3600.0), KERNEL, "bf16")
    if not isinstance(pruner, SearchPruner):
        raise SystemExit(f"nothing can be pruned: {pruner}")
    words: Counter[str] = Counter()
    with pruner, contextlib.redirect_stdout(io.StringIO()):
        start = time.perf_counter()
        for at in range(0, len(configs), pruner.batch):
            batch = configs[at : at + pruner.batch]
            words.update("not judged" if one is None else one or "kept" for one in pruner.judge(SHAPE, batch))
        return words, time.perf_counter() - start, pruner.batch


def main() -> None:
    """Print one line a variant."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--sample", type=int, default=96, help="configurations of each variant")
    parser.add_argument("--platform", default="H200_SXM")
    args = parser.parse_args()
    platform = Registry.open().platform(args.platform)
    rules, space = pruning_rules(platform), dict(read_declared(KERNEL).tuning_space)
    print(f"{platform.id} ({rules.target}), bf16, {SHAPE}, {math.prod(map(len, space.values()))} a variant")
    for variant in VARIANTS:
        every = [{**one, "VARIANT": variant} for one in configurations(space)]
        configs = random.Random(0).sample(every, min(args.sample, len(every)))
        words, seconds, workers = judge(rules, configs)
        pruned = len(configs) - words["kept"] - words["not judged"]
        print(
            f"{variant:12} {len(configs)} judged: {pruned} pruned ({100 * pruned / len(configs):.0f} %) {dict(words)}; "
            f"{1e3 * seconds / len(configs):.0f} ms each with {workers} processes"
        )


if __name__ == "__main__":
    main()
