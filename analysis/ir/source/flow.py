"""Follows data through a kernel's source, callees inlined: what is multiplied, reduced, summed in loops and stored.

Values are abstract (`values.py`): nobody runs anything. Both ends of a branch are taken. A loop's body is read twice:
once to see which variables keep what they held before, then with what they came to hold.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from kopt_kb.analysis.frameworks import dotted_name
from kopt_kb.analysis.ir.source import operations
from kopt_kb.analysis.ir.source.source import KernelModule, Project, language_name, statements
from kopt_kb.analysis.ir.source.values import NOTHING, TileValue, combined, expanded, joined

__all__ = ["Findings", "Found", "ValueKind", "follow"]

ValueKind = Literal["dot", "reduction", "scan", "loop sum", "atomic", "norm", "store", "unresolved"]
_DEEPEST = 12


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that a kernel does, with its place.

    Attributes:
        kind: What it is.
        line: Line in the file it stands in.
        text: That line.
        module: Dotted name of the file when it is not the kernel's own.
        name: What it is called: the operation, variable or callee.
    """

    kind: ValueKind
    line: int
    text: str
    module: str
    name: str


@dataclass
class Findings:
    """Everything found in one kernel, by number; reductions are referred to by it."""

    found: dict[tuple[str, str, int, int, str], int] = field(default_factory=dict)
    every: list[Found] = field(default_factory=list)
    sources: dict[int, frozenset[int]] = field(default_factory=dict)

    def add(
        self, kind: ValueKind, module: KernelModule, node: ast.AST, name: str, consumed: frozenset[int] = frozenset()
    ) -> int:
        """Return the number of a finding, new or known."""
        line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        number = self.found.setdefault((kind, module.name, line, column, name), len(self.every))
        if number == len(self.every):
            text = module.lines[line - 1].strip() if 0 < line <= len(module.lines) else ""
            self.every.append(Found(kind, line, text, module.name, name))
        self.sources[number] = self.sources.get(number, frozenset()) | consumed
        return number

    def of(self, *kinds: ValueKind) -> tuple[Found, ...]:
        """Return the findings of some kinds, in order."""
        return tuple(one for one in self.every if one.kind in kinds)


def follow(project: Project, module: KernelModule, function: ast.FunctionDef) -> Findings:
    """Return what a kernel does.

    It is followed twice: which parameters are pointers shows at the loads of the first time.
    """
    pointers: set[str] = set()
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    arguments = {name: TileValue(bases=frozenset({name})) for name in names}
    Flow(project, module, Findings(), pointers).enter(function, dict(arguments))
    findings = Findings()
    Flow(project, module, findings, pointers).enter(function, dict(arguments))
    return findings


@dataclass
class Flow:
    """One function being followed."""

    project: Project
    module: KernelModule
    findings: Findings
    pointers: set[str]
    depth: int = 0
    env: dict[str, TileValue] = field(default_factory=dict)
    returned: TileValue | None = None
    tests: list[TileValue] = field(default_factory=list)
    loops: int = 0

    def enter(self, function: ast.FunctionDef, arguments: dict[str, TileValue]) -> TileValue:
        """Follow a function with these arguments and return what it returns."""
        self.env = arguments
        self.body(function.body)
        return self.returned or NOTHING

    # Statements.

    def body(self, body: Sequence[ast.stmt]) -> bool:
        """Follow statements; return whether the way ends in them."""
        for statement in statements(list(body)):
            method = getattr(self, f"_{type(statement).__name__.lower()}", None)
            if method is not None and method(statement):
                return True
        return False

    def _expr(self, node: ast.Expr) -> None:
        self.value(node.value)

    def _return(self, node: ast.Return) -> bool:
        if node.value is not None:
            value = self.value(node.value)
            self.returned = value if self.returned is None else joined(self.returned, value)
        return True

    def _assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self._bind(target, value)

    def _annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._bind(node.target, self.value(node.value))

    def _augassign(self, node: ast.AugAssign) -> None:
        value = self.value(node.value)
        if any(test.data for test in self.tests) and not value.data:
            value = replace(value, plain=True)  # counted under a condition on data
        self._bind(node.target, self.combine(self.value(node.target), value))

    def _bind(self, target: ast.expr, value: TileValue) -> None:
        if isinstance(target, ast.Name):
            self.env[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            items = value.items or (replace(value, items=None),) * len(target.elts)
            for one, each in zip(target.elts, items, strict=False):
                self._bind(one, each)

    def _if(self, node: ast.If) -> bool:
        test = self.value(node.test)
        before = dict(self.env)
        self.tests.append(test if self.loops else NOTHING)
        ended = self.body(node.body)
        taken, self.env = self.env, before
        other = self.body(node.orelse)
        self.tests.pop()
        if test.data and test.carried:
            # `if x > best: best = x` keeps what it compares.
            kept = {name.partition("@")[0] for name in test.carried}
            for name in kept & taken.keys():
                taken[name] = replace(taken[name], carried=taken[name].carried | test.carried)
        if ended and other:
            return True
        self.env = self.env if ended else taken if other else _merged(taken, self.env)
        return False

    def _for(self, node: ast.For) -> None:
        self.value(node.iter)
        self._bind(node.target, NOTHING)
        self._loop(node)

    def _while(self, node: ast.While) -> None:
        self.value(node.test)
        self._loop(node)

    def _with(self, node: ast.With) -> bool:
        for one in node.items:
            self.value(one.context_expr)
        return self.body(node.body)

    def _loop(self, node: ast.For | ast.While) -> None:
        """Read a body twice: which variables gather data over the iterations, then with what they gathered."""
        changed = _assigned(node)
        before = {name: value if name in changed else _along(value) for name, value in self.env.items()}
        self.env = dict(before)
        for name in changed & before.keys():
            old = before[name]
            self.env[name] = TileValue(old.rank, bases=old.bases, carried=old.carried | {f"{name}@{node.lineno}"})
        self.loops += 1
        self.body(node.body)
        gathered = {name: self._gathered(node, name) for name in changed & before.keys()}
        kept = {name: value for name, value in gathered.items() if value is not None}
        self.env = {**before, **kept}
        self.body(node.body)
        self.loops -= 1
        # What was gathered stays gathered, however the second reading ended.
        after = {name: self._settled(self.env[name], value) for name, value in kept.items() if name in self.env}
        self.env = _merged(before, {**self.env, **after})

    def _gathered(self, node: ast.For | ast.While, name: str) -> TileValue | None:
        """Return what a variable holds after the loop when it gathered data there, or None."""
        value = self.env[name]
        mark = f"{name}@{node.lineno}"
        if mark not in value.carried or not value.data or value.bases & self.pointers:
            return None
        place = _last_assignment(node, name)
        consumed = value.reductions
        number = self.findings.add("loop sum", self.module, place, name, consumed)
        return TileValue(
            value.rank,
            reduced=value.reduced | value.spread | {number},
            scanned=value.scanned,
            carried=value.carried - {mark},
            bases=value.bases,
        )

    def _settled(self, value: TileValue, gathered: TileValue) -> TileValue:
        """Return what a gathering variable holds after its loop: a result, no tile, weighed by the loop's own sums."""
        loops = frozenset(one for one in gathered.reduced if self.findings.every[one].kind == "loop sum")
        return replace(
            value, plain=False, reduced=value.reduced | gathered.reduced, spread=value.spread - gathered.reduced,
            normed=value.normed - loops,
        )  # fmt: skip

    # Expressions.

    def value(self, node: ast.expr) -> TileValue:
        """Return the abstract value of an expression."""
        method = getattr(self, f"_of_{type(node).__name__.lower()}", None)
        return method(node) if method is not None else NOTHING

    def combine(self, value: TileValue, other: TileValue) -> TileValue:
        """Return an arithmetic result of two values."""
        return combined(value, other, self.findings.sources)

    def combine_all(self, values: Sequence[TileValue]) -> TileValue:
        """Return an arithmetic result of several values."""
        result = NOTHING
        for one in values:
            for each in one.items if one.items is not None else (one,):
                result = self.combine(result, each)
        return result

    def _of_name(self, node: ast.Name) -> TileValue:
        return self.env.get(node.id, NOTHING)

    def _of_binop(self, node: ast.BinOp) -> TileValue:
        one, other = self.value(node.left), self.value(node.right)
        result = self.combine(one, other)
        if not isinstance(node.op, ast.Add | ast.Sub):
            result = replace(result, bases=frozenset())
        return replace(result, one_hot=_picks(node.op, one, other))

    def _of_unaryop(self, node: ast.UnaryOp) -> TileValue:
        return self.value(node.operand)

    def _of_boolop(self, node: ast.BoolOp) -> TileValue:
        return self.combine_all([self.value(one) for one in node.values])

    def _of_compare(self, node: ast.Compare) -> TileValue:
        values = [self.value(one) for one in (node.left, *node.comparators)]
        result = replace(self.combine_all(values), bases=frozenset(), index=False)
        lanes = any(one.index and one.rank for one in values)
        return replace(result, one_hot="lane" if lanes and isinstance(node.ops[0], ast.Eq) else "")

    def _of_ifexp(self, node: ast.IfExp) -> TileValue:
        self.value(node.test)
        return joined(self.value(node.body), self.value(node.orelse))

    def _of_tuple(self, node: ast.Tuple | ast.List) -> TileValue:
        return TileValue(items=tuple(self.value(one) for one in node.elts))

    _of_list = _of_tuple

    def _of_starred(self, node: ast.Starred) -> TileValue:
        return self.value(node.value)

    def _of_attribute(self, node: ast.Attribute) -> TileValue:
        return self.value(node.value) if node.attr == "T" else NOTHING

    def _of_subscript(self, node: ast.Subscript) -> TileValue:
        value = self.value(node.value)
        places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if value.items is not None:
            at = places[0].value if isinstance(places[0], ast.Constant) else None
            known = isinstance(at, int) and -len(value.items) <= at < len(value.items)
            return value.items[at] if known and isinstance(at, int) else self.combine_all(value.items)
        new = sum(isinstance(one, ast.Constant) and one.value is None for one in places)
        if not new:
            return value
        return expanded(value, None if value.rank is None else value.rank + new)

    def _of_call(self, node: ast.Call) -> TileValue:
        arguments = [self.value(one) for one in node.args]
        named = {one.arg: self.value(one.value) for one in node.keywords if one.arg}
        language = language_name(node.func, self.module.names)
        if language and self.project.callee(self.module, node.func) is None:
            return operations.apply(self, language, node, arguments, named)
        found = self.project.callee(self.module, node.func)
        if found is not None and self.depth < _DEEPEST:
            return self._inlined(found, arguments, named)
        if isinstance(node.func, ast.Attribute) and not dotted_name(node.func, self.module.names).startswith("tl"):
            base = self.value(node.func.value)
            if base is not NOTHING or node.func.attr in operations.METHODS:
                return operations.apply(self, node.func.attr, node, [base, *arguments], named)
        self._unresolved(node.func)
        return self.combine_all([*arguments, *named.values()])

    def _unresolved(self, func: ast.expr) -> None:
        """Note a callee that is neither known nor something of Python or a device library."""
        dotted = dotted_name(func, self.module.names)
        home, _, leaf = dotted.rpartition(".")
        if not dotted or dotted in operations.BUILTINS or any(one in home for one in ("libdevice", "triton", "math")):
            return
        module = self.project.module(home) if home else self.module
        if module is None or not _defines(module, leaf):
            self.findings.add("unresolved", self.module, func, dotted)

    def _inlined(
        self, found: tuple[KernelModule, ast.FunctionDef], arguments: list[TileValue], named: dict[str, TileValue]
    ) -> TileValue:
        module, function = found
        names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
        given = dict(zip(names, arguments, strict=False)) | named
        every = [*names, *(one.arg for one in function.args.kwonlyargs)]
        inner = Flow(self.project, module, self.findings, self.pointers, self.depth + 1, loops=self.loops)
        return inner.enter(function, {name: given.get(name, NOTHING) for name in every})


def _merged(one: dict[str, TileValue], other: dict[str, TileValue]) -> dict[str, TileValue]:
    return {
        name: joined(one[name], other[name]) if name in one and name in other else one.get(name) or other[name]
        for name in {**one, **other}
    }


def _along(value: TileValue) -> TileValue:
    """Return a value from before a loop as the loop sees it: the same in every iteration, so broadcast along them."""
    return expanded(value, value.rank) if value.reduced and value.items is None else value


def _assigned(node: ast.For | ast.While) -> set[str]:
    inner = (each for one in node.body for each in ast.walk(one))
    return {each.id for each in inner if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


def _last_assignment(node: ast.For | ast.While, name: str) -> ast.AST:
    inner = [each for one in node.body for each in ast.walk(one)]
    places = [each for each in inner if isinstance(each, ast.Name) and each.id == name]
    stored = [each for each in places if isinstance(each.ctx, ast.Store)]
    return max(stored, key=lambda each: each.lineno)


def _picks(op: ast.operator, value: TileValue, other: TileValue) -> str:
    """Return whether a product, difference or conjunction with something that picks one lane picks it too."""
    picks = value.one_hot or other.one_hot
    if isinstance(op, ast.Mult | ast.BitAnd):
        return picks
    return picks if isinstance(op, ast.Sub) and not (value.data or other.data) and picks == "pair" else ""


def _defines(module: KernelModule, name: str) -> bool:
    stored = (node for node in ast.walk(module.tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return name in module.names or any(node.id == name for node in stored)
