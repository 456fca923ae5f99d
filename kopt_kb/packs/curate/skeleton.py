"""A page to be filled: every row that a product has to answer, as UNKNOWN with a reason that is still to be written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.curate import codes
from kopt_kb.packs.curate.required import REQUIRED, Need, answered
from kopt_kb.quantity.units import units_of
from kopt_kb.wiki.evidence import TBD
from kopt_kb.wiki.places import installed_root
from kopt_kb.wiki.row import COLUMNS, Row
from kopt_kb.wiki.tables import table
from kopt_kb.wiki.vocabulary import AXES, INT_DTYPES, METRICS
from kopt_kb.wiki.wiki import Wiki

__all__ = ["new_page"]

_PLATFORM = re.compile(r"[A-Z0-9]+(_[A-Z0-9]+)*")
_TARGET = re.compile(r"(?P<nvidia>sm_\d{2,3})|(?P<amd>gfx[0-9a-f]{3,4})")
_MOST_MODELS = 4
_FOOTNOTE = f'[^sheet]: title="{TBD}"; publisher="{TBD}"; url="{TBD}"; revision="{TBD}"; read="2000-01-01"'


def new_page(root: Path, platform: str, target: str) -> tuple[Path, ...]:
    """Write the page of a product, and of its target where the wiki has none; returns what was written.

    What the target's page answers is not asked again. Conditions, units and sections follow the pages of the same
    vendor that are there; values never do.

    Args:
        root: A wiki that may be written to.
        platform: The new page's id, such as `H20`.
        target: Exact target, such as `sm_90`.

    Raises:
        BadInput: A name that no page can have, a page that is there already, or a wiki that can't be written.
    """
    match = _TARGET.fullmatch(target)
    if match is None:
        raise BadInput(f"{target!r} is no target", where="--target", fix="write sm_90 or gfx942", code="KB106")
    if not _PLATFORM.fullmatch(platform):
        fix = "capital letters, digits and _, such as H100_SXM"
        raise BadInput(f"{platform!r} can't be a platform's id", where="PLATFORM", fix=fix, code=codes.BAD_PLATFORM_ID)
    if root.resolve() == installed_root():
        raise _read_only(root, "belongs to the installed package")
    vendor = "NVIDIA" if match["nvidia"] else "AMD"
    wiki = Wiki(root, use_cache=False)
    path = f"hardware/{vendor.lower()}/{platform.lower()}.md"
    if wiki.read(path) is not None:
        raise BadInput("the page exists already", where=str(root / path), fix="edit it", code="KB113")
    model = _Model(wiki, vendor, target)
    page = wiki.page(f"targets/{target}.md")
    pages: dict[str, str] = {}
    needs = REQUIRED[vendor]
    if page is None:
        of_target = tuple(need for need in needs if model.of_target(need))
        head = {"target": target, "vendor": vendor, "arch": TBD, "title": target}
        pages[f"targets/{target}.md"] = _text(head, target, model.rows(of_target))
        needs = tuple(need for need in needs if need not in of_target)
    else:
        needs = tuple(need for need in needs if not answered(need, page.rows))
    arch = str(page.front.get("arch", TBD)) if page else TBD
    head = {"platform": platform, "vendor": vendor, "sku": f"{TBD} ({platform})", "arch": arch, "target": target}
    lists = ("aliases", "family", "not", "pci")
    pages[path] = _text({**head, **dict.fromkeys(lists, "[]")}, platform, model.rows(needs))
    return tuple(_written(root, path, text) for path, text in pages.items())


def _read_only(where: Path, what: str) -> BadInput:
    fix = "`kb wiki copy DIR` makes a wiki of yours; then --into DIR"
    return BadInput(what, where=str(where), fix=fix, code="KB112")


def _written(root: Path, path: str, text: str) -> Path:
    try:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        with (root / path).open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise _read_only(root / path, f"can't be written: {error.strerror}") from error
    return root / path


class _Model:
    """How pages of a vendor print a metric: section, conditions and unit, by what is most common.

    Products of the same target come first, then others of the vendor.
    """

    def __init__(self, wiki: Wiki, vendor: str, target: str) -> None:
        targets = (wiki.page(path) for path in wiki.pages("targets"))
        own = [page.rows for page in targets if page is not None and page.front.get("vendor") == vendor]
        siblings = [one for one in wiki.names.identities.values() if one.vendor == vendor]
        siblings.sort(key=lambda one: (one.target != target, one.path))
        products = (wiki.page(one.path) for one in siblings[:_MOST_MODELS])
        self._targets = own
        self._rows = [row for rows in (*own, *(one.rows for one in products if one)) for row in rows]

    def of_target(self, need: Need) -> bool:
        """Whether most targets' pages answer this, so that no product's page does."""
        return sum(answered(need, rows) for rows in self._targets) * 2 > len(self._targets)

    def rows(self, needs: Iterable[Need]) -> dict[str, list[tuple[str, ...]]]:
        """Return the rows to be filled by section."""
        sections: dict[str, list[tuple[str, ...]]] = {}
        for name, axes in needs:
            like = [row for row in self._rows if row.metric == name]
            heading = _commonest(row.heading for row in like) or "Values"
            sections.setdefault(heading, []).append(self._row(name, axes, like))
        return sections

    @staticmethod
    def _row(name: str, axes: Mapping[str, str], like: list[Row]) -> tuple[str, ...]:
        metric = METRICS[name]
        given = {axis: axes.get(axis) or _usual(axis, like) for axis in metric.axes}
        units = units_of(metric.dimension)
        if metric.dimension == "op/s":
            whole = given["dtype"] in INT_DTYPES
            units = tuple(unit for unit in units if unit.endswith("OPS") and unit.endswith("FLOPS") != whole)
        unit = _commonest(row.unit for row in like if row.unit in units) or units[0]
        conditions = "; ".join(f"{axis}={value}" for axis, value in given.items()) or "-"
        return name, "UNKNOWN", unit, conditions, "-", "-", f"reason: {TBD}"


def _usual(axis: str, like: list[Row]) -> str:
    """Return what an axis says when nothing was read yet: `unstated` where it may, else as most pages print it."""
    if "unstated" in AXES[axis]:
        return "unstated"
    return _commonest(dict(row.axes).get(axis, "") for row in like) or next(iter(AXES[axis]), "unnamed")


def _commonest(words: Iterable[str]) -> str:
    counted = Counter(word for word in words if word).most_common(1)
    return counted[0][0] if counted else ""


def _text(front: Mapping[str, str], title: str, sections: Mapping[str, list[tuple[str, ...]]]) -> str:
    lines = ["---", *(f"{name}: {value}" for name, value in front.items()), "---", f"# {title}", ""]
    for heading, rows in sections.items():
        lines += [f"## {heading}", "", *table(COLUMNS, rows)]
    return "\n".join([*lines, _FOOTNOTE, ""])
