"""Which files are problems of KernelBench, SOL-ExecBench and FlashInfer-Bench, and how each is read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import read_json, read_words
from kopt_kb.launch.problems.capsule import Capsule, functions_in
from kopt_kb.packs.problem_sets.definitions import DefinitionPlace, read_definition
from kopt_kb.packs.problem_sets.kernelbench import NEEDED, is_kernelbench, read_kernelbench
from kopt_kb.problem.shapes import format_shape, parse_shape

__all__ = ["is_class_file", "is_definition", "is_trace_definition", "read_class_file", "read_definition_file"]


def is_class_file(path: Path) -> bool:
    """Return whether a Python file is a problem of KernelBench."""
    text = read_words(path, 1 << 20)
    return all(one in text for one in NEEDED) and is_kernelbench(functions_in(text, str(path)))


def read_class_file(path: Path, dtype: str = "", shapes: tuple[str, ...] = ()) -> Capsule:
    """Return the problem of a KernelBench file; raises `BadInput` for another shape than its own."""
    found = read_kernelbench(path, dtype)
    if shapes:
        what = "--shape with a KernelBench file, whose get_inputs makes its one shape"
        raise BadInput(what, where=str(path), fix="edit the numbers in the file", code="KB103")
    return found


def is_definition(path: Path) -> bool:
    """Return whether a file has the name that SOL-ExecBench gives to definitions."""
    return path.name == "definition.json"


def is_trace_definition(path: Path) -> bool:
    """Return whether a file is a definition of FlashInfer-Bench: below `definitions`, with its keys."""
    if "definitions" not in path.parts:
        return False
    data = read_json(path, 1 << 22)
    return isinstance(data, dict) and {"axes", "inputs", "reference"} <= set(data)


def read_definition_file(path: Path, dtype: str = "", shapes: tuple[str, ...] = ()) -> Capsule:
    """Return the problem of a definition, of either bench; raises `BadInput` for another type or unknown shapes."""
    found = read_definition(_place(path))
    if dtype and dtype != found.dtype:
        what = f"--dtype {dtype}, and the definition states the types of its tensors"
        raise BadInput(what, where=str(path), fix="leave it out", code="KB103")
    return _chosen(found, shapes)


def _chosen(capsule: Capsule, shapes: tuple[str, ...]) -> Capsule:
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
