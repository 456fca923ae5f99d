"""Functions and classes of a source as the second compiler gets them: known decorators, pure defaults, the same body.

A decorator that is not known here is left out, not run: where it changes what is compiled, the code objects differ.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from kopt_kb.launch.recompile.expressions import Resolve, dotted, is_hidden, is_pure

__all__ = ["CONSTANT", "GLUON", "HELPERS", "STRUCTURE", "TRITON", "VALUE", "class_of", "function_of"]

TRITON, GLUON, CONSTANT, VALUE, STRUCTURE = "_kb_triton", "_kb_gluon", "_kb_constant", "_kb_value", "_kb_structure"
"""Names under which a taken module finds the decorators, whatever it bound their names to."""

HELPERS = {
    "triton.jit": TRITON,
    "triton.runtime.jit.jit": TRITON,
    "triton.runtime.jit": TRITON,
    "triton.experimental.gluon.jit": GLUON,
    "triton.experimental.gluon._runtime.jit": GLUON,
    "triton.constexpr_function": CONSTANT,
    "triton.runtime.jit.constexpr_function": CONSTANT,
    "triton.experimental.gluon.constexpr_function": CONSTANT,
    "triton.language.constexpr_function": CONSTANT,
    "triton.language.constexpr": VALUE,
    "triton.language.core._aggregate": STRUCTURE,
    "triton.experimental.gluon.language._core._aggregate": STRUCTURE,
    "triton.experimental.gluon.language.core._aggregate": STRUCTURE,
    "triton.experimental.gluon.language._core.aggregate": STRUCTURE,
    "triton.language.core.aggregate": STRUCTURE,
    "triton.aggregate": STRUCTURE,
    "triton.experimental.gluon.aggregate": STRUCTURE,
    "triton.experimental.gluon.language.aggregate": STRUCTURE,
}
"""Dotted name of a decorator → the name under which a taken module finds it."""

_KEPT_WORDS = frozenset({"noinline"})
_PLAIN_STATEMENTS = (
    ast.Return, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.If, ast.For, ast.While, ast.Expr, ast.Pass, ast.Assert,
    ast.Break, ast.Continue, ast.Raise,
)  # fmt: skip
_PLAIN_CALLS = frozenset({"print", "isinstance", "zip", "enumerate", "reversed", "sorted", "any", "all", "ValueError"})


def function_of(node: ast.FunctionDef, resolve: Resolve, *, is_entry: bool = False) -> ast.FunctionDef | str:
    """Return a function as it is compiled, or why it can't be taken.

    Args:
        node: As the source has it.
        resolve: Dotted names of the module.
        is_entry: Whether it is what was launched: it is made a kernel whoever decorates it.
    """
    kind = _kind(node.decorator_list, resolve)
    if kind is None and not is_entry:
        return f"{node.name} has no decorator that makes a kernel of it"
    kind = kind or ast.Name(TRITON, ast.Load())
    is_constant = TRITON not in (name := ast.unparse(kind)) and GLUON not in name
    if is_constant and (found := _strange(node, resolve)):
        return f"{node.name}: {found}"
    if any(isinstance(one, ast.Attribute) and is_hidden(one.attr) for one in ast.walk(node)):
        return f"{node.name} reads a member of the interpreter's own"
    return ast.FunctionDef(
        node.name, _arguments(node.args, resolve), node.body, [kind], None, None, **_parameters_of(node)
    )


def _parameters_of(node: ast.FunctionDef) -> dict[str, list[ast.AST]]:
    """Return the type parameters that Python from 3.12 on has."""
    return {"type_params": []} if hasattr(node, "type_params") else {}


def _kind(decorators: list[ast.expr], resolve: Resolve) -> ast.expr | None:
    """Return the decorator that makes a kernel of a function, with the words that change its code."""
    for one in decorators:
        called = one.func if isinstance(one, ast.Call) else one
        found = HELPERS.get(resolve(called))
        if found is None or found == STRUCTURE:
            continue
        name = ast.Name(found, ast.Load())
        if not isinstance(one, ast.Call):
            return name
        words = [each for each in one.keywords if each.arg in _KEPT_WORDS and isinstance(each.value, ast.Constant)]
        return ast.Call(name, [], words) if words else name
    return None


def _arguments(given: ast.arguments, resolve: Resolve) -> ast.arguments:
    """Return parameters with pure defaults and annotations; another default becomes None, another annotation goes."""

    def one(node: ast.arg) -> ast.arg:
        note = node.annotation
        kept = note if note is not None and (isinstance(note, ast.Constant) or _is_type(note, resolve)) else None
        return ast.arg(node.arg, kept)

    def value(node: ast.expr) -> ast.expr:
        return node if is_pure(node, resolve) else ast.Constant(None)

    return ast.arguments(
        [one(each) for each in given.posonlyargs],
        [one(each) for each in given.args],
        one(given.vararg) if given.vararg else None,
        [one(each) for each in given.kwonlyargs],
        [value(each) if each is not None else None for each in given.kw_defaults],
        one(given.kwarg) if given.kwarg else None,
        [value(each) for each in given.defaults],
    )


def _is_type(note: ast.expr, resolve: Resolve) -> bool:
    """Return whether an annotation names something of Triton's."""
    return bool(dotted(note)) and resolve(note).startswith("triton.")


def _strange(node: ast.FunctionDef, resolve: Resolve) -> str:
    """Return what a function that runs as Python does besides computing; empty when it does nothing else."""
    own = {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}

    def known(call: ast.expr) -> str:
        name = resolve(call)
        return "abs" if name in _PLAIN_CALLS else name

    for one in ast.walk(ast.Module(node.body, [])):
        if isinstance(one, ast.stmt) and not isinstance(one, _PLAIN_STATEMENTS):
            return f"{type(one).__name__} in a function that runs while it is compiled"
        if isinstance(one, ast.Call) and not _is_plain_call(one, own, known):
            return f"{ast.unparse(one.func)[:60]} is called in a function that runs while it is compiled"
        if isinstance(one, ast.Lambda | ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr):
            return f"{type(one).__name__} in a function that runs while it is compiled"
    return ""


def _is_plain_call(call: ast.Call, own: set[str], known: Callable[[ast.expr], str]) -> bool:
    """Return whether a call in such a function is of a known function, or of another one of the module's own."""
    if is_pure(ast.Call(call.func, [], []), known):
        return True
    if isinstance(call.func, ast.Attribute):  # a question to a parameter, such as `dtype.is_int()`
        return isinstance(call.func.value, ast.Name) and call.func.value.id in own and call.func.attr.startswith("is_")
    return isinstance(call.func, ast.Name) and call.func.id not in own and not known(call.func)


def class_of(node: ast.ClassDef, resolve: Resolve) -> ast.ClassDef | str:
    """Return a structure of a kernel language as it is compiled, or why it can't be taken."""
    decorators = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
    if not any(HELPERS.get(resolve(one)) == STRUCTURE for one in decorators) or node.bases or node.keywords:
        return f"class {node.name} is no structure of a kernel language"
    body: list[ast.stmt] = []
    for one in node.body:
        if isinstance(one, ast.FunctionDef):
            made = _method(one, resolve)
            if isinstance(made, str):
                return f"class {node.name}: {made}"
            body.append(made)
        elif isinstance(one, ast.AnnAssign) and (one.value is None or is_pure(one.value, resolve)):
            body.append(one)
        elif not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)):
            return f"class {node.name}: {type(one).__name__} in a structure"
    kept = ast.ClassDef(node.name, [], [], body or [ast.Pass()], [ast.Name(STRUCTURE, ast.Load())])
    if hasattr(node, "type_params"):
        kept.type_params = []
    return kept


def _method(node: ast.FunctionDef, resolve: Resolve) -> ast.FunctionDef | str:
    made = function_of(node, resolve)
    if not isinstance(made, str) or node.name != "__init__":
        return made
    if found := _strange(node, resolve):
        return f"{node.name}: {found}"
    return ast.FunctionDef(node.name, _arguments(node.args, resolve), node.body, [], None, None, **_parameters_of(node))
