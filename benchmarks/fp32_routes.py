"""Products of fp32 matrices by every route of a tensor core: which are accepted, which refused, and by what.

Usage: python benchmarks/fp32_routes.py --out FILE [--platform H200_SXM] [--shape 4096x4096x4096] [--tolerance 0.01]

A kernel for each route (native fp32, one or three tf32 products, one or three bf16 products) is the baseline of a
workspace of its own: `kb init`, `kb tune run --budget-rounds 0`, `kb audit`. A line a route: the words of its gates and
its time.
Expected: each route whose error is within the tolerance is accepted; none is refused for its time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KERNEL = ROOT / "kernels" / "naive" / "matmul.py"
DOT = '        acc = tl.dot(a, b, acc, input_precision="ieee")  # fp32 operands are not rounded to tf32\n'
HIGH = "        {n}_high = {n}.to(tl.bfloat16)\n        {n}_low = ({n} - {n}_high.to(tl.float32)).to(tl.bfloat16)\n"
ROUTES = {
    "fp32": DOT,
    "tf32": DOT.replace("ieee", "tf32"),
    "tf32x3": DOT.replace("ieee", "tf32x3"),
    "bf16": "        acc = tl.dot(a.to(tl.bfloat16), b.to(tl.bfloat16), acc)\n",
    "bf16x3": HIGH.format(n="a") + HIGH.format(n="b")
    + "        acc = tl.dot(a_low, b_high, acc)\n        acc = tl.dot(a_high, b_low, acc)\n"
    + "        acc = tl.dot(a_high, b_high, acc)\n",
}  # fmt: skip
TILES = {"fp32": (64, 4), "tf32": (64, 4), "tf32x3": (64, 4), "bf16": (128, 8), "bf16x3": (64, 4)}


def kernel(route: str) -> str:
    """Return the naive product with larger tiles and the route's arithmetic."""
    text = KERNEL.read_text()
    assert DOT in text
    block, warps = TILES[route]
    text = text.replace(DOT, ROUTES[route]).replace(
        '"BLOCK": 16, "num_warps": 1', f'"BLOCK": {block}, "num_warps": {warps}'
    )
    return text.replace("num_stages=1", "num_stages=2").replace('knobs["num_warps"], 1)', 'knobs["num_warps"], 2)')


def kb(*words: str) -> tuple[int, str, str]:
    """Run a command as a user would."""
    done = subprocess.run(
        [sys.executable, "-m", "kopt_kb", *words], capture_output=True, text=True, check=False, timeout=240
    )
    return done.returncode, done.stdout, done.stderr


def judged(route: str, platform: str, shape: str, tolerance: str, folder: Path) -> dict[str, object]:
    """Return what became of one route."""
    file = folder / f"{route}.py"
    file.write_text(kernel(route))
    asked = ["--op", "gemm", "--shape", shape, "--dtype", "fp32", "--tolerance", tolerance, "--framework", "Triton"]
    code, _, error = kb(
        "init", route, "--platform", platform, "--kernel-demo", str(file), *asked, "--parent", str(folder)
    )
    if code:
        return {"route": route, "init": error.strip()[-300:]}
    root = folder / f"kernel_opt_{route}"
    _, _, error = kb("tune", "run", str(root), "--yes", "--budget-rounds", "0")
    events = [json.loads(line) for line in (root / "journal.jsonl").read_text().splitlines()]
    gates = {
        e["data"]["gate"]: [e["data"]["result"], e["data"]["reason"][:200]]
        for e in events
        if e["kind"] == "gate_judged"
    }
    times = [e["data"]["median_s"] for e in events if e["kind"] == "measured"]
    decided = [e["data"]["decision"] for e in events if e["kind"] == "decided"]
    audit, said, _ = kb("audit", str(root))
    last = said.strip().rpartition("\n")[2]
    return {"route": route, "decided": decided, "times_s": times, "gates": gates, "audit": [audit, last[-120:]],
            "end": error.strip()[-200:]}  # fmt: skip


def main() -> None:
    """Judge each route and write a line as soon as it is known."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--platform", default="H200_SXM")
    parser.add_argument("--shape", default="4096x4096x4096")
    parser.add_argument("--tolerance", default="0.01")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, Path(args.out).open("a", encoding="utf-8") as out:
        for route in ROUTES:
            line = json.dumps(judged(route, args.platform, args.shape, args.tolerance, Path(name)))
            out.write(line + "\n")
            out.flush()
            print(line[:700], flush=True)


if __name__ == "__main__":
    main()
