"""What commands share: common options, JSON on stdout, plain tables for people."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire, plain
from kopt_kb.cli.kit import terminal
from kopt_kb.cli.kit.streams import Output
from kopt_kb.wiki.tables import table as as_markdown

if TYPE_CHECKING:
    from pathlib import Path

    from kopt_kb.wiki.registry import Registry
    from kopt_kb.wiki.wiki import Wiki
    from kopt_kb.workspace.state import WorkspaceState

__all__ = [
    "add_author",
    "add_common",
    "add_format",
    "add_wiki",
    "conditions",
    "in_form",
    "open_registry",
    "print_json",
    "print_of",
    "print_plain",
    "print_table",
    "print_values",
    "printable",
    "printable_lines",
    "say",
    "table",
    "wants_json",
]


FORMS = ("table", "json", "csv", "markdown")


def add_common(parser: argparse.ArgumentParser, *, has_format: bool = False) -> None:
    """Add --json, and --format as `in_form` obeys it, but where the command has a --format of its own."""
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    if not has_format:
        text = "form of the result: its tables alone as CSV or Markdown, or as --json"
        parser.add_argument("--format", dest="as_form", choices=FORMS, default="table", help=text)


def add_author(parser: argparse.ArgumentParser) -> None:
    """Add --by, with the login name as its default."""
    parser.add_argument("--by", metavar="NAME", default=_login(), help="who says so (default: %(default)s)")


def _login() -> str:
    try:
        import getpass

        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"


def add_wiki(parser: argparse.ArgumentParser, *, has_format: bool = False) -> None:
    """Add --wiki, --json and --format."""
    parser.add_argument(
        "--wiki",
        metavar="DIR",
        action="append",
        default=[],
        help="wiki folder (default: KOPT_GPU_WIKI, else the packaged one); repeatable",
    )
    add_common(parser, has_format=has_format)


def open_registry(args: argparse.Namespace) -> Registry:
    """Return the registry of the --wiki folders."""
    from kopt_kb.wiki.registry import Registry

    return Registry.open(*args.wiki)


def print_json(document: Wire, roots: Sequence[str | Path] = ()) -> None:
    """Print a document with the version and date of the wikis in these folders, or of the one read by default."""
    from kopt_kb.wiki.version import data_at

    body = document.to_json()
    print_plain(body if "data" in body else {**body, "data": data_at(roots)})


def print_plain(value: object) -> None:
    """Print JSON whose shape belongs to others; letters that the encoding lacks are escaped as JSON does."""
    escape = not (getattr(sys.stdout, "encoding", None) or "utf-8").casefold().startswith("utf")
    text = json.dumps(value, ensure_ascii=escape, indent=2, allow_nan=False, default=plain)
    sys.stdout.write(f"{text}\n")


def print_values(value: Wire, wikis: Sequence[Wiki]) -> None:
    """Print a document that carries values of the wiki, with the version and date of the data they are from."""
    from kopt_kb.wiki.version import data_version

    print_plain({**value.to_json(), "data": data_version(wikis)})


def print_of(document: Wire, state: WorkspaceState, wikis: Sequence[str] = ()) -> None:
    """Print a document about a workspace, with the version and date of the wiki that judges it."""
    from kopt_kb.workspace.retarget import wiki_roots

    print_json(document, wiki_roots(state, wikis))


def print_bytes(data: bytes) -> None:
    """Print bytes to stdout as they are."""
    stream = sys.stdout if isinstance(sys.stdout, Output) else Output(sys.stdout)
    stream.write_bytes(data)


def conditions(words: Iterable[str]) -> dict[str, str]:
    """Return axis=value words as a mapping; raises `BadInput` on anything else."""
    found = {}
    for word in words:
        axis, equals, value = word.partition("=")
        if not equals or not axis or not value:
            raise BadInput(f"{word!r} is not axis=value", fix="for example dtype=bf16 engine=matrix", code="KB104")
        found[axis] = value
    if "dtype" in found:
        from kopt_kb.problem.dtypes import ALIASES

        found["dtype"] = ALIASES.get(found["dtype"], found["dtype"])
    return found


def say(*texts: str) -> None:
    """Print texts for people, folded where there are few columns."""
    print(*map(terminal.told, texts), sep="\n")


def printable(text: str) -> str:
    """Return a text of others (names in reports, paths) with control and direction characters as escapes.

    A terminal obeys such characters: they move the cursor, change colours or reverse what stands beside them.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text)


def printable_lines(text: str) -> str:
    """Return several lines, each as `printable` gives it."""
    return "\n".join(map(printable, text.split("\n")))


_Kept = list[tuple[Sequence[Sequence[str]], bool]]

_kept: _Kept | None = None
"""Tables of a command whose result is wanted as CSV or Markdown, with whether each begins with its head."""


def table(rows: Sequence[Sequence[str]], *, indent: int = 0, right: Sequence[int] = (), is_headed: bool = True) -> str:
    """Return rows as aligned columns; the columns in `right` are right-aligned, the last is never padded.

    Control characters of a cell are shown as escapes. In a terminal that is too narrow cells are folded; words that are
    verdicts have colour where there is any.
    """
    if not rows:
        return ""
    if _kept is not None:
        _kept.append((rows, is_headed))
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    room, is_painted = terminal.width(), terminal.has_colour()
    if room is not None:
        widths = terminal.narrowed(widths, room - indent - 2 * (len(widths) - 1))
        if is_headed and len(rows) > 1 and _breaks_words(rows, widths, room - indent):
            return "\n".join(line.rstrip() for line in terminal.stacked(rows, indent, room))
    lines = []
    for row in rows:
        folded = [terminal.fold(cell, most) for cell, most in zip(row, widths, strict=True)]
        for at in range(max(map(len, folded))):
            cells = [lines_of[at] if at < len(lines_of) else "" for lines_of in folded]
            lines.append(" " * indent + _padded(cells, widths, right, is_painted=is_painted))
    return "\n".join(line.rstrip() for line in lines)


_SHORT = 12
"""Letters of a word that no column may break; longer ones are paths and names of kernels."""


def _breaks_words(rows: Sequence[Sequence[str]], widths: Sequence[int], room: int) -> bool:
    """Whether columns are too many for the room, or so narrow that a word or number would be broken."""
    words = ((word, width) for row in rows for cell, width in zip(row, widths, strict=True) for word in cell.split(" "))
    return sum(widths) + 2 * (len(widths) - 1) > room or any(width < len(word) <= _SHORT for word, width in words)


def _padded(cells: Sequence[str], widths: Sequence[int], right: Sequence[int], *, is_painted: bool) -> str:
    padded = [c.rjust(w) if at in right else c.ljust(w) for at, (c, w) in enumerate(zip(cells, widths, strict=True))]
    return "  ".join(map(terminal.paint, padded) if is_painted else padded)


def in_form(run: Callable[[argparse.Namespace], int], args: argparse.Namespace) -> int:
    """Run a command and return its exit code; its tables are printed alone where --format wants CSV or Markdown.

    What a command without any table says goes to stderr then: an empty table has no rows, and nothing is lost.

    Raises:
        BadInput: --json was given as well.
    """
    global _kept  # noqa: PLW0603 - the tables of one command, wherever they are made
    form = getattr(args, "as_form", "table")
    if form in {"csv", "markdown"}:
        if args.json:
            raise BadInput(f"--json and --format {form} were given", fix="give one of them", code="KB103")
        tables: _Kept = []
        _kept = tables
        try:
            with contextlib.redirect_stdout(io.StringIO()) as said:
                code = int(run(args))
        finally:
            _kept = None
        _print_kept(tables, form)
        if not tables:
            sys.stderr.write(said.getvalue())
        return code
    if form == "json":
        args.json = True
    return int(run(args))


def _print_kept(tables: _Kept, form: str) -> None:
    for at, (rows, is_headed) in enumerate(tables):
        if at:
            print()
        head, body = (rows[0], rows[1:]) if is_headed else ([""] * len(rows[0]), rows)
        print_table(head, body, form, is_headed=is_headed)


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add --format, for commands whose result is one table."""
    parser.add_argument("--format", choices=FORMS, default="table", help="form of the result (json: as --json)")


def wants_json(args: argparse.Namespace) -> bool:
    """Whether JSON was asked for; raises `BadInput` where another form was asked for as well."""
    form: str = args.format
    if args.json and form not in {"table", "json"}:
        raise BadInput(f"--json and --format {form} were given", fix="give one of them", code="KB103")
    return args.json or form == "json"


def print_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], form: str = "table", *, indent: int = 0,
    right: Sequence[int] = (), is_headed: bool = True,
) -> None:  # fmt: skip
    """Print rows with their head: for people, or whole and unfolded as CSV or Markdown."""
    if form == "csv":
        import csv

        csv.writer(sys.stdout, lineterminator="\n").writerows([head, *rows] if is_headed else rows)
    elif form == "markdown":
        print("\n".join(as_markdown(head, rows)).rstrip())
    else:
        print(table([head, *rows], indent=indent, right=right))
