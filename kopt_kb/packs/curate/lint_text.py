"""Find hardware numbers in texts and code that contradict the wiki, are guessed, or have no source.

kb lint-text README.md docs/
kb lint-text . --format sarif > findings.sarif
kb lint-text gpu_specs.py --level note

Errors contradict the wiki, with the class of error that fits (the sparse rate called dense, one die, another product,
GB and GiB, …). Warnings are guesses. Notes agree with the wiki but name no source, or have a value where the wiki says
UNKNOWN. A number whose product or meaning nothing says is passed over. `kb-lint: ignore`, `ignore-next-line` and
`ignore-file` in a comment silence it, also one class alone: `kb-lint: ignore sparse-as-dense`. Below a folder hidden
folders, test data, binary files, links and files over 1 MiB are passed over. Exit 1 when something is found.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from kopt_kb.base.errors import ExitCode
from kopt_kb.cli.kit.output import add_wiki, open_registry, print_plain, print_values, printable
from kopt_kb.cli.kit.sarif import add_format, wants_json
from kopt_kb.packs.curate.lint.lint import lint
from kopt_kb.packs.curate.lint.sarif import sarif

if TYPE_CHECKING:
    from kopt_kb.packs.curate.lint.lint import TextReport

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="files, or folders with all texts below")
    parser.add_argument("--level", choices=("error", "warning", "note"), default="warning", help="least level shown")
    add_format(parser)
    add_wiki(parser, has_format=True)


def run(args: argparse.Namespace) -> int:
    """Print the findings; exit 1 when there is one."""
    registry = open_registry(args)
    report = lint(registry, [Path(file) for file in args.files], args.level)
    if args.format == "sarif":
        print_plain(sarif(report))
    elif wants_json(args):
        print_values(report, registry.wikis)
    else:
        _print(report)
    return ExitCode.FINDING if report.findings else ExitCode.OK


def _print(report: TextReport) -> None:
    for finding in report.findings:
        kind = f"{finding.kind}: {finding.class_}" if finding.class_ else finding.kind
        print(printable(f"{finding.path}:{finding.line}:{finding.column}: {finding.level}: {finding.message} [{kind}]"))
        if finding.says:
            print(printable(f"    {finding.says}"))
    for skipped in report.skipped:
        print(printable(f"skipped {skipped}"))
    found = f"{len(report.findings)} finding(s)" if report.findings else "clean"
    print(f"{found}; {report.claims} number(s) of {report.files} file(s) held against {report.data}")
