"""`--html FILE` and `--markdown FILE` of commands that write a report to share."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from kopt_kb.errors import BadInput
from kopt_kb.files import check_new, write_new

__all__ = ["add_report", "check_report", "made_by", "save_report"]


def add_report(parser: argparse.ArgumentParser) -> None:
    """Declare the two options."""
    parser.add_argument("--html", metavar="FILE", help="write a new self-contained page: no network, no scripts")
    parser.add_argument("--markdown", metavar="FILE", help="write the same as Markdown, for a pull request")


def check_report(args: argparse.Namespace) -> None:
    """Refuse names that can't be written, before anything is computed.

    Raises:
        BadInput: A file is there already, its folder is not, or both reports would be one file.
    """
    names = [name for name in (args.html, args.markdown) if name is not None]
    for name in names:
        check_new(name)
    if len(names) > 1 and Path(names[0]).resolve() == Path(names[1]).resolve():
        raise BadInput("both reports would be one file", where=names[0], fix="name two files", code="KB103")


def save_report(args: argparse.Namespace, html: Callable[[], bytes], markdown: Callable[[], str]) -> list[str]:
    """Write what was asked for; return one line a file, for people.

    Raises:
        BadInput: It can't be written.
    """
    lines = []
    for name, make in ((args.html, html), (args.markdown, lambda: markdown().encode())):
        if name is not None:
            data = make()
            write_new(name, data)
            lines.append(f"{name}: {len(data):,} bytes")
    return lines


def made_by() -> str:
    """Return program and version."""
    from kopt_kb.cli.main import version

    return f"kopt-kb {version()}"
