"""Pages merged into a sheet: conflicts settled, derived values recomputed, physics applied."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction

from kopt_kb.quantity.formula import FormulaError, parse_formula
from kopt_kb.quantity.units import UNITS
from kopt_kb.wiki.faults import Fault
from kopt_kb.wiki.page import Page
from kopt_kb.wiki.physics import judge
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import Sheet, row_value

__all__ = ["build_sheet"]


def _value_of(sheet: Sheet, key: str) -> Fraction:
    row = sheet.chosen().get(key)
    if row is None or row.kind != "value":
        raise FormulaError(f"{key} has no value on this page")
    return row_value(row)


def _settle_conflicts(sheet: Sheet) -> None:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in sheet.rows:
        groups[row.key].append(row)
    for key, rows in groups.items():
        decided = [row.chosen for row in rows]
        if decided in ([None], [False]):  # a rejected value may stand alone on record: it never loads
            continue
        if len(rows) > 1 and decided.count(True) == 1 and None not in decided:
            continue
        if len(rows) == 1:
            message = f"{key} is chosen without a conflict"
            fix = "keep both sides of the conflict on the page"
        else:
            lines = ", ".join(f"L{row.line}" for row in rows)
            message = f"{key} stands {len(rows)} times ({lines}) and not exactly one row is chosen"
            fix = "mark one `chosen: why`, all others `rejected: why`"
        for row in rows:
            sheet.faults.append(Fault("WK301", row.path, row.line, message, fix, key))


def _forbid_repeats(sheet: Sheet, own: Page, target: Page) -> None:
    facts = {row.key for row in target.rows}
    for row in own.rows:
        if row.key in facts:
            message = f"{row.key} already stands on {target.path}"
            sheet.faults.append(Fault("WK304", row.path, row.line, message, "remove it here", row.key))


def _half_last_digit(row: Row) -> Fraction:
    decimals = len(row.value.partition(".")[2])
    return Fraction(1, 2 * 10**decimals) * UNITS[row.unit].factor


def _check_derived(sheet: Sheet) -> None:
    for row in sheet.rows:
        if row.grade != "derived" or row.kind != "value":
            continue
        try:
            value = parse_formula(row.note("formula")).exact(lambda key: _value_of(sheet, key))
        except FormulaError as error:
            sheet.faults.append(
                Fault(
                    "WK211",
                    row.path,
                    row.line,
                    f"formula of {row.key}: {error}",
                    "refer to rows of this page",
                    row.key,
                )
            )
            continue
        if abs(value - row_value(row)) > _half_last_digit(row):
            shown = float(value / UNITS[row.unit].factor)
            message = f"{row.key} says {row.value} {row.unit}, its formula gives {shown:.6g}"
            sheet.faults.append(
                Fault("WK302", row.path, row.line, message, "correct the value or the formula", row.key)
            )


def _apply_physics(sheet: Sheet) -> None:
    sheet.checks = list(judge(sheet))
    for check in sheet.checks:
        if check.outcome == "fail":
            fix = f"read the document again, or declare `exception {check.rule}: VALUE, why` with a reason that holds"
            sheet.faults.append(Fault(check.rule, check.path, check.line, check.detail, fix, check.key))
    needed = {(c.rule, c.path, c.line) for c in sheet.checks if c.outcome in {"excepted", "not-checkable"}}
    for row in sheet.rows:
        for tag, text in row.notes:
            rule = text.partition(":")[0]
            known = rule == "KIN" or (rule, row.path, row.line) in needed  # KIN is asked of a whole wiki, not a sheet
            if tag == "exception" and row.chosen is not False and not known:
                message = f"exception {rule} is declared but {rule} does not fail on {row.key}"
                sheet.faults.append(Fault("WK303", row.path, row.line, message, "remove the exception", row.key))


def build_sheet(own: Page, target: Page | None = None, measured: Iterable[Page] = ()) -> Sheet:
    """Return the merged, checked sheet of a product.

    Args:
        own: The product's page.
        target: The page of its compute capability or gfx target.
        measured: Pages of our own measurements on this product.
    """
    pages = [page for page in (own, target, *measured) if page is not None]
    sheet = Sheet(own.front, own.path, own.title)
    for page in pages:
        sheet.rows += page.rows
        sheet.faults += page.faults
        sheet.footnotes[page.path] = page.footnotes
    if target is not None:
        _forbid_repeats(sheet, own, target)
    _settle_conflicts(sheet)
    _check_derived(sheet)
    _apply_physics(sheet)
    return sheet
