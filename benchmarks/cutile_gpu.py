"""cuTile kernels on one GPU: the loop of policy cutile for real, and each kernel against the Triton one in one run.

    python3 benchmarks/cutile_gpu.py --ahead DIR [--op rms_norm]                   # without a GPU, with the compiler
    KOPT_CODE=DIR python3 benchmarks/cutile_gpu.py --out DIR [--budget-s 90]       # with a GPU, without the compiler

The compiler's wheels hold 180 MB. So every configuration of a small space is compiled where the compiler is, of the
file and of what its recipes make of it. Where the GPU is, `kb tune run --policy cutile` records with cuTile's own wheel
(0.4 MB) and finds the machine code in `KOPT_CODE`; a configuration without it counts as failed, and is said. One line
of DIR/results.jsonl for each finding as soon as there is one; workspaces come as archives. It needs a CUDA GPU, torch,
Triton and cuda-bindings, and changes no setting of the device.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import os
import shutil
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from kopt_kb.launch.candidate.source_config import configs_of  # noqa: E402
from kopt_kb.launch.compile.device import DeviceFacts  # noqa: E402
from kopt_kb.launch.counts.device_facts import device_facts  # noqa: E402
from kopt_kb.launch.judge.contest import contest  # noqa: E402
from kopt_kb.launch.judge.device import DeviceJudging  # noqa: E402
from kopt_kb.launch.judge.judges import judges  # noqa: E402
from kopt_kb.launch.judge.makers import Makers  # noqa: E402
from kopt_kb.launch.kernel.declared import packaged_file  # noqa: E402
from kopt_kb.launch.record.calls import call_of  # noqa: E402
from kopt_kb.launch.record.request import MakerRequest, OpRequest  # noqa: E402
from kopt_kb.launch.record.trace import CallTrace  # noqa: E402
from kopt_kb.packs.cutile.compile.launches import TileLaunches  # noqa: E402
from kopt_kb.packs.cutile.source.answer import Situation  # noqa: E402
from kopt_kb.packs.cutile.source.recipes import recipe_words  # noqa: E402
from kopt_kb.packs.cutile.source.source import TextEdit, edited, read_cutile  # noqa: E402
from kopt_kb.problem.shapes import parse_shape  # noqa: E402
from kopt_kb.wiki.registry import Registry  # noqa: E402

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


def asked(op: str, folder: Path) -> Iterator[tuple[str, OpRequest]]:
    """Yield every configuration of an operation's files that the loop may come to, with the recipes of its file."""
    for letters in RECIPES[op]:
        source = folder / f"{op}-{letters or 'start'}.py"
        source.write_text(with_recipes(campaign_file(op), letters))
        for values in product(*SPACES[op].values()):
            config = dict(zip(SPACES[op], values, strict=True))
            yield letters, OpRequest(str(source), parse_shape(SHAPES[op]), DTYPE, config)


def ahead(folder: Path, platform: str, ops: Sequence[str]) -> None:
    """Compile what the loop may come to into a folder that `KOPT_CODE` names where tileiras is missing."""
    found = Registry.open().platform(platform)
    facts, made, failed = device_facts(found), 0, 0
    device = DeviceFacts(platform, found.identity.target, facts)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as held:
        for letters, what in (one for op in ops for one in asked(op, Path(held))):
            request, trace = MakerRequest(what, found.identity.target, platform, facts, held), CallTrace(device)
            tiles = TileLaunches(trace, Path(held), request)
            try:
                with tiles.recording():
                    call, _ = call_of(request, trace)
                    with trace.running():
                        call.run()
            except Exception as error:  # noqa: BLE001 - a configuration that does not compile is one of many
                failed += 1
                print(what.file, letters, dict(what.config), str(error)[:160], flush=True)
                continue
            tiles.keep(folder)
            made += 1
            print(Path(what.file).stem, dict(what.config), flush=True)
    print(f"{made} configurations, {failed} without")


class Run:
    """Findings so far, and the time that is left."""

    def __init__(self, out: Path, platform: str, budget_s: float) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self.out, self.platform, self.end = out, platform, time.monotonic() + budget_s
        self.records = Path(tempfile.mkdtemp())

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

    def record(self, file: Path, op: str, config: Mapping[str, object]) -> Path:
        """Record a launcher on what the operation declares."""
        found = Registry.open().platform(self.platform)
        what = OpRequest(str(file), parse_shape(SHAPES[op]), DTYPE, config)
        place = self.records / f"{op}-{len(list(self.records.iterdir())):03d}"
        with Makers(1) as makers:
            made = makers.make(MakerRequest(what, found.identity.target, self.platform, device_facts(found), ""), place)
            made.stored()
        return place


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


def campaign(run: Run, op: str, budget_s: float, *, profiles: bool) -> dict[str, Any]:
    """Run the loop on a kernel and keep its workspace; return rounds and where it ended."""
    from kopt_kb.cli.main import main as kb
    from kopt_kb.launch.judge import device
    from kopt_kb.workspace.workspace import Workspace

    demo, name = run.out / f"{op}.py", f"cutile_{op}"
    demo.write_text(campaign_file(op))
    words = ["--platform", run.platform, "--framework", "cuTile", "--kernel-demo", str(demo), "--shape", SHAPES[op]]
    code = kb(["init", name, *words, "--dtype", DTYPE, "--parent", str(run.out)])
    workspace = run.out / f"kernel_opt_{name}"
    if not profiles:
        device.unavailable = lambda: "not asked for here"  # type: ignore[attr-defined]
    run_words = ["--policy", "cutile", "--judge", "replay", "--yes", "--search-s", "8", "--evaluations", "16"]
    more = ["--no-stop", "target", "--no-stop", "hardware_limit", "--budget-s", f"{budget_s:g}"]
    begin = time.monotonic()
    code = code or kb(["tune", "run", str(workspace), *run_words, *more])
    seconds = time.monotonic() - begin
    audited = kb(["audit", str(workspace)])
    state = Workspace.open(str(workspace)).state()
    rounds = [
        [one.number, one.hypothesis.claim if one.hypothesis else "baseline", one.status, 1e6 * (one.mean_s() or 0)]
        for one in state.rounds
    ]
    best = state.best
    kernel = (workspace / "objects" / best.snapshot.blob).read_bytes() if best and best.snapshot else b""
    (run.out / f"{op}_best.py").write_bytes(kernel)
    with tarfile.open(run.out / f"{name}.tgz", "w:gz") as file:
        file.add(workspace, workspace.name)
    shutil.rmtree(workspace, ignore_errors=True)
    ended = state.stopped.reason if state.stopped is not None else "open"
    return {
        "exit": code, "campaign_s": round(seconds, 2), "rounds": rounds, "stopped": ended, "audit": audited,
        "configs": {shape: dict(one) for shape, one in configs_of(kernel).items()},
    }  # fmt: skip


def on_gpu(run: Run, op: str, *, profiles: bool) -> None:
    """Check the start, run the loop, then hold what it found against Triton, the best setting first."""
    wanted = [one for one in SHAPES if op in {"", one}]
    for at, one in enumerate(wanted):
        start, judging = run.out / f"{one}_start.py", DeviceJudging()
        start.write_text(campaign_file(one))
        run.part(f"check {one}", lambda s=start, o=one, j=judging: checked(j, run.record(s, o, {}), o))
        judging.close()
        each_s = (run.end - time.monotonic()) / (len(wanted) - at) - _CONTEST_S
        run.part(f"loop {one}", partial(campaign, run, one, max(each_s, 10.0), profiles=profiles))
        best = run.out / f"{one}_best.py"
        for config in reversed(TRITON[one]):
            run.part(
                f"triton {config or 'as it starts'}, cutile {one}",
                lambda o=one, c=config, b=best: decided(run.record(triton(o), o, c), run.record(b, o, {}), o),
            )


def triton(op: str) -> Path:
    """Return the packaged Triton kernel of an operation."""
    file = packaged_file(op)
    assert file is not None
    return file


def main() -> None:
    """Compile ahead, or run the loop."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ahead", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--budget-s", type=float, default=90.0)
    parser.add_argument("--platform", default="H100_SXM")
    parser.add_argument("--profiles", action="store_true", help="ncu watches what is accepted: some 8 s a round")
    parser.add_argument("--op", default="", choices=["", *SHAPES])
    args = parser.parse_args()
    if args.ahead:
        ahead(args.ahead.resolve(), args.platform, [args.op] if args.op else list(SHAPES))
    elif args.out:
        os.environ.setdefault("KOPT_CACHE", str(args.out.resolve() / "cache"))
        on_gpu(Run(args.out.resolve(), args.platform, args.budget_s), args.op, profiles=args.profiles)
        shutil.rmtree(args.out / "cache", ignore_errors=True)
    else:
        parser.error("give --ahead DIR, or --out DIR")


if __name__ == "__main__":
    main()
