"""Names a campaign: operation, backend, target, date, mark; its branch, tips, and what it takes from a project."""

from __future__ import annotations

import re
import secrets
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from kopt_kb.base.errors import KoptError
from kopt_kb.launch.project.backends import backend_of, language_of
from kopt_kb.launch.project.file import CampaignTable
from kopt_kb.launch.project.paths import select
from kopt_kb.sandbox.gitrun import Git, repository_around
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.campaign_events import CampaignNamed
from kopt_kb.workspace.state import WorkspaceState

if TYPE_CHECKING:
    from kopt_kb.tuning.project import ProjectAdapter

__all__ = ["HISTORY", "named_campaign", "on_branch", "tips_path"]

HISTORY = "agent/historical_experience"
"""Folder of tips beside the workspace, unless the project names another one."""


def tips_path(base: Path, target: str, op: str, backend: str) -> Path:
    """Return the file of earlier experience for a target, operation and backend."""
    return base / target / op / backend.lower() / "tips.md"


def named_campaign(
    state: WorkspaceState, project: ProjectAdapter | None, store: ObjectStore, root: Path, form: str = ""
) -> CampaignNamed:
    """Return the campaign's names and places; no two campaigns share a name or a branch, on any machine.

    Args:
        state: Operation, target and framework.
        project: The project, or None for a kernel file.
        store: Where files that are taken from the project are kept.
        root: The workspace's folder.
        form: Name of the campaign and of its branch, with `{kernel}` and `{date}`; such a campaign keeps no tips.
    """
    mark = secrets.token_hex(3)
    named = _named(state, project, store, root, mark)
    if not form:
        return named
    source = project.project.kernel_source if project is not None else state.task.kernel_demo
    kernel = re.sub(r"[^A-Za-z0-9_]+", "_", Path(source or state.problem.op).stem) or state.problem.op
    name = f"{form.format(kernel=kernel, date=f'{datetime.now(UTC):%Y%m%d}')}-{mark}"
    is_shown = project is None or bool(named.git_branch)
    return replace(named, name=name, git_branch=name if is_shown else "", tips="")


def on_branch(root: Path, branch: str) -> str:
    """Let a workspace's own repository be on a branch, made where its HEAD is; return why it is not, or nothing."""
    if not (root / ".git").exists():
        return ""
    git, ref = Git(root), f"refs/heads/{branch}"
    try:
        tip = git.text("rev-parse", "--verify", "--quiet", "HEAD", missing="")
        if tip:
            git.run("update-ref", ref, tip)
        git.run("symbolic-ref", "HEAD", ref)
    except KoptError as error:
        return error.what
    return ""


def _named(
    state: WorkspaceState, project: ProjectAdapter | None, store: ObjectStore, root: Path, mark: str
) -> CampaignNamed:
    """Return the names and places of a campaign whose name says operation, backend, target and date."""
    table = project.project.campaign if project is not None else CampaignTable()
    op = table.op or state.problem.op
    backend = table.backend.upper() or backend_of(state.task.framework)
    name = f"{op}_{backend.lower()}_{state.task.target}_{datetime.now(UTC):%Y%m%d}_{mark}"
    where = Path(project.project.where).parent / table.history if project is not None and table.history else None
    tips = tips_path(where or root.resolve().parent / HISTORY, state.task.target, op, backend)
    upstream, branch = "", ""
    if project is not None:
        upstream = _commit_of(project.root)
        wanted = {"auto": f"optimize/{name}", "none": ""}.get(table.git_branch, table.git_branch)
        branch = _free(project.root, wanted, mark) if upstream and table.git_commit else ""
    files = _extracted(project, store) if project is not None and table.execution_mode == "workspace" else {}
    skill = table.project_skill or (project.project.where if project is not None else "")
    language = language_of(backend) or state.task.framework or "unknown"
    return CampaignNamed(
        name, op, backend, language, table.execution_mode, table.git_commit, branch, upstream, files, str(tips),
        table.constraints, skill,
    )  # fmt: skip


def _free(root: Path, wanted: str, mark: str) -> str:
    """Return a branch that the project's repository does not have: the wanted one, else that with the mark."""
    try:
        git = repository_around(root)
        taken = git is not None and bool(wanted) and git.ok("rev-parse", "--verify", "--quiet", f"refs/heads/{wanted}")
    except KoptError:
        return wanted
    return f"{wanted}-{mark}" if taken else wanted


def _extracted(project: ProjectAdapter, store: ObjectStore) -> dict[str, str]:
    """Return path → blob of the kernel's files as src/, of what tests need as tests/, and of benchmarks as bench/."""
    chosen = select(project.project, project.root)
    timed = [name for name in ("benchmark", "quick") if name in project.project.commands]
    named = " ".join(word for name in timed for word in project.project.commands[name].words)
    found = {f"src/{path}": path for path in chosen.editable}
    for path in chosen.protected:
        folder = "bench" if path in named or path.split("/")[0].startswith("bench") else "tests"
        found[f"{folder}/{path}"] = path
    blobs = {}
    for place, path in sorted(found.items()):
        try:
            blobs[place] = store.put((project.root / path).read_bytes())
        except (OSError, KoptError):
            continue  # a protected place may lie outside the project, or not be there yet
    return blobs


def _commit_of(root: Path) -> str:
    """Return the commit that a project's repository stands at; empty without one that can be read."""
    try:
        git = repository_around(root)
        return git.text("rev-parse", "--verify", "HEAD", missing="") if git is not None else ""
    except KoptError:
        return ""
