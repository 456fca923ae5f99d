"""What a cage costs a child that it holds, and whether a GPU works in it with every wall held.

    python3 benchmarks/cage.py cost TREE [TREE ...] [--count 60]   # checkouts in turn, the first is the basis
    python3 benchmarks/cage.py gpu --out DIR                       # on a machine with a GPU; 2 to 4 minutes

`cost` starts `true` in the cage of each checkout by turns and prints the median time of each and its ratio to the
first. `gpu` starts programs in the cage that a check of a candidate gets: the driver through ctypes, torch, a Triton
kernel that is compiled and run; then `kb verify kernel` by replay and by a child, each of which says what held. One
line of DIR/cage.jsonl for each as soon as it is there. It changes no setting of the device.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_ONE = """
import sys, tempfile, time
from pathlib import Path
from kopt_kb.sandbox.caged import Cage, caged
from kopt_kb.sandbox.process import ChildLimits, environment, run
with tempfile.TemporaryDirectory() as place:
    words = caged(["true"], Cage((place,), str(Path(place) / "held.json")))
    for _ in range(2):
        begin = time.perf_counter()
        run(words, env=environment(), limits=ChildLimits(60.0))
    print(time.perf_counter() - begin)
"""
_DRIVER = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
assert cuda.cuInit(0) == 0, cuda.cuInit(0)
count = ctypes.c_int()
assert cuda.cuDeviceGetCount(ctypes.byref(count)) == 0
print(count.value, "devices")
"""
_TORCH = """
import torch
x = torch.randn(1 << 20, device="cuda")
print(float((x + x - 2 * x).abs().max()), torch.cuda.get_device_name())
"""
_TRITON = """
import torch
from kopt_kb.kernels import elementwise
made = elementwise.make_inputs((1 << 20,), "fp32", "cuda", 0)
out, right = elementwise.launch(*made), elementwise.reference(*made)
print(float((out.double() - right).abs().max()))
"""


def cost(trees: list[Path], count: int) -> None:
    """Print the median seconds of each checkout."""
    taken: dict[Path, list[float]] = {tree: [] for tree in trees}
    for _ in range(count):
        for tree, seconds in taken.items():
            env = {**os.environ, "PYTHONPATH": str(tree)}
            done = subprocess.run(
                [sys.executable, "-P", "-c", _ONE], env=env, capture_output=True, text=True, check=True
            )
            seconds.append(float(done.stdout))
    basis = statistics.median(taken[trees[0]])
    for tree, seconds in taken.items():
        middle, least = statistics.median(seconds), min(seconds)
        ratio = f"{middle / basis:.2f} of the first"
        print(f"{tree.name}: median {1e3 * middle:.1f} ms, least {1e3 * least:.1f} ms of {count}, {ratio}")


def in_cage(code: str) -> dict[str, object]:
    """Run a program in the cage of a candidate's check; return how it ended, what it said and what held it."""
    from kopt_kb.launch.project.surroundings import cage_of, home_of, passed_on
    from kopt_kb.sandbox.caged import caged, held_by
    from kopt_kb.sandbox.process import ChildLimits, environment, run

    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        inner, report = Path(name) / "work" / "job", Path(name) / "held.json"
        inner.mkdir(parents=True)
        own = {"PYTHONPATH": environment(ours=True)["PYTHONPATH"], "TRITON_CACHE_DIR": str(inner.parent / "triton")}
        words = caged([sys.executable, "-c", code], cage_of(inner, report, None))
        begin = time.monotonic()
        done = run(words, env={**passed_on(()), **own, **home_of(inner)}, limits=ChildLimits(200.0), folder=inner)
        held = held_by(report)
        said = {"code": done.code, "said": done.last_line[:300], "errors": done.stderr.decode(errors="replace")[-800:]}
        return {**said, "seconds": round(time.monotonic() - begin, 2), "lacks": held.lacks(), "held": held.to_json()}


def gpu(out: Path) -> None:
    """Write what each program came to."""
    out.mkdir(parents=True, exist_ok=True)
    verify = [sys.executable, "-m", "kopt_kb", "verify", "kernel", str(ROOT / "kernels" / "rms_norm.py")]
    verify += ["--shape", "4096x4096", "--dtype", "bf16", "--seeds", "1", "--json", "--judge"]
    with (out / "cage.jsonl").open("w", encoding="utf-8") as file:
        for name, code in (("driver", _DRIVER), ("torch", _TORCH), ("triton", _TRITON)):
            file.write(json.dumps({"what": name, **in_cage(code)}) + "\n")
            file.flush()
        for judge in ("replay", "child"):
            done = subprocess.run([*verify, judge], cwd=ROOT, capture_output=True, text=True, check=False)
            said = {"what": f"verify {judge}", "code": done.returncode, "said": done.stdout[-3000:]}
            file.write(json.dumps({**said, "errors": done.stderr[-800:]}) + "\n")
            file.flush()
    print((out / "cage.jsonl").read_text(encoding="utf-8"))


def main() -> None:
    """Do what the words say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)
    costs, gpus = actions.add_parser("cost"), actions.add_parser("gpu")
    costs.add_argument("trees", nargs="+", type=Path)
    costs.add_argument("--count", type=int, default=60)
    gpus.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    if args.action == "cost":
        cost([one.resolve() for one in args.trees], args.count)
    else:
        gpu(args.out)


if __name__ == "__main__":
    main()
