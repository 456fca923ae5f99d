"""`--html FILE` and `--markdown FILE` of commands that write a report to share."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import check_new, write_new

__all__ = ["add_report", "check_report", "made_by", "save_report"]


def add_report(parser: argparse.ArgumentParser) -> None:
    """Declare the two options."""
    parser.add_argument("--html", metavar="FILE", help="write a new self-contained page: no network, no scripts")
    parser.add_argument("--markdown", metavar="FILE", help="write the same as Markdown, for a pull request")


def check_report(args: argparse.Namespace, picture: str | None = None) -> None:
    """Refuse names that can't be written, before anything is computed.

    Args:
        args: The command's.
        picture: A picture that is written too.

    Raises:
        BadInput: A file is there already, its folder is not, or two would be one.
    """
    names = [name for name in (args.html, args.markdown) if name is not None]
    for name in names:
        check_new(name)
    if picture is not None:
        from kopt_kb.report.picture import check_picture

        check_picture(Path(picture))
        names.append(picture)
    if len({Path(name).resolve() for name in names}) < len(names):
        raise BadInput("two of the files would be one", where=names[0], fix="name a file each", code="KB103")


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
