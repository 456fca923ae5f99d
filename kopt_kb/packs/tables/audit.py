"""Tables judged without a GPU: by themselves, by the product of their device, and by their engine's own kernel."""

from __future__ import annotations

import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import ClassVar

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.base.wire import Wire
from kopt_kb.doors.table import behind
from kopt_kb.doors.table_form import TableForm
from kopt_kb.packs.tables.code_objects import CodeFacts, Workbench, code_facts
from kopt_kb.packs.tables.devices import DeviceNames, Resolved
from kopt_kb.packs.tables.engine import ENGINES, TableEngine, find_engine
from kopt_kb.packs.tables.engine_checks import PlannedTable, judged, planned
from kopt_kb.packs.tables.findings import TableFinding
from kopt_kb.packs.tables.form_checks import RowSpan, form_findings, spans
from kopt_kb.problem.tuned_table import TunedTable, form_of, read_tuned_table
from kopt_kb.wiki.registry import Registry

__all__ = ["AuditedTable", "TableAudit", "audit_tables", "table_files"]


@dataclass(frozen=True, slots=True)
class AuditedTable(Wire):
    """One table.

    Attributes:
        file: As it was named.
        form: Name of its form.
        kernel: Kernel that its rows are for.
        engine: Whose program reads it.
        device: Device as it says it.
        platform: Product of the device; None where its name is none, or several.
        reason: Why there is no product.
        rows: How many.
        compiled: Rows whose launches were compiled.
        spans: Which sizes each row serves.
        triton: Version of Triton that it was tuned with.
    """

    WIRE: ClassVar = (
        "file", "form", "kernel", "engine", "device", "platform?", "reason?", "triton", "rows", "compiled", "spans",
    )  # fmt: skip
    file: str
    form: str
    kernel: str
    engine: str
    device: str
    platform: str | None
    reason: str | None
    rows: int
    compiled: int
    spans: tuple[RowSpan, ...]
    triton: str


@dataclass(frozen=True, slots=True)
class TableAudit(Wire):
    """What an audit found.

    Attributes:
        tables: In order of their files.
        findings: In the same order; `findings.KINDS` says how bad each kind is.
        engines: Programs whose kernels were compiled, as they were named.
        triton: Version of the compiler; empty where nothing was compiled.
        code_objects: Distinct code objects of all rows.
        compiled: Those of them that were compiled in this run; the rest was remembered.
        seconds: Wall time of the whole, in seconds.
        is_clean: Whether nothing worse than a note was found.
    """

    WIRE: ClassVar = (
        "clean=is_clean", "engines", "triton", "rows", "code_objects", "compiled", "seconds", "counts", "findings",
        "tables",
    )  # fmt: skip
    tables: tuple[AuditedTable, ...]
    findings: tuple[TableFinding, ...]
    engines: tuple[str, ...] = ()
    triton: str = ""
    code_objects: int = 0
    compiled: int = 0
    seconds: float = 0.0

    @property
    def is_clean(self) -> bool:
        """Whether nothing worse than a note was found."""
        return all(one.level == "note" for one in self.findings)

    @property
    def rows(self) -> int:
        """Rows of all tables."""
        return sum(one.rows for one in self.tables)

    @property
    def counts(self) -> dict[str, int]:
        """Findings by kind, the most frequent first."""
        return dict(Counter(str(one.kind) for one in self.findings).most_common())


def table_files(named: Sequence[str]) -> Iterator[tuple[Path, Path]]:
    """Yield each file that was named, and those in a known form below each folder, with the folder that it is in."""
    known: list[TableForm] = [form for _, form in behind("table_forms")]
    for name in named:
        path = Path(name)
        if not path.is_dir():
            yield path, path.parent
            continue
        files = sorted(one for one in path.rglob("*") if one.is_file())
        found = [one for one in files if any(form.recognises(one.name, _head(one)) for form in known)]
        if not found:
            what = "holds no tuned table in a known form"
            raise BadInput(what, where=name, fix=f"name {' or '.join(one.what for one in known)}", code="KB116")
        for one in found:
            yield one, path


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(4096)
    except OSError:
        return b""


def audit_tables(named: Sequence[str], registry: Registry, engine: str = "", workers: int = 0) -> TableAudit:
    """Return what is wrong with tables.

    Args:
        named: Files, and folders of them.
        registry: Products.
        engine: Folder or package of the program that reads them; empty: nothing is compiled.
        workers: Compilers side by side; 0: as many as there are cores.

    Raises:
        BadInput: A file that was named is no table, a folder has none, or the engine's folder is none.
        MissingTool: The engine or Triton is not installed.
    """
    begin = time.perf_counter()
    engines = {one: found for one in ENGINES if engine and (found := find_engine(engine, one)) is not None}
    with tempfile.TemporaryDirectory(prefix="kopt-tables-") as folder:
        run = _Run(registry, engines, Path(folder))
        for path, root in table_files(named):
            run.add(path, root)
        facts, compiled = run.compile(workers or os.cpu_count() or 1)
    return TableAudit(
        tables=tuple(run.tables()),
        findings=tuple(run.all_findings(facts)),
        engines=tuple(f"{name} {one.version}".strip() for name, one in engines.items()),
        triton=run.triton,
        code_objects=len(facts),
        compiled=compiled,
        seconds=time.perf_counter() - begin,
    )


@dataclass
class _Entry:
    """A table on its way."""

    file: str
    table: TunedTable
    resolved: Resolved
    spans: tuple[RowSpan, ...]
    findings: list[TableFinding]
    plan: PlannedTable | None = None


class _Run:
    def __init__(self, registry: Registry, engines: dict[str, TableEngine], folder: Path) -> None:
        self._devices, self._engines, self._folder = DeviceNames(registry), engines, folder
        self._entries: list[_Entry | TableFinding] = []
        self._benches: dict[str, Workbench] = {}
        self.triton = _triton() if engines else ""

    def add(self, path: Path, root: Path) -> None:
        """Read a file and judge it by itself; what can't be read is a finding."""
        if not path.resolve().is_relative_to(root.resolve()):
            what = f"leads out of {root}, to {path.resolve()}"
            self._entries.append(TableFinding("escapes-folder", str(path), what))
            return
        try:
            table = read_tuned_table(path)
        except BadInput as error:
            if not _is_known(path):
                raise
            line = str(error.where).rpartition(":")[2]
            number = int(line) if line.isdigit() else 0
            self._entries.append(TableFinding("unreadable", str(path), error.what, number))
            return
        if not table.engine and len(self._engines) == 1:
            table = replace(table, engine=next(iter(self._engines)))
        self._entries.append(self._entry(table, str(path), form_of(path, _head(path))))

    def _entry(self, table: TunedTable, file: str, form: TableForm) -> _Entry:
        resolved = self._devices.of(table)
        entry = _Entry(file, table, resolved, spans(table, form), [])
        if not resolved.names:
            entry.findings.append(TableFinding("no-device", file, "names no device"))
        entry.findings += [TableFinding("no-product", file, reason) for reason in resolved.reasons]
        engine = self._engines.get(table.engine)
        if engine is not None and form.unread is not None and (why := form.unread(table, engine.root)):
            entry.findings.append(TableFinding("never-read", file, why))
        entry.findings += form_findings(table, form, file)
        if engine is not None and resolved.platform is not None and form.launches is not None:
            bench = self._benches.setdefault(table.engine, Workbench(engine.root, self._folder, self.triton))
            entry.plan = planned(table, form, file, resolved.platform, bench)
        return entry

    def compile(self, workers: int) -> tuple[dict[str, CodeFacts], int]:
        """Return what became of each code object, and how many were compiled now."""
        objects = [made for entry in self._plans() for row in entry.rows for made in row.objects]
        facts: dict[str, CodeFacts] = {}
        compiled = 0
        for one in code_facts(objects, workers):
            facts[one.key] = one.facts
            compiled += one.is_new
        return facts, compiled

    def _plans(self) -> Iterator[PlannedTable]:
        return (one.plan for one in self._entries if isinstance(one, _Entry) and one.plan is not None)

    def tables(self) -> Iterator[AuditedTable]:
        """Yield the tables that could be read."""
        for one in self._entries:
            if isinstance(one, _Entry):
                yield AuditedTable(
                    file=one.file,
                    form=one.table.form,
                    kernel=one.table.kernel,
                    engine=one.table.engine,
                    device=", ".join(one.resolved.names),
                    platform=one.resolved.platform.id if one.resolved.platform else None,
                    reason="; ".join(one.resolved.reasons) or None,
                    rows=len(one.table.rows),
                    compiled=len(one.plan.rows) if one.plan else 0,
                    spans=one.spans,
                    triton=one.table.triton,
                )

    def all_findings(self, facts: dict[str, CodeFacts]) -> Iterator[TableFinding]:
        """Yield findings, table by table."""
        for one in self._entries:
            if isinstance(one, TableFinding):
                yield one
                continue
            yield from one.findings
            if one.plan is not None:
                yield from judged(one.plan, facts, self._devices.limits(one.plan.platform))


def _is_known(path: Path) -> bool:
    return any(form.recognises(path.name, _head(path)) for _, form in behind("table_forms"))


def _triton() -> str:
    try:
        return version("triton")
    except PackageNotFoundError as error:
        fix = "install kopt-kb[static], or leave --engine out"
        raise MissingTool("triton is not installed", where="--engine", fix=fix, code="KB120") from error
