"""What records of other languages and of own memory come to on a GPU: recorded without it, checked by replay on it.

    python3 benchmarks/other_records.py --out DIR [--budget-s 150] [--platform H100_SXM] [--only child]

CUDA C++ with `__constant__` tables and with a struct by value; CuTe DSL, TileLang and Helion where they are installed;
the level of trust of a check by a child process, with what held it; seconds of a profile. One line of DIR/results.jsonl
for each finding as soon as there is one; what failed is printed last. Without a GPU the records are made and the rest
says why not. It changes no setting of the device.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from kopt_kb.launch.counts.device_facts import device_facts  # noqa: E402
from kopt_kb.launch.judge.device import DeviceJudging  # noqa: E402
from kopt_kb.launch.judge.makers import Makers  # noqa: E402
from kopt_kb.launch.kernel.declared import packaged_file  # noqa: E402
from kopt_kb.launch.record.request import MakerRequest, OpRequest  # noqa: E402
from kopt_kb.wiki.registry import Registry  # noqa: E402

SHAPE, DTYPE = (1 << 22,), "fp32"
TOML = """
op = "elementwise"
shape = "Nx..."
dtypes = ["fp32"]
MORE
[inputs]
x = "[elements]"
y = "[elements]"
[outputs]
out = "[elements]"
[[steps]]
launch = "add_kernel"
grid = ["elements // 1024"]
block = [128]
arguments = ARGUMENTS
"""
PLAIN = '["x", "y", "out"]'
CONSTANTS = """
__constant__ float zero[8] = {0, 0, 0, 0, 0, 0, 0, 0};
static __constant__ int steps[2] = {0, 128};
extern "C" __global__ void add_kernel(const float* x, const float* y, float* out) {
  for (int i = 0; i < 8; i++) {
    const int at = blockIdx.x * 1024 + i * steps[1] + threadIdx.x;
    out[at] = x[at] + y[at] + zero[i] + steps[0];
  }
}
"""
STRUCT = """
struct Task { const float* x; int step; float* out; };
extern "C" __global__ void add_kernel(Task task, const float* y) {
  for (int i = 0; i < 8; i++) {
    const int at = blockIdx.x * 1024 + i * task.step + threadIdx.x;
    task.out[at] = task.x[at] + y[at];
  }
}
"""
CUTE = """
import cutlass
import cutlass.cute as cute


@cute.kernel
def add_kernel(x: cute.Tensor, y: cute.Tensor, out: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    for i in cutlass.range_constexpr(8):
        at = block * 1024 + i * 128 + thread
        out[at] = x[at] + y[at]


@cute.jit
def add(x: cute.Tensor, y: cute.Tensor, out: cute.Tensor):
    add_kernel(x, y, out).launch(grid=(x.shape[0] // 1024, 1, 1), block=(128, 1, 1))
"""
TILELANG = """
import tilelang.language as T


def add(elements):
    @T.prim_func
    def add(
        A: T.Tensor((elements,), "float32"),
        B: T.Tensor((elements,), "float32"),
        C: T.Tensor((elements,), "float32"),
    ):
        with T.Kernel(elements // 1024, threads=128) as block:
            for i in T.Parallel(1024):
                C[block * 1024 + i] = A[block * 1024 + i] + B[block * 1024 + i]

    return add
"""
HELION = """
import helion
import helion.language as hl
import torch

OP = "elementwise"


@helion.kernel(config=helion.Config(block_sizes=[1024], num_warps=4), static_shapes=True)
def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(out.size()):
        out[tile] = x[tile] + y[tile]
    return out


def make_inputs(shape, dtype, device="cuda", seed=0):
    return tuple(torch.randn(shape, device=device, dtype=torch.float32) for _ in range(2))


def launch(x, y, *, config=None, out=None):
    return add(x, y)
"""


class Run:
    """Findings so far, and the time that is left."""

    def __init__(self, out: Path, budget_s: float) -> None:
        self.path, self.end, self.failed = out / "results.jsonl", time.monotonic() + budget_s, list[str]()

    def part(self, name: str, do: Callable[[], dict[str, Any]]) -> bool:
        """Do one part, keep what it found, and never let it end the others; return whether it went well."""
        begin, found = time.monotonic(), dict[str, Any]()
        try:
            found = do() if begin < self.end else {"error": "no time left"}
        except Exception as error:  # noqa: BLE001 - whatever fails, the other parts run
            found = {"error": f"{type(error).__name__}: {error}"}
        line = {"part": name, "seconds": round(time.monotonic() - begin, 3), **found}
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        print(json.dumps(line)[:400], flush=True)
        if "error" in found:
            self.failed.append(f"{name}: {found['error']}")
        return "error" not in found


def written(folder: Path) -> dict[str, Path]:
    """Write every language that is here; return what is to be recorded by name."""
    files: dict[str, tuple[str, str]] = {"constants.cu": (CONSTANTS, TOML), "struct.cu": (STRUCT, TOML)}
    made = {}
    for name, (source, toml) in files.items():
        given = '[["x", "i32 128", "out"], "y"]' if name == "struct.cu" else PLAIN
        (folder / name).write_text(source)
        (folder / name).with_suffix(".toml").write_text(toml.replace("MORE", "").replace("ARGUMENTS", given))
        made[Path(name).stem] = folder / name
    for module, language, source in (("cutlass", "cute", CUTE), ("tilelang", "tilelang", TILELANG)):
        if importlib.util.find_spec(module) is not None:
            more = f'language = "{language}"\nfunction = "{language}_add.py:add"'
            (folder / f"{language}_add.py").write_text(source)
            made[language] = folder / f"{language}.toml"
            made[language].write_text(TOML.replace("MORE", more).replace("ARGUMENTS", PLAIN))
    if importlib.util.find_spec("helion") is not None:
        made["helion"] = folder / "helion_add.py"
        made["helion"].write_text(HELION)
    return made


def main() -> int:
    """Record, check, profile; say what failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--budget-s", type=float, default=150.0)
    parser.add_argument("--platform", default="H100_SXM")
    parser.add_argument("--only", choices=("child", "records"), help="one half")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    run = Run(args.out, args.budget_s)
    product = Registry.open().platform(args.platform)
    with tempfile.TemporaryDirectory() as name, Makers(1) as makers:
        folder, recorded = Path(name), dict[str, Path]()
        for language, file in written(folder).items() if args.only != "child" else ():
            what = OpRequest(str(file), SHAPE, DTYPE)
            request = MakerRequest(what, product.identity.target, args.platform, device_facts(product), "")
            out = folder / f"{language}.record"

            def record(request: MakerRequest = request, out: Path = out) -> dict[str, Any]:
                one = makers.make(request, out)
                return {"maker_s": round(one.seconds, 3), "entry": one.stored().launches[0].entry[:80]}

            if run.part(f"record {language}", record):
                recorded[language] = out
        judged(run, recorded)
    if args.only != "records":
        run.part("a child's check", child)
    print("\n".join(f"FAILED {one}" for one in run.failed) or "all parts as expected")
    return bool(run.failed)


def judged(run: Run, recorded: dict[str, Path]) -> None:
    """Check every record, then profile each."""
    judging, reference = DeviceJudging(), packaged_file("elementwise") or ROOT
    try:
        for language, folder in recorded.items():

            def check(folder: Path = folder) -> dict[str, Any]:
                found = judging.check(folder, reference, 2, math.inf)
                return {"checks": found.checks, "rel_l2_err": found.rel_l2_err, **_error(found.problem)}

            def profile(folder: Path = folder) -> dict[str, Any]:
                found = judging.profile(folder, reference, math.inf)
                return {"steps": dict(found.seconds), "bytes": len(found.csv), **_error(found.problem)}

            if run.part(f"check {language}", check):
                run.part(f"profile {language}", profile)
    finally:
        judging.close()


def _error(problem: str) -> dict[str, str]:
    return {"error": problem} if problem else {}


def child() -> dict[str, Any]:
    """Check a packaged kernel by a child process: its level of trust, and what held it."""
    words = [
        "verify",
        "kernel",
        str(packaged_file("rms_norm")),
        "--shape",
        "512x1024",
        "--dtype",
        "bf16",
        "--judge",
        "child",
    ]
    command = [sys.executable, "-m", "kopt_kb", *words, "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    if not done.stdout:
        return {"error": done.stderr.strip()[-300:]}
    found = json.loads(done.stdout)
    if "passed" not in found:
        return {"error": str(found)[:300]}
    return {
        "passed": found["passed"],
        "basis": found.get("basis"),
        **_error("" if found["passed"] else found["reason"]),
    }


if __name__ == "__main__":
    sys.exit(main())
