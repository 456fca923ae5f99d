"""`kb audit` of a log that other programs or people kept: its options read, its report written for people."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import canonical
from kopt_kb.cli.kit.columns import legend
from kopt_kb.cli.kit.output import printable, table
from kopt_kb.packs.foreign_logs.audit import FOREIGN_CODES, ForeignReport, audit_foreign
from kopt_kb.packs.foreign_logs.judge import ClaimState
from kopt_kb.workspace.audit.findings import AUDIT_CODES

if TYPE_CHECKING:
    from kopt_kb.wiki.registry import Registry

__all__ = ["audit_log", "is_log", "meanings", "render_log"]

_MARKS: dict[ClaimState, str] = {"present": "yes", "partial": "part", "missing": "no", "failed": "against"}


def is_log(path: Path) -> bool:
    """Return whether a path may hold a log: it is there; whether it claims anything is known once it is read."""
    return path.exists()


def meanings() -> Mapping[str, str]:
    """Return code of a finding or note → what it means."""
    return {**FOREIGN_CODES, **AUDIT_CODES}


def audit_log(path: str, registry: Registry, options: Mapping[str, str]) -> ForeignReport:
    """Return the report of a log, and write its campaigns where that is asked for; raises as `audit_foreign`."""
    report = audit_foreign(
        path, registry, rev=options.get("rev"), under=options.get("under", ""), commits=options.get("commits"),
        platform=options.get("platform"), rules="rules" in options or "import-to" in options,
    )  # fmt: skip
    if "import-to" in options:
        _import(Path(options["import-to"]), report)
    return report


def _import(folder: Path, report: ForeignReport) -> None:
    """Write each campaign of a foreign log as Markdown and JSON into a new folder."""
    if folder.exists() or not folder.parent.is_dir():
        raise BadInput("can't be a new folder", where=str(folder), fix="name one that is not there yet", code="KB113")
    folder.mkdir()
    for number, one in enumerate(report.campaigns or (), 1):
        name = re.sub(r"[^A-Za-z0-9._-]", "_", one.name) or f"campaign_{number}"
        (folder / f"{name}.md").write_text(one.text(), encoding="utf-8")
        (folder / f"{name}.json").write_bytes(canonical(one.to_json()))


def render_log(report: ForeignReport) -> str:
    """Return the audit of a foreign log as text: a line a claim, contradictions, what was not understood, the sum."""
    head = ["claim", "decided", "says", "correct", "paired", "noise", "roof", "source"]
    rows = [
        [f"{claim.file}:{claim.line} {claim.label}", claim.decision, claim.says[:40] or "-",
         *(_MARKS[aspect.state] for aspect in claim.aspects.values())]
        for claim in report.claims
    ]  # fmt: skip
    told = [finding for finding in report.findings if finding.code != "unproven"]
    lines = [table([head, *rows]), legend(head, "roof", "record"), "", *(printable(str(one)) for one in told)]
    lines += [f"note: {printable(str(one))}" for one in (*report.notes, *report.unread)]
    sums = ", ".join(f"{name} {states['present']}" for name, states in report.evidence.items())
    at = f" at {report.commit[:12]}" if report.commit else ""
    unproven = len(report.findings) - len(told)
    verdict = "clean" if report.clean else f"{unproven} unproven, {len(told)} contradiction(s)"
    claims = f"{report.checked} claim(s), of which with {sums}"
    return "\n".join([*lines, f"{printable(report.path)}{at}: {claims}: {verdict}"])
