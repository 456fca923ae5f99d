"""Write docs/seeds.md and docs/contradictions.md from the tables in tests/seeds; `--run` runs what shows each row."""

from __future__ import annotations

import argparse
import csv
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
TABLES = ROOT / "tests" / "seeds"
NAMES = {
    "003": "the router: workspaces, memory, roofline, Stop Conditions", "001": "campaigns inside a project",
    "004": "TileIR", "002": "the cuTile performance loop",
    "000": "coordination, routing, autopilot",
}  # fmt: skip
STATES = ("works", "partly", "absent", "differs")


class Row(NamedTuple):
    """A mechanism of a seed: its line there, what it is, how it stands here, what shows it, and why it is not whole."""

    seed: str
    row: str
    line: str
    what: str
    state: str
    show: str
    reason: str


class Contradiction(NamedTuple):
    """Two things that an original says against each other, how that is resolved, and the test of it."""

    seed: str
    what: str
    resolved: str
    show: str


def _read(name: str) -> Iterator[list[str]]:
    with (TABLES / name).open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(rows)
        yield from rows


def rows() -> list[Row]:
    """Return the mechanisms of all seeds."""
    return [Row(*one) for one in _read("rows.tsv")]


def contradictions() -> list[Contradiction]:
    """Return the contradictions of all seeds."""
    return [Contradiction(*one) for one in _read("contradictions.tsv")]


def fault_of(show: str) -> str:
    """Return why a show can't be one: a test or file that is not there, or no command; empty when it can."""
    if show.startswith("kb "):
        return ""
    path, _, name = show.partition("::")
    if not (ROOT / path).is_file():
        return f"there is no {path}"
    defined = re.search(rf"^def {re.escape(name)}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
    return "" if not name or defined else f"{path} has no {name}"


def run_command(show: str) -> str:
    """Return why a command `kb … -> CODE` fails, run in an empty folder; empty when it ends as it says."""
    from kopt_kb.cli.main import main

    text, _, expected = show.removeprefix("kb ").partition(" -> ")
    words = shlex.split(text)
    if words[:2] == ["route", "task"]:
        words = [*words[:2], " ".join(words[2:])]
    out, before = io.StringIO(), Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            with redirect_stdout(out), redirect_stderr(out):
                code = main(words)
        finally:
            os.chdir(before)
    wanted = int(expected or 0)
    return "" if code == wanted else f"ends with {code}, not {wanted}: {out.getvalue()[-200:]}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def seeds_page() -> str:
    """Return docs/seeds.md."""
    found = rows()
    lines = [
        "# What of the seeds is here", "",
        "<!-- python tools/seeds.py writes this page from tests/seeds/rows.tsv -->", "",
        "Each row is a mechanism of a seed document, with its line there. What stands in the last column shows it: a",
        "command (and the exit code that it ends with, where that is not 0) or a test.",
        "`python tools/seeds.py --run` runs them all.", "",
        "| Seed | works | partly | absent | differs | rows |", "|---|---|---|---|---|---|",
    ]  # fmt: skip
    for seed, name in NAMES.items():
        counts = Counter(one.state for one in found if one.seed == seed)
        cells = " | ".join(str(counts[state]) for state in STATES)
        lines.append(f"| {seed}, {name} | {cells} | {sum(counts.values())} |")
    for seed, name in NAMES.items():
        own = [one for one in found if one.seed == seed]
        left = [one for one in own if one.state != "works"]
        lines += ["", f"## Seed {seed}: {name}", "", "| # | Seed | What | State | Why |", "|---|---|---|---|---|"]
        lines += [f"| {one.row} | {one.line} | {_cell(one.what)} | {one.state} | {_cell(one.reason)} |" for one in left]
        lines += ["", "| # | Seed | What | Shown by |", "|---|---|---|---|"]
        lines += [f"| {one.row} | {one.line} | {_cell(one.what)} | `{one.show}` |" for one in own if one.show]
    return "\n".join([*lines, ""])


def contradictions_page() -> str:
    """Return docs/contradictions.md."""
    lines = [
        "# Contradictions of the originals", "",
        "<!-- python tools/seeds.py writes this page from tests/seeds/contradictions.tsv -->", "",
        "What the seed documents say against themselves or each other, how that is resolved here, and its test.", "",
        "| Seed | Contradiction | Here | Test |", "|---|---|---|---|",
    ]  # fmt: skip
    lines += [f"| {one.seed} | {_cell(one.what)} | {_cell(one.resolved)} | `{one.show}` |" for one in contradictions()]
    return "\n".join([*lines, ""])


PAGES = {"seeds.md": seeds_page, "contradictions.md": contradictions_page}


def _run_all() -> int:
    """Run every command and every test that shows a row; return 1 when one fails."""
    shows = dict.fromkeys([*(one.show for one in rows() if one.show), *(one.show for one in contradictions())])
    failed = [f"{one}: {why}" for one in shows if one.startswith("kb ") and (why := run_command(one))]
    nodes = [one for one in shows if not one.startswith("kb ")]
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-n", "0", *nodes], cwd=ROOT, check=False)
    print("\n".join(failed) or "every command ends as it says")
    return 1 if failed or done.returncode else 0


def main() -> int:
    """Write the pages; with --check only compare, with --run run what shows the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--run", action="store_true")
    options = parser.parse_args()
    if options.run:
        return _run_all()
    stale = []
    for name, page in PAGES.items():
        path, text = ROOT / "docs" / name, page()
        if options.check and (not path.is_file() or path.read_text(encoding="utf-8") != text):
            stale.append(name)
        elif not options.check:
            path.write_text(text, encoding="utf-8")
    if stale:
        print(f"docs/{', docs/'.join(stale)}: run python tools/seeds.py")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
