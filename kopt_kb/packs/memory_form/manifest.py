"""Renders what a named campaign keeps beside its logs: manifest.yaml, quick_test_bench.py, named kernel snapshots."""

from __future__ import annotations

import json
from collections.abc import Mapping

from kopt_kb.base.errors import KoptError
from kopt_kb.launch.project.file import ProjectFile, read_project
from kopt_kb.problem.shapes import format_shape
from kopt_kb.workspace.journal.blobs import BlobReader
from kopt_kb.workspace.journal.campaign_events import CampaignNamed
from kopt_kb.workspace.retarget import aim_in_force
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["TERMINATION", "manifest_files", "named_files", "termination"]

TERMINATION: Mapping[str, str] = {
    "target": "T1 performance_target reached", "hardware_limit": "T2 acceptable hardware efficiency",
    "iterations": "T3 max_iterations", "user": "T4 user stop",
}  # fmt: skip
"""Stop reason → condition of the campaign's rules; other reasons are this program's own."""


def manifest_files(state: WorkspaceState, blob: BlobReader) -> dict[str, str]:
    """Return manifest.yaml, and for a project quick_test_bench.py."""
    named = state.named
    if named is None:
        return {}
    kept = state.task.project
    project = read_project(blob(kept.blob), kept.file) if kept is not None else None
    files = {"manifest.yaml": _manifest(state, named, project)}
    if project is not None:
        files["quick_test_bench.py"] = _quick_script(state, project)
    return files


def _yaml(value: object) -> str:
    """Return a value as YAML reads it; JSON is YAML."""
    return json.dumps(value, ensure_ascii=False)


def _minute(time: str) -> str:
    return time[:16].replace("T", " ")


def _manifest(state: WorkspaceState, named: CampaignNamed, project: ProjectFile | None) -> str:
    commands = {} if project is None else {name: one.shown() for name, one in project.commands.items()}
    frozen = state.frozen
    limit = state.campaign.policy.get("max_rounds") if state.campaign is not None else None
    metric = (
        "Combined Step TFLOPS" if project is not None and project.scoring.metric == "combined" else "Forward TFLOPS"
    )
    if project is not None and project.csv.forward.unit in {"GB/s", "TB/s"}:
        metric = "Forward GB/s"
    rows: dict[str, object] = {
        "campaign": named.name, "target_op": named.op, "target_backend": named.backend, "target_lang": named.language,
        "target_gpu": state.task.target, "execution_mode": named.mode, "project_skill": named.project_skill or None,
        "performance_target": aim_in_force(state) or None, "primary_metric": metric,
        "target_shapes": [format_shape(shape) for shape in state.problem.shapes],
        "kernel_source": project.kernel_source if project is not None else state.task.kernel_demo,
        "test_command": commands.get("test"), "benchmark_command": commands.get("benchmark"),
        "rebuild_command": commands.get("build"),
        "quick_command": "python quick_test_bench.py" if project is not None else None,
        "representative_shapes": list(frozen.representative) if frozen is not None else [],
        "git_commit": named.git_commit, "git_branch": named.git_branch or "none",
        "max_iterations": limit, "created": _minute(state.times[state.campaign_seq]),
        "upstream_commit": named.upstream or None, "extracted_files": sorted(named.files),
        "constraints": list(named.constraints),
    }  # fmt: skip
    return "".join(f"{name}: {_yaml(value)}\n" for name, value in rows.items())


_SCRIPT = '''"""Correctness and speed of the representative shapes in one call: {name}.

    python quick_test_bench.py [--root FOLDER] [--summary-csv FILE]

Exit 0: every shape passed; 1: one failed; 2: there is nothing to run yet. Times of this script and of the full
benchmark are not compared with each other.
"""

import argparse
import csv
import math
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

SHAPES = {shapes}
ROOT = {root}
PYTHON_PATH = {folders}
TEST = {test}
QUICK = {quick}
CHECK, PASSING, METRICS = {check}, {passing}, {metrics}


def run(words, **values):
    """Run a command of the project; return its exit status."""
    env, words = dict(os.environ), shlex.split(words)
    own = [str(Path(options.root) / folder) for folder in PYTHON_PATH]
    env["PYTHONPATH"] = os.pathsep.join([*own, *filter(None, [env.get("PYTHONPATH")])])
    while words and "=" in words[0] and not words[0].startswith("-"):
        name, _, value = words.pop(0).partition("=")
        env[name] = value
    for name, value in values.items():
        words = [word.replace("{{" + name + "}}", value) for word in words]
    return subprocess.run(words, cwd=options.root, env=env).returncode


parser = argparse.ArgumentParser()
parser.add_argument("--root", default=ROOT)
parser.add_argument("--summary-csv")
options = parser.parse_args()
if not SHAPES:
    print("SHAPES is filled after the baseline")
    sys.exit(2)
if run(TEST, python=sys.executable):
    print("FAIL: the test")
    sys.exit(1)
with tempfile.TemporaryDirectory() as folder:
    path = Path(options.summary_csv or Path(folder) / "quick.csv")
    status = run(QUICK, python=sys.executable, csv=str(path), shapes=",".join(SHAPES))
    rows = list(csv.DictReader(path.open())) if path.is_file() else []
passed = [row for row in rows if row.get(CHECK, "").strip() == PASSING]
for metric in METRICS:
    values = [float(row[metric]) for row in passed]
    mean = math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan
    print(f"{{metric}}: {{mean:.4g}} over {{len(values)}} of {{len(SHAPES)}} shapes")
failed = len(SHAPES) - len(passed)
print("PASS" if not status and not failed else f"FAIL: {{failed}} of {{len(SHAPES)}} shapes")
sys.exit(1 if status or failed else 0)
'''


def _quick_script(state: WorkspaceState, project: ProjectFile) -> str:
    """Return the script; before the baseline its list of shapes is empty, and then it runs nothing."""
    quick = project.quick_command() or project.commands["benchmark"]
    columns = [one.name for one in (project.csv.forward, project.csv.backward) if one is not None]
    shapes = state.frozen.representative if state.frozen is not None else ()
    kept = state.task.project
    return _SCRIPT.format(
        name=state.named.name if state.named is not None else "", shapes=repr(tuple(shapes)),
        root=repr(kept.root if kept is not None else "."), test=repr(project.commands["test"].shown()),
        quick=repr(quick.shown()), folders=repr(project.python_path), check=repr(project.csv.check),
        passing=repr(project.csv.passing), metrics=repr(columns),
    )  # fmt: skip


def named_files(state: WorkspaceState, blob: BlobReader) -> dict[str, bytes]:
    """Return path → bytes of what carries no header: each round's kernel, failed ones too, and what was extracted."""
    named = state.named
    files = {} if named is None else {path: blob(sha) for path, sha in named.files.items()}
    for attempt in state.attempts.values():
        submitted = attempt.submitted.get(attempt.name)
        if submitted is None or attempt.number in state.masked:
            continue
        try:
            texts = state.files_of(blob(submitted.blob))
        except KoptError:
            continue
        folder = f"rounds/round-{attempt.number + 1}/kernel_snapshot"
        files |= {f"{folder}/{path}": text.encode() for path, text in texts.items()}
    return files


def termination(state: WorkspaceState) -> list[str]:
    """Return the termination check of an ended campaign as lines; nothing while it runs or has no name."""
    if state.named is None or state.stopped is None:
        return []
    ended = state.stopped.reason
    lines = [f"{text}: {'yes' if reason == ended else 'no'}" for reason, text in TERMINATION.items()]
    return lines if ended in TERMINATION else [*lines, f"ended by this program: {ended}"]
