"""What a Triton file lets be set without touching a kernel's body: where each value stands, and what it means there.

A value is found in five places: the configurations of an autotuner, a rule of `@triton.heuristics`, a keyword of a
launch, a literal that a launch or its function's defaults pass to a constexpr, and a launch option that nobody wrote,
which the launch can be given.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from kopt_kb.analysis.frameworks import aliases, dotted_name, frameworks, marks_of

__all__ = ["Knob", "LaunchSite", "Role", "Setting", "Span", "TunableKernel", "tunables_of"]

Role = Literal["block", "group", "warps", "stages", "registers", "choice"]
"""What a value is: extent of a tile, programs that share the L2 cache, launch options, anything else."""

Setting = Mapping[str, bool | int | float | str]
"""What a configuration sets: constexprs and launch options by name."""

OPTIONS: Mapping[str, Role] = {"num_warps": "warps", "num_stages": "stages", "maxnreg": "registers"}
_IN_CONFIG = frozenset({*OPTIONS, "num_ctas"})
_TILE_CALLS = frozenset({"arange", "zeros", "full", "make_block_ptr", "make_tensor_descriptor", "empty"})


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes of a file, with the line that they begin on."""

    begin: int
    end: int
    line: int


@dataclass(frozen=True, slots=True)
class Knob:
    """One value that can be set.

    Attributes:
        name: Of the constexpr or the launch option.
        role: What it means in the kernel.
        value: What the file says; None: nothing, the compiler's default.
        span: Where that is written, or where the keyword would be.
        place: Whether a literal is replaced or a keyword inserted.
        why: What its role was read from.
    """

    name: str
    role: Role
    value: int | None
    span: Span
    place: Literal["literal", "keyword"]
    why: str


@dataclass(frozen=True, slots=True)
class LaunchSite:
    """A launch `kernel[grid](...)` and the function that it stands in."""

    call: ast.Call
    function: ast.FunctionDef | None


@dataclass(frozen=True, slots=True)
class TunableKernel:
    """One kernel that the file launches.

    Attributes:
        name: Its name.
        line: Where it is defined.
        roles: Constexpr → (what it means, where that was read).
        own: What each of its autotuner's configurations sets; None: they are computed, only a run knows them.
        configs: Where the autotuner's configurations are written; None without an autotuner.
        maker: How the file calls a configuration.
        hook: Expression of the first configuration's `pre_hook`; empty without one.
        loops: Whether its body has a loop, which stages could overlap.
        multiplies: Whether it multiplies tiles.
        knobs: Values that stand at its launches.
    """

    name: str
    line: int
    roles: Mapping[str, tuple[Role, str]]
    own: tuple[Setting, ...] | None
    configs: Span | None
    maker: str
    hook: str
    loops: bool
    multiplies: bool
    knobs: tuple[Knob, ...]


@lru_cache(maxsize=64)
def tunables_of(source: bytes) -> Mapping[str, TunableKernel]:
    """Return the kernels that a Triton file launches, by name; none for what is no such file."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return {}
    names, text = aliases(tree), _Text(source)
    launched = _launches(tree)
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in launched and marks_of(node, names) & _marks():
            found[node.name] = _kernel(node, launched[node.name], tree, text)
    return found


def _marks() -> frozenset[str]:
    """Return the decorators of kernels that are launched as `kernel[grid](...)`."""
    return frozenset(one.mark for one in frameworks() if one.start == "subscript")


class _Text:
    """Offsets of a file's nodes in bytes."""

    def __init__(self, source: bytes) -> None:
        self.source, self._starts = source, [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: ast.expr) -> Span:
        begin = self._starts[node.lineno - 1] + node.col_offset
        end = self._starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        return Span(begin, end, node.lineno)

    def behind_arguments(self, call: ast.Call) -> Span:
        """Return the place of a call's closing parenthesis, behind its last argument."""
        end = self.span(call).end - 1
        return Span(end, end, call.lineno)


def _launches(tree: ast.Module) -> dict[str, list[LaunchSite]]:
    """Return kernel → its launches, of functions wherever they stand."""
    found: dict[str, list[LaunchSite]] = {}

    def visit(node: ast.AST, function: ast.FunctionDef | None) -> None:
        inner = node if isinstance(node, ast.FunctionDef) else function
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
            held = node.func.value
            if isinstance(held, ast.Call) and held.args:  # wrap_triton(kernel)[grid]
                held = held.args[0]
            if isinstance(held, ast.Name):
                found.setdefault(held.id, []).append(LaunchSite(node, function))
        for child in ast.iter_child_nodes(node):
            visit(child, inner)

    visit(tree, None)
    return found


def _kernel(node: ast.FunctionDef, sites: Sequence[LaunchSite], tree: ast.Module, text: _Text) -> TunableKernel:
    tuner = next((one for one in map(_configs_of, node.decorator_list) if one is not None), None)
    constants = [one.arg for one in _parameters(node) if _is_constexpr(one)]
    roles = {name: _role(node, name) for name in constants}
    own = _literal_configs(tuner) if tuner is not None else None
    if own is not None and (rules := _heuristics(node)):  # a rule below the tuner overrides what a configuration says
        own = tuple({name: value for name, value in one.items() if name not in rules} for one in own)
    set_by_tuner = {name for one in own or () for name in one}
    knobs = () if tuner is not None and own is None else tuple(_knobs(node, sites, tree, text, roles, set_by_tuner))
    loops = any(isinstance(one, ast.For | ast.While) for one in ast.walk(node))
    span = text.span(tuner) if tuner is not None else None
    maker, hook = ("", "") if tuner is None else (_maker(tuner, tree), _hook(tuner, own is not None, text))
    multiplies = any(isinstance(one, ast.Attribute) and one.attr in {"dot", "dot_scaled"} for one in ast.walk(node))
    return TunableKernel(node.name, node.lineno, roles, own, span, maker, hook, loops, multiplies, knobs)


def _parameters(node: ast.FunctionDef) -> list[ast.arg]:
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def _is_constexpr(argument: ast.arg) -> bool:
    note = argument.annotation
    if isinstance(note, ast.Constant):
        return str(note.value).endswith("constexpr")
    return note is not None and ast.unparse(note).endswith("constexpr")


# ---- what a constexpr means ------------------------------------------------------------------------


def _role(kernel: ast.FunctionDef, name: str) -> tuple[Role, str]:
    if name in OPTIONS:
        return OPTIONS[name], "by its name"
    for call in ast.walk(kernel):
        if isinstance(call, ast.Call):
            called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            given = [*call.args, *(one.value for one in call.keywords if one.arg in {"block_shape", "shape", None})]
            if called in _TILE_CALLS and any(_names(one, name) for one in given):
                return "block", f"{called} at line {call.lineno}"
    upper = name.upper()
    if "GROUP" in upper:
        return "group", "by its name"
    if upper.endswith("STAGES"):
        return "stages", "by its name"
    if "BLOCK" in upper or "TILE" in upper:
        return "block", "by its name"
    return "choice", "no use in the kernel says more"


def _names(node: ast.expr, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(node))


# ---- configurations of an autotuner -----------------------------------------------------------------


def _configs_of(decorator: ast.expr) -> ast.expr | None:
    """Return the configurations that a decorator is given: of `autotune`, or of a library's own of that kind."""
    if not isinstance(decorator, ast.Call):
        return None
    given = next((one.value for one in decorator.keywords if one.arg == "configs"), None)
    if given is None and dotted_name(decorator.func, {}).rpartition(".")[2] == "autotune" and decorator.args:
        return decorator.args[0]
    return given


def _literal_configs(node: ast.expr) -> tuple[Setting, ...] | None:
    if not isinstance(node, ast.List | ast.Tuple):
        return None
    found = [_literal_config(one) for one in node.elts]
    return None if any(one is None for one in found) else tuple(one for one in found if one is not None)


def _maker(tuner: ast.expr, tree: ast.Module) -> str:
    """Return how the file calls a configuration."""
    made = (one.func for one in ast.walk(tuner) if isinstance(one, ast.Call))
    written = next((ast.unparse(one) for one in made if dotted_name(one, {}).rpartition(".")[2] == "Config"), "")
    known = (name for name, dotted in aliases(tree).items() if dotted in {"triton.Config", "triton"})
    name = next(known, "triton")
    return written or (name if aliases(tree).get(name) == "triton.Config" else f"{name}.Config")


def _hook(tuner: ast.expr, is_literal: bool, text: _Text) -> str:
    """Return the expression of the first configuration's hook."""
    if is_literal:
        first = next((one for one in ast.walk(tuner) if isinstance(one, ast.Call)), None)
        words = {one.arg: one.value for one in first.keywords} if first is not None else {}
        return ast.unparse(words["pre_hook"]) if "pre_hook" in words else ""
    if b"pre_hook" not in text.source:  # a function that makes them may name one
        return ""
    span = text.span(tuner)
    return f"list({text.source[span.begin : span.end].decode()})[0].pre_hook"


def _literal_config(node: ast.expr) -> Setting | None:
    if not isinstance(node, ast.Call) or dotted_name(node.func, {}).rpartition(".")[2] != "Config":
        return None
    words = {one.arg: one.value for one in node.keywords if one.arg not in {None, "pre_hook"}}
    table = node.args[0] if node.args else words.pop("kwargs", ast.Dict([], []))
    words |= dict(zip(("num_warps", "num_stages"), node.args[1:], strict=False))
    try:
        values = {**ast.literal_eval(table), **{name: ast.literal_eval(one) for name, one in words.items()}}
    except (ValueError, TypeError):
        return None
    known = {str(name): one for name, one in values.items() if one is not None}
    return known if all(isinstance(one, bool | int | float | str) for one in known.values()) else None


# ---- values at launches ----------------------------------------------------------------------------


def _knobs(
    kernel: ast.FunctionDef,
    sites: Sequence[LaunchSite],
    tree: ast.Module,
    text: _Text,
    roles: Mapping[str, tuple[Role, str]],
    taken: set[str],
) -> Iterator[Knob]:
    """Yield what the launches of a kernel say, each name once; of several launches all have to say it alike."""
    rules = _heuristics(kernel)
    for name, body in rules.items():
        number = body.value if isinstance(body, ast.Constant) and type(body.value) is int else None
        role, why = (OPTIONS[name], "an option") if name in OPTIONS else roles.get(name, ("choice", ""))
        # A block that a rule computes makes a row whole or a mask needless: no other value would be right.
        if body is not None and name not in taken and (number is not None or name in OPTIONS):
            yield Knob(name, role, number, text.span(body), "literal", f"{why}; of a heuristic")
    taken = taken | rules.keys()
    if len(sites) != 1:
        return
    site = sites[0]
    given = dict(zip((one.arg for one in _parameters(kernel)), site.call.args, strict=False))
    given |= {one.arg: one.value for one in site.call.keywords if one.arg is not None}
    for name, (role, why) in roles.items():
        literal = _literal(given.get(name), site.function, tree) if name not in taken else None
        if literal is not None:
            value = literal.value
            yield Knob(name, role, int(value) if isinstance(value, int) else None, text.span(literal), "literal", why)
    for name, role in OPTIONS.items():
        if name in taken or name in roles:
            continue
        written = given.get(name)
        if written is not None:
            value = written.value if isinstance(written, ast.Constant) and isinstance(written.value, int) else None
            yield Knob(name, role, value, text.span(written), "literal", "an option of the launch")
        elif any(one.arg is None for one in site.call.keywords):
            continue  # **options may hold it
        else:
            yield Knob(name, role, None, text.behind_arguments(site.call), "keyword", "an option of the launch")


def _heuristics(kernel: ast.FunctionDef) -> dict[str, ast.expr | None]:
    """Return what `@triton.heuristics` sets → what its lambda gives; None of a function elsewhere."""
    found: dict[str, ast.expr | None] = {}
    for one in kernel.decorator_list:
        if isinstance(one, ast.Call) and dotted_name(one.func, {}).rpartition(".")[2] == "heuristics":
            table = next(iter([*(word.value for word in one.keywords if word.arg == "values"), *one.args]), None)
            for key, value in zip(table.keys, table.values, strict=True) if isinstance(table, ast.Dict) else ():
                if isinstance(key, ast.Constant):
                    found[str(key.value)] = value.body if isinstance(value, ast.Lambda) else None
    return found


def _literal(node: ast.expr | None, function: ast.FunctionDef | None, tree: ast.Module) -> ast.Constant | None:
    """Return the whole number that an argument stands for, where exactly one literal says it."""
    if isinstance(node, ast.Constant):
        return node if type(node.value) is int else None
    if not isinstance(node, ast.Name):
        return None
    if function is not None:
        set_here = _assigned(function, node.id)
        if set_here is not None:
            return _only(set_here)
        defaults = _defaults(function)
        if node.id in {one.arg for one in _parameters(function)}:
            default = defaults.get(node.id)
            return default if isinstance(default, ast.Constant) and type(default.value) is int else None
    top = [one for one in tree.body if isinstance(one, ast.Assign | ast.AnnAssign)]
    values = [one.value for one in top if node.id in _targets(one) and one.value is not None]
    return _only(values)


def _assigned(function: ast.FunctionDef, name: str) -> list[ast.expr] | None:
    """Return the values that a function gives a name; None where it gives none."""
    found: list[ast.expr] = []
    for one in ast.walk(function):
        if isinstance(one, ast.Assign | ast.AnnAssign | ast.AugAssign) and name in _targets(one):
            found.append(one.value if isinstance(one, ast.Assign) else ast.Name(name))
        elif isinstance(one, ast.For | ast.NamedExpr) and _names(one.target, name):
            found.append(ast.Name(name))
    return found or None


def _targets(node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}


def _only(values: Sequence[ast.expr]) -> ast.Constant | None:
    first = values[0] if len(values) == 1 else None
    return first if isinstance(first, ast.Constant) and type(first.value) is int else None


def _defaults(function: ast.FunctionDef) -> dict[str, ast.expr]:
    places = [*function.args.posonlyargs, *function.args.args]
    behind = zip(reversed(places), reversed(function.args.defaults), strict=False)
    words = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    found = {one.arg: value for one, value in behind}
    return found | {one.arg: value for one, value in words if value is not None}
