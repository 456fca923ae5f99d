"""Prepared kernels on a GPU: are they right with descriptors, and what do both backends take?

python benchmarks/tileir_gpu.py --out DIR [--budget-s 300]

Runs `kb tileir run` for the kernels of tests/data/tileir_kernels.py and for the packaged matrix product and attention,
and keeps each report as it comes. Without a GPU the interpreter compares small shapes and times stay empty; without the
TileIR backend its column stays empty.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

DRIVER = """import torch
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
def run(module):
    torch.manual_seed(0)
    def random(*shape):
        return torch.randn(shape, dtype=torch.float32).to(DEVICE, torch.float16)
    sizes = [(64, 64, 64), (50, 72, 40)] + ([(512, 768, 320), (1000, 520, 96)] if DEVICE == "cuda" else [])
    found = [module.launch_matmul(random(m, k), random(k, n)) for m, n, k in sizes]
    lens = torch.tensor([70, 33, 0, 0], dtype=torch.int32, device=DEVICE)
    return [*found, module.launch_scores(random(70, 2, 64), random(70, 2, 64), lens)]
def bench(module, size):
    a, b = (torch.randn((size, size), device=DEVICE, dtype=torch.float16) for _ in range(2))
    return lambda: module.launch_matmul(a, b)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--budget-s", type=float, default=300.0)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + args.budget_s
    driver = args.out / "driver.py"
    driver.write_text(DRIVER, encoding="utf-8")
    cases = [
        (ROOT / "tests/data/tileir_kernels.py", ["--driver", str(driver)]),
        (ROOT / "kernels/matmul.py", ["--shape", "64x64x64"]),
        (ROOT / "kernels/attention.py", ["--shape", "1x2x64x64"]),
    ]
    for source, words in cases:
        left = end - time.monotonic()
        if left < 10:
            print(f"{source.name}: no time left")
            continue
        file = args.out / source.name
        shutil.copy(source, file)
        command = [sys.executable, "-m", "kopt_kb", "tileir", "run", str(file), "--force", *words]
        done = subprocess.run([*command, "--time-limit", f"{left:.0f}"], capture_output=True, text=True, check=False)
        (args.out / f"{source.stem}.md").write_text(done.stdout + done.stderr, encoding="utf-8")
        verdicts = [one for one in done.stdout.splitlines() if one.startswith(("PASSED", "FAILED", "NOT RUN"))]
        print(f"{source.name}: exit {done.returncode}; {'; '.join(verdicts)}", flush=True)


if __name__ == "__main__":
    main()
