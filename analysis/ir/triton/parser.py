"""Triton IR text to a `Module`: one operation a line, regions by braces, values numbered on the way."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kopt_kb.analysis.ir.triton.forms import attributes_of, constant_value, details_of, result_types, split_signature
from kopt_kb.analysis.ir.triton.irtypes import IrType, parse_type, split_top
from kopt_kb.analysis.ir.triton.lines import IrLine, clean_lines, cut_braces
from kopt_kb.analysis.ir.triton.model import Block, Function, IrError, Module, Op, Region, Successor

__all__ = ["IrParser", "IrScope"]

_NAME = r"%[\w$.-]+"
_RESULTS = re.compile(rf"^({_NAME}(?::\d+)?(?:\s*,\s*{_NAME}(?::\d+)?)*)\s*=\s*(.*)$")
_USE = re.compile(rf"({_NAME})(?:#(\d+))?")
_OP_NAME = re.compile(r'^("\d+"|[a-zA-Z_][\w.]*)\s*(.*)$')
_FUNCTION = re.compile(r'^tt\.func\s*(public|private|nested)?\s*@("\d+"|[\w$.-]+)\((.*)$')
_TARGET = re.compile(r"\^(\w+)(?:\(([^)]*)\))?")
_FOR = re.compile(
    rf"^(?:unsigned\s+)?({_NAME})\s*=\s*(\S+)\s+to\s+(\S+)\s+step\s+(\S+)"
    r"(?:\s+iter_args\((.*?)\)\s*→\s*(\(.*?\)|[^:({]+?))?\s*(?::\s*(\S+))?\s*$"
)
_WHILE = re.compile(r"^(?:\((.*?)\))?\s*:\s*(\(.*\)|\S+)\s*→\s*(.*)$")
_IGNORED = ("tt.print", "tt.assert", "cf.assert", "gpu.barrier", "ttg.barrier", "gpu.thread_id", "llvm.intr.assume")


class IrScope:
    """Names visible in one region, nested like the text."""

    def __init__(self, parent: IrScope | None = None) -> None:
        self.names: dict[str, tuple[int, ...]] = dict(parent.names) if parent else {}


class IrParser:
    """Reads one text, line by line; `kopt_kb.analysis.ir.triton.gluon` reads a later stage."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.lines = list(clean_lines(text))
        self.at = 0
        self.types: list[IrType] = []
        self.names: list[str] = []

    def fail(self, line: IrLine | None, what: str, fix: str = "") -> IrError:
        """Return an error at a line."""
        where = f"{self.file}:{line.number}" if line else self.file
        return IrError(what, where=where, fix=fix or 'give the text that triton prints as asm["ttir"]')

    def next(self) -> IrLine:
        """Return the next line, which is then read."""
        if self.at >= len(self.lines):
            last = self.lines[-1] if self.lines else None
            raise self.fail(last, "the text ends inside a region", "give the whole module")
        self.at += 1
        return self.lines[self.at - 1]

    def define(self, scope: IrScope, name: str, types: Sequence[IrType]) -> tuple[int, ...]:
        """Number new values of a name."""
        first = len(self.types)
        self.types.extend(types)
        self.names.extend([name] * len(types))
        values = tuple(range(first, first + len(types)))
        scope.names[name] = values
        return values

    def use(self, scope: IrScope, name: str, index: str | None, line: IrLine) -> int:
        """Return the value that a name stands for."""
        values = scope.names.get(name)
        if values is None or int(index or 0) >= len(values):
            raise self.fail(line, f"{name} is used before it is defined", "give the whole module, unedited")
        return values[int(index or 0)]

    def uses(self, scope: IrScope, text: str, line: IrLine) -> tuple[int, ...]:
        """Return the values of all names in a text."""
        return tuple(self.use(scope, name, index, line) for name, index in _USE.findall(text))

    def read_type(self, text: str, line: IrLine) -> IrType:
        """Return the type that a text names."""
        try:
            return parse_type(text)
        except (ValueError, IndexError):
            raise self.fail(line, f"{text!r} is not a type this reader knows") from None

    def read_types(self, text: str, line: IrLine) -> list[IrType]:
        """Return the types of a list."""
        text = text.strip()
        inner = text[1:-1] if text.startswith("(") and text.endswith(")") else text
        return [self.read_type(item, line) for item in split_top(inner)]

    def typed_names(self, scope: IrScope, text: str, line: IrLine) -> tuple[int, ...]:
        """Define the names of a list `%a: type, …`."""
        values: list[int] = []
        for item in split_top(text):
            name, _, kind = cut_braces(item)[0].partition(":")
            values.extend(self.define(scope, name.strip(), [self.read_type(kind, line)]))
        return tuple(values)

    def module(self) -> Module:
        """Read the whole text."""
        functions: list[Function] = []
        while self.at < len(self.lines):
            line = self.next()
            if line.text.startswith("tt.func"):
                functions.append(self.function(line))
            elif not line.text.startswith(("module", "}", "builtin.module")):
                raise self.fail(line, f"{line.text.split()[0]} outside a function")
        if not functions:
            raise self.fail(None, "no tt.func in this text")
        return Module(self.file, tuple(functions), tuple(self.types), tuple(self.names))

    def function(self, line: IrLine) -> Function:
        """Read a function from its header on."""
        match = _FUNCTION.match(line.text)
        if match is None or not line.text.endswith("{"):
            raise self.fail(line, "a tt.func header that does not open a body")
        visibility, symbol, rest = match.groups()
        arguments = rest[: _closing(rest)]
        scope = IrScope()
        parameters = self.typed_names(scope, arguments, line)
        body, _ = self.region(scope)
        names = tuple(self.names[value].lstrip("%") for value in parameters)
        return Function(line.string(symbol), line.number, visibility != "private", parameters, names, body)

    def region(self, outer: IrScope, parameters: tuple[int, ...] = ()) -> tuple[Region, IrLine]:
        """Read a region behind its opening brace; returns it with the line that closes it."""
        scope = IrScope(outer)
        blocks: list[Block] = []
        label, ops = "bb0", list[Op]()
        while True:
            line = self.next()
            if line.text.startswith("}"):
                blocks.append(Block(label, parameters, tuple(ops)))
                return Region(tuple(blocks)), line
            if not line.text.startswith("^"):
                ops.extend(self.operations(scope, line))
                continue
            if ops or blocks:
                blocks.append(Block(label, parameters, tuple(ops)))
            label, _, rest = line.text[1:].rstrip(":").partition("(")
            parameters, ops = self.typed_names(scope, rest.rstrip(")"), line), []

    def parts(self, line: IrLine) -> tuple[str, str, str]:
        """Return (name of the operation, what follows it, its results as text)."""
        match = _RESULTS.match(line.text)
        result_text, body = match.groups() if match else ("", line.text)
        found = _OP_NAME.match(body)
        if found is None:
            raise self.fail(line, f"cannot read {line.text[:40]!r} as an operation")
        return line.string(found.group(1)), found.group(2), result_text

    def operations(self, scope: IrScope, line: IrLine) -> Sequence[Op]:
        """Return the operations of a line: one, or none for what counts nothing."""
        name, rest, result_text = self.parts(line)
        if name in _IGNORED:
            return ()
        return (self.operation(scope, line, name, rest, result_text),)

    def operation(self, scope: IrScope, line: IrLine, name: str, rest: str, result_text: str) -> Op:
        """Return the operation of a line, its regions read."""
        special = {"scf.for": self.loop, "scf.while": self.loop_while, "scf.if": self.branch}.get(name)
        if special is not None:
            return special(scope, line, rest.removesuffix("{").strip(), result_text)
        if name in ("cf.br", "cf.cond_br"):
            return self.jump(scope, line, name, rest)
        return self.plain(scope, line, name, rest, result_text)

    def results(self, scope: IrScope, text: str, types: Sequence[IrType]) -> tuple[int, ...]:
        """Define an operation's results."""
        if not text:
            return ()
        values: list[int] = []
        for item in text.split(","):
            name, _, count = item.strip().partition(":")
            taken = types[len(values) : len(values) + int(count or 1)]
            values.extend(self.define(scope, name, taken))
        return tuple(values)

    def plain(self, scope: IrScope, line: IrLine, name: str, rest: str, result_text: str) -> Op:
        """Read an operation in the form that most have: operands, attributes, types."""
        regions: list[Region] = []
        if rest.endswith("({"):
            rest, regions = self.generic_regions(scope, rest[:-2])
        outside, inside = cut_braces(rest)
        head, signature = split_signature(outside.replace("<>", ""))
        if not signature and "→" in head:  # an operation of no operands names its result alone
            head, _, result = head.rpartition("→")
            signature = f"→{result}"
        operands = self.uses(scope, head, line)
        kinds = [self.types[value] for value in operands]
        try:
            types = result_types(name, signature, kinds, sum(_counts(result_text)))
            literal = constant_value(head, types[0]) if name == "arith.constant" else None
        except (ValueError, IndexError) as error:
            raise self.fail(line, f"{name}: cannot read its types ({error})") from None
        detail = details_of(name, head)
        if name == "tt.call":
            detail = {"callee": line.string(head.strip().removeprefix("@").partition("(")[0])}
        values = self.results(scope, result_text, types)
        return Op(
            name, line.number, operands, values, attributes_of(inside, line), detail, tuple(regions), literal=literal
        )

    def generic_regions(self, scope: IrScope, rest: str) -> tuple[str, list[Region]]:
        """Read the regions of an operation in generic form."""
        regions: list[Region] = []
        while True:
            region, end = self.region(scope)
            regions.append(region)
            if end.text != "}, {":
                return f"{rest} {end.text[1:].lstrip(' )')}", regions

    def loop(self, scope: IrScope, line: IrLine, rest: str, result_text: str) -> Op:
        """Read a counted loop."""
        match = _FOR.match(rest)
        if match is None:
            raise self.fail(line, "an scf.for header in a form this reader does not know")
        variable, lower, upper, step, carried, types_text, kind = match.groups()
        pairs = [item.split("=") for item in split_top(carried or "")]
        initial = self.uses(scope, " ".join(pair[1] for pair in pairs), line)
        bounds = self.uses(scope, f"{lower} {upper} {step}", line)
        types = self.read_types(types_text, line) if types_text else []
        inner = IrScope(scope)
        parameters = self.define(inner, variable, [self.read_type(kind or "index", line)])
        for pair, carried_type in zip(pairs, types, strict=True):
            parameters += self.define(inner, pair[0].strip(), [carried_type])
        body, end = self.region(inner, parameters)
        attributes = attributes_of(cut_braces(end.text[1:])[1], end)
        return Op(
            "scf.for", line.number, bounds + initial, self.results(scope, result_text, types), attributes,
            regions=(body,),
        )  # fmt: skip

    def loop_while(self, scope: IrScope, line: IrLine, rest: str, result_text: str) -> Op:
        """Read a loop with a condition."""
        match = _WHILE.match(rest)
        if match is None:
            raise self.fail(line, "an scf.while header in a form this reader does not know")
        carried, before_types, after_types = match.groups()
        pairs = [item.split("=") for item in split_top(carried or "")]
        initial = self.uses(scope, " ".join(pair[1] for pair in pairs), line)
        inner, parameters = IrScope(scope), tuple[int, ...]()
        for pair, kind in zip(pairs, self.read_types(before_types, line), strict=True):
            parameters += self.define(inner, pair[0].strip(), [kind])
        before, middle = self.region(inner, parameters)
        if not middle.text.startswith("} do"):
            raise self.fail(middle, "an scf.while without its do region")
        after, _ = self.region(scope)
        types = self.read_types(after_types, line)
        values = self.results(scope, result_text, types)
        return Op("scf.while", line.number, initial, values, regions=(before, after))

    def branch(self, scope: IrScope, line: IrLine, rest: str, result_text: str) -> Op:
        """Read an if and its else."""
        condition, _, types_text = rest.partition("→")
        operands = self.uses(scope, condition, line)
        then, end = self.region(scope)
        regions = [then]
        if end.text.startswith("} else"):
            otherwise, end = self.region(scope)
            regions.append(otherwise)
        types = self.read_types(types_text, line) if types_text else []
        values = self.results(scope, result_text, types)
        return Op("scf.if", line.number, operands, values, regions=tuple(regions))

    def jump(self, scope: IrScope, line: IrLine, name: str, rest: str) -> Op:
        """Read a branch to other blocks."""
        condition = self.uses(scope, rest.partition("^")[0], line)
        targets = [
            Successor(label, self.uses(scope, passed.partition(":")[0], line))
            for label, passed in _TARGET.findall(rest)
        ]
        return Op(name, line.number, condition, (), successors=tuple(targets))


def _counts(result_text: str) -> list[int]:
    if not result_text:
        return []
    return [int(item.partition(":")[2] or 1) for item in result_text.split(",")]


def _closing(text: str) -> int:
    depth = 1
    for position, char in enumerate(text):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if depth == 0:
            return position
    return len(text)
