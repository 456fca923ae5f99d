"""Read every cited value of a workspace again, recompute its targets, and search its texts for unsourced numbers.

kb audit kernel_opt_norm
kb audit kernel_opt_norm --anchor norm.kbb    the journal has to go on from where that bundle ended
kb audit norm.kbb                             a file of kb tune bundle, on any machine
kb audit logs/                                any other log: what each claimed round or speed-up lacks
kb audit repo --rev branch --under agent --commits main..branch
kb audit kernel_opt_norm --format sarif > findings.sarif
"""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path

from kopt_kb.cli.columns import legend
from kopt_kb.cli.output import add_wiki, open_registry, print_json, print_values, printable, table
from kopt_kb.cli.sarif import add_format, print_sarif, wants_json
from kopt_kb.errors import BadInput, ExitCode
from kopt_kb.sarif import SarifResult
from kopt_kb.wiki.registry import Registry
from kopt_kb.wiki.version import data_version
from kopt_kb.wire import canonical
from kopt_kb.workspace.audit.audit import AuditReport, audit
from kopt_kb.workspace.audit.bundled import is_bundle
from kopt_kb.workspace.audit.findings import AUDIT_CODES, AuditFinding
from kopt_kb.workspace.foreign.audit import FOREIGN_CODES, ForeignReport, audit_foreign, is_foreign
from kopt_kb.workspace.foreign.judge import ClaimState

__all__ = ["add_arguments", "run"]

_MARKS: dict[ClaimState, str] = {"present": "yes", "partial": "part", "missing": "no", "failed": "against"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "path",
        metavar="WORKSPACE",
        help="workspace folder, a file of kb tune bundle, or a log of others: folder, file, git",
    )
    parser.add_argument("--anchor", metavar="FILE", help="a bundle, or its statement.json, that was kept elsewhere")
    parser.add_argument("--rev", metavar="REVISION", help="log of others: read this revision of the git repository")
    parser.add_argument("--under", metavar="DIR", default="", help="log of others: only this folder of it")
    parser.add_argument(
        "--commits", metavar="RANGE", help="log of others: messages of these commits too, as main..branch"
    )
    parser.add_argument("--platform", metavar="NAME", help="log of others: what was measured (default: what it names)")
    parser.add_argument("--rules", action="store_true", help="log of others: hold campaigns against their own rules")
    parser.add_argument("--import-to", metavar="DIR", help="with --rules: write each campaign there, trust reported")
    add_format(parser)
    add_wiki(parser, has_format=True)


def run(args: argparse.Namespace) -> int:
    """Print the findings; exit 1 when there are any."""
    asked = next(
        (name for name in ("rev", "under", "commits", "platform", "rules", "import_to") if getattr(args, name)), None
    )
    if is_foreign(Path(args.path)):
        if args.anchor:
            raise BadInput("--anchor is for workspaces and bundles", where=args.path, fix="leave it out", code="KB104")
        return _foreign(args)
    if asked is not None:
        fix = "leave it out, or name a folder of logs"
        raise BadInput(
            f"--{asked.replace('_', '-')} is for logs of others, this is a workspace or bundle",
            where=args.path,
            fix=fix,
            code="KB104",
        )
    named = args.wiki or os.environ.get("KOPT_GPU_WIKI") or is_bundle(Path(args.path))
    report = audit(args.path, Registry.open(*args.wiki, use_cache=False) if named else None, args.anchor)
    if args.format == "sarif":
        print_sarif("kb audit", _results(report), report.data)
    elif wants_json(args):
        print_json(report)
    else:
        print(render(report))
    return ExitCode.OK if report.clean else ExitCode.FINDING


def _foreign(args: argparse.Namespace) -> int:
    registry = open_registry(args)
    report = audit_foreign(
        args.path, registry, rev=args.rev, under=args.under, commits=args.commits, platform=args.platform,
        rules=args.rules or bool(args.import_to),
    )  # fmt: skip
    if args.import_to:
        _import(Path(args.import_to), report)
    if args.format == "sarif":
        print_sarif("kb audit", _results(report), data_version(registry.wikis))
    elif wants_json(args):
        print_values(report, registry.wikis)
    else:
        print(render_foreign(report))
    return ExitCode.OK if report.clean else ExitCode.FINDING


def _import(folder: Path, report: ForeignReport) -> None:
    """Write each campaign of a foreign log as Markdown and JSON into a new folder."""
    if folder.exists() or not folder.parent.is_dir():
        raise BadInput("can't be a new folder", where=str(folder), fix="name one that is not there yet", code="KB113")
    folder.mkdir()
    for number, one in enumerate(report.campaigns or (), 1):
        name = re.sub(r"[^A-Za-z0-9._-]", "_", one.name) or f"campaign_{number}"
        (folder / f"{name}.md").write_text(one.text(), encoding="utf-8")
        (folder / f"{name}.json").write_bytes(canonical(one.to_json()))


def render(report: AuditReport) -> str:
    """Return the report as text for people."""
    lines = [str(one) for one in report.findings]
    lines += [f"note: {one}" for one in report.notes]
    verdict = "clean" if report.clean else f"{len(report.findings)} finding(s)"
    return "\n".join([*lines, f"{report.path}: {report.checked} cited values read again: {verdict}"])


def render_foreign(report: ForeignReport) -> str:
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


def _results(report: AuditReport | ForeignReport) -> tuple[SarifResult, ...]:
    """Return the findings and notes of an audit; those about a file inside a bundle stand at the bundle."""
    meanings = {**FOREIGN_CODES, **AUDIT_CODES}
    root = Path(report.path)

    def result(finding: AuditFinding, is_note: bool) -> SarifResult:
        itself = Path(finding.file).name == root.name
        inside = bool(finding.file) and (root.is_dir() or itself)
        file = str(root / finding.file) if inside and not itself else str(root)
        place = (
            ""
            if inside or not finding.file
            else f"{finding.file}:{finding.line}: "
            if finding.line
            else f"{finding.file}: "
        )
        remedy = f"; {finding.fix}" if finding.fix else ""
        message, meaning = f"{place}{finding.message}{remedy}", meanings.get(finding.code, finding.code)
        return SarifResult(
            finding.code, meaning, "note" if is_note else "error", message, file, finding.line if inside else 0
        )

    return (*(result(one, False) for one in report.findings), *(result(one, True) for one in report.notes))
