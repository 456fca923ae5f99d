"""`kb bench compare` on four packaged kernels on one GPU: nothing changed but names, and a regression of 2 % planted.

    PYTHONPATH=$PWD:$PWD/benchmarks python3 benchmarks/compare_gpu.py --out FILE [--platform H100_SXM] [--seconds 28]

Three folders hold the kernels: as packaged; with their Triton functions renamed, so that the machine code is the same
and its names are not, and has to be timed; and with a fill of scratch behind each launch, as many bytes as take 2 % of
the kernel's time here (found from quads with a small and a large fill; a kernel of which the smallest fill takes more
keeps that, and its line says so). A line a part as soon as it is known: `planted` bytes, then the documents of both
runs with their blocks and exit codes; benchmarks/regression_errors.py --recorded FILE simulates over the first run's.

Expected: exit 0 without a regression, each of four kernels `no_regression` after 6 blocks (20 to 28 s a kernel); exit 1
with one, all four `regression`, ratios 1.02 ± 0.004; the base over itself below 0.5 %; quads deviate by 0.3 to 1 %.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from kopt_kb.launch.counts.device_facts import device_facts  # noqa: E402
from kopt_kb.launch.judge.judges import Judges, judges  # noqa: E402
from kopt_kb.launch.judge.makers import make_records  # noqa: E402
from kopt_kb.launch.judge.pairs import planned  # noqa: E402
from kopt_kb.launch.judge.regression import REGRESSION  # noqa: E402
from kopt_kb.launch.judge.sequential import winsorised_bound  # noqa: E402
from kopt_kb.launch.record.request import MakerRequest, OpRequest  # noqa: E402
from kopt_kb.problem.shapes import parse_shape  # noqa: E402
from kopt_kb.wiki.registry import Registry  # noqa: E402

KERNELS = ROOT / "kernels"
CASES = (
    ("matmul.py", "4096x4096x4096"),
    ("matmul_wide.py", "2048x14336x4096"),
    ("softmax.py", "8192x8192"),
    ("rms_norm.py", "8192x8192"),
)
PARTS = ("null", "planted")
DTYPE, SMALL, LARGE, QUADS = "bf16", 1 << 12, 1 << 25, 12

PLANTED = """

import functools

_launch_as_packaged = launch


@functools.wraps(_launch_as_packaged)
def launch(*args, **named):
    out = _launch_as_packaged(*args, **named)
    torch.zeros({count}, dtype=torch.uint8, device=out.device)
    return out
"""


def source(name: str) -> str:
    """Return a packaged kernel's file; `_wide` is the same one on another shape."""
    return (KERNELS / name.replace("_wide", "")).read_text(encoding="utf-8")


def renamed(text: str) -> str:
    """Return a file whose Triton functions have other names."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(one) for one in node.decorator_list):
            text = re.sub(rf"\b{node.name}\b", f"{node.name}_again", text)
    return text


def slower(text: str, count: int) -> str:
    """Return a file whose launch fills so many bytes besides."""
    return text + PLANTED.format(count=count)


def ratio(children: Judges, base: Path, head: Path) -> float:
    """Return the log ratio of two records from a few quads of one pair of processes."""
    with planned(children, (base, head)) as pair:
        pair.settle()
        return winsorised_bound([pair.quad().value for _ in range(QUADS)]).mean


def planted_bytes(folder: Path, name: str, shape: str, platform: str) -> dict[str, object]:
    """Return the bytes whose fill takes 2 % of a kernel's time, with what was measured."""
    product = Registry.open().platform(platform)
    asked = []
    for label, text in (
        ("base", source(name)), ("small", slower(source(name), SMALL)), ("large", slower(source(name), LARGE)),
    ):  # fmt: skip
        file = folder / f"{label}_{name}"
        file.write_text(text, encoding="utf-8")
        what = OpRequest(str(file), parse_shape(shape), DTYPE)
        request = MakerRequest(what, product.identity.target, product.identity.platform, device_facts(product), "")
        asked.append((request, folder / f"{label}_{name}.record"))
    for one in make_records(asked):
        one.stored()
    base, small, large = (out for _, out in asked)
    with judges(KERNELS / name.replace("_wide", "")) as children:
        least, most = ratio(children, base, small), ratio(children, base, large)
    slope = (math.exp(most) - math.exp(least)) / (LARGE - SMALL)
    count = SMALL + max(0, int((math.exp(REGRESSION) - math.exp(least)) / slope))
    return {"kernel": name, "bytes": count, "least_pct": 100 * math.expm1(least), "most_pct": 100 * math.expm1(most)}


def compared(base: Path, head: Path, platform: str, seconds: float) -> dict[str, object]:
    """Return the document of a run, its exit code and wall time."""
    cases = [word for name, shape in CASES for word in ("--case", f"{name} {shape} {DTYPE}")]
    words = ["bench", "compare", str(base), str(head), *cases, "--platform", platform, "--seconds", str(seconds)]
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "kopt_kb", *words, "--json"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    took = round(time.monotonic() - begin, 1)
    said = json.loads(done.stdout) if done.stdout.startswith("{") else {}
    return {"exit": done.returncode, "wall_s": took, "stderr": done.stderr[-500:], "comparison": said}


def main() -> None:
    """Run the parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--platform", default="H100_SXM")
    parser.add_argument("--seconds", type=float, default=28.0)
    parser.add_argument("--part", action="append", choices=PARTS, help="default: both")
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="compare-"))
    sides = {name: folder / name for name in ("base", "null", "planted", "calibration")}
    for one in sides.values():
        one.mkdir()

    def keep(line: dict[str, object]) -> None:
        with args.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    for name, shape in CASES:
        (sides["base"] / name).write_text(source(name), encoding="utf-8")
        (sides["null"] / name).write_text(renamed(source(name)), encoding="utf-8")
        found = planted_bytes(sides["calibration"], name, shape, args.platform)
        keep({"part": "bytes", **found})
        (sides["planted"] / name).write_text(slower(source(name), int(str(found["bytes"]))), encoding="utf-8")
    for part in args.part or PARTS:
        found = compared(sides["base"], sides[part], args.platform, args.seconds)
        keep({"part": part, **found})
        document = found["comparison"]
        print(part, "exit", found["exit"], found["wall_s"], "s", found["stderr"] if not document else "")
        for case in document.get("cases", ()) if isinstance(document, dict) else ():
            kernel = case["kernel"]
            print(f"  {case['name']} {case['shape']}: {kernel['verdict']} {kernel['seconds']:.1f} s {kernel['reason']}")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
