"""What a launcher's one caged run comes to on a GPU: what it costs a version, what it refuses, and a short campaign.

    python3 benchmarks/launcher_gpu.py --out DIR [--platform H100_SXM] [--only PART] [--budget-s 30]

First a campaign of 30 s from the naive softmax: every version is accepted with a confirmed launcher, the audit is
clean, and its kernel meets the best known one (time_to_target.py). Then launchers by themselves: RMS norm and softmax
as packaged have to be confirmed; one that records a fused kernel and calls torch where it is used (it sees fake
tensors, or a recorder's variable), one that launches one more kernel, one that gives another result and one that sleeps
on the device have to be refused. Last a campaign from the naive RMS norm. One line of DIR/launchers.jsonl for each
finding as soon as there is one; `seconds` of an answer are those of its steps: load (the file, the device), inputs,
run (compiles included), time, count, compare. Exit 1: something ended otherwise. No setting of the device is changed.

Expected on an H100 with 16 cores, about 170 s in all: `gate_s` of a version at most 4 s (before: 18.5 to 23.8), the
first a little more where its processes are still importing; softmax with two decisions within 30 s, the second at 0.97
of the best known or more.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import time_to_target as target  # noqa: E402

from kopt_kb.base.wire import plain  # noqa: E402
from kopt_kb.launch.candidate.answers import Check, Timing  # noqa: E402
from kopt_kb.launch.candidate.job import Job, JobKind, Outcome, Request, RunLimits  # noqa: E402
from kopt_kb.launch.candidate.launcher_executor import LauncherExecutor  # noqa: E402
from kopt_kb.launch.candidate.launcher_run import ExpectedRun, LauncherRun  # noqa: E402
from kopt_kb.launch.counts.device_facts import device_facts  # noqa: E402
from kopt_kb.launch.judge.device import DeviceJudging  # noqa: E402
from kopt_kb.launch.judge.executor import RecordExecutor  # noqa: E402
from kopt_kb.launch.judge.launchers import LauncherRunners  # noqa: E402
from kopt_kb.launch.judge.shelf import RecordTarget  # noqa: E402
from kopt_kb.launch.kernel.declared import packaged_file  # noqa: E402
from kopt_kb.problem.tolerances import tolerance_of  # noqa: E402
from kopt_kb.wiki.registry import Registry  # noqa: E402
from kopt_kb.workspace.journal.blobs import ObjectStore  # noqa: E402
from kopt_kb.workspace.workspace import Workspace  # noqa: E402

SHAPES = ("8192x4096", "1024x2048")
_SEES = 'type(x).__name__ == "FakeTensor"'
_VARIABLE = '"TRITON_ALWAYS_COMPILE" in __import__("os").environ'
_TORCH = "torch.softmax(x.float(), -1).to(x.dtype)"
CHEATS = {
    "torch where it is used": f"    if not {_SEES}:\n        return {_TORCH}\n",
    "torch without a recorder's variable": f"    if not ({_VARIABLE}):\n        return {_TORCH}\n",
    "a second kernel": f"    if not {_SEES}:\n        x.clone()\n",
    "another result": f"    if not {_SEES}:\n        return torch.full_like(x, 1 / x.shape[-1])\n",
    "slower on the device": f"    if not {_SEES}:\n        torch.cuda._sleep(200_000)\n",
}
"""What a launcher does first where nobody records it."""


def cheating(source: str, first: str) -> bytes:
    """Return a kernel file whose launcher begins with something else."""
    head, _, rest = source.partition("\ndef launch(")
    signature, _, body = rest.partition(":\n")
    lines = body.split("\n")
    at = 1 if lines[0].strip().startswith('"""') and lines[0].count('"""') == 2 else 0
    lines.insert(at, first.rstrip("\n"))
    return "\n".join([f"{head}\ndef launch({signature}:", *lines]).encode()


class Run:
    """Findings as lines, and what failed."""

    def __init__(self, out: Path) -> None:
        self._file, self.failed = (out / "launchers.jsonl").open("w", encoding="utf-8"), list[str]()

    def part(self, name: str, do: Callable[[], dict[str, Any]]) -> None:
        """Do one part; what it raises is a finding."""
        begin = time.monotonic()
        try:
            found = do()
        except Exception as error:  # noqa: BLE001 - whatever a part runs into is a finding
            found = {"as_expected": False, "error": f"{type(error).__name__}: {error}"[:500]}
        line = {"part": name, "seconds": round(time.monotonic() - begin, 2), **found}
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()
        print(json.dumps(line)[:1500], flush=True)
        if not found.get("as_expected"):
            self.failed.append(name)


class Bench:
    """Checks, times and runs launchers of one type and a few shapes."""

    def __init__(self, executor: RecordExecutor) -> None:
        self._executor = executor

    def asked(self, kind: JobKind, op: str, source: bytes, reference: bytes, **more: Any) -> Outcome:
        """Run one job."""
        body = Request(
            op=op, shapes=SHAPES, dtype="bf16", tolerance=tolerance_of("bf16"), seeds=(1, 2), repeats=3, samples=12
        )
        job = Job(kind, source, source, replace(body, **more), RunLimits(120.0), reference)
        return self._executor.run(job, lambda *_: None)

    def timed(self, op: str, source: bytes) -> dict[str, ExpectedRun]:
        """Return between which seconds the records of a right kernel lie."""
        check = self.asked("check", op, source, source).result
        timing = self.asked("timing", op, source, source).result
        if not isinstance(check, Check) or not check.passed or not isinstance(timing, Timing) or timing.problem:
            raise RuntimeError(f"{op}: {check} {timing}")
        found = {}
        for shape, sides in timing.shapes.items():
            low, high = ([one.spread[name] for one in sides["candidate"]] for name in ("p20_s", "p80_s"))
            found[shape] = ExpectedRun({}, least_s=min(low), most_s=max(high))
        return found

    def seen(self, op: str, source: bytes, reference: bytes, expected: dict[str, ExpectedRun]) -> dict[str, Any]:
        """Return what a launcher's run came to."""
        outcome = self.asked("launcher", op, source, reference, expected=expected)
        found = outcome.result
        problem = found.problem if isinstance(found, LauncherRun) else None
        word = found.outcome if isinstance(found, LauncherRun) else outcome.outcome
        told = {"outcome": word, "problem": problem, "answer": plain(found), "printed": outcome.printed[-400:]}
        return {"contest_s": {shape: [one.least_s, one.most_s] for shape, one in expected.items()}, **told}


class Ahead(LauncherExecutor):
    """Has the processes of several launchers ready: here nothing else is done between two of them."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self._others = [LauncherExecutor() for _ in range(count)]
        for one in self._others:
            one.prepare()

    def prepare(self) -> None:
        """Keep those that are there."""

    def run(self, job: Job, started: Any) -> Outcome:
        """Run a job in the next one's processes."""
        if self._others:
            return self._others.pop(0).run(job, started)
        return super().run(job, started)

    def close(self) -> None:
        """End those that wait."""
        for one in self._others:
            one.close()


def launchers(run: Run, platform: str) -> None:
    """Run launchers by themselves: honest ones, then those that do something else where they are used."""
    product = Registry.open().platform(platform)
    made_for = RecordTarget(product.identity.target, platform, device_facts(product))
    ahead = Ahead(2 + len(CHEATS))
    executor = RecordExecutor(DeviceJudging(), made_for, launchers=LauncherRunners(ahead, None))
    bench, times = Bench(executor), dict[str, dict[str, ExpectedRun]]()
    sources = {op: (packaged_file(op) or ROOT).read_bytes() for op in ("rms_norm", "softmax")}
    try:
        for op, source in sources.items():

            def honest(op: str = op, source: bytes = source) -> dict[str, Any]:
                times[op] = bench.timed(op, source)
                begin = time.monotonic()
                found = bench.seen(op, source, source, times[op])
                good = found["outcome"] == "confirmed" and not found["problem"]
                return {**found, "gate_s": round(time.monotonic() - begin, 2), "as_expected": good}

            run.part(f"honest {op}", honest)
        own = sources["softmax"]
        for name, first in CHEATS.items():

            def cheat(first: str = first) -> dict[str, Any]:
                found = bench.seen("softmax", cheating(own.decode(), first), own, times["softmax"])
                return {**found, "as_expected": bool(found["problem"])}

            run.part(f"cheat: {name}", cheat)
    finally:
        executor.close()


def told(folder: Path) -> dict[str, Any]:
    """Return what a journal says of its runs and decisions: seconds from its campaign's begin, and of steps."""
    store, begun, runs, decided = ObjectStore(folder / "objects"), None, [], []
    for event in Workspace.open(folder).events():
        at = datetime.fromisoformat(event.t).timestamp()
        begun = begun or (at if event.kind == "campaign_confirmed" else None)
        data: dict[str, Any] = dict(event.data.to_json())
        if event.kind == "run_finished":
            answer = json.loads(store.get(data["output"])).get("result") or {} if data["output"] else {}
            steps = answer.get("seconds") or (answer.get("basis") or {}).get("seconds") or {}
            runs.append([round(at - (begun or at), 2), data["run"], data["outcome"], round(data["wall_s"], 2), steps])
        if event.kind == "decided":
            decided.append([round(at - (begun or at), 2), *(data[name] for name in ("decision", "rule", "launcher"))])
    gates = {run[1]: run[3] for run in runs if ".launcher." in run[1]}
    return {"gate_s": gates, "decided": decided, "runs": runs}


def campaign(out: Path, op: str, platform: str, budget_s: float, *, compared: bool) -> dict[str, Any]:
    """Run a short campaign from a naive kernel; return what its journal says, and what its kernel reaches."""
    goal = replace(target.GOALS[op], seconds=budget_s)
    if compared:
        found = target.campaign(op, goal, platform, out)
    else:
        target.against_the_best, kept = lambda *_: {}, target.against_the_best
        found, target.against_the_best = target.campaign(op, goal, platform, out), kept
    steps = [{name: one[name] for name in ("exit", "seconds")} for one in found.pop("steps")]
    journal = told(out / "workspaces" / f"kernel_opt_{op}")
    words = [one[3] for one in journal["decided"] if one[1].startswith("accept")]
    good = len(words) > 1 and set(words) == {"confirmed"} and steps[-1]["exit"] == 0
    return {"as_expected": good, **found, "steps": steps, **journal}


PARTS = ("campaign", "launchers", "second")


def main() -> int:
    """Run all parts; say what ended otherwise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--platform", default="H100_SXM")
    parser.add_argument("--only", action="append", default=[], choices=PARTS)
    parser.add_argument("--budget-s", type=float, default=30.0, help="of each campaign")
    args = parser.parse_args()
    out: Path = args.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    run = Run(out)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    with tempfile.TemporaryDirectory() as name:
        os.environ["KOPT_CACHE"] = str(Path(name, "cache"))
        for part in args.only or PARTS:
            if part == "launchers":
                launchers(run, args.platform)
                continue
            op, compared = ("softmax", True) if part == "campaign" else ("rms_norm", False)
            run.part(
                f"campaign {op}",
                lambda op=op, compared=compared: campaign(out, op, args.platform, args.budget_s, compared=compared),
            )
    print("\n".join(f"NOT AS EXPECTED {one}" for one in run.failed) or "all as expected")
    return bool(run.failed)


if __name__ == "__main__":
    sys.exit(main())
