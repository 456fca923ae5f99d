"""How often `kb tileir classify` is right, on labelled kernels of four libraries.

python benchmarks/tileir_labels.py CHECKOUTS [--labels benchmarks/results/tileir_labels.tsv]

CHECKOUTS holds liger/, fla/, sglang/ and vllm/: Liger-Kernel and flash-linear-attention at the commits of the labels,
the Python files of SGLang 0.5.23 and vLLM 0.33.0 from their wheels. Columns of the labels: library, revision, path,
kernel, label, hard, split. Labels were given by reading the source, before the classifier saw the kernel: dot-related,
a product of tiles in it or a callee; norm-like, a reduction whose result is combined with tile data and stored along
the reduced axis; reduction, any other sum, scan, sort or accumulation of data; element-wise, none. Hard: a search for
words misses it (callees, sums in loops, log-sum-exp, backward passes, quantisation).
"""

from __future__ import annotations

import argparse
import csv
import time
from collections import Counter
from pathlib import Path

from kopt_kb.packs.tileir.files import classify_source


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--labels", type=Path, default=Path(__file__).parent / "results" / "tileir_labels.tsv")
    args = parser.parse_args()
    with args.labels.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    right: Counter[tuple[str, str]] = Counter()
    seen: Counter[tuple[str, str]] = Counter()
    spent = 0.0
    for row in rows:
        begin = time.perf_counter()
        (found,) = classify_source(str(args.checkouts / row["library"] / row["path"]), kernel=row["kernel"]).kernels
        spent += time.perf_counter() - begin
        keys = [(row["split"], "all")] + ([(row["split"], "hard")] if row["hard"] else [])
        for key in keys:
            seen[key] += 1
            right[key] += found.classification == row["label"]
        if found.classification != row["label"]:
            print(f"{row['library']} {row['path']} {row['kernel']}: {row['label']}, said {found.classification}")
    for key in sorted(seen):
        print(f"{key[0]:<9} {key[1]:<5} {right[key]} of {seen[key]} right, {100 * right[key] / seen[key]:.1f} %")
    print(f"{1000 * spent / len(rows):.0f} ms a kernel, files read each time")


if __name__ == "__main__":
    main()
