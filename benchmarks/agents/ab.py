"""An agent with and without this tool on a fixed set of tasks: right answers, false claims, sources, calls, seconds.

python benchmarks/agents/ab.py --out results.json
python benchmarks/agents/ab.py --out live.json --agent 'my-agent --non-interactive' --limit-s 600 --repeats 3

Without --agent two scripted agents take the arms (scripted.py says what they stand for). An agent is a command: it is
started in a folder with the task's files, reads one JSON document on stdin (`prompt`, `answer` with the members of the
answer, `skills` with paths, `tool`) and prints one JSON object, its answer, on the last line. In the arm `with` it
finds `kb` first on its PATH, by a shim that counts calls; in the arm `without` that says that there is no such tool.
Every result is written as soon as it is there; a run that is cut off goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from tasks import ROOT, TASKS, Task, document, is_sourced

ARMS = ("with", "without")


def shim(folder: Path, arm: str) -> Path:
    """Make the `kb` that an agent finds; return the log of its calls."""
    log = folder / "calls"
    log.touch()
    path = folder / "bin" / "kb"
    path.parent.mkdir()
    runs = f'exec {shlex.quote(sys.executable)} -P -m kopt_kb "$@"'
    last = runs if arm == "with" else "echo 'kb: command not found' >&2; exit 127"
    path.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >> {shlex.quote(str(log))}\n{last}\n')
    path.chmod(0o755)
    return log


def last_object(printed: str) -> dict[str, Any] | None:
    """Return the JSON object on the last line that is not blank, or None."""
    lines = [line for line in printed.splitlines() if line.strip()]
    try:
        found = json.loads(lines[-1]) if lines else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def asked(task: Task, arm: str, agent: str, limit_s: float) -> dict[str, Any]:
    """Ask an agent one task; return what came of it."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        (folder / "work").mkdir()
        task.prepare(folder / "work")
        log = shim(folder, arm)
        path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        library = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        begin = time.monotonic()
        try:
            done = subprocess.run(
                shlex.split(agent), input=document(task, arm), capture_output=True, text=True, check=False,
                cwd=folder / "work", timeout=limit_s, env={**os.environ, "PATH": path, "PYTHONPATH": library},
            )  # fmt: skip
            printed = done.stdout
        except subprocess.TimeoutExpired:
            printed = ""
        answer = last_object(printed)
        return {
            "task": task.name, "arm": arm, "seconds": round(time.monotonic() - begin, 2),
            "calls": len(log.read_text().splitlines()), **graded(task, answer),
        }  # fmt: skip


def graded(task: Task, answer: dict[str, Any] | None) -> dict[str, Any]:
    """Return answer, whether it is right, whether it claims something false, and whether its value is sourced."""
    right = answer is not None and task.right(answer)
    abstains = answer is None or "UNKNOWN" in answer.values() or "?" in answer.values()
    return {
        "answer": answer, "right": right, "false_claim": not right and not abstains,
        "sourced": None if answer is None else is_sourced(answer),
    }  # fmt: skip


def table(rows: Iterable[dict[str, Any]]) -> list[str]:
    """Return the sums of each arm as lines of a Markdown table."""
    rows = list(rows)
    lines = [
        "| arm | right | false claims | values with a checked source | calls of kb | median s |",
        "|---|---|---|---|---|---|",
    ]
    for arm in ARMS:
        own = [row for row in rows if row["arm"] == arm]
        values = [row["sourced"] for row in own if row["sourced"] is not None]
        seconds = sorted(row["seconds"] for row in own)
        counts = [sum(row[name] for row in own) for name in ("right", "false_claim", "calls")]
        lines.append(
            f"| {arm} | {counts[0]} of {len(own)} | {counts[1]} | {sum(values)} of {len(values)} | {counts[2]} | "
            f"{seconds[len(seconds) // 2] if seconds else 0:.1f} |"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--agent", help="command of a live agent, for both arms")
    parser.add_argument("--arm", choices=ARMS, action="append")
    parser.add_argument("--task", choices=[task.name for task in TASKS], action="append")
    parser.add_argument("--limit-s", type=float, default=300.0)
    parser.add_argument("--repeats", type=int, default=1)
    args = parser.parse_args()
    run = {"agent": args.agent or "scripted", "rows": []}
    if args.out.exists():
        run = json.loads(args.out.read_text())
        if run["agent"] != (args.agent or "scripted"):
            parser.error(f"{args.out} is of the agent {run['agent']!r}")
    rows: list[dict[str, Any]] = run["rows"]
    done = {(row["task"], row["arm"], row["repeat"]) for row in rows}
    for repeat in range(args.repeats):
        for arm in args.arm or ARMS:
            agent = args.agent or shlex.join([sys.executable, str(Path(__file__).with_name("scripted.py")), arm])
            for task in TASKS:
                if (task.name, arm, repeat) in done or (args.task and task.name not in args.task):
                    continue
                rows.append({**asked(task, arm, agent, args.limit_s), "repeat": repeat})
                args.out.write_text(json.dumps(run, indent=1) + "\n")
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
