"""Formula tables of the wiki: which counters give which metric on which target, and who says so.

A page of `gpuwiki/counters/` holds tables `| Metric | gfx | Formula | Unit | Source | Note |` and footnotes as on every
wiki page. `gfx` is a list of targets separated by spaces, or `any`. `Formula` stands in backticks; upper-case names are
counters, lower-case ones the parameters of `PARAMETERS`. `Note` is `tag: text; tag: text` with the tags of `TAGS`.
Several rows of one metric and target are versions: the first whose counters were collected is used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kopt_kb.analysis.profile.vocabulary import METRICS
from kopt_kb.base.errors import BadInput
from kopt_kb.quantity import Exactness
from kopt_kb.quantity.formula import Expression, FormulaError, parse_formula
from kopt_kb.wiki.footnotes import Footnote, read_footnotes
from kopt_kb.wiki.places import default_root
from kopt_kb.wiki.tables import NO_ROW, rows_under

__all__ = ["HEADER", "PARAMETERS", "TAGS", "Formula", "FormulaFault", "load_formulas", "read_formulas"]

HEADER = ("Metric", "gfx", "Formula", "Unit", "Source", "Note")
PARAMETERS = frozenset({"num_xcd", "cu_count", "max_waves_per_cu", "lds_banks", "l2_channels"})
TAGS = frozenset({"bound", "mean", "reason", "scope"})
_GFX = re.compile(r"gfx[0-9a-f]{3,5}")
_COUNTER = re.compile(r"[A-Z][A-Za-z0-9_]*")
_SOURCE = re.compile(r'\[\^(?P<id>[A-Za-z0-9_.\-]+)\]\s+(?P<locator>[^;|"]+?)\s+quote="(?P<quote>[^"]+)"')
_MAX_QUOTE = 60
_FOLDER = "counters"


class FormulaFault(BadInput):
    """A formula page that breaks the grammar; names file and line."""

    code = "KB210"


@dataclass(frozen=True, slots=True)
class Formula:
    """One sourced row.

    Attributes:
        metric: Vocabulary id.
        targets: Targets it holds for; empty for any.
        expression: The formula.
        bound: Whether the value misses a part ("lower") or has too much ("upper").
        by_time: Whether the counter is the tool's own ratio, to be weighted by time and never summed.
        citation: `path:line` of the row.
        source: Title and locator of the document.
        quote: What the document prints.
    """

    metric: str
    targets: frozenset[str]
    expression: Expression
    bound: Exactness
    by_time: bool
    citation: str
    source: str
    quote: str

    def holds_for(self, target: str) -> bool:
        """Return whether the row is for a target; an unknown target ("") takes only rows for any."""
        return not self.targets or target in self.targets


@lru_cache(maxsize=8)
def load_formulas(root: Path | None = None) -> tuple[Formula, ...]:
    """Return the rows of every page in `counters/` of a wiki that has a formula table, in order.

    Args:
        root: Folder of the wiki; None takes KOPT_GPU_WIKI, else the packaged one.

    Raises:
        FormulaFault: A page breaks the grammar.
    """
    folder = (root or default_root()) / _FOLDER
    formulas: list[Formula] = []
    for path in sorted(one for one in folder.glob("amd_*.md") if not one.stem.endswith("_thresholds")):
        formulas.extend(read_formulas(path.read_text(encoding="utf-8"), f"{_FOLDER}/{path.name}"))
    return tuple(formulas)


def read_formulas(text: str, path: str) -> tuple[Formula, ...]:
    """Return the rows of one page; raises `FormulaFault` with the line of the first fault."""
    lines = text.splitlines()
    notes, bad = read_footnotes(lines)
    if bad:
        raise FormulaFault(bad[0][1], where=f"{path}:{bad[0][0]}")
    formulas: list[Formula] = []
    used: set[str] = set()
    for number, cells in rows_under(lines, HEADER):
        formulas.append(_row(cells, notes, used, f"{path}:{number}"))
    unused = sorted(set(notes) - used)
    if unused:
        raise FormulaFault(f"footnote [^{unused[0]}] is never cited", where=f"{path}:{notes[unused[0]].line}")
    return tuple(formulas)


def _row(cells: list[str] | None, notes: dict[str, Footnote], used: set[str], where: str) -> Formula:
    if cells is None:
        raise FormulaFault("no table row", where=where, fix=NO_ROW)
    if len(cells) != len(HEADER):
        raise FormulaFault(f"{len(cells)} cells under a header of {len(HEADER)}", where=where)
    metric, gfx, formula, unit, source, note = cells
    if metric not in METRICS or METRICS[metric].unit != unit:
        raise FormulaFault(f"{metric!r} in {unit!r} is no profile metric", where=where)
    targets = frozenset() if gfx == "any" else frozenset(gfx.split())
    if gfx != "any" and not (targets and all(_GFX.fullmatch(one) for one in targets)):
        raise FormulaFault(f"{gfx!r} is no list of gfx targets", where=where)
    tags = _tags(note, where)
    cited = _SOURCE.fullmatch(source)
    if cited is None or cited["id"] not in notes or len(cited["quote"]) > _MAX_QUOTE:
        raise FormulaFault('the source is not `[^id] locator quote="…"` of a defined footnote', where=where)
    used.add(cited["id"])
    return Formula(
        metric=metric,
        targets=targets,
        expression=_expression(formula, where),
        bound=_bound(tags, where),
        by_time="mean" in tags,
        citation=where,
        source=f"{notes[cited['id']].title}, {cited['locator']}",
        quote=cited["quote"],
    )


def _expression(cell: str, where: str) -> Expression:
    if not (len(cell) > len("``") and cell.startswith("`") and cell.endswith("`")):
        raise FormulaFault("the formula does not stand in backticks", where=where)
    try:
        formula = parse_formula(cell[1:-1])
    except FormulaError as error:
        raise FormulaFault(str(error), where=where) from error
    strange = sorted(one for one in formula.names if one not in PARAMETERS and not _COUNTER.fullmatch(one))
    if strange:
        raise FormulaFault(f"{strange[0]!r} is neither a counter nor a parameter", where=where)
    return formula


def _tags(note: str, where: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in note.split(";") if note else ():
        tag, colon, text = part.strip().partition(":")
        if not colon or tag not in TAGS or tag in found or not text.strip():
            raise FormulaFault(f"note {part.strip()!r} is no `tag: text` of {', '.join(sorted(TAGS))}", where=where)
        found[tag] = text.strip()
    return found


def _bound(tags: dict[str, str], where: str) -> Exactness:
    text = tags.get("bound", "exact")
    if text == "lower":
        return "lower"
    if text == "upper":
        return "upper"
    if text == "exact":
        return "exact"
    raise FormulaFault(f"bound {text!r} is neither lower nor upper", where=where)
