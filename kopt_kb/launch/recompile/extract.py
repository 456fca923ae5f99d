"""Kernels out of a source's syntax tree: the functions that one needs, and the literal constants that they use.

Of each module that the kernel needs, a module of the same name is written that holds nothing else: functions with a
decorator that makes a kernel of them (all other decorators are left out), assignments of pure expressions, imports of
Triton, and imports of modules taken out likewise. `if` and `try` stay as they are where their tests are pure.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kopt_kb.launch.recompile.definitions import class_of, function_of
from kopt_kb.launch.recompile.expressions import dotted, is_pure, names_in, without_environment
from kopt_kb.launch.recompile.modules import IMPORTED, Index, ModuleFile, ModuleFiles
from kopt_kb.launch.record.code_request import UnboundReason

__all__ = ["Refused", "TakenModule", "TakenSource", "take"]

_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "NameError"})
_MOST_MODULES = 200


@dataclass(frozen=True, slots=True)
class Refused:
    """A statement that a kernel needs and that can't be taken."""

    reason: UnboundReason
    detail: str


@dataclass(frozen=True, slots=True)
class TakenModule:
    """What was taken of one module.

    Attributes:
        place: The module.
        text: Its source, without the rest.
        needs: Modules that have to be there before it.
        refused: What of it could not be taken; a kernel may compile all the same.
    """

    place: ModuleFile
    text: str
    needs: tuple[str, ...]
    refused: tuple[Refused, ...]


@dataclass(frozen=True, slots=True)
class TakenSource:
    """All that kernels need: the modules, those that others need first."""

    modules: tuple[TakenModule, ...]

    def below(self, name: str) -> tuple[TakenModule, ...]:
        """Return a module and all that it needs, itself first."""
        known = {one.place.name: one for one in self.modules}
        found: dict[str, TakenModule] = {}
        waiting = [name]
        while waiting:
            one = waiting.pop()
            if one in known and one not in found:
                found[one] = known[one]
                waiting += known[one].needs
        return tuple(found.values())


def take(places: ModuleFiles, kernels: Sequence[tuple[str, str]]) -> TakenSource:
    """Return what kernels need.

    Args:
        places: Where modules are.
        kernels: Module and name of each.
    """
    return _Taking(places).all(kernels)


@dataclass
class _Wanted:
    """What is wanted of one module."""

    index: Index
    names: set[str] = field(default_factory=set)
    done: int = -1
    needs: dict[str, None] = field(default_factory=dict)
    refused: dict[Refused, None] = field(default_factory=dict)

    def refuse(self, reason: UnboundReason, detail: str) -> None:
        """Note what can't be taken."""
        self.refused[Refused(reason, detail[:300])] = None


class _Taking:
    def __init__(self, places: ModuleFiles) -> None:
        self._places = places
        self._wanted: dict[str, _Wanted] = {}
        self._entries: set[tuple[str, str]] = set()

    def all(self, kernels: Sequence[tuple[str, str]]) -> TakenSource:
        self._entries = set(kernels)
        for module, name in kernels:
            place = self._places.find(module)
            if place is not None and self._want(place, {name}) and name not in self._wanted[module].index.bound:
                text = f"{place.path.name}: {name} is not defined at the top of the file"
                self._wanted[module].refuse("nested", text)
        texts: dict[str, str] = {}
        while any(len(one.names) != one.done for one in self._wanted.values()):
            for name, one in list(self._wanted.items()):
                if len(one.names) != one.done:
                    texts[name] = self._text(one)
        ordered = self._ordered()
        made = (
            TakenModule(one.index.place, texts[name], tuple(one.needs), tuple(one.refused))
            for name in ordered
            if (one := self._wanted[name])
        )
        return TakenSource(tuple(made))

    def _ordered(self) -> list[str]:
        """Return the modules, those that others need first; in a circle the one that was wanted first comes last."""
        done: dict[str, None] = {}
        open_: set[str] = set()

        def visit(name: str) -> None:
            if name in done or name in open_ or name not in self._wanted:
                return
            open_.add(name)
            for one in self._wanted[name].needs:
                visit(one)
            done[name] = None

        for name in list(self._wanted):
            visit(name)
        return list(done)

    def _want(self, place: ModuleFile, names: Iterable[str]) -> bool:
        """Want names of a module; False where it can't be read."""
        known = self._wanted.get(place.name)
        if known is None:
            if len(self._wanted) >= _MOST_MODULES:
                return False
            try:
                known = self._wanted[place.name] = _Wanted(Index.read(place))
            except (SyntaxError, ValueError, OSError, RecursionError):
                return False
        known.names.update(names)
        return True

    # ---- one module --------------------------------------------------------------------------

    def _text(self, wanted: _Wanted) -> str:
        """Return what is wanted of a module as source; wants more of it, and of others, as it goes."""
        index = wanted.index
        uses = {"*": set[str]()}
        before = (-1, -1)
        while before != (now := (len(wanted.names), sum(map(len, uses.values())))):
            before, one = now, _Module(self, wanted, uses)
            body = one.kept(index.tree.body)
            wanted.names |= one.used
        wanted.done = len(wanted.names)
        stars = self._from_stars(wanted)
        tree = ast.Module([*stars, *body], [])
        return ast.unparse(ast.fix_missing_locations(tree)) + "\n"

    def _from_stars(self, wanted: _Wanted) -> list[ast.stmt]:
        """Return imports of the names that only a star import can bring."""
        made: list[ast.stmt] = []
        for name in sorted(wanted.names - wanted.index.bound):
            for star in wanted.index.stars:
                place = self._places.find(star)
                if place is not None and self._has(place, name, 0):
                    self._want(place, {name})
                    wanted.needs[star] = None
                    made.append(ast.ImportFrom(star, [ast.alias(name)], 0))
                    break
        return made

    def _has(self, place: ModuleFile, name: str, depth: int) -> bool:
        """Return whether a module binds a name, through its own star imports too."""
        if depth > 8 or not self._want(place, ()):
            return False
        index = self._wanted[place.name].index
        if name in index.bound:
            return True
        further = (self._places.find(star) for star in index.stars)
        return any(one is not None and self._has(one, name, depth + 1) for one in further)

    def follow(self, wanted: _Wanted, module: str, name: str) -> bool:
        """Want a name of another module; False where that module is no text that could be read."""
        place = self._places.find(module)
        if place is None or not self._want(place, {name}):
            return False
        wanted.needs[module] = None
        return True


class _Module:
    """Filters the statements of one module by the names that are wanted of it."""

    def __init__(self, taking: _Taking, wanted: _Wanted, uses: dict[str, set[str]]) -> None:
        self._taking, self._wanted, self._index = taking, wanted, wanted.index
        self._uses = uses
        self.used: set[str] = set()

    def _refuse(self, reason: UnboundReason, node: ast.AST, what: str) -> None:
        where = f"{self._index.place.path.name}:{getattr(node, 'lineno', 0)}"
        self._wanted.refuse(reason, f"{where}: {what}")

    def resolve(self, node: ast.expr) -> str:
        """Return the dotted name behind the imports of this module."""
        text = dotted(node)
        first, _, rest = text.partition(".")
        known = self._index.imports.get(first)
        if known is None:
            return "" if first in self._index.bound else text
        return f"{known}.{rest}" if rest else known

    def kept(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Return what is wanted of some statements."""
        found = (self._kept(node) for node in body)
        return [one for one in found if one is not None]

    def _kept(self, node: ast.stmt) -> ast.stmt | None:
        if isinstance(node, ast.If):
            return self._if(node)
        if isinstance(node, ast.Try):
            return self._try(node)
        if isinstance(node, ast.Import | ast.ImportFrom):
            return self._import(node)
        names = _targets(node)
        if not names & self._wanted.names:
            return None
        return self._definition(node, names)

    def _definition(self, node: ast.stmt, names: set[str]) -> ast.stmt | None:
        if isinstance(node, ast.FunctionDef):
            is_entry = (self._index.place.name, node.name) in self._taking._entries
            made = function_of(node, self.resolve, is_entry=is_entry)
        elif isinstance(node, ast.ClassDef):
            made = class_of(node, self.resolve)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.value is not None:
            node.value = without_environment(node.value, self.resolve)
            if not is_pure(node.value, self.resolve):
                self._refuse("constant", node, f"{', '.join(sorted(names))} is no literal")
                return None
            if isinstance(node, ast.AnnAssign):
                node.annotation = ast.Constant(None)
            self._use(node.value)
            return node
        else:
            self._refuse("statement", node, f"{', '.join(sorted(names & self._wanted.names))} is bound by a statement")
            return None
        if isinstance(made, str):
            self._refuse("decorator", node, made)
            return None
        self._use(made)
        return made

    def _use(self, node: ast.AST) -> None:
        """Want the names that a statement reads, and the members of modules that it names."""
        self.used |= names_in(node) - _own(node)
        for one in ast.walk(node):
            if isinstance(one, ast.Attribute) and (text := dotted(one)):
                first, _, rest = text.partition(".")
                self._uses.setdefault(first, set()).add(rest)

    def _if(self, node: ast.If) -> ast.stmt | None:
        body, orelse = self.kept(node.body), self.kept(node.orelse)
        if not body and not orelse:
            return None
        test = without_environment(node.test, self.resolve)
        if self.resolve(test) == "typing.TYPE_CHECKING":
            test = ast.Constant(value=False)
        if not is_pure(test, self.resolve):
            if all(map(_is_compilers, [*body, *orelse])):  # whatever it chooses, it is a function of the compiler's own
                error = ast.Name("ImportError", ast.Load())
                return ast.Try(body or [ast.Pass()], [ast.ExceptHandler(error, None, orelse or [ast.Pass()])], [], [])
            self._refuse("condition", node, f"what `if {ast.unparse(node.test)[:80]}` chooses is not known")
            return None
        self._use(test)
        return ast.If(test, body or [ast.Pass()], orelse)

    def _try(self, node: ast.Try) -> ast.stmt | None:
        body, handlers = self.kept(node.body), [self._handler(one) for one in node.handlers]
        if not body and not any(one.body for one in handlers):
            return None
        for one in handlers:
            one.body = one.body or [ast.Pass()]
        orelse, final = self.kept(node.orelse), self.kept(node.finalbody)
        return ast.Try(body or [ast.Pass()], handlers, orelse, final)

    def _handler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        names = names_in(node.type) if node.type is not None else {"Exception"}
        known = sorted(names & _ERRORS) or ["ImportError"]
        kind = ast.Tuple([ast.Name(one, ast.Load()) for one in known], ast.Load())
        return ast.ExceptHandler(kind, None, self.kept(node.body))

    # ---- imports -----------------------------------------------------------------------------

    def _import(self, node: ast.Import | ast.ImportFrom) -> ast.stmt | None:
        if isinstance(node, ast.Import):
            made = [one for alias in node.names if (one := self._whole(alias))]
        else:
            module = self._index.place.absolute(node.module or "", node.level)
            made = [one for alias in node.names if (one := self._part(module, alias))]
        if not made:
            return None
        return made[0] if len(made) == 1 else ast.If(ast.Constant(value=True), made, [])

    def _whole(self, alias: ast.alias) -> ast.stmt | None:
        """Return `import a.b as c` where it is wanted, and want the members of it that are named."""
        bound = alias.asname or alias.name.partition(".")[0]
        if bound not in self._wanted.names:
            return None
        if alias.name.partition(".")[0] in IMPORTED:
            return ast.Import([alias])
        return ast.Import([alias]) if self._members(alias.name if alias.asname else bound, bound) else None

    def _members(self, module: str, bound: str) -> bool:
        """Want what is named of a module by its bound name; return whether there is such a module."""
        found = False
        for rest in self._uses.get(bound, ()):
            parts = [*module.split("."), *rest.split(".")]
            for at in range(len(parts) - 1, 0, -1):
                if self._taking.follow(self._wanted, ".".join(parts[:at]), parts[at]):
                    found = True
                    break
        return found

    def _part(self, module: str, alias: ast.alias) -> ast.stmt | None:
        """Return `from module import name` where it is wanted, and want that name of the module."""
        bound = alias.asname or alias.name
        top = module.partition(".")[0]
        if alias.name == "*":
            return ast.ImportFrom(module, [alias], 0) if top in IMPORTED else None
        if bound not in self._wanted.names:
            return None
        made = ast.ImportFrom(module, [alias], 0)
        if top in IMPORTED:
            return made
        whole = f"{module}.{alias.name}"
        place = self._taking._places.find(module)
        if place is not None and self._taking._has(place, alias.name, 0):
            return made if self._taking.follow(self._wanted, module, alias.name) else None
        if self._taking._places.find(whole) is not None:
            return ast.Import([ast.alias(whole, bound)]) if self._members(whole, bound) else None
        self._refuse("import", made, f"{whole} is not found as text")
        return ast.Raise(ast.Call(ast.Name("ImportError", ast.Load()), [ast.Constant(whole)], []), None)


def _is_compilers(node: ast.stmt) -> bool:
    """Return whether a statement does nothing but import what the second compiler imports."""
    if isinstance(node, ast.Try):
        parts = [*node.body, *node.orelse, *node.finalbody, *(one for each in node.handlers for one in each.body)]
        return all(map(_is_compilers, parts))
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").partition(".")[0] in IMPORTED
    if isinstance(node, ast.Import):
        return all(one.name.partition(".")[0] in IMPORTED for one in node.names)
    return isinstance(node, ast.Pass)


def _targets(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def _own(node: ast.AST) -> set[str]:
    """Return the names that a function binds itself; none of another statement."""
    if not isinstance(node, ast.FunctionDef):
        return set()
    given = node.args
    names = {one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
    names |= {one.arg for one in (given.vararg, given.kwarg) if one is not None}
    inner = [one for statement in node.body for one in ast.walk(statement)]
    outside = {one for part in (*given.defaults, *filter(None, given.kw_defaults)) for one in names_in(part)}
    return (names | {one.id for one in inner if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}) - outside
