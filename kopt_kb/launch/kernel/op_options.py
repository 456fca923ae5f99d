"""The options of an operation that a kernel file computes: declared, as its functions' defaults say, and made to agree.

A problem is what is counted, drawn as a roof and judged; a kernel file computes one thing when nobody tells it more.
Both are read here from the file's text, which is never run: `OP_OPTIONS` (or the header of a CUDA C++ file), and the
default of each parameter of `launch`, `reference` and `static_cases` that has an option's name. Where a problem asks
for another value of such a parameter, `pinned` writes it into the text: whoever calls the functions, as recorders,
compilers, judges and people do, then gets what the problem says.
"""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.kernel.declared import has_header, kernel_name
from kopt_kb.problem.ops import OPS, definition
from kopt_kb.problem.ops.definition import OptionError, OptionValue

__all__ = ["Clash", "FileOptions", "clashes", "file_options", "judging", "pinned", "problem_options"]

_FUNCTIONS = ("launch", "reference", "static_cases")
_TABLE = "OP_OPTIONS"


@dataclass(frozen=True, slots=True)
class _Literal:
    """A value in the text of a file, and where it stands."""

    value: OptionValue
    line: int
    node: ast.expr | None = None


@dataclass(frozen=True, slots=True)
class FileOptions:
    """What a kernel file says of the options of its operation.

    Attributes:
        declared: Option → value of OP_OPTIONS, with its line.
        line: Line of OP_OPTIONS; 0: the file has none.
        defaults: Function → option → default of the parameter of that name.
    """

    declared: Mapping[str, _Literal] = field(default_factory=dict)
    line: int = 0
    defaults: Mapping[str, Mapping[str, _Literal]] = field(default_factory=dict)

    def takes(self, name: str) -> bool:
        """Return whether every judged function of the file can be told the option."""
        asked = [self.defaults[one] for one in ("launch", "reference") if one in self.defaults]
        return bool(asked) and all(name in one for one in asked)

    def said(self, name: str) -> _Literal | None:
        """Return what the file computes unless told: as declared, else as a default says; None: it says nothing."""
        defaults = (one[name] for one in self.defaults.values() if name in one)
        return self.declared.get(name) or next(defaults, None)


@dataclass(frozen=True, slots=True)
class Clash:
    """A place of a file that says another value of an option than the problem.

    Attributes:
        line: Of the file.
        what: One clause.
    """

    line: int
    what: str


def file_options(source: bytes, op: str, where: str = "") -> FileOptions:
    """Return what a file says of an operation's options; nothing where it is no Python and has no header.

    Raises:
        OptionError: OP_OPTIONS names an option that the operation lacks, or a value that it can't take.
    """
    if op not in OPS:
        return FileOptions()
    if has_header(where, source):
        return FileOptions(_read(op, _header(source, where), {}, where, 1), 1)
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return FileOptions()
    table, line = _table(tree)
    nodes: dict[object, ast.expr] = {key.value: value for key, value in _pairs(table) if isinstance(key, ast.Constant)}
    functions = [one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name in _FUNCTIONS]
    names = {option.name for option in definition(op).options}
    return FileOptions(
        _read(op, {str(name): _literal(node) for name, node in nodes.items()}, nodes, where, line),
        line,
        {one.name: _defaults(op, one, names) for one in functions},
    )


def _header(source: bytes, where: str) -> Mapping[str, object]:
    """Return the options of a header; a candidate has no file of its own, and gets one for as long as it is read."""
    from kopt_kb.launch.cuda.header import read_header

    if where and Path(where).is_file():
        header = read_header(Path(where))
    else:
        with tempfile.TemporaryDirectory(prefix="kb-header-") as folder:
            path = Path(folder) / kernel_name(source)
            path.write_bytes(source)
            header = read_header(path)
    return {} if header is None else header.options


def _table(tree: ast.Module) -> tuple[ast.expr | None, int]:
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(one, ast.Name) and one.id == _TABLE for one in targets):
            return getattr(node, "value", None), node.lineno
    return None, 0


def _pairs(table: ast.expr | None) -> Iterator[tuple[ast.expr | None, ast.expr]]:
    if isinstance(table, ast.Dict):
        yield from zip(table.keys, table.values, strict=True)


def _literal(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return ast.unparse(node)


def _read(
    op: str, values: Mapping[str, object], nodes: Mapping[object, ast.expr], where: str, line: int
) -> dict[str, _Literal]:
    lines = {str(name): node.lineno for name, node in nodes.items()}
    try:
        read = dict(definition(op).read_options(values).items)
    except OptionError as error:
        bad = next((lines[name] for name in values if name in lines and repr(name) in error.what), line)
        raise error.restated(where=f"{where or _TABLE}:{bad}") from error
    return {
        name: _Literal(read.get(name, default), lines.get(name, line), nodes.get(name))
        for name, default in ((one.name, one.default) for one in definition(op).options)
        if name in values
    }


def _defaults(op: str, function: ast.FunctionDef, names: set[str]) -> dict[str, _Literal]:
    arguments = function.args
    placed = [*arguments.posonlyargs, *arguments.args]
    last = placed[len(placed) - len(arguments.defaults) :]
    pairs = [
        *zip(last, arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    found = {}
    options = {option.name: option for option in definition(op).options}
    for argument, node in pairs:
        if argument.arg in names and node is not None:
            try:
                value = options[argument.arg].read(_literal(node))
            except OptionError:  # a default that stands for something else, such as None
                continue
            found[argument.arg] = _Literal(value, node.lineno, node)
    return found


def problem_options(source: bytes, op: str, given: Mapping[str, object], where: str) -> dict[str, OptionValue]:
    """Return the options of the problem that a kernel file stands for, with what a user asks for beyond them.

    Args:
        source: The file.
        op: Operation id.
        given: Options that the user names; one that the file's functions take is passed on by `pinned`.
        where: The file, for messages.

    Raises:
        OptionError: An option or value that the operation does not have.
        BadInput: The user contradicts the file, or the file itself.
    """
    said = file_options(source, op, where)
    asked = dict(definition(op).read_options(given).items)
    for name in given:
        _check_given(said, op, name, asked.get(name, given[name]), where)
    known = {option.name for option in definition(op).options}
    own = {name: one.value for name in known if (one := said.said(name)) is not None}
    values = {**own, **{name: asked[name] for name in given if name in asked}}
    for name in (one for one in own if one not in given):
        for clash in _clashes(said, name, own[name]):
            fix = "make OP_OPTIONS and the defaults agree, or say by --option which is meant"
            raise BadInput(
                f"the file contradicts itself: {clash.what}", where=f"{where}:{clash.line}", fix=fix, code="KB077"
            )
    return {name: values[name] for name in (one.name for one in definition(op).options) if name in values}


def _check_given(said: FileOptions, op: str, name: str, value: object, where: str) -> None:
    option = next(one for one in definition(op).options if one.name == name)
    if option.counts or said.takes(name):
        return
    own = said.said(name)
    if own is None and not said.line:  # the user's word is all there is; the reference judges it
        return
    computed = own.value if own is not None else option.default
    if computed == value:
        return
    line = own.line if own is not None else said.line
    fix = f"leave it out, or give launch() and reference() a parameter {name}"
    raise BadInput(
        f"--option {name}={value}, and the file computes {name}={computed}", where=f"{where}:{line}", fix=fix,
        code="KB103",
    )  # fmt: skip


def clashes(source: bytes, op: str, options: Mapping[str, object], where: str = "") -> list[Clash]:
    """Return each place of a file that says another value of an option than a problem, in order of lines."""
    try:
        said = file_options(source, op, where)
    except OptionError as error:
        return [Clash(1, error.what)]
    found = [clash for name, value in options.items() for clash in _clashes(said, name, value)]
    return sorted(found, key=lambda one: one.line)


def _clashes(said: FileOptions, name: str, value: object) -> Iterator[Clash]:
    declared = said.declared.get(name)
    if declared is not None and declared.value != value:
        yield Clash(declared.line, f"OP_OPTIONS says {name}={declared.value}, not {value}")
    for function, defaults in said.defaults.items():
        if name in defaults and defaults[name].value != value:
            yield Clash(defaults[name].line, f"{function}() computes {name}={defaults[name].value}, not {value}")


def pinned(source: bytes, op: str, options: Mapping[str, object]) -> bytes:
    """Return a file whose OP_OPTIONS and defaults say a problem's options; as it is where they do already.

    Options that its functions don't take stay: to change the words would not change what is computed.
    """
    said = file_options(source, op)
    options = {name: value for name, value in options.items() if said.takes(name)}
    places = [said.declared, *said.defaults.values()]
    edits = [
        (literal.node, value)
        for name, value in options.items() for place in places
        if (literal := place.get(name)) is not None and literal.node is not None and literal.value != value
    ]  # fmt: skip
    if not edits:
        return source
    lines = source.splitlines(keepends=True)
    for node, value in sorted(edits, key=lambda one: (one[0].lineno, one[0].col_offset), reverse=True):
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        tail = lines[last][node.end_col_offset :]
        lines[first : last + 1] = [lines[first][: node.col_offset] + repr(value).encode() + tail]
    return b"".join(lines)


def judging(source: bytes, op: str, options: Mapping[str, object], where: str) -> bytes:
    """Return a reference file that computes a problem's options.

    Raises:
        BadInput: It computes another value of one, and can't be told.
    """
    made = pinned(source, op, options)
    said = file_options(made, op, where)
    for option in definition(op).options if op in OPS else ():
        own = said.said(option.name)
        computed = own.value if own is not None else option.default
        wanted = options.get(option.name, option.default)
        if computed != wanted and not option.counts:
            raise BadInput(
                f"the reference computes {option.name}={computed}, and the kernel {option.name}={wanted}",
                where=f"{where}:{own.line if own is not None else max(said.line, 1)}",
                fix="give --reference FILE whose reference() computes that",
                code="KB451",
            )
    return made
