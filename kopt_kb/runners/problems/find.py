"""Finds out what a path holds: a problem of one's own, one of KernelBench, or definitions of one of two benches."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.errors import BadInput
from kopt_kb.files import read_json, read_words
from kopt_kb.runners.problems.capsule import Capsule, functions_in
from kopt_kb.runners.problems.definitions import DefinitionPlace, read_definition
from kopt_kb.runners.problems.kernelbench import NEEDED, is_kernelbench, read_kernelbench
from kopt_kb.runners.problems.problem_toml import read_problem_toml

__all__ = ["find_problems", "read_problem"]

_FORMS = (
    "a problem.toml, a KernelBench file, a folder with definition.json and workload.jsonl (SOL-ExecBench), "
    "or definitions/NAME.json with workloads/NAME.jsonl (FlashInfer-Bench)"
)


def read_problem(path: Path, dtype: str = "", shapes: tuple[str, ...] = ()) -> Capsule:
    """Return the problem at a path, whatever form it has.

    Args:
        path: A file, or a folder that holds one problem.
        dtype: Storage type to ask for; empty: the problem's.
        shapes: Shapes to ask for; empty: the problem's.

    Raises:
        BadInput: It is no problem in a known form, or its form fixes what was asked for differently.
    """
    if not path.exists():
        raise BadInput("no such file or folder", where=str(path), fix=f"name {_FORMS}", code="KB110")
    file = _file_of(path)
    if file.suffix == ".toml":
        return read_problem_toml(file, dtype, shapes)
    if file.suffix == ".json":
        found = read_definition(_place(file))
        if dtype and dtype != found.dtype:
            what = f"--dtype {dtype}, and the definition states the types of its tensors"
            raise BadInput(what, where=str(file), fix="leave it out", code="KB103")
        return _chosen(found, shapes)
    if file.suffix == ".py":
        found = read_kernelbench(file, dtype)
        if shapes:
            what = "--shape with a KernelBench file, whose get_inputs makes its one shape"
            raise BadInput(what, where=str(file), fix="edit the numbers in the file", code="KB103")
        return found
    raise BadInput("is no problem in a known form", where=str(path), fix=f"name {_FORMS}", code="KB116")


def _chosen(capsule: Capsule, shapes: tuple[str, ...]) -> Capsule:
    from dataclasses import replace

    from kopt_kb.problem.shapes import format_shape, parse_shape

    if not shapes:
        return capsule
    asked = [parse_shape(one) for one in shapes]
    for one in asked:
        if one not in capsule.shapes:
            known = ", ".join(map(format_shape, capsule.shapes))
            what = f"no workload has the axes {format_shape(one)}"
            raise BadInput(what, where=capsule.file, fix=f"they have {known}", code="KB102")
    places = [capsule.shapes.index(one) for one in asked]
    return replace(capsule, shapes=tuple(asked), workloads=tuple(capsule.workloads[at] for at in places))


def _file_of(path: Path) -> Path:
    if not path.is_dir():
        return path
    for name in ("problem.toml", "definition.json"):
        if (path / name).is_file():
            return path / name
    several = find_problems(path)
    if len(several) == 1:
        return several[0]
    what = f"holds {len(several)} problems" if several else "holds no problem in a known form"
    fix = f"name one of them, such as {several[0]}; kb suite takes the folder" if several else f"name {_FORMS}"
    raise BadInput(what, where=str(path), fix=fix, code="KB116")


def _place(file: Path) -> DefinitionPlace:
    beside = file.parent / "workload.jsonl"
    if beside.is_file():
        return DefinitionPlace("SOL-ExecBench", file, beside, (file.parent, Path.cwd()))
    for root in file.parents:
        if root.name == "definitions":
            inner = file.relative_to(root).with_suffix(".jsonl")
            workloads = root.parent / "workloads" / inner
            if not workloads.is_file():
                found = sorted((root.parent / "workloads").rglob(inner.name))
                workloads = found[0] if found else workloads
            return DefinitionPlace("FlashInfer-Bench", file, workloads, (root.parent, file.parent))
    fix = "SOL-ExecBench keeps workload.jsonl beside it, FlashInfer-Bench workloads/NAME.jsonl beside definitions/"
    raise BadInput("the definition has no workloads", where=str(file), fix=fix, code="KB116")


def find_problems(folder: Path) -> list[Path]:
    """Return the problems below a folder in order of their paths: what `read_problem` can be given."""
    found: dict[Path, None] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and _is_problem(path):
            found[path] = None
    return list(found)


def _is_problem(path: Path) -> bool:
    if path.name in {"problem.toml", "definition.json"}:
        return True
    try:
        if path.suffix == ".json" and "definitions" in path.parts:
            data = read_json(path, 1 << 22)
            return isinstance(data, dict) and {"axes", "inputs", "reference"} <= set(data)
        if path.suffix == ".py":
            text = read_words(path, 1 << 20)
            return all(one in text for one in NEEDED) and is_kernelbench(functions_in(text, str(path)))
    except BadInput:
        return False
    return False
