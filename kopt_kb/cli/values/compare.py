"""Put products side by side: a ratio where no stated condition differs; what a sheet leaves out is named beside it.

kb compare H100_SXM H200_SXM
kb compare H100_SXM MI300X peak_compute dtype=bf16 sparsity=dense
"""

from __future__ import annotations

import argparse

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.cli.kit.labels import label_of
from kopt_kb.cli.kit.output import (
    add_format,
    add_wiki,
    conditions,
    open_registry,
    print_table,
    print_values,
    wants_json,
)
from kopt_kb.quantity.readable import factor, spoken
from kopt_kb.wiki.compare import SideBySide, SideBySideLine, compare
from kopt_kb.wiki.registry import Registry
from kopt_kb.wiki.vocabulary import UnknownMetric, metric

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("words", metavar="PLATFORM", nargs="+", help="two products or more; then METRIC AXIS=VALUE …")
    add_format(parser)
    add_wiki(parser, has_format=True)


def run(args: argparse.Namespace) -> int:
    """Print the comparison."""
    registry = open_registry(args)
    platforms, name, axes = _split(registry, args.words)
    found = compare([registry.platform(platform) for platform in platforms], name, **conditions(axes))
    if wants_json(args):
        print_values(found, registry.wikis)
    else:
        _print(found, args.format)
    return ExitCode.OK


def _split(registry: Registry, words: list[str]) -> tuple[list[str], str | None, list[str]]:
    """Return platforms, metric and conditions: the first word that is no product is the metric."""
    axes = [word for word in words if "=" in word and "[" not in word]
    rest = [word for word in words if word not in axes]
    if len(rest) > 2 and _is_metric(rest[-1]):
        return rest[:-1], rest[-1], axes
    for word in rest:
        registry.platform(word)
    if axes:
        raise BadInput("conditions without a metric", where="kb compare", fix="name a metric before them", code="KB102")
    return rest, None, axes


def _is_metric(word: str) -> bool:
    try:
        metric(word.partition("[")[0])
    except UnknownMetric:
        return False
    return True


def _print(comparison: SideBySide, form: str) -> None:
    names = [str(platform.id) for platform in comparison.platforms]
    head = ["value", *names, f"ratio to {names[0]}", "conditions that differ"]
    rows = [_cells(line) for line in comparison.lines]
    print_table(head, rows, form, right=tuple(range(1, len(names) + 2)))


def _cells(line: SideBySideLine) -> list[str]:
    cells = []
    for row, note in zip(line.rows, line.notes, strict=True):
        if row is None:
            cells.append(note if note.startswith("only") else "-")
        else:
            unit = "" if row.unit in {"-", "count"} or row.kind != "value" else f" {row.unit}"
            cells.append((row.kind == "value" and spoken(row.value, row.unit)) or f"{row.value}{unit}")
    found = line.ratios()[1:]
    words = ["-" if ratio is None else factor(ratio) for ratio in found]
    ratios = ", ".join(words) if any(ratio is not None for ratio in found) else ""
    says = "; ".join(line.differs) if line.differs else ""
    return [label_of(line.key), *cells, ratios, says]
