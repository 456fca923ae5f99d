"""cuTile kernels on one GPU: the loop of policy cutile for real, and each kernel against the Triton one in one run.

    python3 benchmarks/cutile_gpu.py --make DIR [--op rms_norm]                 # without a GPU, with the compiler
    python3 benchmarks/cutile_gpu.py --records DIR --out DIR [--budget-s 90]    # with a GPU, without the compiler

The compiler's wheels hold 180 MB. So the records that the loop may ask for are made where the compiler is: every
configuration of a small space, of the file and of what its recipes make of it. Where the GPU is, `kb tune run --policy
cutile` is given those in place of a maker's answers; a configuration without one counts as failed, and is said.
Triton's records are made with them. One line of DIR/results.jsonl for each finding as soon as there is one; workspaces
come as archives. It needs a CUDA GPU, torch, cuda-bindings and cuda-tile's own wheel (0.4 MB), and changes no setting.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import math
import os
import shutil
import sys
import tarfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from kopt_kb.analysis.cutile.answer import Situation  # noqa: E402
from kopt_kb.analysis.cutile.recipes import recipe_words  # noqa: E402
from kopt_kb.analysis.cutile.source import TextEdit, edited, read_cutile  # noqa: E402
from kopt_kb.kernels.declared import packaged_file  # noqa: E402
from kopt_kb.kernels.record.model import LaunchRecord  # noqa: E402
from kopt_kb.kernels.record.request import MakerRequest, OpRequest  # noqa: E402
from kopt_kb.problem.shapes import format_shape, parse_shape  # noqa: E402
from kopt_kb.runners.replay.contest import contest  # noqa: E402
from kopt_kb.runners.replay.device import DeviceJudging  # noqa: E402
from kopt_kb.runners.replay.judges import judges  # noqa: E402
from kopt_kb.runners.replay.makers import Made, Makers, NotRecordedError  # noqa: E402
from kopt_kb.runners.source_config import configs_of, structure_of  # noqa: E402
from kopt_kb.static.device_facts import device_facts  # noqa: E402
from kopt_kb.wiki.registry import Registry  # noqa: E402
from kopt_kb.wire import parse, read  # noqa: E402

DTYPE = "bf16"
SHAPES = {"rms_norm": "8192x4096", "gemm": "4096x4096x4096", "attention": "1x32x4096x128"}
SPACES: dict[str, dict[str, Sequence[object]]] = {
    "rms_norm": {"TILE_ROWS": (1, 2), "occupancy": (2, 4, 8), "latency": (2, 6, 10), "store_tma": (True, False)},
    "gemm": {
        "TILE_M": (128, 256), "TILE_N": (128, 256), "GROUP_M": (8, 16), "occupancy": (1, 2), "latency": (4, 10),
    },
    "attention": {"TILE_M": (64, 128), "TILE_N": (64, 128), "occupancy": (1, 2), "latency": (4, 10)},
}  # fmt: skip
"""Operation → what its file may be searched for here; the first of each is not always the start."""
STARTS: dict[str, dict[str, object]] = {
    "rms_norm": {"TILE_ROWS": 1, "occupancy": 4, "latency": 2, "store_tma": True},
    "gemm": {"TILE_M": 128, "TILE_N": 128, "GROUP_M": 8, "occupancy": 1, "latency": 4},
    "attention": {"TILE_M": 128, "TILE_N": 64, "occupancy": 2, "latency": 4},
}
_CONTEST_S = 12.0
"""Seconds that are kept for a contest after each loop."""
RECIPES = {"rms_norm": ("", "H"), "gemm": ("",), "attention": ("", "H", "F", "HF")}
"""Operation → chains of edits whose files may come up."""
TRITON: dict[str, list[dict[str, object]]] = {
    "rms_norm": [{}, {"VARIANT": "persistent", "BLOCK_ROWS": 1, "num_warps": 8, "PROGRAMS_PER_SM": 4, "STREAM": True}],
    "gemm": [{}, {
        "VARIANT": "persistent", "BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "num_warps": 8, "HALVES": True,
        "num_stages": 4, "GROUP_M": 8,
    }],
    "attention": [{}, {"BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 8, "num_stages": 3}],
}  # fmt: skip
"""Operation → settings of the Triton kernel: as it starts, and the best of earlier runs."""


def campaign_file(op: str) -> str:
    """Return the packaged kernel with the small space and no variants: what the loop starts from here."""
    file = packaged_file(op, "cutile")
    assert file is not None
    text = file.read_text()
    tree, whole = (
        read_cutile(text),
        {"TUNING_SPACE": {name: list(one) for name, one in SPACES[op].items()}, "VARIANTS": []},
    )
    edits = [
        TextEdit(*tree.span(node.value), repr(whole[node.targets[0].id]))
        for node in tree.tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in whole
    ]
    return edited(text, edits)


def with_recipes(text: str, letters: str) -> str:
    """Return a file after these recipes."""
    for letter in letters:
        words = recipe_words(read_cutile(text), Situation(DTYPE, "sm_90"))
        text = next(one.source for one in words if one.recipe == letter)
        assert text, letter
    return text


def key_of(op: str, source: bytes, shape: str, config: Mapping[str, object]) -> str:
    """Return what tells a record from others: the file without its configurations, shape, and every knob's value."""
    knobs = STARTS[op] | dict(configs_of(source).get(shape, {})) | dict(config)
    values = [str(knobs[name]) for name in STARTS[op]]
    return hashlib.sha256(
        "\n".join([hashlib.sha256(structure_of(source)).hexdigest(), shape, *values]).encode()
    ).hexdigest()


def op_of(source: bytes) -> str:
    """Return the operation of a cuTile file, nothing for others."""
    text = source.decode(errors="replace")
    return next((op for op in SHAPES if f'OP = "{op}"' in text), "") if "import cuda.tile" in text else ""


def _asked(op: str, folder: Path) -> list[tuple[dict[str, Any], OpRequest]]:
    """Return every record that is wanted of an operation, with its entry of the index."""
    shape = SHAPES[op]
    found = []
    for letters in RECIPES[op]:
        source = folder / f"{op}-{letters or 'start'}.py"
        source.write_text(with_recipes(campaign_file(op), letters))
        for values in product(*SPACES[op].values()):
            config = dict(zip(SPACES[op], values, strict=True))
            entry = {"op": op, "language": "cutile", "recipes": letters, "config": config}
            entry["key"] = key_of(op, source.read_bytes(), shape, config)
            found.append((entry, OpRequest(str(source), parse_shape(shape), DTYPE, config)))
    for config in TRITON[op]:
        what = OpRequest(str(packaged_file(op)), parse_shape(shape), DTYPE, config)
        found.append(({"op": op, "language": "triton", "recipes": "", "config": config, "key": ""}, what))
    return found


def make(folder: Path, platform: str, op: str) -> None:
    """Record everything, or one operation anew; what is there stays, what does not compile or fit is left out."""
    product_ = Registry.open().platform(platform)
    facts, failed = device_facts(product_), 0
    folder.mkdir(parents=True, exist_ok=True)
    index = folder / "index.json"
    made: list[dict[str, Any]] = json.loads(index.read_text()) if index.is_file() else []
    known = {json.dumps({name: one[name] for name in ("op", "language", "key", "config")}) for one in made}
    with Makers(1) as makers:
        for entry, what in (one for each in SHAPES if op in {"", each} for one in _asked(each, folder)):
            if json.dumps({name: entry[name] for name in ("op", "language", "key", "config")}) in known:
                continue
            place = folder / f"{entry['op']}-{len(made):03d}"
            shutil.rmtree(place, ignore_errors=True)
            try:
                makers.make(MakerRequest(what, product_.identity.target, platform, facts, ""), place).stored()
            except Exception as error:  # noqa: BLE001 - a configuration that does not compile is one of many
                failed += 1
                print(entry["op"], entry["recipes"], entry["config"], str(error)[:160], flush=True)
                continue
            made.append({**entry, "record": place.name})
            index.write_text(json.dumps(made, indent=1) + "\n")
    print(f"{len(made)} records, {failed} without")


class KeptMakers(Makers):
    """Makers that answer for cuTile files with records made ahead, and make those of other files."""

    folder = Path()
    places: Mapping[str, str] = {}
    missed: list[str] = []  # noqa: RUF012 - what was asked for and is not there

    def make(self, request: MakerRequest, out: Path) -> Made:
        """Return the record that was made ahead; a configuration without one is a failure that says so."""
        what = request.what
        source = Path(what.file).read_bytes() if isinstance(what, OpRequest) else b""
        op = op_of(source)
        if not isinstance(what, OpRequest) or not op:
            return super().make(request, out)
        place = self.places.get(key_of(op, source, format_shape(what.shape), what.config))
        if place is None:
            self.missed.append(f"{op} {dict(what.config)}")
            error = NotRecordedError(
                "no record of this configuration was made ahead", where="cutile_gpu", fix="make it"
            )
            return Made(out, None, error)
        shutil.copytree(self.folder / place, out)
        return Made(out, read(LaunchRecord, parse((out / "record.json").read_bytes())))


class Run:
    """Findings so far, and the time that is left."""

    def __init__(self, out: Path, records: Path, budget_s: float) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self.out, self.records, self.end = out, records, time.monotonic() + budget_s
        self.index: list[dict[str, Any]] = json.loads((records / "index.json").read_text())

    def part(self, name: str, do: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
        """Do one part, keep what it found, and never let it end the others."""
        begin = time.monotonic()
        try:
            found = dict(do()) if begin < self.end else {"error": "no time left"}
        except Exception as error:  # noqa: BLE001 - whatever fails, the other parts run
            found = {"error": f"{type(error).__name__}: {error}"}
        line = {"part": name, "seconds": round(time.monotonic() - begin, 3), **found}
        with (self.out / "results.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")
        print(json.dumps(line)[:600], flush=True)
        return found

    def place(self, op: str, language: str, config: Mapping[str, object], recipes: str = "") -> Path:
        """Return where a record lies."""
        wanted = (op, language, dict(config), recipes)
        found = [one for one in self.index if (one["op"], one["language"], one["config"], one["recipes"]) == wanted]
        return self.records / str(found[0]["record"])


def checked(judging: DeviceJudging, folder: Path, op: str) -> dict[str, Any]:
    """Replay a record on every input that its operation declares."""
    result = judging.check(folder, packaged_file(op) or folder, 2, math.inf)
    failed = [one.inputs for one in result.tried if one.problem]
    return {"problem": result.problem, "failed": failed, "checks": result.checks, "rel_l2_err": result.rel_l2_err}


def decided(old: Path, new: Path, op: str) -> dict[str, Any]:
    """Decide by a contest whether `new` is faster than `old`."""
    with judges(packaged_file(op) or old) as made:
        result = contest(made, {"one": old}, {"one": new})
    times = {}
    if result.shapes:
        one = result.shapes[0]
        times = {"old_us": round(one.incumbent_s * 1e6, 3), "new_us": round(one.candidate_s * 1e6, 3)}
    return {"verdict": result.verdict, "reason": result.reason, "ratio": result.ratio, **times, "quads": result.quads}


def campaign(run: Run, op: str, platform: str, budget_s: float, *, profiles: bool) -> dict[str, Any]:
    """Run the loop on a kernel and keep its workspace; return rounds and where it ended."""
    from kopt_kb.cli.main import main as kb
    from kopt_kb.runners.replay import device, executor
    from kopt_kb.workspace.workspace import Workspace

    demo = run.out / f"{op}.py"
    demo.write_text(campaign_file(op))
    name = f"cutile_{op}"
    words = ["--platform", platform, "--framework", "cuTile", "--kernel-demo", str(demo), "--shape", SHAPES[op]]
    code = kb(["init", name, *words, "--dtype", DTYPE, "--parent", str(run.out)])
    workspace = run.out / f"kernel_opt_{name}"
    executor.Makers = KeptMakers  # type: ignore[attr-defined]
    if not profiles:
        device.unavailable = lambda: "not asked for here"  # type: ignore[attr-defined]
    KeptMakers.folder, KeptMakers.missed = run.records, []
    KeptMakers.places = {one["key"]: one["record"] for one in run.index if one["key"]}
    run_words = ["--policy", "cutile", "--judge", "replay", "--yes", "--search-s", "8", "--evaluations", "16"]
    more = ["--no-stop", "target", "--no-stop", "hardware_limit", "--budget-s", f"{budget_s:g}"]
    begin = time.monotonic()
    code = code or kb(["tune", "run", str(workspace), *run_words, *more])
    seconds = time.monotonic() - begin
    state = Workspace.open(str(workspace)).state()
    rounds = [
        [one.number, one.hypothesis.claim if one.hypothesis else "baseline", one.status, 1e6 * (one.mean_s() or 0)]
        for one in state.rounds
    ]
    best = state.best
    kernel = (workspace / "objects" / best.snapshot.blob).read_bytes() if best and best.snapshot else b""
    with tarfile.open(run.out / f"{name}.tgz", "w:gz") as file:
        file.add(workspace, workspace.name)
    results = workspace / "sandbox" / "perf_results.md"
    shutil.copy(results, run.out / f"{name}.perf_results.md") if results.is_file() else None
    shutil.rmtree(workspace, ignore_errors=True)
    ended = state.stopped.reason if state.stopped is not None else "open"
    record = KeptMakers.places.get(key_of(op, kernel, SHAPES[op], {}), "") if kernel else ""
    return {
        "exit": code, "campaign_s": round(seconds, 2), "rounds": rounds, "stopped": ended, "best": record,
        "configs": {shape: dict(one) for shape, one in configs_of(kernel).items()},
        "not_made_ahead": len(KeptMakers.missed),
    }  # fmt: skip


def on_gpu(run: Run, platform: str, op: str, *, profiles: bool) -> None:
    """Check the start, run the loop, then hold what it found against Triton, the best setting first."""
    wanted = [one for one in SHAPES if op in {"", one}]
    for at, one in enumerate(wanted):
        start = run.place(one, "cutile", STARTS[one])
        judging = DeviceJudging()
        run.part(f"check {one}", partial(checked, judging, start, one))
        judging.close()
        each_s = (run.end - time.monotonic()) / (len(wanted) - at) - _CONTEST_S
        found = run.part(f"loop {one}", partial(campaign, run, one, platform, max(each_s, 10.0), profiles=profiles))
        best = run.records / found["best"] if found.get("best") else start
        for config in reversed(TRITON[one]):
            old = run.place(one, "triton", config)
            run.part(f"triton {config or 'as it starts'}, cutile {one}", partial(decided, old, best, one))


def main() -> None:
    """Make records, or run the loop on them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--make", type=Path)
    parser.add_argument("--records", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--budget-s", type=float, default=90.0)
    parser.add_argument("--platform", default="H100_SXM")
    parser.add_argument("--profiles", action="store_true", help="ncu watches what is accepted: some 8 s a round")
    parser.add_argument("--op", default="", choices=["", *SHAPES])
    args = parser.parse_args()
    if args.make:
        make(args.make, args.platform, args.op)
    elif args.records and args.out:
        os.environ.setdefault("KOPT_CACHE", str(args.out / "cache"))
        on_gpu(Run(args.out, args.records, args.budget_s), args.platform, args.op, profiles=args.profiles)
        shutil.rmtree(args.out / "cache", ignore_errors=True)
    else:
        parser.error("give --make DIR, or --records DIR and --out DIR")


if __name__ == "__main__":
    main()
