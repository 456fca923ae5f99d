"""Read every cited value of a workspace again, recompute its targets, and search its texts for unsourced numbers.

kb audit kernel_opt_norm
kb audit kernel_opt_norm --anchor norm.kbb    the journal has to go on from where that bundle ended
kb audit norm.kbb                             a file of kb tune bundle, on any machine
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from kopt_kb.cli.output import add_wiki, print_json
from kopt_kb.errors import ExitCode
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit.audit import AuditReport, audit
from kopt_kb.workspace.audit.bundled import is_bundle

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("path", metavar="WORKSPACE", help="workspace folder, or a file of kb tune bundle")
    parser.add_argument("--anchor", metavar="FILE", help="a bundle, or its statement.json, that was kept elsewhere")
    add_wiki(parser)


def run(args: argparse.Namespace) -> int:
    """Print the findings; exit 1 when there are any."""
    named = args.wiki or os.environ.get("KOPT_GPU_WIKI") or is_bundle(Path(args.path))
    report = audit(args.path, Registry.open(*args.wiki, use_cache=False) if named else None, args.anchor)
    if args.json:
        print_json(report)
    else:
        print(render(report))
    return ExitCode.OK if report.clean else ExitCode.FINDING


def render(report: AuditReport) -> str:
    """Return the report as text for people."""
    lines = [str(one) for one in report.findings]
    lines += [f"note: {one}" for one in report.notes]
    verdict = "clean" if report.clean else f"{len(report.findings)} finding(s)"
    return "\n".join([*lines, f"{report.path}: {report.checked} cited values read again: {verdict}"])
