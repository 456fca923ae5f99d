"""`project.toml`: what a project says about its kernel, its commands, its CSV and its score; read strictly."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kopt_kb.runners.project.command import Command, command_of
from kopt_kb.runners.project.strict_toml import Table, read_tables

__all__ = ["COLUMN_UNITS", "Column", "CsvFormat", "ProjectFile", "Scoring", "line_of", "read_project"]

COLUMN_UNITS = ("GFLOPS", "TFLOPS", "GB/s", "TB/s", "s", "ms", "us", "ns")
"""Units a metric column may have: rates of the operation's own counts, or times."""

ALL = "all"
_MAX_PATH, _MAX_NAME = 2000, 255
_TABLES = ("project", "commands", "csv", "scoring")
_PROJECT = (
    "op", "dtype", "shapes", "options", "kernel_source", "editable", "protected", "exclude", "python_path", "root",
)  # fmt: skip
_COMMANDS = {"build": (), "test": (), "benchmark": ("csv",), "quick": ("csv", "shapes"), "profile": ("csv",)}
"""Command → placeholders it must have."""
_CSV = ("label", "shape", "check", "pass", "forward", "backward")
_SCORING = ("aggregate", "metric", "performance_target", "core_shapes", "representative")


@dataclass(frozen=True, slots=True)
class Column:
    """A metric column: its header and its unit, one of `COLUMN_UNITS`."""

    name: str
    unit: str


@dataclass(frozen=True, slots=True)
class CsvFormat:
    """What the benchmark's CSV looks like.

    Attributes:
        shape: Column with the whole shape (`4096x4096`), or one column a dimension.
        check: Column that says whether the row's result was right.
        passing: Its only good word.
        forward: Metric of the forward pass, or of all there is.
        backward: Metric of the backward pass; None without one.
        label: Column that names rows for people; empty: none.
    """

    shape: tuple[str, ...]
    check: str
    passing: str
    forward: Column
    backward: Column | None
    label: str

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that have to be there."""
        metrics = [one.name for one in (self.forward, self.backward) if one is not None]
        return (*([self.label] if self.label else []), *self.shape, self.check, *metrics)


@dataclass(frozen=True, slots=True)
class Scoring:
    """How rows become a score.

    Attributes:
        metric: `forward`, or `combined`: the time of forward and backward together.
        performance_target: As written; empty: none.
        core_shapes: Shapes the regression limit protects; empty: all.
        representative: Shapes of quick validation; empty: chosen after the baseline.
    """

    metric: str
    performance_target: str
    core_shapes: tuple[str, ...]
    representative: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A project as its file describes it; paths are relative to the project's root, with `/`.

    Attributes:
        where: File it was read from.
        root: Folder of the project, relative to the file's own.
        op, dtype, options: The operation.
        shapes: As written; empty: those the benchmark prints.
        kernel_source: The file that stands for the kernel.
        editable: Globs of files a candidate may change.
        protected: Globs of files that nothing may change.
        exclude: Globs of files a copy leaves out.
        python_path: Folders put first on Python's path, so that the copy is imported and not an installed package.
        commands: build, test, benchmark, quick, profile; the middle two of these always.
    """

    where: str
    root: str
    op: str
    dtype: str
    options: Mapping[str, Any]
    shapes: tuple[str, ...]
    kernel_source: str
    editable: tuple[str, ...]
    protected: tuple[str, ...]
    exclude: tuple[str, ...]
    python_path: tuple[str, ...]
    commands: Mapping[str, Command]
    csv: CsvFormat
    scoring: Scoring

    @property
    def is_python(self) -> bool:
        """Whether the kernel is written in Python, which the source lint can judge."""
        return self.kernel_source.endswith(".py")

    def quick_command(self) -> Command | None:
        """Return the command that benchmarks some shapes only, or None."""
        quick, benchmark = self.commands.get("quick"), self.commands["benchmark"]
        return quick or (benchmark if benchmark.takes("shapes") else None)


def read_project(data: bytes, where: str) -> ProjectFile:
    """Return the project that a file describes; nothing but its text is looked at.

    Args:
        data: Bytes of `project.toml`.
        where: Its path, for errors.

    Raises:
        ProjectFileError: A key is missing, unknown or of the wrong kind; with file and line.
    """
    tables = read_tables(data, where, _TABLES)
    own = tables["project"]
    own.only(_PROJECT)
    commands = _commands(tables["commands"])
    shapes = _shapes(own, commands)
    scoring = _scoring(tables["scoring"])
    csv = _csv(tables["csv"])
    if scoring.metric == "combined" and csv.backward is None:
        raise tables["scoring"].refuse("metric", "is combined, and there is no backward column", "name it in [csv]")
    for key in ("core_shapes", "representative"):
        strange = set(getattr(scoring, key)) - set(shapes)
        if shapes and strange:
            raise tables["scoring"].refuse(key, f"names {min(strange)}", f"the shapes are {', '.join(shapes)}")
    return ProjectFile(
        where=where,
        root=_short(own, "root", own.text("root", ".")),
        op=own.text("op"),
        dtype=own.text("dtype"),
        options=_options(own),
        shapes=shapes,
        kernel_source=_path(own, "kernel_source", own.text("kernel_source")),
        editable=_paths(own, "editable"),
        protected=_paths(own, "protected"),
        exclude=_paths(own, "exclude", ()),
        python_path=_paths(own, "python_path", (".",)),
        commands=commands,
        csv=csv,
        scoring=scoring,
    )


def line_of(data: bytes, where: str, table: str, key: str) -> str:
    """Return `file:line` of a key, for errors that only show once more than the file is known."""
    return f"{where}:{read_tables(data, where, _TABLES)[table].line(key)}"


def _options(own: Table) -> Mapping[str, Any]:
    found = own.values.get("options", {})
    if not isinstance(found, dict):
        raise own.refuse("options", f"is {found!r}, not a table", "write options = { batch = 4 }")
    return dict(found)


def _shapes(own: Table, commands: Mapping[str, Command]) -> tuple[str, ...]:
    if own.values.get("shapes") != ALL:
        found = own.texts("shapes")
        if not found:
            raise own.refuse("shapes", "is empty", f'list shapes such as "4096x4096", or write "{ALL}"')
        return found
    if commands["benchmark"].takes("shapes"):
        fix = "list the shapes, or leave {shapes} out of the benchmark command"
        raise own.refuse("shapes", "is all, and the benchmark command asks for {shapes}", fix)
    return ()


def _short(own: Table, key: str, text: str) -> str:
    """Return a path that file systems can hold."""
    if len(text) > _MAX_PATH or any(len(part.encode()) > _MAX_NAME for part in text.split("/")):
        raise own.refuse(key, f"holds a path of {len(text)} characters, too long for a file", "write a shorter one")
    return text


def _path(own: Table, key: str, text: str) -> str:
    _short(own, key, text)
    plain = os.path.normpath(text).replace(os.sep, "/")
    if text.startswith("/") or plain == ".." or plain.startswith("../") or "\\" in text:
        raise own.refuse(key, f"holds {text!r}, a path outside the project", "write it relative to the project's root")
    return plain


def _paths(own: Table, key: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
    found = own.texts(key, default)
    if not found and default is None:
        raise own.refuse(key, "is empty", "name at least one file or glob")
    return tuple(_path(own, key, one) for one in found)


def _commands(table: Table) -> dict[str, Command]:
    table.only(_COMMANDS)
    found = {}
    for name, needed in _COMMANDS.items():
        if name in table.values or name in {"test", "benchmark"}:
            found[name] = command_of(table, name, needed)
    return found


def _column(table: Table, key: str) -> Column:
    inner = table.table(key)
    inner.only(("column", "unit"))
    name, unit = inner.values.get("column"), inner.values.get("unit")
    if not isinstance(name, str) or not name.strip():
        raise table.refuse(key, "names no column", f'write {key} = {{ column = "…", unit = "TFLOPS" }}')
    if unit not in COLUMN_UNITS:
        raise table.refuse(key, f"has the unit {unit!r}", f"one of {', '.join(COLUMN_UNITS)}")
    return Column(name, str(unit))


def _csv(table: Table) -> CsvFormat:
    table.only(_CSV)
    shape = table.values.get("shape")
    shaped = (table.text("shape"),) if isinstance(shape, str) else table.texts("shape")
    found = CsvFormat(
        shape=shaped,
        check=table.text("check"),
        passing=table.text("pass", "PASS"),
        forward=_column(table, "forward"),
        backward=_column(table, "backward") if "backward" in table.values else None,
        label=table.text("label", ""),
    )
    if not shaped or len(set(found.columns)) < len(found.columns):
        raise table.refuse("shape", "and the other keys need columns of their own", "name each column once")
    return found


def _scoring(table: Table) -> Scoring:
    table.only(_SCORING)
    table.choice("aggregate", ("geomean",), "geomean")
    aim = table.values.get("performance_target", "")
    if not isinstance(aim, str):
        raise table.refuse("performance_target", f"is {aim!r}", 'write "> 500 TFLOPS", "> 60% peak efficiency" or ""')
    return Scoring(
        metric=table.choice("metric", ("forward", "combined"), "forward"),
        performance_target=aim,
        core_shapes=table.texts("core_shapes", ()),
        representative=table.texts("representative", ()),
    )
