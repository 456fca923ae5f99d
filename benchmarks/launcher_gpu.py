"""What a launcher's one caged run comes to on a GPU: two packaged kernels accepted, cheating launchers refused.

    python3 benchmarks/launcher_gpu.py --out DIR [--platform H100_SXM] [--budget-s 200]

First each launcher by itself: RMS norm and softmax as packaged have to be `confirmed`; a launcher that records a fused
kernel and calls torch where it is used (it sees fake tensors, or a recorder's variable), one that launches one more
kernel, one that gives another result and one that sleeps on the device have to be refused. Then a campaign each for RMS
norm and softmax whose baseline is accepted: its journal has `launcher_confirmed`, its audit is clean. One line of
DIR/launchers.jsonl for each finding as soon as there is one. Exit 1: something ended otherwise. No setting of the
device is changed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from kopt_kb.base.wire import plain  # noqa: E402
from kopt_kb.launch.candidate.answers import Check, Timing  # noqa: E402
from kopt_kb.launch.candidate.job import Job, JobKind, Outcome, Request, RunLimits  # noqa: E402
from kopt_kb.launch.candidate.launcher_run import ExpectedRun  # noqa: E402
from kopt_kb.launch.counts.device_facts import device_facts  # noqa: E402
from kopt_kb.launch.judge.device import DeviceJudging  # noqa: E402
from kopt_kb.launch.judge.executor import RecordExecutor  # noqa: E402
from kopt_kb.launch.judge.shelf import RecordTarget  # noqa: E402
from kopt_kb.launch.kernel.declared import packaged_file  # noqa: E402
from kopt_kb.problem.tolerances import tolerance_of  # noqa: E402
from kopt_kb.wiki.registry import Registry  # noqa: E402
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


def judged(executor: RecordExecutor, op: str, source: bytes, reference: bytes) -> dict[str, Any]:
    """Check and time a kernel, then run its launcher; return what that came to."""
    body = Request(
        op=op, shapes=SHAPES, dtype="bf16", tolerance=tolerance_of("bf16"), seeds=(1, 2), repeats=3, samples=30
    )

    def asked(kind: JobKind, **more: Any) -> Outcome:
        job = Job(kind, source, source, replace(body, **more), RunLimits(120.0), reference)
        return executor.run(job, lambda *_: None)

    check, timing = asked("check").result, asked("timing").result
    if not isinstance(check, Check) or not check.passed or not isinstance(timing, Timing) or timing.problem:
        return {"error": str(check if not isinstance(timing, Timing) else timing)[:500]}
    expected = {}
    for shape, sides in timing.shapes.items():
        low, high = ([one.spread[name] for one in sides["candidate"]] for name in ("p20_s", "p80_s"))
        expected[shape] = ExpectedRun({}, least_s=min(low), most_s=max(high))
    begin = time.monotonic()
    outcome = asked("launcher", expected=expected)
    found = {"launcher_s": round(time.monotonic() - begin, 2), "ended": outcome.outcome}
    return {**found, "answer": plain(outcome.result), "printed": outcome.printed[-500:]}


def launchers(run: Run, platform: str) -> None:
    """Run launchers by themselves: honest ones, then those that do something else where they are used."""
    product = Registry.open().platform(platform)
    target = RecordTarget(product.identity.target, platform, device_facts(product))
    executor = RecordExecutor(DeviceJudging(), target)
    try:
        for op in ("rms_norm", "softmax"):
            file = packaged_file(op)
            assert file is not None
            source = file.read_bytes()

            def honest(op: str = op, source: bytes = source) -> dict[str, Any]:
                found = judged(executor, op, source, source)
                answer = found.get("answer") or {}
                return {**found, "as_expected": answer.get("outcome") == "confirmed" and not answer.get("problem")}

            run.part(f"honest {op}", honest)
        source = (packaged_file("softmax") or ROOT).read_bytes()
        for name, first in CHEATS.items():

            def cheat(first: str = first) -> dict[str, Any]:
                found = judged(executor, "softmax", cheating(source.decode(), first), source)
                return {**found, "as_expected": bool((found.get("answer") or {}).get("problem"))}

            run.part(f"cheat: {name}", cheat)
    finally:
        executor.close()


def kb(*words: str, limit_s: float) -> tuple[int, str]:
    """Run a command of this checkout."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))}
    argv = [sys.executable, "-m", "kopt_kb", *words]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=limit_s, check=False, cwd=ROOT, env=env)
    return done.returncode, done.stdout + done.stderr


def campaign(out: Path, op: str, platform: str, budget_s: float) -> dict[str, Any]:
    """Run a campaign of one round; return what its journal says of launchers."""
    name = f"launcher_{op}"
    made = kb(
        "init", name, "--platform", platform, "--framework", "Triton", "--kernel-demo", f"kernels/{op}.py",
        "--shape", SHAPES[0], "--dtype", "bf16", "--parent", str(out), limit_s=60,
    )  # fmt: skip
    folder = out / f"kernel_opt_{name}"
    ran = kb(
        "tune", "run", str(folder), "--judge", "replay", "--yes", "--budget-rounds", "1", "--budget-s", str(budget_s),
        limit_s=budget_s + 60,
    )  # fmt: skip
    data = [event.data.to_json() for event in Workspace.open(folder).events() if event.kind == "launcher_confirmed"]
    decided = [event.data.to_json() for event in Workspace.open(folder).events() if event.kind == "decided"]
    audited = kb("audit", str(folder), limit_s=60)
    good = bool(data) and decided[0]["launcher"] == "confirmed" and audited[0] == 0
    return {
        "as_expected": good, "confirmed": data, "decided": decided, "audit": audited[1][-500:],
        "init": made[0], "run": ran[1][-800:],
    }  # fmt: skip


def main() -> int:
    """Run all parts; say what ended otherwise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--platform", default="H100_SXM")
    parser.add_argument("--budget-s", type=float, default=60.0, help="of each campaign")
    args = parser.parse_args()
    out: Path = args.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("KOPT_CACHE", str(out / "cache"))
    run = Run(out)
    launchers(run, args.platform)
    spaces = out / "workspaces"
    spaces.mkdir(exist_ok=True)
    for op in ("rms_norm", "softmax"):
        run.part(f"campaign {op}", lambda op=op: campaign(spaces, op, args.platform, args.budget_s))
    print("\n".join(f"NOT AS EXPECTED {one}" for one in run.failed) or "all as expected")
    return bool(run.failed)


if __name__ == "__main__":
    sys.exit(main())
