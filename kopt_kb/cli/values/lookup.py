"""Print the values of one product, each with grade, source and citation.

kb lookup H20
kb lookup H20 memory_bandwidth
kb lookup MI300X peak_compute dtype=bf16 engine=matrix
kb lookup gfx942
kb lookup hopper peak_compute dtype=bf16

A target (gfx942, sm_90) or an architecture (hopper) opens a view of its products.
"""

from __future__ import annotations

import argparse

from kopt_kb.base.errors import ExitCode
from kopt_kb.cli.kit.labels import label, readable_unit
from kopt_kb.cli.kit.output import (
    add_format,
    add_wiki,
    conditions,
    open_registry,
    print_table,
    print_values,
    say,
    table,
    wants_json,
)
from kopt_kb.wiki.group import ProductGroup, group
from kopt_kb.wiki.lookup import Lookup, lookup
from kopt_kb.wiki.row import Row

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("platform", metavar="PLATFORM", help="exact product, such as H20, H100_SXM; or gfx942, hopper")
    parser.add_argument("metric", metavar="METRIC", nargs="?", help="metric, alias or key metric[axis=value;…]")
    parser.add_argument("axes", metavar="AXIS=VALUE", nargs="*", default=[], help="conditions, such as dtype=bf16")
    parser.add_argument("--conflicts", action="store_true", help="show both sides of every conflict with their reasons")
    parser.add_argument("--sources", action="store_true", help="show document, locator and quote of every row")
    add_format(parser)
    add_wiki(parser, has_format=True)


def run(args: argparse.Namespace) -> int:
    """Print the lookup; exit 4 when all that was asked for is UNKNOWN."""
    as_json = wants_json(args)
    registry = open_registry(args)
    axes = conditions(args.axes)
    view = group(registry, args.platform, args.metric, **axes)
    if view is not None:
        print_values(view, registry.wikis) if as_json else _print_group(view, args.format)
        return ExitCode.UNKNOWN if view.is_unknown else ExitCode.OK
    values = lookup(registry.platform(args.platform), args.metric, **axes)
    if as_json:
        print_values(values, registry.wikis)
    elif args.format != "table":
        print_table(_HEAD, [_plain_cells(row) for row in _rows(values)], args.format)
    else:
        _print(values, details=args.sources or args.metric is not None, conflicts=args.conflicts or bool(args.metric))
    return ExitCode.UNKNOWN if values.is_unknown else ExitCode.OK


_HEAD = ("key", "value", "unit", "grade", "citation")


def _rows(values: Lookup) -> tuple[Row, ...]:
    return (*values.specs, *values.unsupported, *values.unknown)


def _plain_cells(row: Row) -> tuple[str, ...]:
    """Return a row as a table of data has it: the whole key, the value as it is printed in its source."""
    return (row.key, row.value, "" if row.unit == "-" else row.unit, row.grade, f"{row.path}:L{row.line}")


def _print_group(view: ProductGroup, form: str) -> None:
    """Print one line for each row of each product."""
    if form != "table":
        found = [(one.identity.platform, *_plain_cells(row)) for one in view.products for row in _rows(one)]
        print_table(("platform", *_HEAD), found, form)
        return
    names = dict.fromkeys(one.identity.platform for one in view.products)
    say(f"{view.name}: {len(names)} product(s) of this {view.kind}: {', '.join(names)}\n")
    rows = []
    for product in view.products:
        rows += [
            (product.identity.platform, *_cells(row))
            for row in (*product.specs, *product.unsupported, *product.unknown)
        ]
        if product.absent_key:
            rows.append((product.identity.platform, product.absent_key, "UNKNOWN", "", "", "no row in the wiki"))
    say(table(rows, right=(2,), is_headed=False))


_GLANCE = {
    "bf16": "peak_compute[dtype=bf16;engine=matrix;sparsity=dense",
    "fp8": "peak_compute[dtype=fp8;engine=matrix;sparsity=dense",
    "bandwidth": "memory_bandwidth",
    "memory": "memory_capacity",
    "L2": "l2_capacity",
}
"""What most people look for, and how the key of its row begins."""


def _glance(values: Lookup) -> str:
    """Return the values that most people look for; the rows below carry their citations."""
    found = []
    for name, begins in _GLANCE.items():
        rows = [row for row in values.specs if row.key == begins or ("[" in begins and row.key.startswith(begins))]
        rows = [row for row in rows if "scope=" not in row.key]  # a rack's rate is no GPU's
        if rows:
            found.append(f"{name} {' or '.join(dict.fromkeys(f'{row.value} {readable_unit(row)}' for row in rows))}")
    return "; ".join(found)


def _print(values: Lookup, *, details: bool, conflicts: bool) -> None:
    one = values.identity
    say(f"{one.platform}: {one.vendor} {one.sku} ({one.arch}, {one.target})")
    if not details:
        say(_glance(values))
    for heading in dict.fromkeys(row.heading for row in (*values.specs, *values.unknown, *values.unsupported)):
        rows = [row for row in _rows(values) if row.heading == heading]
        say(f"\n{heading}")
        say(table([_cells(row, short=not details) for row in rows], indent=2, right=(1,), is_headed=False))
        for row in rows if details else ():
            _print_details(values, row)
    if values.absent_key:
        say(f"\n  {values.absent_key}: UNKNOWN, the wiki has no row for it")
    if values.ceilings:
        say(f"\nAt most, by the target {one.target}; no values of this product, which may be cut")
        say(table([_cells(row, short=not details) for row in values.ceilings], indent=2, right=(1,), is_headed=False))
        for row in values.ceilings if details else ():
            _print_details(values, row)
    if values.rejected and conflicts:
        _print_conflicts(values)
    _print_foot(values, short=not details, conflicts=conflicts)


def _print_foot(values: Lookup, *, short: bool, conflicts: bool) -> None:
    """Print what the columns mean, and what else there is."""
    if short:
        say("\nPages", *dict.fromkeys(f"  <gpu-wiki>/{row.path}" for row in _rows(values)))
        say("\nquantity [stated conditions], value, unit, grade of the source, page and line; --format csv: whole keys")
    if values.rejected and not conflicts:
        say(f"\n{len(values.rejected)} rejected value(s) of conflicts: --conflicts shows them")
    if any(_flag(row) for row in (*values.specs, *values.unsupported)):
        say("\n* an exception to a physics rule, or the chosen side of a conflict: --sources and --conflicts say why")
    if values.siblings:
        say(f"\nNot to be confused with: {', '.join(values.siblings)}")


def _print_conflicts(values: Lookup) -> None:
    """Print both sides of every conflict with their reasons."""
    from kopt_kb.wiki.conflicts import sheet_conflicts

    say("\nConflicts: chosen and Rejected")
    rows = []
    shown = {row.key for row in values.rejected}
    for conflict in sheet_conflicts(values.sheet, values.identity.platform):
        if conflict.key in shown:
            chosen = [] if conflict.chosen is None else [conflict.chosen]
            rows += [(*_cells(row), f"chosen: {row.note('chosen')}") for row in chosen]
            rows += [(*_cells(row), f"rejected: {row.note('rejected')}") for row in conflict.rejected]
    say(table(rows, indent=2, right=(1,), is_headed=False))


def _flag(row: Row) -> str:
    return "*" if any(tag in {"exception", "chosen"} for tag, _ in row.notes) else ""


def _cells(row: Row, *, short: bool = False) -> tuple[str, str, str, str, str]:
    """Return a row for people; the names of pages stand below once when they are short here."""
    page = row.path.rpartition("/")[2] if short else f"<gpu-wiki>/{row.path}"
    grade = (row.grade if row.grade != "-" else "") + _flag(row)
    return (label(row.metric, row.axes), row.value, readable_unit(row), grade, f"{page}:L{row.line}")


def _print_details(values: Lookup, row: Row) -> None:
    say(f"    {row.key}")
    for source in row.sources:
        note = values.sheet.footnotes[row.path][source.id]
        quote = f' "{source.quote}"' if source.quote else ""
        say(f"      {note.title} ({note.publisher}, {note.revision}), {source.locator}{quote}")
        say(f"      {note.url}, read {note.read}")
    for tag, text in row.notes:
        say(f"      {tag}: {text}")
