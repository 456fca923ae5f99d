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

from kopt_kb.cli.output import add_wiki, conditions, open_registry, print_values, table
from kopt_kb.errors import ExitCode
from kopt_kb.wiki.conflicts import sheet_conflicts
from kopt_kb.wiki.group import Group, group
from kopt_kb.wiki.lookup import Lookup, lookup
from kopt_kb.wiki.row import Row

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("platform", metavar="PLATFORM", help="exact product, such as H20, H100_SXM; or gfx942, hopper")
    parser.add_argument("metric", metavar="METRIC", nargs="?", help="metric, alias or key metric[axis=value;…]")
    parser.add_argument("axes", metavar="AXIS=VALUE", nargs="*", help="conditions, such as dtype=bf16")
    parser.add_argument("--conflicts", action="store_true", help="show both sides of every conflict with their reasons")
    parser.add_argument("--sources", action="store_true", help="show document, locator and quote of every row")
    add_wiki(parser)


def run(args: argparse.Namespace) -> int:
    """Print the lookup; exit 4 when all that was asked for is UNKNOWN."""
    registry = open_registry(args)
    axes = conditions(args.axes)
    view = group(registry, args.platform, args.metric, **axes)
    if view is not None:
        print_values(view, registry.wikis) if args.json else _print_group(view)
        return ExitCode.UNKNOWN if view.is_unknown else ExitCode.OK
    values = lookup(registry.platform(args.platform), args.metric, **axes)
    if args.json:
        print_values(values, registry.wikis)
    else:
        _print(values, details=args.sources or args.metric is not None, conflicts=args.conflicts or bool(args.metric))
    return ExitCode.UNKNOWN if values.is_unknown else ExitCode.OK


def _print_group(view: Group) -> None:
    """Print one line for each row of each product."""
    names = dict.fromkeys(one.identity.platform for one in view.products)
    print(f"{view.name}: {len(names)} product(s) of this {view.kind}: {', '.join(names)}\n")
    rows = []
    for one in view.products:
        rows += [(one.identity.platform, *_cells(row)) for row in (*one.specs, *one.unsupported, *one.unknown)]
        if one.absent_key:
            rows.append((one.identity.platform, one.absent_key, "UNKNOWN", "", "", "no row in the wiki"))
    print(table(rows, right=(2,)))


def _label(row: Row) -> str:
    if not row.axes:
        return row.metric
    return f"{row.metric} [{' '.join(value if axis not in _NAMED else f'{axis}={value}' for axis, value in row.axes)}]"


_NAMED = {"acc", "clock", "bytes", "shape", "config", "scope", "multiplier"}


def _print(values: Lookup, *, details: bool, conflicts: bool) -> None:
    one = values.identity
    print(f"{one.platform}: {one.vendor} {one.sku} ({one.arch}, {one.target})")
    headings = dict.fromkeys(row.heading for row in (*values.specs, *values.unknown, *values.unsupported))
    for heading in headings:
        rows = [row for row in (*values.specs, *values.unsupported, *values.unknown) if row.heading == heading]
        print(f"\n{heading}")
        print(table([_cells(row) for row in rows], indent=2, right=(1,)))
        if details:
            for row in rows:
                _print_details(values, row)
    if values.absent_key:
        print(f"\n  {values.absent_key}: UNKNOWN, the wiki has no row for it")
    if values.rejected and conflicts:
        _print_conflicts(values)
    elif values.rejected:
        print(f"\n{len(values.rejected)} rejected value(s) of conflicts: --conflicts shows them")
    if any(_flag(row) for row in (*values.specs, *values.unsupported)):
        print("\n* an exception to a physics rule, or the chosen side of a conflict: --sources and --conflicts say why")
    if values.siblings:
        print(f"\nNot to be confused with: {', '.join(values.siblings)}")


def _print_conflicts(values: Lookup) -> None:
    """Print both sides of every conflict with their reasons."""
    print("\nConflicts: chosen and Rejected")
    rows = []
    shown = {row.key for row in values.rejected}
    for conflict in sheet_conflicts(values.sheet, values.identity.platform):
        if conflict.key in shown:
            chosen = [] if conflict.chosen is None else [conflict.chosen]
            rows += [(*_cells(row), f"chosen: {row.note('chosen')}") for row in chosen]
            rows += [(*_cells(row), f"rejected: {row.note('rejected')}") for row in conflict.rejected]
    print(table(rows, indent=2, right=(1,)))


def _flag(row: Row) -> str:
    return "*" if any(tag in {"exception", "chosen"} for tag, _ in row.notes) else ""


def _cells(row: Row) -> tuple[str, str, str, str, str]:
    unit = "" if row.unit == "-" or row.kind in {"unknown", "none"} else row.unit
    return (
        _label(row),
        row.value,
        unit,
        (row.grade if row.grade != "-" else "") + _flag(row),
        f"<gpu-wiki>/{row.path}:L{row.line}",
    )


def _print_details(values: Lookup, row: Row) -> None:
    print(f"    {row.key}")
    for source in row.sources:
        note = values.sheet.footnotes[row.path][source.id]
        quote = f' "{source.quote}"' if source.quote else ""
        print(f"      {note.title} ({note.publisher}, {note.revision}), {source.locator}{quote}")
        print(f"      {note.url}, read {note.read}")
    for tag, text in row.notes:
        print(f"      {tag}: {text}")
