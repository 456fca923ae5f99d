"""Reads problems of GPU MODE's leaderboards: a folder with `task.yml`, `reference.py` and `task.py`."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import cast

import yaml

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import read_words
from kopt_kb.base.wire import JSON
from kopt_kb.launch.problems.capsule import Capsule, functions_in, problem_name, reference_file
from kopt_kb.problem.dtypes import dtype_of
from kopt_kb.problem.shapes import Shape, format_shape, parse_shape
from kopt_kb.problem.tolerances import Tolerance, tolerance_of

__all__ = ["FILE", "is_task", "read_task"]

FILE = "task.yml"
_SOURCE = "GPU MODE"
_REFERENCE, _MAKE, _KERNEL, _SEED = "reference.py", "generate_input", "ref_kernel", "seed"
_MOST_SHAPES, _MOST_VALUES = 64, 10_000
_DEFAULT_RTOL = "1e-5"
"""rtol of the leaderboards' `make_match_reference` where a reference states none."""


def is_task(path: Path) -> bool:
    """Return whether a file has the name that GPU MODE gives to a problem's description."""
    return path.name == FILE


def read_task(path: Path, dtype: str = "", shapes: tuple[str, ...] = (), stored: str = "") -> Capsule:
    """Return the problem of a task; its shapes are the integers of its benchmarks, else of its tests.

    Args:
        path: The `task.yml`.
        dtype: Storage type that was asked for; only the file's own can be.
        shapes: Shapes to take; empty: all.
        stored: Storage type of its inputs, once they were made.

    Raises:
        BadInput: A file is not as the form has it, or imports one that the task does not list.
    """
    task = _task(path)
    joined = _Joined(path, _sources(task, path))
    python = joined.text(path.parent / _REFERENCE)
    names = functions_in(python, str(path.parent / _REFERENCE))
    lacking = [one for one in (_MAKE, _KERNEL) if one not in names]
    if lacking:
        fix = f"a problem of this form has {_MAKE} and {_KERNEL}; state it in a problem.toml (docs/problems.md)"
        where = str(path.parent / _REFERENCE)
        raise BadInput(f"there is no function {', '.join(lacking)}", where=where, fix=fix, code="KB116")
    tree = ast.parse(python)
    made, kernel = (next(one for one in tree.body if _is_function(one, name)) for name in (_MAKE, _KERNEL))
    storage = dtype_of(dtype or stored or "fp32").name
    form, workloads, left_out = _workloads(task, path)
    chosen = _chosen(workloads, shapes, path)
    limits = _limits(tree, storage, path.parent / _REFERENCE)
    members, changed = _members(kernel)
    name = problem_name(f"gpu_mode {path.parent.name}")
    table = {
        "name": name, "form": list(form), "workloads": chosen, "make": _MAKE, "reference": _KERNEL,
        "seed": _SEED if _SEED in _parameters(made) else "", "names": list(members), "changed": list(changed),
    }  # fmt: skip
    text = reference_file(
        python, "made_input.MadeInput", cast("JSON", table), limits, {"GPU MODE problem": path.parent.name}
    )
    notes = [f"{left_out} benchmark(s) left out: their integers are another's"] if left_out else []
    return Capsule(
        _SOURCE, name, path.name, form or ("one",), tuple(parse_shape(one) for one in chosen), storage, limits, text,
        notes=tuple(notes), retyped=None if dtype or stored else partial(_retyped, path, shapes),
    )  # fmt: skip


def _retyped(path: Path, shapes: tuple[str, ...], stored: str) -> Capsule:
    return read_task(path, "", shapes, stored)


# ---- task.yml --------------------------------------------------------------------------------------


def _task(path: Path) -> Mapping[str, object]:
    try:
        data = yaml.safe_load(read_words(path, 1 << 20))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        raise BadInput("is no YAML", where=where, fix="see its syntax", code="KB116") from error
    if not isinstance(data, dict):
        raise BadInput("is no task", where=str(path), fix="a task has files, tests and benchmarks", code="KB116")
    return {str(name): value for name, value in data.items()}


def _entries(task: Mapping[str, object], key: str) -> list[dict[str, object]]:
    found = task.get(key)
    entries = found if isinstance(found, list) else []
    return [{str(name): value for name, value in one.items()} for one in entries if isinstance(one, dict)]


def _sources(task: Mapping[str, object], path: Path) -> dict[str, Path]:
    """Return module → file of those that a task puts beside its reference."""
    listed = {str(one.get("name", "")): str(one.get("source", "")) for one in _entries(task, "files")}
    files = {Path(name).stem: path.parent / source for name, source in listed.items() if name.endswith(".py")}
    return {name: file for name, file in files.items() if file.is_file()}


def _workloads(task: Mapping[str, object], path: Path) -> tuple[tuple[str, ...], dict[str, dict[str, object]], int]:
    """Return the form, shape → what else an input takes, and how many entries had a shape that was taken."""
    entries = _entries(task, "benchmarks") or _entries(task, "tests")
    if not entries:
        raise BadInput("has neither benchmarks nor tests", where=str(path), fix="add one", code="KB116")
    form = tuple(
        name for name in entries[0] if name != _SEED and all(_is_extent(one.get(name)) for one in entries)
    )  # fmt: skip
    found: dict[str, dict[str, object]] = {}
    for one in entries:
        shape = [int(str(one[name])) for name in form] or [1]
        more = {name: _plain(name, value, path) for name, value in one.items() if name not in (*form, _SEED)}
        found.setdefault(format_shape(shape), more)
    kept = dict([*found.items()][:_MOST_SHAPES])
    return form, kept, len(entries) - len(kept)


def _plain(name: str, value: object, path: Path) -> object:
    """Return what an input takes beside its integers; raises `BadInput` for what a call can't be given as it is."""
    for number, one in enumerate(_leaves(value)):
        if number >= _MOST_VALUES:
            what = f"{name} of an input has more than {_MOST_VALUES} values"
            raise BadInput(what, where=str(path), fix="let generate_input make them", code="KB116")
        if not isinstance(one, (str, int, float, type(None))) or (isinstance(one, float) and not math.isfinite(one)):
            what = f"{name} of an input is {one if isinstance(one, float) else f'a {type(one).__name__}'}"
            fix = "finite numbers, text, true, false and null, alone or in lists and tables"
            raise BadInput(what, where=str(path), fix=fix, code="KB116")
    return value


def _leaves(value: object) -> Iterator[object]:
    """Yield the members of lists and tables and, before its own, each list: one of itself never ends."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, (list, dict)):
            waiting += [*one, *one.values()] if isinstance(one, dict) else one
        yield None if isinstance(one, (list, dict)) else one


def _is_extent(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _chosen(
    workloads: Mapping[str, dict[str, object]], shapes: Sequence[str], path: Path
) -> dict[str, dict[str, object]]:
    known: dict[Shape, str] = {parse_shape(one): one for one in workloads}
    for one in shapes:
        if parse_shape(one) not in known:
            fix = f"they have {', '.join(workloads)}"
            raise BadInput(f"no benchmark has the shape {one}", where=str(path), fix=fix, code="KB102")
    asked = [known[parse_shape(one)] for one in shapes] or [*workloads]
    return {one: workloads[one] for one in asked}


# ---- the Python ------------------------------------------------------------------------------------


@dataclass
class _Joined:
    """A reference and the files that it imports, as one text: judges load that alone."""

    task: Path
    sources: Mapping[str, Path]

    def text(self, file: Path) -> str:
        """Return a file with what it imports of the others above it."""
        if not file.is_file():
            fix = f"a problem of this form has {_REFERENCE} beside {FILE}"
            raise BadInput("no such file", where=str(file), fix=fix, code="KB110")
        done: dict[str, str] = {}
        self._add(file.stem, file, done)
        future = any("from __future__ import annotations" in one for one in done.values())
        parts = [one.replace("from __future__ import annotations", "") for one in done.values()]
        return "\n\n".join([*(["from __future__ import annotations"] if future else []), *parts])

    def _add(self, name: str, file: Path, done: dict[str, str]) -> None:
        python = read_words(file, 1 << 20)
        functions_in(python, str(file))
        lines, gone = python.splitlines(), list[ast.ImportFrom]()
        for node in ast.walk(ast.parse(python)):
            wanted = self._imported(node, name, f"{file}:{getattr(node, 'lineno', 1)}")
            if not wanted or not isinstance(node, ast.ImportFrom):
                continue
            for one in wanted:
                if one not in done:
                    done[one] = ""
                    self._add(one, self.sources[one], done)
            gone.append(node)
        for node in sorted(gone, key=lambda one: (one.lineno, one.col_offset), reverse=True):
            _replace(lines, node, "; ".join(f"{one.asname} = {one.name}" for one in node.names if one.asname) or "pass")
        done.pop(name, None)
        done[name] = "\n".join(lines)

    def _imported(self, node: ast.AST, own: str, where: str) -> list[str]:
        """Return which of the task's files a statement imports; raises `BadInput` for a form that can't be joined."""
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [str(node.module or "")]
        found = [one for one in names if one in self.sources and one != own]
        beside = [one for one in names if one not in self.sources and (self.task.parent / f"{one}.py").is_file()]
        if beside or (found and isinstance(node, ast.Import)):
            what = f"imports {(beside or found)[0]}, " + ("which the task does not list" if beside else "as a module")
            fix = f"list it under files of {FILE}" if beside else f"write: from {found[0]} import NAME"
            raise BadInput(what, where=where, fix=fix, code="KB116")
        return found


def _replace(lines: list[str], node: ast.stmt, text: str) -> None:
    """Put text in a statement's place: what else is on its lines stays, and so does the number of lines."""
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    before = lines[first].encode()[: node.col_offset].decode()
    behind = lines[last].encode()[node.end_col_offset :].decode()
    lines[first : last + 1] = [f"{before}{text}{behind}", *([""] * (last - first))]


def _is_function(node: ast.stmt, name: str) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == name


def _parameters(node: ast.stmt) -> list[str]:
    return [one.arg for one in (*node.args.args, *node.args.kwonlyargs)] if isinstance(node, ast.FunctionDef) else []


def _members(kernel: ast.stmt) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what a reference calls the members of its argument, and which of them it writes."""
    data, names, written = (_parameters(kernel) or [""])[0], tuple[str, ...](), dict[str, None]()
    for node in ast.walk(kernel):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id == data:
            parts = node.targets[0]
            if isinstance(parts, ast.Tuple) and all(isinstance(one, ast.Name) for one in parts.elts):
                names = tuple(str(getattr(one, "id", "")) for one in parts.elts)
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AugAssign) else targets
        for one in targets:
            if isinstance(one, ast.Subscript) and isinstance(one.value, ast.Name):
                written[one.value.id] = None
            elif isinstance(one, ast.Name) and isinstance(node, ast.AugAssign):
                written[one.id] = None
        call = node.func if isinstance(node, ast.Call) else None
        if isinstance(call, ast.Attribute) and isinstance(call.value, ast.Name) and call.attr.endswith("_"):
            written[call.value.id] = None
    names = tuple(f"{one}{at}" if names.count(one) > 1 else one for at, one in enumerate(names))
    return names, tuple(one for one in names if one in written)


def _limits(tree: ast.Module, storage: str, file: Path) -> Tolerance:
    """Return the rtol that the reference's check states, not below what the storage type's rounding explains."""
    usual, rtol = tolerance_of(storage), Fraction(_DEFAULT_RTOL)
    for node in ast.walk(tree):
        for word in node.keywords if isinstance(node, ast.Call) else ():
            if word.arg == "rtol" and isinstance(word.value, ast.Constant) and isinstance(word.value.value, float):
                if not math.isfinite(word.value.value):
                    raise BadInput("rtol is inf", where=str(file), fix="give one below 1", code="KB068")
                rtol = max(rtol, Fraction(str(word.value.value)))
    if rtol <= usual.rel_l2_err:
        return usual
    reason = "rtol of the reference's check, held by the norm; ten times that by an element of a row"
    return replace(usual, rel_l2_err=rtol, max_abs_err_rel=10 * rtol, reason=reason)
