"""--format of the commands that are gates in automation: text, JSON, or SARIF for code hosts."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from kopt_kb.base.sarif import SarifResult, sarif_run
from kopt_kb.cli.kit.output import print_plain
from kopt_kb.wiki.version import DataVersion

__all__ = ["add_format", "print_sarif", "wants_json"]


def add_format(parser: argparse.ArgumentParser) -> None:
    """Declare --format."""
    parser.add_argument(
        "--format",
        choices=("text", "table", "json", "sarif"),
        default="text",
        help="how findings are printed (table: as text; json: as --json)",
    )


def wants_json(args: argparse.Namespace) -> bool:
    """Return whether the document is asked for, by --json or --format json."""
    return bool(args.json) or args.format == "json"


def print_sarif(tool: str, results: Iterable[SarifResult], data: DataVersion) -> None:
    """Print findings as one SARIF run, with the version and date of the wiki's data."""
    print_plain(sarif_run(tool, results, data.to_json()))
