"""`project.toml`: what a project says about its kernel, its commands, its CSV and its score; read strictly."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from kopt_kb.base.wire import JsonMap, Text, Wire
from kopt_kb.doors.table import needed_pack
from kopt_kb.launch.kernel.declared import packaged_reference
from kopt_kb.launch.project.backends import backends
from kopt_kb.launch.project.command import CommandRun, ProjectCommand, command_of
from kopt_kb.launch.project.toml_file import ProjectFileError, TomlSource, read_source

__all__ = ["CampaignTable", "Column", "CsvFormat", "ProjectFile", "Scoring", "line_of", "read_project"]

ColumnUnit = Literal["GFLOPS", "TFLOPS", "GB/s", "TB/s", "s", "ms", "us", "ns"]
"""Units a metric column may have: rates of the operation's own counts, or times."""

ALL = "all"
_MAX_PATH, _MAX_NAME = 2000, 255
_TABLES = ("project", "commands", "csv", "scoring", "campaign")
_NEEDED = {
    "build": (),
    "test": (),
    "benchmark": ("csv",),
    "quick": ("csv", "shapes"),
    "profile": ("report|csv",),
    "outputs": ("inputs", "outputs"),
}
"""Command → placeholders it must have; of several with a bar between them one."""


@dataclass(frozen=True, slots=True)
class Column(Wire):
    """A metric column: its header and its unit."""

    WIRE: ClassVar = ("column=name", "unit")
    name: Text
    unit: ColumnUnit


@dataclass(frozen=True, slots=True)
class CsvFormat(Wire):
    """What the benchmark's CSV looks like.

    Attributes:
        shape: Column with the whole shape (`4096x4096`), or one column a dimension.
        check: Column that says whether the row's result was right.
        forward: Metric of the forward pass, or of all there is.
        passing: The only good word of the check.
        backward: Metric of the backward pass; None without one.
        label: Column that names rows for people; empty: none.
    """

    WIRE: ClassVar = ("label", "shape", "check", "pass=passing", "forward", "backward")
    shape: tuple[Text, ...]
    check: Text
    forward: Column
    passing: Text = "PASS"
    backward: Column | None = None
    label: str = ""

    @classmethod
    def from_wire(cls, document: Mapping[str, object]) -> Mapping[str, object]:
        """One column with the whole shape is a list of one."""
        shape = document.get("shape")
        return {**document, "shape": [shape]} if isinstance(shape, str) else document

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that have to be there."""
        metrics = [one.name for one in (self.forward, self.backward) if one is not None]
        return (*([self.label] if self.label else []), *self.shape, self.check, *metrics)


@dataclass(frozen=True, slots=True)
class Scoring(Wire):
    """How rows become a score.

    Attributes:
        metric: `forward`, or `combined`: the time of forward and backward together.
        performance_target: As written; empty: none.
        core_shapes: Shapes the regression limit protects; empty: all.
        representative: Shapes of quick validation; empty: chosen after the baseline.
        aggregate: How shapes become one number.
        skewed: Shapes of a grouped product whose rows the benchmark spreads unevenly over experts.
    """

    metric: Literal["forward", "combined"] = "forward"
    performance_target: str = ""
    core_shapes: tuple[Text, ...] = ()
    representative: tuple[Text, ...] = ()
    aggregate: Literal["geomean"] = "geomean"
    skewed: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class CampaignTable(Wire):
    """What a project says of its campaigns.

    Attributes:
        op: Name of the operation with its precision, such as gemm_fp8_blockwise; empty: the operation.
        backend: Backend of the kernel, such as TRITON, CK or CUDA; empty: by the framework.
        execution_mode: `repo`, or `workspace`: what is worked on is shown beside the journal as src/, tests/, bench/.
        git_commit: Whether accepted versions become commits of the project's repository, on a branch of their own.
        git_branch: `auto`: optimize/<campaign>; `none`; or a name.
        history: Folder of tips, from the project file's own; empty: agent/historical_experience beside the workspace.
        constraints: What a candidate may not do, in words; shown before the start.
        project_skill: Document that describes the project; empty: the project file.
    """

    op: str = ""
    backend: str = ""
    execution_mode: Literal["repo", "workspace"] = "repo"
    git_commit: bool = True
    git_branch: Text = "auto"
    history: str = ""
    constraints: tuple[Text, ...] = ()
    project_skill: str = ""


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
        network: Whether its commands keep the machine's network.
        environment: Names of variables that its commands get besides those of compilers, drivers and GPU libraries.
        commands: build, test, benchmark, quick, profile, outputs; the second and third always.
        reference: File with make_inputs and reference that judges outputs; empty: the package's own.
        campaign: Names, mode, branch and constraints of its campaigns.
    """

    where: str
    root: str
    op: str
    dtype: str
    options: JsonMap
    shapes: tuple[str, ...]
    kernel_source: str
    editable: tuple[str, ...]
    protected: tuple[str, ...]
    exclude: tuple[str, ...]
    python_path: tuple[str, ...]
    network: bool
    environment: tuple[str, ...]
    commands: Mapping[str, ProjectCommand]
    csv: CsvFormat
    scoring: Scoring
    campaign: CampaignTable = field(default_factory=CampaignTable)
    reference: str = ""

    @property
    def is_python(self) -> bool:
        """Whether the kernel is written in Python, which the source lint can judge."""
        return self.kernel_source.endswith(".py")

    def quick_command(self) -> ProjectCommand | None:
        """Return the command that benchmarks some shapes only, or None."""
        quick, benchmark = self.commands.get("quick"), self.commands["benchmark"]
        return quick or (benchmark if benchmark.takes("shapes") else None)


@dataclass(frozen=True, slots=True)
class _Project(Wire):
    """The table [project] as it is written."""

    op: Text
    dtype: Text
    shapes: Literal["all"] | tuple[Text, ...]
    kernel_source: Text
    editable: tuple[Text, ...]
    protected: tuple[Text, ...]
    options: JsonMap = field(default_factory=dict)
    exclude: tuple[Text, ...] = ()
    python_path: tuple[Text, ...] = (".",)
    network: bool = False
    environment: tuple[Text, ...] = ()
    root: Text = "."
    reference: str = ""


@dataclass(frozen=True, slots=True)
class _Commands(Wire):
    """The table [commands] as it is written."""

    test: CommandRun
    benchmark: CommandRun
    build: CommandRun | None = None
    quick: CommandRun | None = None
    profile: CommandRun | None = None
    outputs: CommandRun | None = None

    @classmethod
    def from_wire(cls, document: Mapping[str, object]) -> Mapping[str, object]:
        """A text is a command with the usual limit."""
        return {name: {"run": one} if isinstance(one, str) else one for name, one in document.items()}


def read_project(data: bytes, where: str) -> ProjectFile:
    """Return the project that a file describes; nothing but its text is looked at.

    Args:
        data: Bytes of `project.toml`.
        where: Its path, for errors.

    Raises:
        ProjectFileError: A key is missing, unknown or of the wrong kind; with file and line.
    """
    source = read_source(data, where, _TABLES)
    own, scoring, csv = (
        source.read("project", _Project), source.read("scoring", Scoring), source.read("csv", CsvFormat)
    )  # fmt: skip
    campaign = source.read("campaign", CampaignTable)
    _check_campaign(source, campaign)
    commands = _commands(source)
    shapes = _shapes(source, own, commands)
    _check_csv(source, csv, scoring)
    for key in ("core_shapes", "representative", "skewed"):
        strange = set(getattr(scoring, key)) - set(shapes)
        if shapes and strange:
            raise source.refuse("scoring", key, f"names {min(strange)}", f"the shapes are {', '.join(shapes)}")
    return ProjectFile(
        where=where,
        root=_short(source, "root", own.root),
        op=own.op,
        dtype=own.dtype,
        options=own.options,
        shapes=shapes,
        kernel_source=_path(source, "kernel_source", own.kernel_source),
        editable=_globs(source, "editable", own.editable),
        protected=_globs(source, "protected", own.protected),
        exclude=tuple(_path(source, "exclude", one) for one in own.exclude),
        python_path=tuple(_path(source, "python_path", one) for one in own.python_path),
        network=own.network,
        environment=own.environment,
        commands=commands,
        csv=csv,
        scoring=scoring,
        campaign=campaign,
        reference=_reference(source, own, commands),
    )


def line_of(data: bytes, where: str, table: str, key: str) -> str:
    """Return `file:line` of a key, for errors that only show once more than the file is known."""
    return f"{where}:{read_source(data, where, _TABLES).line(table, key)}"


def _commands(source: TomlSource) -> dict[str, ProjectCommand]:
    written = source.read("commands", _Commands)
    runs = {name: getattr(written, name) for name in _NEEDED}

    def refuse(name: str, what: str, fix: str) -> ProjectFileError:
        return source.refuse("commands", name, what, fix)

    return {name: command_of(name, run, _NEEDED[name], refuse) for name, run in runs.items() if run is not None}


def _reference(source: TomlSource, own: _Project, commands: Mapping[str, ProjectCommand]) -> str:
    """Return the file that judges outputs; the package's own knows an operation without options only."""
    if "outputs" not in commands:
        if own.reference:
            raise source.refuse("project", "reference", "judges outputs, and no command makes any", "write outputs")
        return ""
    if not own.reference:
        if own.options or packaged_reference(own.op) is None:
            fix = "name a protected file with make_inputs and reference: [project] reference"
            raise source.refuse("commands", "outputs", "has no reference of this operation in the package", fix)
        return ""
    return _path(source, "reference", own.reference)


_BRANCH = re.compile(r"(?!.*(?:\.\.|//|@\{|\.lock(?:/|$)))[A-Za-z0-9_][A-Za-z0-9_./+-]*[A-Za-z0-9_+-]|[A-Za-z0-9_]")


def _check_campaign(source: TomlSource, campaign: CampaignTable) -> None:
    if campaign.backend and campaign.backend.upper() not in (known := backends()):
        fix = needed_pack(campaign.backend) or f"one of {', '.join(known)}"
        raise source.refuse("campaign", "backend", f"is {campaign.backend!r}, no backend", fix)
    if not _BRANCH.fullmatch(campaign.git_branch):
        what = f"is {campaign.git_branch!r}, which git takes for no branch"
        raise source.refuse("campaign", "git_branch", what, "auto, none, or a name such as optimize/gemm")


def _check_csv(source: TomlSource, csv: CsvFormat, scoring: Scoring) -> None:
    if not csv.shape or len(set(csv.columns)) < len(csv.columns):
        raise source.refuse("csv", "shape", "and the other keys need columns of their own", "name each column once")
    if scoring.metric == "combined" and csv.backward is None:
        raise source.refuse("scoring", "metric", "is combined, and there is no backward column", "name it in [csv]")


def _shapes(source: TomlSource, own: _Project, commands: Mapping[str, ProjectCommand]) -> tuple[str, ...]:
    if own.shapes != ALL:
        if not own.shapes:
            raise source.refuse("project", "shapes", "is empty", f'list shapes such as "4096x4096", or write "{ALL}"')
        return tuple(own.shapes)
    if commands["benchmark"].takes("shapes"):
        fix = "list the shapes, or leave {shapes} out of the benchmark command"
        raise source.refuse("project", "shapes", "is all, and the benchmark command asks for {shapes}", fix)
    return ()


def _short(source: TomlSource, key: str, text: str) -> str:
    """Return a path that file systems can hold."""
    if len(text) > _MAX_PATH or any(len(part.encode()) > _MAX_NAME for part in text.split("/")):
        what = f"holds a path of {len(text)} characters, too long for a file"
        raise source.refuse("project", key, what, "write a shorter one")
    return text


def _path(source: TomlSource, key: str, text: str) -> str:
    _short(source, key, text)
    plain = os.path.normpath(text).replace(os.sep, "/")
    if text.startswith("/") or plain == ".." or plain.startswith("../") or "\\" in text:
        what = f"holds {text!r}, a path outside the project"
        raise source.refuse("project", key, what, "write it relative to the project's root")
    return plain


def _globs(source: TomlSource, key: str, found: tuple[str, ...]) -> tuple[str, ...]:
    if not found:
        raise source.refuse("project", key, "is empty", "name at least one file or glob")
    return tuple(_path(source, key, one) for one in found)
