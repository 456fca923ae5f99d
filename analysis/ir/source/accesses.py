"""Where a kernel loads and stores tiles, each address and mask as exact sums, and what holds around it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field, replace

from kopt_kb.analysis.ir.source.affine import ONE, ZERO, Affine, Axis, Poly, atom
from kopt_kb.analysis.ir.source.motion import AxisBound, BlockPointer, Known, Mask, assigned, called, growth, moved
from kopt_kb.analysis.ir.source.source import language_name, statements

__all__ = ["Accesses", "AxisBound", "BlockPointer", "Mask", "TileAccess", "accesses_of"]

_INTEGER = re.compile(r"\bu?int(32|64)$")
_TRANSPARENT = frozenset({"max_contiguous", "multiple_of", "max_constancy"})
_PURE = frozenset({"cdiv", "program_id", "num_programs", "minimum", "maximum"})


@dataclass(frozen=True, slots=True)
class TileAccess:
    """One load or store of a tile.

    Attributes:
        call: The call in the source.
        statement: The statement it stands in.
        store: Whether it stores.
        address: What it accesses, or None where that is no sum of index vectors.
        mask: Its mask; None without one.
        loops: The loops around it, outermost first, with the versions of names before each.
        versions: Versions of names at the statement.
        pointers: What the parameters' names point to there.
    """

    call: ast.Call
    statement: ast.stmt
    store: bool
    address: Affine | BlockPointer | None
    mask: Mask | None
    loops: tuple[tuple[ast.stmt, dict[str, int], dict[str, Known]], ...]
    versions: dict[str, int]
    pointers: dict[str, Known]


@dataclass
class Accesses:
    """All of a kernel."""

    every: list[TileAccess] = field(default_factory=list)
    divisors: dict[str, Poly] = field(default_factory=dict)


def accesses_of(function: ast.FunctionDef, names: dict[str, str]) -> Accesses:
    """Return the loads and stores of a kernel's own body; callees are not looked into."""
    walk = _Walk(names)
    for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
        walk.env[one.arg] = Affine(base=atom(one.arg, {one.arg: 0}))
        walk.versions[one.arg] = 0
        walk.parameters.add(one.arg)
    walk.body(function.body)
    return walk.found


class _Walk:
    """The state at one place of a kernel."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names
        self.env: dict[str, Known] = {}
        self.versions: dict[str, int] = {}
        self.newest: dict[str, int] = {}
        self.parameters: set[str] = set()
        self.loops: list[tuple[ast.stmt, dict[str, int], dict[str, Known]]] = []
        self.found = Accesses()
        self.statement: ast.stmt = ast.Pass()

    # Statements.

    def body(self, body: list[ast.stmt]) -> None:
        """Walk statements in order."""
        for statement in statements(body):
            self.statement = statement
            if isinstance(statement, ast.For | ast.While):
                self._loop(statement)
            elif isinstance(statement, ast.If):
                self._branch(statement)
            elif isinstance(statement, ast.With):
                self.body(statement.body)
            else:
                self._plain(statement)

    def _plain(self, statement: ast.stmt) -> None:
        for node in ast.walk(statement):
            if isinstance(node, ast.Call):
                self._access(node)
        if isinstance(statement, ast.Assign):
            self._assign(statement.targets, statement.value)
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            self._assign([statement.target], statement.value)
        elif isinstance(statement, ast.AugAssign):
            added = ast.BinOp(_loaded(statement.target), statement.op, statement.value)
            self._assign([statement.target], ast.fix_missing_locations(ast.copy_location(added, statement)))

    def _assign(self, targets: list[ast.expr], value: ast.expr) -> None:
        for target in targets:
            if isinstance(target, ast.Tuple | ast.List):
                same = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
                known = [self.of(each) for each in value.elts] if same else [None] * len(target.elts)  # type: ignore[attr-defined]
                for one, each in zip(target.elts, known, strict=True):
                    if isinstance(one, ast.Name):
                        self._bind(one.id, each)
            elif isinstance(target, ast.Name):
                self._bind(target.id, self.of(value))

    def _bind(self, name: str, value: Known) -> None:
        version = self.newest.get(name, 0) + 1
        self.newest[name] = self.versions[name] = version
        # What is not known may still be a number: it is called by its name.
        self.env[name] = value if value is not None else Affine(base=atom(name, {name: version}))

    def _branch(self, node: ast.If) -> None:
        before, versions = dict(self.env), dict(self.versions)
        self.body(node.body)
        taken = self.env
        self.env, self.versions = before, versions
        self.body(node.orelse)
        for name in assigned(node):
            same = name in taken and name in self.env and taken[name] == self.env[name]
            if not same:
                self._bind(name, None)

    def _loop(self, node: ast.For | ast.While) -> None:
        before = (node, dict(self.versions), dict(self.env))
        changed = assigned(node)
        count = self._counter(node) if isinstance(node, ast.For) else None
        steps = {name: self._step(node, name) for name in changed}
        values = {name: self.env.get(name) for name in changed}
        for name in changed:
            self._bind(name, moved(values[name], steps[name], count))
        self.loops.append(before)
        self.body(node.body)
        self.loops.pop()
        self.statement = node
        for name in changed:
            self._bind(name, None)

    def _counter(self, node: ast.For) -> tuple[Poly, Poly] | None:
        """Bind the variable of a loop; return it less its start, and its step."""
        if not isinstance(node.target, ast.Name):
            return None
        name = node.target.id
        self._bind(name, None)
        call = node.iter
        if not (isinstance(call, ast.Call) and called(call) in {"range", "static_range"}):
            return None
        bounds = [self._number(one) for one in call.args]
        if not bounds or (any(one is None for one in bounds) and len(bounds) == 3):
            return None
        start = bounds[0] if len(bounds) > 1 else ZERO
        step = bounds[2] if len(bounds) > 2 else ONE
        if start is None or step is None:
            return None
        variable = atom(name, {name: self.versions[name]})
        if not start.terms or start.over(step) is not None:
            self.found.divisors[variable.terms[0][0][0]] = step
        return variable - start, step

    def _step(self, node: ast.For | ast.While, name: str) -> tuple[Poly, ...] | None:
        """Return by how much a name grows in each iteration, if only one statement of the body changes it."""
        if any(isinstance(one, ast.Continue) for one in ast.walk(node)):
            return None  # an iteration may leave before it
        changes = [one for one in ast.walk(node) if isinstance(one, ast.Name) and one.id == name]
        if sum(isinstance(one.ctx, ast.Store) for one in changes) != 1:
            return None
        for one in node.body:
            grown = growth(one, name)
            if grown is None:
                continue
            varying = assigned(node) | {each.id for each in ast.walk(node) if each is getattr(node, "target", None)}
            if any(isinstance(each, ast.Name) and each.id in varying for each in ast.walk(grown)):
                return None
            number = self._number(grown)
            return (number,) if number is not None else self._numbers(grown)
        return None

    # Accesses.

    def _access(self, node: ast.Call) -> None:
        called = language_name(node.func, self.names)
        if called not in {"load", "store"} or not node.args:
            return
        given = {one.arg: one.value for one in node.keywords}
        store = called == "store"
        at = 2 if store else 1
        mask = given.get("mask") or (node.args[at] if len(node.args) > at else None)
        address = self.of(node.args[0])
        known = self.of(mask) if mask is not None and not _is_none(mask) else None
        if mask is not None and not _is_none(mask) and not isinstance(known, Mask):
            known = Mask(other=ast.unparse(mask))
        self.found.every.append(
            TileAccess(
                node,
                self.statement,
                store,
                address if isinstance(address, Affine | BlockPointer) else None,
                known if isinstance(known, Mask) else None,
                tuple(self.loops),
                dict(self.versions),
                dict(self.env),
            )
        )

    # Expressions.

    def of(self, node: ast.expr) -> Known:
        """Return what an expression is."""
        method = getattr(self, f"_of_{type(node).__name__.lower()}", None)
        known = method(node) if method is not None else None
        return known if known is None or isinstance(known, Affine | Mask | BlockPointer) else None

    def _number(self, node: ast.expr) -> Poly | None:
        known = self.of(node)
        return known.base if isinstance(known, Affine) and not known.axes else None

    def _of_constant(self, node: ast.Constant) -> Known:
        plain = isinstance(node.value, int) and not isinstance(node.value, bool)
        return Affine(base=Poly.number(node.value)) if plain and isinstance(node.value, int) else None

    def _of_name(self, node: ast.Name) -> Known:
        if node.id in self.env:
            return self.env[node.id]
        return Affine(base=atom(node.id, {}))

    def _of_unaryop(self, node: ast.UnaryOp) -> Known:
        inner = self.of(node.operand)
        return inner.times(Poly.number(-1)) if isinstance(node.op, ast.USub) and isinstance(inner, Affine) else None

    def _of_binop(self, node: ast.BinOp) -> Known:
        one, two = self.of(node.left), self.of(node.right)
        if isinstance(node.op, ast.BitAnd):
            return _conjunction(one, two, node)
        if not isinstance(one, Affine) or not isinstance(two, Affine):
            return None
        if isinstance(node.op, ast.Add):
            return one.plus(two)
        if isinstance(node.op, ast.Sub):
            return one.plus(two.times(Poly.number(-1))) if not two.axes else None
        if isinstance(node.op, ast.Mult):
            return _product(one, two)
        if isinstance(node.op, ast.Mod):
            return self._modulo(one, two, node)
        return self._opaque(node) if not one.axes and not two.axes else None

    def _modulo(self, one: Affine, two: Affine, node: ast.BinOp) -> Known:
        if one.is_index and not two.axes:
            at, axis = one.axes[0]
            return replace(one, axes=((at, replace(axis, wrap=two.base)),))
        return self._opaque(node) if not one.axes and not two.axes else None

    def _opaque(self, node: ast.expr) -> Known:
        """Return a scalar expression nothing is known of but its text."""
        names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
        if any(called(one) not in _PURE for one in calls):
            return None
        versions = {name: self.versions[name] for name in names if name in self.versions}
        return Affine(base=atom(f"({ast.unparse(node)})", versions))

    def _of_compare(self, node: ast.Compare) -> Known:
        one, two = self.of(node.left), self.of(node.comparators[0])
        other = Mask(other=ast.unparse(node))
        if len(node.ops) != 1 or not isinstance(one, Affine) or not isinstance(two, Affine):
            return other
        if isinstance(node.ops[0], ast.Gt):
            one, two = two, one
        elif isinstance(node.ops[0], ast.GtE) and two == Affine() and one.is_index:
            return Mask(rank=one.rank)  # lanes below zero are outside for a descriptor too
        elif not isinstance(node.ops[0], ast.Lt):
            return other
        if len(one.axes) != 1 or one.base.terms or two.axes or one.axes[0][1].scale != ONE:
            return other
        at, axis = one.axes[0]
        if axis.wrap is not None:
            return other
        return Mask((AxisBound(at, axis.origin, axis.size, two.base),), one.rank)

    def _of_subscript(self, node: ast.Subscript) -> Known:
        inner = self.of(node.value)
        places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        new = [at for at, one in enumerate(places) if _is_none(one)]
        if len(places) != 2 or len(new) != 1:
            return None
        at = 1 - new[0]
        if isinstance(inner, Affine):
            return inner.placed(at, 2)
        if isinstance(inner, Mask) and inner.rank == 1:
            return Mask(tuple(replace(one, axis=at) for one in inner.bounds), 2, inner.other)
        return None

    def _of_call(self, node: ast.Call) -> Known:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "to" and node.args:
            inner = self.of(node.func.value)
            return inner if isinstance(inner, Affine) and _INTEGER.search(ast.unparse(node.args[0])) else None
        name = language_name(node.func, self.names) or called(node)
        if name == "arange" and len(node.args) == 2:
            begin, end = self._number(node.args[0]), self._number(node.args[1])
            sized = begin is not None and end is not None and not begin.terms
            return Affine(ZERO, ((0, Axis(ONE, ZERO, end)),), 1) if sized and end is not None else None
        if name in _TRANSPARENT and node.args:
            return self.of(node.args[0])
        if name == "make_block_ptr":
            return self._block(node)
        if name == "advance" and len(node.args) == 2:
            block, moves = self.of(node.args[0]), self._numbers(node.args[1])
            if isinstance(block, BlockPointer) and moves is not None and len(moves) == len(block.offsets):
                return replace(block, offsets=tuple(a + b for a, b in zip(block.offsets, moves, strict=True)))
            return None
        return self._opaque(node) if name in _PURE else None

    def _numbers(self, node: ast.expr) -> tuple[Poly, ...] | None:
        if not isinstance(node, ast.Tuple | ast.List):
            return None
        numbers = [self._number(one) for one in node.elts]
        return tuple(one for one in numbers if one is not None) if None not in numbers else None

    def _block(self, node: ast.Call) -> Known:
        names = ("base", "shape", "strides", "offsets", "block_shape", "order")
        given = dict(zip(names, node.args, strict=False)) | {one.arg: one.value for one in node.keywords if one.arg}
        if any(one not in given for one in names[:5]):
            return None
        target = self.of(given["base"])
        parts = [self._numbers(given[one]) for one in names[1:5]]
        if not isinstance(target, Affine) or target.axes or any(one is None for one in parts):
            return None
        shape, strides, offsets, sizes = (one or () for one in parts)
        return BlockPointer(target, shape, strides, offsets, sizes) if len(sizes) == 2 else None


def _conjunction(one: Known, two: Known, node: ast.BinOp) -> Known:
    if isinstance(one, Mask) and isinstance(two, Mask):
        return one.both(two)
    known = one if isinstance(one, Mask) else two if isinstance(two, Mask) else None
    return replace(known, other=known.other or ast.unparse(node)) if known is not None else None


def _product(one: Affine, two: Affine) -> Affine | None:
    if one.axes and two.axes:
        return None
    vector, factor = (one, two) if one.axes else (two, one)
    return vector.times(factor.base)


def _loaded(target: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Name(target.id, ast.Load()), target) if isinstance(target, ast.Name) else target


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
