"""Read every cited value of a workspace again, recompute its targets, and search its texts for unsourced numbers.

kb audit kernel_opt_norm
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from kopt_kb.cli.output import add_wiki, print_json
from kopt_kb.errors import ExitCode, KoptError
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit.audit import AuditReport, audit
from kopt_kb.workspace.workspace import Workspace

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("path", metavar="WORKSPACE", help="workspace folder")
    add_wiki(parser)


def run(args: argparse.Namespace) -> int:
    """Print the findings; exit 1 when there are any."""
    report = audit(args.path, _registry(args))
    if args.json:
        print_json(report.to_json())
    else:
        print(render(report))
    return ExitCode.OK if report.clean else ExitCode.FINDING


def _registry(args: argparse.Namespace) -> Registry:
    """Return the wiki asked for, else the one the workspace was made from if it is still there."""
    if args.wiki or os.environ.get("KOPT_GPU_WIKI"):
        return Registry.open(*args.wiki)
    try:
        root = Path(Workspace.open(args.path).state().created.wiki.root)
    except KoptError:
        return Registry.open()
    return Registry.open(root) if root.is_absolute() and (root / "hardware").is_dir() else Registry.open()


def render(report: AuditReport) -> str:
    """Return the report as text for people."""
    lines = [str(one) for one in report.findings]
    lines += [f"note: {one}" for one in report.notes]
    verdict = "clean" if report.clean else f"{len(report.findings)} finding(s)"
    return "\n".join([*lines, f"{report.path}: {report.checked} cited values read again: {verdict}"])
