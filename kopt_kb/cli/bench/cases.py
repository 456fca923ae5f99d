"""The cases of `kb bench compare`: what a line names in both revisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import open_input
from kopt_kb.base.wire import plain
from kopt_kb.cli.kit.case_arguments import literals
from kopt_kb.cli.kit.case_lines import CaseLine, rows_of
from kopt_kb.launch.judge.revisions import Revision, RevisionCase
from kopt_kb.launch.judge.sides import RevisionSide
from kopt_kb.launch.kernel.declared import refuse_unknown
from kopt_kb.problem.shapes import parse_shape
from kopt_kb.problem.tuned_table import Setting, TunedTable, read_tuned_table

__all__ = ["read_cases"]

_OF_ONE_PROBLEM = ("form", "kernel", "shape", "dtype", "block_shape", "product", "facts")


def read_cases(base: RevisionSide, head: RevisionSide, lines: Sequence[CaseLine]) -> list[RevisionCase]:
    """Return the cases: of two files, a line's FILE is `-`; of two tables, `{key}` of its SHAPE is the row's.

    Raises:
        BadInput: There are none, or one can't be read.
    """
    if not lines:
        fix = "give --shape and --dtype, or --case 'FILE SHAPE DTYPE'"
        raise BadInput("nothing says what is compared", where="kb bench compare", fix=fix, code="KB102")
    if base.kind == "table":
        return [case for line in lines for case in _rows(base, head, line)]
    return [_case(base, head, line) for line in lines]


def _case(base: RevisionSide, head: RevisionSide, line: CaseLine) -> RevisionCase:
    revisions = [_revision(side, line) for side in (base, head)]
    if revisions[0].file is None and revisions[1].file is None:
        raise BadInput("neither has such a file", where=f"{line.where}: {line.file}", fix="name another", code="KB110")
    return RevisionCase(Path(line.file).name, line.file, parse_shape(line.shape), line.dtype, *revisions)


def _revision(side: RevisionSide, line: CaseLine) -> Revision:
    if side.kind == "compiler":
        file: Path | None = _existing(Path(line.file))
    elif side.kind == "folder":
        if Path(line.file).is_absolute() or ".." in Path(line.file).parts:
            fix = "name it as it lies in both revisions"
            raise BadInput("lies outside the revisions", where=f"{line.where}: {line.file}", fix=fix, code="KB103")
        file = side.path / line.file
        file = file if file.is_file() else None
    else:
        file = side.path
    config = literals(list(line.config))
    if file is not None:
        refuse_unknown(file, config)
    return Revision(side.label, file, config, str(side.path) if side.kind == "compiler" else "")


def _existing(file: Path) -> Path:
    open_input(str(file)).close()
    return file


def _rows(base: RevisionSide, head: RevisionSide, line: CaseLine) -> Iterator[RevisionCase]:
    """Yield a case for each row of the head, against the row of the base that serves its key."""
    file = _existing(Path(line.file))
    old, new = (read_tuned_table(side.path) for side in (base, head))
    differing = [name for name in _OF_ONE_PROBLEM if getattr(old, name) != getattr(new, name)]
    if differing:
        told = "; ".join(f"{name} {plain(getattr(old, name))} and {plain(getattr(new, name))}" for name in differing)
        what = f"the tables are of two forms or problems: {told}"
        raise BadInput(what, where=head.label, fix="give two revisions of one table", code="KB103")
    fixed = literals(list(line.config))
    for row, shape in rows_of(new, line):
        both = ((base.label, _serving(old, int(row.key))), (head.label, row.settings))
        revisions = [Revision(label, file, {**fixed, **settings}) for label, settings in both]
        yield RevisionCase(f"{file.name} row {row.key}", head.label, shape, line.dtype, *revisions)


def _serving(table: TunedTable, key: int) -> Mapping[str, Setting]:
    """Return the settings of the row that serves a key: its own, else that of the nearest, the lower one of two."""
    rows = [one for one in table.rows if one.key.isdecimal()]
    if not rows:
        raise BadInput("has no row with a number", where=table.file, fix="give another table", code="KB116")
    return min(rows, key=lambda one: (abs(int(one.key) - key), int(one.key))).settings
