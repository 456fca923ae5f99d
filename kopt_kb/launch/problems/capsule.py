"""A problem as it was read: the one reference file that it becomes, and what its own files say besides.

The reference file is the source's Python as it stands, followed by the lines that make a problem of it. It is what a
workspace keeps, what judges load, and what a person can read; nothing else of the source is needed afterwards.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from pprint import pformat
from typing import Literal

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import JSON
from kopt_kb.problem.shapes import Shape
from kopt_kb.problem.tolerances import Tolerance

__all__ = ["Capsule", "DeclaredWork", "Formulas", "functions_in", "problem_name", "reference_file", "self_contained"]

Adapter = Literal["stated.Stated", "torch_model.TorchModel", "own_version.OwnVersion", "made_input.MadeInput"]
_FOOTER = """

# ---- from here on: how kopt-kb makes a problem of the file above ----
from kopt_kb.launch.problems.{module} import {kind} as _kopt_kind

OP, make_inputs, reference, published, launcher, PROBLEM = _kopt_kind(dict(globals()), {argument}).parts()
TOLERANCE = {tolerance}
"""


@dataclass(frozen=True, slots=True)
class Formulas:
    """Work as expressions of the dimensions.

    Attributes:
        flops: Useful operations.
        engine: "matrix" or "vector".
        compute: Type that the engine computes in; empty: the storage type's.
        read: Compulsory bytes read.
        write: Compulsory bytes written.
        special: Special functions, such as exp; empty: none are stated.
        source: Why these are the right ones.
    """

    flops: str
    read: str
    write: str
    engine: str = "vector"
    compute: str = ""
    special: str = ""
    source: str = ""


DeclaredWork = Formulas | None


@dataclass(frozen=True, slots=True)
class Capsule:
    """A problem that was read.

    Attributes:
        source: Form of its files.
        name: Its name, usable as an operation's.
        file: The file it was read from.
        form: Dimensions by name; empty: the reference's own inputs say them.
        shapes: Shapes it has; empty: likewise.
        dtype: Storage type.
        tolerance: Limits that its files state, or the storage type's.
        text: The reference file.
        work: Formulas of its work; None: it is counted.
        constants: Dimensions that are the same for all shapes, or follow from others.
        workloads: Names of the shapes in its files.
        notes: What could not be derived, and what was decided instead.
        results: How many tensors its files say the reference returns; 0: they do not say.
        retyped: Reads it again in another storage type, where this one was taken for want of a statement; else None.
    """

    source: str
    name: str
    file: str
    form: tuple[str, ...]
    shapes: tuple[Shape, ...]
    dtype: str
    tolerance: Tolerance
    text: bytes
    work: DeclaredWork = None
    constants: tuple[tuple[str, str | int], ...] = ()
    workloads: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    results: int = 0
    retyped: Callable[[str], Capsule] | None = None


def problem_name(text: str) -> str:
    """Return a name as an operation has one: lower-case letters, digits and underscores, a letter first."""
    plain = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:96]
    return plain if plain[:1].isalpha() else f"p_{plain}"


def reference_file(
    python: str, adapter: Adapter, argument: JSON, tolerance: Tolerance, before: Mapping[str, str] | None = None
) -> bytes:
    """Return the reference file of a problem: its own Python, then how it is used.

    Args:
        python: Its Python, unchanged.
        adapter: Which class of `kopt_kb.launch.problems` makes a problem of it.
        argument: What that class is told, as a literal.
        tolerance: Limits of a right result.
        before: Comment lines of the head: what is said → words.
    """
    module, kind = adapter.split(".")
    limits = (str(tolerance.rel_l2_err), str(tolerance.max_abs_err_rel), tolerance.reason)
    head = "".join(f"# {name}: {' '.join(words.split())}\n" for name, words in (before or {}).items())
    shown = pformat(argument, width=116, sort_dicts=False)
    footer = _FOOTER.format(module=module, kind=kind, argument=shown, tolerance=pformat(limits, width=116))
    return (head + python.rstrip() + footer).encode()


def functions_in(python: str, where: str) -> dict[str, int]:
    """Return functions and classes at the top of a Python file → line; raises `BadInput` if it is none."""
    return {one.name: one.lineno for one in _tree(python, where).body if isinstance(one, _NAMED)}


_NAMED = ast.FunctionDef | ast.ClassDef


def _tree(python: str, where: str) -> ast.Module:
    try:
        return ast.parse(python)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        what = f"is not valid Python: {getattr(error, 'msg', error)}"
        raise BadInput(what, where=f"{where}:{line}", fix="name a problem's own file", code="KB116") from error


def self_contained(python: str, path: Path) -> None:
    """Raise `BadInput` where a problem's Python imports a file beside it: a reference file stands alone."""
    beside = {one.stem for one in path.parent.glob("*.py")} | {
        one.name for one in path.parent.iterdir() if (one / "__init__.py").is_file()
    }
    for node in ast.walk(_tree(python, str(path))):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        relative = isinstance(node, ast.ImportFrom) and node.level > 0
        if isinstance(node, ast.ImportFrom) and not relative:
            names = [str(node.module)]
        local = next((one for one in names if one.split(".")[0] in beside - {path.stem}), "")
        if relative or local:
            raise BadInput(
                f"the problem's Python imports {local or 'a file'} beside it",
                where=f"{path}:{getattr(node, 'lineno', 1)}",
                fix="put what it needs into one file: judges load that file alone",
                code="KB116",
            )
