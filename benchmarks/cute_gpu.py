"""CuTe DSL kernels on one GPU by launch records: right on every input, timed, searched, and held against Triton's.

    python3 benchmarks/cute_gpu.py --make DIR [--platform H100_SXM]              # without a GPU, with the compiler
    python3 benchmarks/cute_gpu.py --records DIR --out DIR [--budget-s 60] [--only contest]   # with a GPU, without it

    KOPT_CODE=DIR python3 benchmarks/cute_gpu.py --tune --out DIR [--budget-s 60]   # kb verify, tune and bench
    python3 benchmarks/cute_gpu.py --ahead DIR                                   # code for KOPT_CODE=DIR kb tune run …

The compiler's wheels hold 92 MB; records of the whole space hold 6, so they are made where the compiler is and
replayed where the GPU is. One line of DIR/results.jsonl for each finding as soon as there is one. It needs a CUDA GPU,
torch and cuda-bindings (extra [gpu]), and changes no setting of the device.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from kopt_kb.launch.compile.target import CompileTarget  # noqa: E402
from kopt_kb.launch.counts.device_facts import device_facts  # noqa: E402
from kopt_kb.launch.cuda.ahead import code_key, keep_code  # noqa: E402
from kopt_kb.launch.cuda.languages import FunctionJob, made_of  # noqa: E402
from kopt_kb.launch.cuda.plan import header_of, plan_of  # noqa: E402
from kopt_kb.launch.judge.contest import contest  # noqa: E402
from kopt_kb.launch.judge.device import DeviceJudging  # noqa: E402
from kopt_kb.launch.judge.judges import judges  # noqa: E402
from kopt_kb.launch.judge.makers import Makers  # noqa: E402
from kopt_kb.launch.kernel.declared import packaged_file, read_declared  # noqa: E402
from kopt_kb.launch.record.request import MakerRequest, OpRequest  # noqa: E402
from kopt_kb.problem.shapes import parse_shape  # noqa: E402
from kopt_kb.wiki.registry import Registry  # noqa: E402

CASES: list[tuple[str, str, str]] = [
    ("rms_norm", "8192x4096", "bf16"), ("gemm", "4096x4096x4096", "bf16"), ("attention", "4x16x4096x128", "bf16"),
    ("rms_norm", "512x40000", "fp32"), ("gemm", "1000x1032x520", "fp16"), ("attention", "2x3x1000x64", "fp16"),
]  # fmt: skip
"""The first of each operation is searched and held against Triton's; the others have edges."""
OPS = ("rms_norm", "gemm", "attention")
_CHECKS, _LAUNCHES, _AGAIN, _BEST = 2, 4, 24, 4


def _asked() -> list[dict[str, Any]]:
    """Return every record that is wanted: Triton's of what is searched, ours of each case, and the space."""
    seen, found = set[str](), list[dict[str, Any]]()
    for op, shape, dtype in CASES:
        case = {"op": op, "shape": shape, "dtype": dtype}
        found.append({**case, "language": "cute", "config": {}})
        if op not in seen:
            found.append({**case, "language": "triton", "config": {}})
            file = packaged_file(op, "cute")
            assert file is not None
            values = dict(read_declared(file).tuning_space)
            found += [{**case, "language": "cute", "config": dict(zip(values, one, strict=True))}
                      for one in product(*values.values())]  # fmt: skip
        seen.add(op)
    return found


def make(folder: Path, platform: str, op: str) -> None:
    """Record everything, or one operation anew; what does not compile or fit is left out and counted."""
    found = Registry.open().platform(platform)
    facts, failed = device_facts(found), 0
    folder.mkdir(parents=True, exist_ok=True)
    index = folder / "index.json"
    known = json.loads(index.read_text()) if op and index.is_file() else []
    made = [one for one in known if one["op"] != op]
    with Makers(1) as makers:
        for number, one in enumerate(each for each in _asked() if op in {"", each["op"]}):
            file = packaged_file(one["op"], "cute" if one["language"] == "cute" else "")
            what = OpRequest(str(file), parse_shape(one["shape"]), one["dtype"], one["config"])
            place = folder / f"{one['op']}-{number:03d}"
            shutil.rmtree(place, ignore_errors=True)
            try:
                makers.make(MakerRequest(what, found.identity.target, platform, facts, ""), place).stored()
            except Exception as error:  # noqa: BLE001 - a configuration that does not compile is one of many
                failed += 1
                print(one["op"], one["config"], str(error)[:160])
                continue
            made.append({**one, "record": place.name})
    index.write_text(json.dumps(made, indent=1) + "\n")
    print(f"{len(made)} records, {failed} without")


def of_case(one: Mapping[str, Any], case: tuple[str, str, str]) -> bool:
    """Return whether an entry of the index is of a case."""
    return (one["op"], one["shape"], one["dtype"]) == case


def ahead(folder: Path, platform: str) -> None:
    """Compile the spaces into a folder that `KOPT_CODE` may name where the compiler is missing."""
    found = Registry.open().platform(platform)
    facts, target = device_facts(found), CompileTarget.parse(found.identity.target)
    assert isinstance(target.arch, int)
    for one in (each for each in _asked() if each["language"] == "cute"):
        file = packaged_file(one["op"], "cute")
        assert file is not None
        plan = plan_of(header_of(file), parse_shape(one["shape"]), one["dtype"], one["config"], facts)
        tensors, function = list(plan.tensors.values()), plan.header.function
        key = code_key("cute", file, function, tensors, plan.names, f"{target.name}a")
        if not (folder / f"{key}.json").is_file():
            made = made_of("cute", FunctionJob(file, function, tensors, plan.names, target.arch, []))
            keep_code(folder, key, made.binary, made.versions)
        print(one["op"], one["config"], (folder / f"{key}.bin").stat().st_size, flush=True)


class Run:
    """Findings so far, and the time that is left."""

    def __init__(self, out: Path, records: Path, budget_s: float) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self.path, self.end, self.records = out / "results.jsonl", time.monotonic() + budget_s, records
        self.index: list[dict[str, Any]] = json.loads((records / "index.json").read_text())

    def part(self, name: str, do: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
        """Do one part, keep what it found, and never let it end the others."""
        if time.monotonic() > self.end:
            print(f"{name}: no time left")
            return {}
        begin = time.monotonic()
        try:
            found = dict(do())
        except Exception as error:  # noqa: BLE001 - whatever fails, the other parts run
            found = {"error": f"{type(error).__name__}: {error}"}
        line = {"part": name, "seconds": round(time.monotonic() - begin, 3), **found}
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        print(json.dumps(line)[:400], flush=True)
        return found

    def folder(self, case: tuple[str, str, str], language: str, config: Mapping[str, int]) -> Path | None:
        """Return where a record lies, if it was made."""
        for one in self.index:
            if of_case(one, case) and (one["language"], one["config"]) == (language, config):
                return self.records / str(one["record"])
        return None


def checked(judging: DeviceJudging, folder: Path, op: str) -> dict[str, Any]:
    """Replay a record on every input that its operation declares."""
    result = judging.check(folder, packaged_file(op) or folder, _CHECKS, math.inf)
    failed = [one.inputs for one in result.tried if one.problem]
    return {"problem": result.problem, "failed": failed, "checks": result.checks, "rel_l2_err": result.rel_l2_err}


def searched(run: Run, judging: DeviceJudging, case: tuple[str, str, str]) -> dict[str, Any]:
    """Time the whole space a few times each, then the best and the default again, in turn, on fresh samples."""
    reference = packaged_file(case[0]) or run.records
    own = [one for one in run.index if of_case(one, case) and one["language"] == "cute" and one["config"]]
    times, wrong = dict[int, float](), list[str]()
    for number, one in enumerate(own):
        if time.monotonic() > run.end - 4:
            break
        (found,) = judging.time([run.records / str(one["record"])], reference, _LAUNCHES, run.end)
        if found.problem:
            wrong.append(f"{one['config']}: {found.problem[:120]}")
        else:
            times[number] = statistics.median(found.times_s)
    best = sorted(times, key=lambda number: times[number])[:_BEST]
    default = run.folder(case, "cute", {})
    folders = [run.records / str(own[number]["record"]) for number in best] + ([default] if default else [])
    again = judging.time(folders, reference, _AGAIN, math.inf, again=True)
    medians = [statistics.median(one.times_s) * 1e6 for one in again if one.times_s]
    return {
        "space": len(own), "timed": len(times), "wrong": wrong,
        "all_us": [[own[number]["config"], round(times[number] * 1e6, 2)] for number in times],
        "best": [{"config": own[one]["config"], "us": round(us, 2)} for one, us in zip(best, medians, strict=False)],
        "default_us": round(medians[-1], 2) if default and medians else None,
    }  # fmt: skip


def decided(old: Path, new: Path, op: str) -> dict[str, Any]:
    """Decide by a contest whether `new` is faster than `old`."""
    with judges(packaged_file(op) or old) as made:
        result = contest(made, {"one": old}, {"one": new})
    times = {}
    if result.shapes:
        one = result.shapes[0]
        times = {"old_us": round(one.incumbent_s * 1e6, 3), "new_us": round(one.candidate_s * 1e6, 3)}
    return {"verdict": result.verdict, "reason": result.reason, "ratio": result.ratio, **times, "quads": result.quads}


def replayed(run: Run, only: str, op: str) -> None:
    """Check every case, search the first of each operation, and hold default and best against Triton's."""
    judging = DeviceJudging()
    print(judging.machine())
    if only in {"", "check"}:
        for case in (one for one in CASES if op in {"", one[0]}):
            folder = run.folder(case, "cute", {})
            if folder is not None:
                run.part(f"check {' '.join(case)}", lambda f=folder, c=case: checked(judging, f, c[0]))
    for case in (one for one in CASES[:3] if op in {"", one[0]}):
        found: dict[str, Any] = {}
        if only in {"", "search"}:
            found = run.part(f"search {' '.join(case)}", lambda c=case: searched(run, judging, c))
        old, new = run.folder(case, "triton", {}), run.folder(case, "cute", {})
        best = run.folder(case, "cute", found["best"][0]["config"]) if found.get("best") else None
        if only in {"", "contest", "search"} and old and new:
            run.part(f"contest triton, cute {' '.join(case)}", lambda o=old, n=best or new, c=case: decided(o, n, c[0]))
        if best is not None and new is not None:
            run.part(f"contest default, best {' '.join(case)}", lambda o=new, n=best, c=case: decided(o, n, c[0]))
    judging.close()


def tuned(out: Path, platform: str, budget_s: float, op: str, *more: str) -> None:
    """Verify, tune and time each kernel by the commands of a user; archives of the workspaces stay in `out`."""
    from replay_round import Kept, kb

    out.mkdir(parents=True, exist_ok=True)
    out = out.resolve()
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    kept, cases = Kept(out), [one for one in CASES[: len(OPS)] if op in {"", one[0]}]
    for name, shape, dtype in cases:
        demo, workspace = str(packaged_file(name, "cute")), out / f"kernel_opt_{name}"
        kept.run(f"{name}: verify", *kb("verify", "kernel", demo, "--shape", shape, "--dtype", dtype))
        kept.run(f"{name}: init", *kb(
            "init", name, "--platform", platform, "--framework", "CuTe DSL", "--kernel-demo", demo, "--shape", shape,
            "--dtype", dtype, "--parent", str(out),
        ))  # fmt: skip
        seconds = f"{budget_s / len(cases):.0f}"
        kept.run(f"{name}: tune", *kb(
            "tune", "run", str(workspace), "--yes", "--no-stop", "target", "--no-stop", "hardware_limit", "--budget-s",
            seconds, "--max-rounds", "3", "--evaluations", "60", "--search-s", "8", *more,
        ), limit_s=2 * budget_s)  # fmt: skip
        kept.archive(workspace)
        if not more:
            kept.run(f"{name}: bench", *kb("bench", "kernel", str(workspace), "--no-record"))
        kept.run(f"{name}: audit", *kb("audit", str(workspace)))
        shutil.rmtree(workspace, ignore_errors=True)


def main() -> None:
    """Make records, or replay them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--make", type=Path)
    parser.add_argument("--ahead", type=Path)
    parser.add_argument("--records", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--budget-s", type=float, default=60.0)
    parser.add_argument("--platform", default="H100_SXM")
    parser.add_argument("--op", default="", choices=["", *OPS])
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--simulate", action="store_true", help="try --tune without a GPU")
    parser.add_argument("--only", default="", choices=["", "check", "search", "contest"])
    args = parser.parse_args()
    if args.tune and args.out:
        tuned(args.out, args.platform, args.budget_s, args.op, *(["--simulate"] if args.simulate else []))
    elif args.ahead:
        ahead(args.ahead, args.platform)
    elif args.make:
        make(args.make, args.platform, args.op)
    elif args.records and args.out:
        replayed(Run(args.out, args.records, args.budget_s), args.only, args.op)
    else:
        parser.error("give --make DIR, or --records DIR and --out DIR")


if __name__ == "__main__":
    main()
