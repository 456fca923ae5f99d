"""Names a campaign: operation, backend, target and date; its branch, its tips, and what it takes from the project."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from kopt_kb.errors import KoptError
from kopt_kb.runners.project.backends import backend_of, language_of
from kopt_kb.runners.project.file import CampaignTable
from kopt_kb.runners.project.paths import select
from kopt_kb.tuning.branches import repository_of
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.campaign_events import CampaignNamed
from kopt_kb.workspace.state import WorkspaceState

if TYPE_CHECKING:
    from kopt_kb.tuning.project import ProjectAdapter

__all__ = ["HISTORY", "named_campaign", "tips_path"]

HISTORY = "agent/historical_experience"
"""Folder of tips beside the workspace, unless the project names another one."""


def tips_path(base: Path, target: str, op: str, backend: str) -> Path:
    """Return the file of earlier experience for a target, operation and backend."""
    return base / target / op / backend.lower() / "tips.md"


def named_campaign(
    state: WorkspaceState, project: ProjectAdapter | None, store: ObjectStore, root: Path
) -> CampaignNamed:
    """Return the campaign's names and places.

    Args:
        state: Operation, target and framework.
        project: The project, or None for a kernel file.
        store: Where files that are taken from the project are kept.
        root: The workspace's folder.
    """
    table = project.project.campaign if project is not None else CampaignTable()
    op = table.op or state.problem.op
    backend = table.backend.upper() or backend_of(state.task.framework)
    name = f"{op}_{backend.lower()}_{state.task.target}_{datetime.now(UTC):%Y%m%d}"
    where = Path(project.project.where).parent / table.history if project is not None and table.history else None
    tips = tips_path(where or root.resolve().parent / HISTORY, state.task.target, op, backend)
    upstream, branch = "", ""
    if project is not None:
        found = repository_of(project.root)
        upstream = found.text("rev-parse", "--verify", "HEAD", missing="") if found is not None else ""
        wanted = {"auto": f"optimize/{name}", "none": ""}.get(table.git_branch, table.git_branch)
        branch = wanted if upstream and table.git_commit else ""
    files = _extracted(project, store) if project is not None and table.execution_mode == "workspace" else {}
    skill = table.project_skill or (project.project.where if project is not None else "")
    language = language_of(backend) or state.task.framework or "unknown"
    return CampaignNamed(
        name, op, backend, language, table.execution_mode, table.git_commit, branch, upstream, files, str(tips),
        table.constraints, skill,
    )  # fmt: skip


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
