"""The gate on the coverage of the pure core: lines and branches by package, exit 1 when the whole is below the limits.

Usage: python tools/core_coverage.py coverage.json

The core are the files that `[tool.coverage.run]` of pyproject.toml includes: what computes, judges and records without
a GPU, a child process or a terminal.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

LINES_PCT = 97.0
BRANCHES_PCT = 95.0
_SUMS = ("covered_lines", "num_statements", "covered_branches", "num_branches")


def shares(summary: Mapping[str, int]) -> tuple[float, float]:
    """Return the percentages of lines and of branches that ran; nothing to run is 100."""
    lines, branches = (
        100.0 * summary[covered] / summary[all_] if summary[all_] else 100.0
        for covered, all_ in (("covered_lines", "num_statements"), ("covered_branches", "num_branches"))
    )
    return lines, branches


def by_package(files: Mapping[str, Any]) -> dict[str, Counter[str]]:
    """Return the sums of each folder."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for name, one in files.items():
        found[str(PurePosixPath(name).parent)].update({key: one["summary"][key] for key in _SUMS})
    return dict(sorted(found.items()))


def main(path: Path) -> int:
    """Print the table and return the exit code."""
    files = json.loads(path.read_text(encoding="utf-8"))["files"]
    packages = by_package(files)
    whole = sum(packages.values(), Counter[str]())
    for name, summary in {**packages, "the core": whole}.items():
        lines, branches = shares(summary)
        print(f"{name:32} {summary['num_statements']:6} statements {lines:6.2f} % {branches:6.2f} % of branches")
    lines, branches = shares(whole)
    if files and lines >= LINES_PCT and branches >= BRANCHES_PCT:
        return 0
    for name, one in files.items():
        if one["missing_lines"] or one["missing_branches"]:
            print(f"{name}: lines {one['missing_lines']}, branches {one['missing_branches']}")
    print(f"the core needs {LINES_PCT} % of lines and {BRANCHES_PCT} % of branches", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
