"""Draw wiki rows without their values for a second reader, and compare what the reader then read in the documents."""

from __future__ import annotations

import argparse
import json
import random
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from kopt_kb.base.errors import BadInput, KoptError  # noqa: E402
from kopt_kb.quantity.units import UNITS, parse_number, unit  # noqa: E402
from kopt_kb.wiki.page import Page, read_page  # noqa: E402
from kopt_kb.wiki.quotes import quote_supports  # noqa: E402
from kopt_kb.wiki.row import Row  # noqa: E402
from kopt_kb.wiki.vocabulary import METRICS  # noqa: E402

__all__ = ["compare", "draw", "load", "main", "read_answers", "verdict"]

Answer = dict[str, Any]


def load(root: Path, names: tuple[str, ...] = ()) -> dict[str, Page]:
    """Return the hardware and target pages by path, all or those of the given file stems."""
    paths = sorted([*root.glob("hardware/*/*.md"), *root.glob("targets/*.md")])
    unknown = set(names) - {path.stem for path in paths}
    if unknown:
        raise BadInput(f"no page {min(unknown)}", where=str(root), fix="name pages by file stem, as in h20,mi300x")
    wanted = [path for path in paths if not names or path.stem in names]
    return {
        path.relative_to(root).as_posix(): read_page(
            path.read_bytes(), path.relative_to(root).as_posix(), kind=path.relative_to(root).parts[0]
        )
        for path in wanted
    }


def _question(page: Page, row: Row) -> Answer:
    """Return what the reader may see of a row: where to look, and nothing of what stands there."""
    places = []
    for source in row.sources:
        note = page.footnotes[source.id]
        places.append({"title": note.title, "url": note.url, "revision": note.revision, "locator": source.locator})
    head = {"key": row.key, "page": page.path, "row": row.sha, **places[0]}
    return {**head, "others": places[1:]} if places[1:] else head


def draw(pages: dict[str, Page], seed: int, count: int, *, per_page: bool = False) -> list[Answer]:
    """Return drawn rows as questions, the same ones for the same seed and pages.

    Rows that a document prints are drawn from: a number or a token with a source, neither derived nor UNKNOWN.

    Args:
        pages: Pages by path.
        seed: Seed of the draw.
        count: Rows in all, or a page with `per_page`; all of them where there are fewer.
        per_page: Draw `count` rows from each page, so that a page's draw does not depend on the others.
    """
    known = [
        (page, row) for page in pages.values() for row in page.rows if row.kind in {"value", "token"} and row.sources
    ]
    groups = [[one for one in known if one[0] is page] for page in pages.values()] if per_page else [known]
    drawn: list[tuple[Page, Row]] = []
    for index, group in enumerate(groups):
        generator = random.Random(f"{seed}:{list(pages)[index]}" if per_page else seed)  # noqa: S311  (no secret)
        drawn += generator.sample(group, min(count, len(group)))
    return [_question(page, row) for page, row in drawn]


def verdict(row: Row, answer: Answer) -> tuple[str, str]:
    """Return agree, differ or not opened, and why; numbers are compared in base units, exactly."""
    if answer.get("not_opened"):
        return "not opened", str(answer["not_opened"])
    value, symbol, quote = (str(answer.get(name, "")) for name in ("value", "unit", "quote"))
    if not value:
        return "not opened", "no answer was filled in"
    stated = f"wiki {row.value} {row.unit}, reader {value} {symbol}"
    if row.kind == "token":
        same = value.casefold() == row.value.casefold()
    else:
        same = _base(value, symbol) == Fraction(row.value) * UNITS[row.unit].factor
    if not same:
        return "differ", stated
    if not quote_supports(quote, row.value, row.unit, METRICS[row.metric]):
        return "differ", f"{stated}, but the reader's quote {quote!r} does not print it"
    return "agree", stated


def _base(value: str, symbol: str) -> Fraction:
    return parse_number(value) * unit(symbol).factor


def compare(pages: dict[str, Page], answers: list[Answer]) -> list[tuple[str, str, str]]:
    """Return (outcome, `page key`, detail) of each answer; a row that the wiki no longer has is `changed`."""
    rows = {(path, row.sha): row for path, page in pages.items() for row in page.rows}
    result = []
    for answer in answers:
        row = rows.get((str(answer.get("page")), str(answer.get("row"))))
        name = f"{answer.get('page')} {answer.get('key')}"
        outcome = verdict(row, answer) if row else ("changed", "the wiki has no such row any more; draw again")
        result.append((outcome[0], name, outcome[1]))
    return result


def read_answers(path: Path) -> list[Answer]:
    """Return the filled answers of a JSON-lines file; raises `BadInput` with the line that is none."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"can't read the answers: {error}", where=str(path), fix="give the file that draw began"
        ) from None
    answers = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            answers.append(_one_answer(line, f"{path}:{number}"))
    return answers


def _one_answer(line: str, where: str) -> Answer:
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise BadInput("not a JSON object", where=where, fix="one object a line, as draw prints them")
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="second_reader.py", description=__doc__)
    parser.add_argument("--wiki", type=Path, default=ROOT / "gpuwiki", help="wiki folder")
    actions = parser.add_subparsers(dest="action", required=True)
    drawing = actions.add_parser("draw", help="print rows without value, unit and quote, a JSON object a line")
    drawing.add_argument("--seed", type=int, required=True)
    drawing.add_argument("--count", type=int, required=True)
    drawing.add_argument("--pages", default="", help="file stems with commas between them; default all pages")
    drawing.add_argument("--per-page", action="store_true", help="COUNT rows from each page instead of in all")
    comparing = actions.add_parser("compare", help="compare answers that have value, unit and quote (or not_opened)")
    comparing.add_argument("answers", type=Path)
    return parser


def _run(arguments: argparse.Namespace) -> int:
    if arguments.action == "draw":
        names = tuple(name.strip() for name in arguments.pages.split(",") if name.strip())
        for question in draw(load(arguments.wiki, names), arguments.seed, arguments.count, per_page=arguments.per_page):
            print(json.dumps(question, ensure_ascii=False))
        return 0
    results = compare(load(arguments.wiki), read_answers(arguments.answers))
    for outcome, name, detail in results:
        print(f"{outcome:10}  {name}  {detail}")
    counts = {
        outcome: sum(one[0] == outcome for one in results) for outcome in ("agree", "differ", "not opened", "changed")
    }
    print(f"{len(results)} rows: " + ", ".join(f"{number} {outcome}" for outcome, number in counts.items()))
    return int(counts["differ"] > 0)


def main(argv: list[str] | None = None) -> int:
    """Run the command line; exit 1 when an answer differs from the wiki, 2 on bad input."""
    try:
        return _run(_parser().parse_args(argv))
    except KoptError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
