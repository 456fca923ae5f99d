"""Takes profiles of replayed records on a machine with a GPU: of a baseline and of an accepted version of an RMS norm.

Usage: python benchmarks/replay_evidence.py --out DIR [--platform H100_SXM] [--budget-s 60] [--shape 8192x4096]

Prints for each version how long its profile took, what the rules say of it with their evidence, and why there is none
where there is none: no ncu, no permission to read counters, launches that are not the record's. evidence.json in DIR
holds the same; the workspace lies beside it as an archive. The baseline is the package's naive kernel, the version its
kernel in two passes, by a plan, without a search.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import cast

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from kopt_kb.base.wire import plain  # noqa: E402
from kopt_kb.launch.candidate.source_config import with_configs  # noqa: E402
from kopt_kb.workspace.journal.blobs import ObjectStore  # noqa: E402
from kopt_kb.workspace.state import WorkspaceState  # noqa: E402
from kopt_kb.workspace.workspace import Workspace  # noqa: E402

TWO_PASS = {"VARIANT": "two_pass", "BLOCK_COLS": 4096, "BLOCK_ROWS": 1, "num_stages": 1}


def kb(*words: str, limit_s: float) -> tuple[int, float, str]:
    """Run a command; return its status, seconds and what it printed."""
    begin = time.monotonic()
    command = [sys.executable, "-m", "kopt_kb", *words]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=limit_s, check=False)
    except subprocess.TimeoutExpired:
        return 124, time.monotonic() - begin, "it was not over in time"
    return done.returncode, time.monotonic() - begin, done.stderr + done.stdout


def versions(state: WorkspaceState, store: ObjectStore) -> list[dict[str, object]]:
    """Return what the journal says of each round's profile."""
    found = []
    for one in state.rounds:
        gate = one.gates.get("evidence")
        taken = [run for run in one.runs.values() if run.started.gate == "evidence" and run.finished is not None]
        outputs = [json.loads(store.get(run.finished.output)) for run in taken if run.finished and run.finished.output]
        basis = ((outputs[-1].get("result") or {}).get("basis") or {}) if outputs else {}
        found.append({
            "version": one.name, "decision": one.decided.decision if one.decided else None,
            "gate": gate.result if gate else None, "reason": gate.reason if gate else "",
            "wall_s": [round(run.finished.wall_s, 2) for run in taken if run.finished],
            "seconds": basis.get("seconds"), "report_bytes": [len(store.get(each.report)) for each in one.profiles],
            "profiles": [{"name": each.name, "code": each.code, "evidence": each.evidence} for each in one.profiles],
        })  # fmt: skip
    return found


def show(found: list[dict[str, object]]) -> None:
    """Print a few lines a version."""
    for one in found:
        print(f"{one['version']}: {one['decision']}; evidence {one['gate']} in {one['wall_s']} s: {one['reason']}")
        print(f"  of these {one['seconds']}; report {one['report_bytes']} B")
        for profile in one["profiles"]:  # type: ignore[attr-defined]
            for kernel in profile["evidence"]:
                verdict = kernel["verdict"]
                said = [f"{e['metric']} {e['value']} {e['unit']}" for e in verdict["evidence"]]
                print(f"  {kernel['kernel']} ({profile['name']}): {profile['code']}: {'; '.join(said)}")
                print(f"  not collected: {', '.join(verdict['absent']) or 'nothing that the rules need'}")


def main() -> None:
    """Run the campaign and show what its journal says of evidence."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--platform", default="H100_SXM")
    parser.add_argument("--shape", default="8192x4096")
    parser.add_argument("--budget-s", type=float, default=60.0)
    args = parser.parse_args()
    out: Path = args.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("KOPT_CACHE", str(out / "cache"))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    print(f"ncu: {shutil.which('ncu') or 'not on PATH'}", flush=True)
    plan = out / "plan.json"
    source = with_configs((ROOT / "kernels" / "rms_norm.py").read_bytes(), {args.shape: TWO_PASS}).decode()
    words = {"category": "parallelism", "claim": "walk rows in two passes", "expected": "less time"}
    plan.write_text(json.dumps({**words, "source": source}))
    parent = out / "workspaces"
    parent.mkdir(exist_ok=True)
    workspace = parent / "kernel_opt_evidence"
    made = kb(
        "init", "evidence", "--platform", args.platform, "--framework", "Triton", "--kernel-demo",
        "kernels/naive/rms_norm.py", "--shape", args.shape, "--dtype", "bf16", "--parent", str(parent), limit_s=60,
    )  # fmt: skip
    print(f"init: exit {made[0]}", flush=True)
    code, seconds, printed = kb(
        "tune", "run", str(workspace), "--judge", "replay", "--yes", "--no-stop", "target", "--no-stop",
        "hardware_limit", "--plan", str(plan), "--budget-s", str(args.budget_s), limit_s=args.budget_s + 60,
    )  # fmt: skip
    print(f"run: exit {code}, {seconds:.1f} s\n{printed[-3000:]}", flush=True)
    opened = Workspace.open(workspace)
    found = cast("list[dict[str, object]]", plain(versions(opened.state(), ObjectStore(opened.layout.objects))))
    (out / "evidence.json").write_text(json.dumps({"run_s": seconds, "exit": code, "versions": found}, indent=1))
    with tarfile.open(out / "kernel_opt_evidence.tgz", "w:gz") as file:
        file.add(workspace, workspace.name)
    show(found)
    print(f"audit: exit {kb('audit', str(workspace), limit_s=60)[0]}")
    shutil.rmtree(out / "cache", ignore_errors=True)
    shutil.rmtree(parent, ignore_errors=True)


if __name__ == "__main__":
    main()
