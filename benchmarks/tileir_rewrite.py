"""How many kernels with products `kb tileir apply` can rewrite, over the kernels of four libraries.

python benchmarks/tileir_rewrite.py CHECKOUTS [--out DIR]

CHECKOUTS as in tileir_labels.py: liger/src, fla/fla, sglang/sglang, vllm/vllm. Every Python file that mentions Triton
is rewritten as text; nothing is imported or run. With --out the prepared files with descriptors are kept.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.tileir.rewrite import apply_source

LIBRARIES = {"liger": "src", "fla": "fla", "sglang": "sglang", "vllm": "vllm"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    begin, refused = time.monotonic(), 0
    for library, folder in LIBRARIES.items():
        seen: Counter[str] = Counter()
        for path in sorted((args.checkouts / library / folder).rglob("*.py")):
            if "triton" not in path.read_text(encoding="utf-8", errors="replace"):
                continue
            try:
                done = apply_source(str(path))
            except BadInput as error:
                seen["without a kernel" if error.error_code == "KB079" else "refused"] += 1
                continue
            dots = [one for one in done.kernels if one.classification == "dot-related"]
            seen["files"] += 1
            seen["kernels"] += len(done.kernels)
            seen["with products"] += len(dots)
            seen["with descriptors"] += sum(one.descriptors > 0 for one in dots)
            seen["tiles"] += sum(one.tiles for one in dots)
            seen["tiles through descriptors"] += sum(one.descriptors for one in dots)
            if args.out and any(one.descriptors for one in dots):
                args.out.mkdir(parents=True, exist_ok=True)
                name = f"{library}__{path.relative_to(args.checkouts / library).as_posix().replace('/', '__')}"
                (args.out / name).write_text(done.optimized_code, encoding="utf-8")
        refused += seen["refused"]
        print(library, ", ".join(f"{number} {name}" for name, number in seen.items()))
    print(f"{refused} files refused, {time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
