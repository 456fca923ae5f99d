"""A forger's tools: a journal written anew from its first event, its chain sealed again, its views rendered."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kopt_kb.base.wire import canonical
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit.audit import audit
from kopt_kb.workspace.journal.chain import GENESIS, seal
from kopt_kb.workspace.views.render import render_workspace
from kopt_kb.workspace.workspace import Workspace

__all__ = ["CAMPAIGNS", "codes", "copy_of", "of_kind", "rewritten", "scaled", "slower"]

CAMPAIGNS = Path(__file__).parents[4] / "benchmarks/campaigns"

Data = dict[str, Any]
_TIMES = {"median_s", "mad_s", "p20_s", "p80_s", "duration_s", "total_s"}


def copy_of(campaign: str, to: Path) -> Path:
    """Copy a recorded campaign without its views."""
    shutil.copytree(CAMPAIGNS / campaign, to)
    for name in ("memory", "rounds", "logs", "profiles"):
        shutil.rmtree(to / name, ignore_errors=True)
    return to


def rewritten(
    root: Path,
    event: Callable[[Data], None],
    blob: Callable[[Any], Any] = lambda document: document,
    *,
    renders: bool = False,
) -> Path:
    """Write a workspace anew: each event and each JSON blob changed as told, blobs stored by their new hash.

    Args:
        root: The workspace.
        event: Changes an event in place.
        blob: Returns what a blob's document becomes.
        renders: Whether its views are rendered too.
    """
    names = {}
    for path in sorted((root / "objects").iterdir()):
        data = path.read_bytes()
        try:
            changed = json.dumps(blob(json.loads(data))).encode()
        except ValueError:
            continue
        names[path.name] = hashlib.sha256(changed).hexdigest()
        (root / "objects" / names[path.name]).write_bytes(changed)
    journal, previous, lines = root / "journal.jsonl", GENESIS, []
    renamed = journal.read_text()
    for old, new in names.items():
        renamed = renamed.replace(old, new)
    for number, document in enumerate(map(json.loads, renamed.splitlines()), 1):
        event(document)
        document |= {"seq": number}
        document.pop("zh")
        line, previous = seal(canonical(document), previous)
        lines.append(line)
    journal.write_bytes(b"".join(lines))
    if renders:
        render_workspace(Workspace.open(root))
    return root


def scaled(document: Any, factor: float) -> Any:
    """Return a document with every time of a kernel multiplied."""
    if isinstance(document, list):
        return [scaled(one, factor) for one in document]
    if not isinstance(document, dict):
        return document
    return {
        name: value * factor if name in _TIMES and isinstance(value, int | float) else scaled(value, factor)
        for name, value in document.items()
    }


def slower(root: Path, factor: float) -> Path:
    """Multiply all times of a campaign, in events and in what runs answered."""

    def event(document: Data) -> None:
        document["data"] = scaled(document["data"], factor)

    return rewritten(root, event, lambda one: scaled(one, factor), renders=True)


def of_kind(kind: str, change: Callable[[Data], None]) -> Callable[[Data], None]:
    """Return what changes the data of events of a kind."""
    return lambda event: change(event["data"]) if event["kind"] == kind else None


def codes(root: Path) -> set[str]:
    """Return what an audit finds."""
    return {one.code for one in audit(root, Registry.open()).findings}
