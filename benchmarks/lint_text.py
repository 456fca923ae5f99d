"""How often `kb lint-text` is wrong: findings on foreign repositories that were checked by hand.

`results/lint_text.csv` has a line a finding with its verdict. With `--clones DIR` (DIR/owner+name, a clone that has the
commit) each file is read from its commit and linted again: findings that are no longer made are named.

python benchmarks/lint_text.py
python benchmarks/lint_text.py --clones CLONES
"""

from __future__ import annotations

import argparse
import csv
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

CHECKED = Path(__file__).parent / "results" / "lint_text.csv"


def rates(rows: Iterable[dict[str, str]]) -> list[str]:
    """A line for each set and kind: checked, false, share."""
    counts = Counter((row["set"], kind, row["verdict"]) for row in rows for kind in (row["kind"], "all"))
    lines = []
    for name, kind in dict.fromkeys((name, kind) for name, kind, _ in sorted(counts)):
        wrong = counts[name, kind, "false"]
        total = wrong + counts[name, kind, "true"]
        lines.append(f"{name:9} {kind:12} {total:4} checked, {wrong:3} false: {100 * wrong / total:.1f} %")
    return lines


def again(rows: list[dict[str, str]], clones: Path) -> Iterable[str]:
    """Lint each file of the table again, as it stands in its commit."""
    from kopt_kb.packs.curate.lint.lint import Linter
    from kopt_kb.wiki.registry import Registry

    linter = Linter(Registry.open())
    files: dict[str, set[tuple[int, str]]] = {}
    for row in rows:
        place, _, line = row["place"].rpartition(":")
        repository, _, rest = place.partition("@")
        commit, _, path = rest.partition(":")
        if place not in files:
            clone = clones / repository.replace("/", "+")
            words = ["git", "-C", str(clone), "show", f"{commit}:{path}"]
            shown = subprocess.run(words, check=False, capture_output=True)
            if shown.returncode:
                yield f"{place}: not in the clone"
            found, _ = linter.findings(path, shown.stdout.decode("utf-8", "replace"))
            files[place] = {(one.line, one.kind) for one in found}
        if files[place] and (int(line), row["kind"]) not in files[place]:
            yield f"{row['place']}: no longer {row['kind']}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clones", type=Path)
    args = parser.parse_args()
    with CHECKED.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for line in (*rates(rows), *(again(rows, args.clones) if args.clones else ())):
        print(line)


if __name__ == "__main__":
    main()
