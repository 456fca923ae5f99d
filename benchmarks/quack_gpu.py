"""quack's kernels against the packaged ones by launch records, in one run, in turn: as fast as the best, or not.

    CUTE_DSL_ARCH=sm_90a python3 benchmarks/quack_gpu.py --make DIR [--platform H100_SXM]   # with quack, without a GPU
    python3 benchmarks/quack_gpu.py --records DIR --out DIR [--budget-s 80]                 # with a GPU, without quack

quack (pip install quack-kernels; CuTe DSL) is recorded as any file with a header is: a function of a few lines for each
shape calls its kernel's class with the launch that its own heuristic picks, on tensors of that very shape, without
weights in fp32 where it would ask for them. Of ours a few settings are recorded; the fastest of a short timing stands
against quack's in a contest, whose ratio is that of our time to quack's. DIR/results.jsonl has a line a shape.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import math
import shutil
import statistics
import sys
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from cute_gpu import decided  # noqa: E402

from kopt_kb.launch.counts.device_facts import device_facts  # noqa: E402
from kopt_kb.launch.judge.device import DeviceJudging  # noqa: E402
from kopt_kb.launch.judge.makers import Makers  # noqa: E402
from kopt_kb.launch.kernel.declared import packaged_file  # noqa: E402
from kopt_kb.launch.record.request import MakerRequest, OpRequest  # noqa: E402
from kopt_kb.problem.shapes import parse_shape  # noqa: E402
from kopt_kb.wiki.registry import Registry  # noqa: E402

ROWS = [(8192, 4096), (16384, 8192), (4096, 16384)]
CASES = [(op, shape) for op in ("rms_norm", "softmax", "layer_norm") for shape in ROWS]
CASES += [("cross_entropy", shape) for shape in [(8192, 32000), (4096, 128256)]]
_ONE: list[dict[str, Any]] = [
    {"VARIANT": "single_pass", "BLOCK_ROWS": 1, "num_warps": warps, "STREAM": False} for warps in (4, 8, 16, 32)
]
_MORE: list[dict[str, Any]] = [
    {"VARIANT": "two_pass", "BLOCK_ROWS": 1, "BLOCK_COLS": cols, "num_warps": 16, "num_stages": 1, "STREAM": stream}
    for cols, stream in [(4096, False), (8192, False), (8192, True)]
]
_OURS: dict[str, list[dict[str, Any]]] = {
    "rms_norm": [*_ONE, *_MORE],
    "layer_norm": [*_ONE, *_MORE],
    "softmax": [
        {**one, "RECIPROCAL": True, "POWERS": True, "STREAM_STORES": out} for one in _ONE[1:] for out in (False, True)
    ] + [{**_MORE[0], "VARIANT": "online", "POWERS": True}],
    "cross_entropy": [
        {"VARIANT": kind, "BLOCK": block, "POWERS": True, "num_warps": warps, "num_stages": 1}
        for kind, block, warps in [("parts", 8192, 8), ("parts", 8192, 16), ("parts", 16384, 16), ("parts", 16384, 32)]
    ],
}  # fmt: skip
_NORM = """from quack.rmsnorm import RMSNorm
from quack.rmsnorm_config import RmsNormFwdConfig

def kernel():
    found = RmsNormFwdConfig.from_analytical_heuristic({cols}, 16, 9, {layer})
    return RMSNorm(cutlass.BFloat16, {cols}, {layer}, config=found)
"""
_KERNELS = {
    "rms_norm": (
        _NORM, "x, weight, out", "x, weight, None, None, out, None, None, None, cutlass.Float32(1e-6), []",
        '["x", "weight", "out", "fp32 1e-6"]', {"x": "[M, N]", "weight": "[N]"}, "[M, N]",
    ),
    "layer_norm": (
        _NORM, "x, weight, bias, out", "x, weight, bias, None, out, None, None, None, cutlass.Float32(1e-5), []",
        '["x", "weight", "bias", "out", "fp32 1e-5"]', {"x": "[M, N]", "weight": "[N]", "bias": "[N]"}, "[M, N]",
    ),
    "softmax": (
        "from quack.softmax import Softmax\n\ndef kernel():\n    return Softmax(cutlass.BFloat16, {cols})\n",
        "x, out", "x, out, []", '["x", "out"]', {"x": "[M, N]"}, "[M, N]",
    ),
    "cross_entropy": (
        ("from quack.cross_entropy import CrossEntropy as Loss\n\n"
        "def kernel():\n    return Loss(cutlass.BFloat16, {cols})\n"),
        "x, target, out", "x, target, None, out, None, None, None, cutlass.Int32(-100), []",
        '["x", "target", "x", "out", "i32 0 - 100"]', {"x": "[M, V]", "target": "i64[M]"}, "[M]",
    ),
}  # fmt: skip
"""Operation → what makes the kernel, our function's tensors, the call, the launch's arguments, inputs and output."""
_OPTIONS = {
    "rms_norm": "{ weight = true }", "layer_norm": "{ weight = true, bias = true }", "softmax": "{}",
    "cross_entropy": '{ reduction = "none" }',
}  # fmt: skip


def geometry(op: str, rows: int, cols: int) -> dict[str, Any]:
    """Return grid, block, cluster and shared bytes of quack's launch, from its own class."""
    import cutlass

    if op in {"rms_norm", "layer_norm"}:
        from quack.rmsnorm import RMSNorm
        from quack.rmsnorm_config import RmsNormFwdConfig

        found = RmsNormFwdConfig.from_analytical_heuristic(cols, 16, 9, op == "layer_norm")
        made: Any = RMSNorm(cutlass.BFloat16, cols, op == "layer_norm", config=found)
    elif op == "softmax":
        from quack.softmax import Softmax

        made = Softmax(cutlass.BFloat16, cols)
    else:
        from quack.cross_entropy import CrossEntropy

        made = CrossEntropy(cutlass.BFloat16, cols)
    made._set_cluster_n()
    vector = math.gcd(cols, 8)
    made._cap_cluster_n(vector)
    row, threads = made._threads_per_row(), made._num_threads()
    high, wide = threads // row, vector * row * -(-(cols // vector) // (row * made.cluster_n))
    sums = threads // 32 * made.cluster_n * made.stage * made.reduction_dtype.width // 8
    waits = 8 * made.stage if made.cluster_n > 1 else 0
    return {
        "grid": f"[{-(-rows // high)}, {made.cluster_n}]", "block": f"[{threads}]",
        "cluster": f"[1, {made.cluster_n}]", "shared": f'"{2 * high * wide + -(-sums // 8) * 8 + waits}"',
    }  # fmt: skip


def written(folder: Path, op: str, shape: tuple[int, int]) -> Path:
    """Write the file that is recorded: a header and a function that calls quack's kernel."""
    makes, tensors, call, arguments, inputs, output = _KERNELS[op]
    launch = "\n".join(f"{key} = {one}" for key, one in geometry(op, *shape).items())
    read = "\n".join(f'{name} = "{form}"' for name, form in inputs.items())
    text = f'''"""quack's {op}.

/* kb
op = "{op}"
op_options = {_OPTIONS[op]}
dtypes = ["bf16"]
language = "cute"
function = "launched"

[inputs]
{read}

[outputs]
out = "{output}"

[[steps]]
launch = "kernel"
{launch}
arguments = {arguments}
*/
"""
import cutlass
from cutlass import cute
{makes.format(cols=shape[1], layer=op == "layer_norm")}

@cute.jit
def launched({", ".join(f"{one}: cute.Tensor" for one in tensors.split(", "))}):
    kernel()({call})
'''
    path = folder / f"quack_{op}_{shape[0]}x{shape[1]}.py"
    path.write_text(text, encoding="utf-8")
    return path


def make(folder: Path, platform: str, only: str) -> None:
    """Record quack's kernels and ours; what does not compile is named. Without quack its records stay as they are."""
    found = Registry.open().platform(platform)
    facts = device_facts(found)
    folder.mkdir(parents=True, exist_ok=True)
    index = folder / "index.json"
    made: list[dict[str, Any]] = json.loads(index.read_text()) if index.is_file() else []
    with Makers(1) as makers:
        for op, shape in (one for one in CASES if only in {"", one[0]}):
            fixed = "quack" if importlib.util.find_spec("quack") is None else ""
            made = [one for one in made if (one["op"], one["shape"]) != (op, list(shape)) or one["whose"] == fixed]
            asked: list[tuple[str, Path, dict[str, Any]]] = []
            if not fixed:
                asked = [("quack", written(folder, op, shape), {})]
            asked += [("kb", packaged_file(op) or folder, config) for config in _OURS[op]]
            for number, (whose, file, config) in enumerate(asked, start=int(bool(fixed))):
                place = folder / f"{op}-{shape[0]}x{shape[1]}-{whose}-{number}"
                shutil.rmtree(place, ignore_errors=True)
                what = OpRequest(str(file), parse_shape(f"{shape[0]}x{shape[1]}"), "bf16", config)
                try:
                    makers.make(MakerRequest(what, found.identity.target, platform, facts, ""), place).stored()
                except Exception as error:  # noqa: BLE001 - one that does not compile is named, the others are made
                    print(op, shape, whose, config, f"{type(error).__name__}: {str(error)[:300]}", flush=True)
                    continue
                made.append({"op": op, "shape": shape, "whose": whose, "config": config, "record": place.name})
            index.write_text(json.dumps(made, indent=1) + "\n")
    known = folder / "versions.json"
    versions = json.loads(known.read_text()) if known.is_file() else {}
    for name in ("nvidia-cutlass-dsl", "triton", "quack-kernels"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    known.write_text(json.dumps(versions) + "\n")
    print(len(made), "records")


def _of_shape(records: Path, judging: DeviceJudging, own: list[dict[str, Any]], op: str) -> dict[str, Any]:
    """Check quack's record, time ours briefly, and hold the fastest against it."""
    reference = packaged_file(op) or records
    folders = {f"{one['whose']} {one['config'] or ''}".strip(): records / one["record"] for one in own}
    if "quack" not in folders:
        return {"problem": "quack's kernel has no record"}
    checked = judging.check(folders["quack"], reference, 2, math.inf)
    times = {
        name: statistics.median(one.times_s) * 1e6 if one.times_s and not one.problem else None
        for name, one in zip(folders, judging.time(list(folders.values()), reference, 10, math.inf), strict=True)
    }
    ours = [name for name, one in times.items() if name != "quack" and one]
    found = {"quack_problem": checked.problem, "quack_rel_l2_err": checked.rel_l2_err, "brief_us": times}
    if checked.problem or not ours:
        return found
    best = min(ours, key=lambda name: times[name] or math.inf)
    return {**found, "ours": best, **decided(folders["quack"], folders[best], op)}


def _each(records: Path) -> Iterator[tuple[str, list[int], list[dict[str, Any]]]]:
    index: list[dict[str, Any]] = json.loads((records / "index.json").read_text())
    for op, shape in CASES:
        yield op, list(shape), [one for one in index if (one["op"], one["shape"]) == (op, list(shape))]


def replay(records: Path, out: Path, budget_s: float, only: str) -> None:
    """Measure shape by shape; a line is written as soon as there is one."""
    out.mkdir(parents=True, exist_ok=True)
    end, judging = time.monotonic() + budget_s, DeviceJudging()
    with (out / "results.jsonl").open("w", encoding="utf-8") as file:
        first = {"machine": str(judging.machine()), "versions": json.loads((records / "versions.json").read_text())}
        file.write(json.dumps(first) + "\n")
        for op, shape, own in _each(records):
            if only not in {"", op}:
                continue
            if time.monotonic() > end:
                print("no time left for", op, shape)
                break
            begin = time.monotonic()
            try:
                found = _of_shape(records, judging, own, op)
            except Exception as error:  # noqa: BLE001 - the other shapes are measured all the same
                found = {"problem": f"{type(error).__name__}: {error}"[:400]}
            line = {"op": op, "shape": shape, "seconds": round(time.monotonic() - begin, 1), **found}
            file.write(json.dumps(line) + "\n")
            file.flush()
            print({key: one for key, one in line.items() if key != "brief_us"}, flush=True)
    judging.close()


def main() -> None:
    """Make records, or replay them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--make", type=Path)
    parser.add_argument("--records", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--budget-s", type=float, default=80.0)
    parser.add_argument("--platform", default="H100_SXM")
    parser.add_argument("--only", default="", choices=["", *_KERNELS])
    args = parser.parse_args()
    if args.make:
        make(args.make, args.platform, args.only)
    elif args.records and args.out:
        replay(args.records, args.out, args.budget_s, args.only)
    else:
        parser.error("give --make DIR, or --records DIR and --out DIR")


if __name__ == "__main__":
    main()
