"""`kb table read`: the rows of a file, and the product of its device."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.base.wire import Wire
from kopt_kb.cli.kit.output import add_wiki, open_registry, print_values, printable, table
from kopt_kb.problem.tuned_table import Setting, TunedTable, read_tuned_table
from kopt_kb.wiki.registry import Registry

__all__ = ["TableReading", "add_arguments", "run"]


@dataclass(frozen=True, slots=True)
class TableReading(Wire):
    """A table, and the product of its device.

    Attributes:
        table: What the file says.
        platform: Product of the device; None where its name is none, or several.
        reason: Why there is no product.
    """

    WIRE: ClassVar = (
        "form=table.form", "file=table.file", "device=table.device", "platform?", "reason?", "kernel=table.kernel",
        "engine=table.engine", "shape=table.shape", "dtype=table.dtype", "block_shape=table.block_shape",
        "product=table.product", "triton=table.triton", "facts=table.facts",
        "rows=table.rows",
    )  # fmt: skip
    table: TunedTable
    platform: str | None = None
    reason: str | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the action's arguments."""
    parser.add_argument("file", metavar="FILE", help="a table in a known form")
    add_wiki(parser)


def run(args: argparse.Namespace) -> int:
    """Print the rows."""
    registry = open_registry(args)
    reading = _reading(read_tuned_table(Path(args.file)), registry)
    if args.json:
        print_values(reading, registry.wikis)
    else:
        print(_render(reading))
    return ExitCode.OK


def _reading(read: TunedTable, registry: Registry) -> TableReading:
    if not read.device:
        return TableReading(read, reason="the table names no device")
    try:
        return TableReading(read, platform=registry.platform(read.device).id)
    except BadInput as error:
        return TableReading(read, reason=error.what)


def _render(reading: TableReading) -> str:
    read = reading.table
    names = list(dict.fromkeys(name for row in read.rows for name in row.settings))
    rows = [("key", *names)]
    rows += [(row.key, *(_cell(row.settings.get(name)) for name in names)) for row in read.rows]
    product = reading.platform or f"no product: {reading.reason}"
    facts = ", ".join(f"{name} {value}" for name, value in read.facts.items())
    head = printable(f"{read.file}: {read.form}, {read.device or 'no device'} ({product}), {facts}")
    return "\n".join([head, "", table(rows, right=tuple(range(len(names) + 1)))])


def _cell(value: Setting) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
