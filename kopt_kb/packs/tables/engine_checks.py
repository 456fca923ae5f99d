"""What an engine's own kernel makes of the rows of tables: compiled once each, judged for the product of each table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kopt_kb.analysis.occupancy.limits import Limits
from kopt_kb.analysis.occupancy.occupancy import occupancy
from kopt_kb.base.errors import BadInput
from kopt_kb.doors.table_form import TableForm
from kopt_kb.launch.compile.target import CompileTarget
from kopt_kb.packs.tables.code_objects import PASSING, CodeFacts, PlannedCode, Workbench
from kopt_kb.packs.tables.findings import TableFinding, TableKind
from kopt_kb.problem.tuned_table import TunedRow, TunedTable
from kopt_kb.wiki.registry import Platform

__all__ = ["PlannedTable", "judged", "planned"]

_WRONG = "KB081"
_PRODUCTS = ("first product", "second product")


@dataclass(frozen=True, slots=True)
class PlannedRow:
    """A row and its code objects, a product of the layer each."""

    row: TunedRow
    objects: tuple[PlannedCode, ...]


@dataclass(frozen=True, slots=True)
class PlannedTable:
    """What has to be compiled for a table.

    Attributes:
        table: The table.
        file: Its file, as it was named.
        platform: The product that it is for.
        rows: Rows that can be compiled.
        findings: What is wrong with the others.
    """

    table: TunedTable
    file: str
    platform: Platform
    rows: tuple[PlannedRow, ...]
    findings: tuple[TableFinding, ...]


def planned(table: TunedTable, form: TableForm, file: str, platform: Platform, bench: Workbench) -> PlannedTable:
    """Return what a table's rows launch; what can't be told is said once for the table, what is wrong for each row."""
    target = str(platform.identity.target)
    rows: list[PlannedRow] = []
    wrong: list[TableFinding] = []
    unknown: dict[str, None] = {}
    if form.launches is None:
        return PlannedTable(table, file, platform, (), ())
    try:
        CompileTarget.parse(target)
    except BadInput as error:
        return PlannedTable(table, file, platform, (), (TableFinding("unjudged", file, error.what),))
    for row in table.rows:
        try:
            cases = form.launches(table, row, bench.root, target)
            objects = tuple(bench.code_object(one, frozenset(row.settings), target) for one in cases)
        except BadInput as error:
            if error.error_code == _WRONG:
                wrong.append(TableFinding("wrong-launch", file, error.what, row.line, row.key))
            else:
                unknown[error.what] = None
        else:
            rows.append(PlannedRow(row, objects))
    notes = [TableFinding("unjudged", file, what) for what in unknown]
    return PlannedTable(table, file, platform, tuple(rows), (*wrong, *notes))


def judged(plan: PlannedTable, facts: Mapping[str, CodeFacts], limits: Limits) -> Iterator[TableFinding]:
    """Yield what is wrong with the rows of a table, given what became of their code objects; one finding a row."""
    yield from plan.findings
    for one in plan.rows:
        said: dict[tuple[TableKind, str], list[str]] = {}
        for product, made in enumerate(one.objects):
            name = _PRODUCTS[product + 2 - len(one.objects)] if len(one.objects) <= len(_PRODUCTS) else str(product)
            for kind, text in _verdicts(facts[made.key], plan.platform.id, limits):
                said.setdefault((kind, text), []).append(name)
        for (kind, text), names in said.items():
            yield TableFinding(kind, plan.file, f"{' and '.join(names)}: {text}", one.row.line, one.row.key)


def _verdicts(facts: CodeFacts, product: str, limits: Limits) -> Iterator[tuple[TableKind, str]]:
    if facts.kind in PASSING:
        yield "unjudged", facts.refusal
        return
    if facts.refusal:
        yield "refused", facts.refusal
        return
    most = limits.shared_memory_per_block
    if most is not None and facts.shared_bytes > most:
        cite = limits.cite("shared_memory_per_block")
        yield "shared-memory", f"{facts.shared_bytes} B of shared memory, {product} has {most} B a block ({cite})"
        return
    fits = occupancy(facts.resources, limits, allow_unknown=True)
    if fits.blocks_per_sm == 0:
        yield "cannot-launch", f"nothing fits on {product}: {'; '.join(fits.refusals)}"
        return
    if facts.spill_bytes:
        yield "spills", f"{facts.spill_bytes} B a thread at {facts.registers} registers"
    if facts.is_serialised:
        yield "serialised", "ptxas serialises the warpgroup matrix instructions"
