"""Whether a campaign whose documented target is out of reach ends by what its machine reaches, not by its budget.

Usage: python benchmarks/reachable_probes.py --out DIR [--platform H100_SXM] [--budget-s 40] [--only bare|packaged]

An RMS norm of 8192x4096, tuned from the naive kernel by the loop alone with a small search: once with a copy of the
wiki that lacks the measured page of this product, so that the target is a share of the documented bandwidth, which
a copy of the same bytes does not get on an H100, and once with the wiki as it is. Each step is a command that a
user would type. `--budget-s` is of each campaign. DIR/reachable.json holds what each printed, why it ended and with
what evidence, written after every campaign.
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

ROOT = Path(__file__).resolve().parents[1]
SHAPE = "8192x4096"
WANTED = ("target_set", "reachable_measured", "stopped")


def kb(words: list[str], wiki: Path | None, limit_s: float) -> dict[str, object]:
    """Run a command of kb and return what it printed and took; a limit is a status too."""
    env = dict(os.environ)
    if wiki is not None:
        env["KOPT_GPU_WIKI"] = str(wiki)
    begin = time.perf_counter()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "kopt_kb", *words],
            cwd=ROOT, env=env, capture_output=True, text=True, timeout=limit_s, check=False,
        )  # fmt: skip
        code, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        code, out, err = 124, "", "ran past its limit"
    seconds = round(time.perf_counter() - begin, 2)
    print(f"== kb {' '.join(words)}: exit {code}, {seconds} s\n{err[-3000:]}{out[-4000:]}", flush=True)
    return {"command": words, "exit": code, "seconds": seconds, "stdout": out[-6000:], "stderr": err[-6000:]}


def campaign(name: str, wiki: Path | None, args: argparse.Namespace) -> dict[str, object]:
    """Make a workspace, tune in it, audit it; return what each step printed and the events that say why it ended."""
    parent = args.out / "workspaces"
    parent.mkdir(exist_ok=True)
    workspace = parent / f"kernel_opt_{name}"
    more = ["--simulate"] if args.simulate else ["--judge", "replay"]
    steps = [
        kb(["init", name, "--platform", args.platform, "--framework", "Triton", "--kernel-demo",
            "kernels/naive/rms_norm.py", "--shape", SHAPE, "--dtype", "bf16", "--parent", str(parent)], wiki, 60),
        kb(["tune", "run", str(workspace), "--yes", "--evaluations", "8", "--search-s", "6", "--max-rounds", "4",
            "--budget-s", str(args.budget_s), *more], wiki, args.budget_s + 30),
        kb(["audit", str(workspace)], wiki, 60),
    ]  # fmt: skip
    journal = workspace / "journal.jsonl"
    lines = journal.read_text().splitlines() if journal.is_file() else []
    events = [one for one in map(json.loads, lines) if one["kind"] in WANTED]
    if workspace.is_dir():
        with tarfile.open(args.out / f"{name}.tgz", "w:gz") as file:
            file.add(workspace, workspace.name)
    return {"name": name, "steps": steps, "events": events}


def without_measured(folder: Path, platform: str) -> Path:
    """Return a copy of the wiki that lacks the measured page of a product."""
    wiki = folder / "wiki"
    shutil.copytree(ROOT / "gpuwiki", wiki, dirs_exist_ok=True)
    (wiki / "measured" / f"{platform.lower()}.md").unlink(missing_ok=True)
    return wiki


def main() -> int:
    """Run both campaigns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--platform", default="H100_SXM")
    parser.add_argument("--budget-s", type=float, default=40.0)
    parser.add_argument("--only", choices=("bare", "packaged"), action="append")
    parser.add_argument("--simulate", action="store_true", help="try the commands where no GPU is")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    args.out = args.out.resolve()
    os.environ.setdefault("KOPT_CACHE", str(args.out / "cache"))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    found = []
    for name in args.only or ["bare", "packaged"]:
        wiki = without_measured(args.out, args.platform) if name == "bare" else None
        found.append(campaign(name, wiki, args))
        (args.out / "reachable.json").write_text(json.dumps(found, indent=1) + "\n")
    for one in ("cache", "workspaces", "wiki"):
        shutil.rmtree(args.out / one, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
