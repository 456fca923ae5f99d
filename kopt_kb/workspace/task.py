"""What a user asks a workspace for, checked before anything is created."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import read_input
from kopt_kb.launch.cuda.header import read_header
from kopt_kb.launch.kernel.declared import has_header
from kopt_kb.problem.problem import Problem

__all__ = ["ProjectCapture", "Task", "declared_op", "read_demo"]

_MAX_DEMO_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class ProjectCapture:
    """A project file as it was when the workspace was made.

    Attributes:
        file: Absolute path of the file.
        root: Absolute path of the project's folder.
        data: Bytes of the file.
        compares: Whether it has a command `outputs`, so that results are compared here.
    """

    file: Path
    root: Path
    data: bytes
    compares: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """The input of `Workspace.create`.

    Attributes:
        platform: Name of the exact product.
        framework: Language of the kernel, such as Triton, CUDA, HIP.
        kernel_demo: File of the kernel or PyTorch logic to start from; copied to kernel.py. None: roofline only.
        problem: Operation, shapes, storage type, tolerance.
        arch: Architecture the user named; must be the platform's. Empty: derived from the platform.
        reference_project: Where related code is; empty when there is none.
        notes: Text of Additional Notes.
        placeholders: Key → what the user puts in place of an UNKNOWN value; never part of a target.
        allow_unknown: Create the workspace although an input of a target is UNKNOWN.
        min_grade: Refuse roofs of a weaker grade.
        aim: Performance target in words; empty: 0.9 of each roof.
        project: The project file whose commands judge candidates; None: the kernel file is judged by itself.
        route: How the workspace enters the loop; None: what the kernel demo is.
        reference: Reference file of a problem outside the list; empty: the kernel demo has one.
        source: What of the kernel demo the workspace starts from; empty: all of it.
    """

    platform: str
    framework: str
    kernel_demo: Path | None
    problem: Problem
    arch: str = ""
    reference_project: str = ""
    notes: str = ""
    placeholders: Mapping[str, str] = field(default_factory=dict)
    allow_unknown: bool = False
    min_grade: str | None = None
    aim: str = ""
    project: ProjectCapture | None = None
    route: str | None = None
    reference: bytes = b""
    source: bytes = b""

    def demo(self) -> bytes:
        """Return what the workspace starts from, nothing without a kernel demo; raises as `read_demo`."""
        return self.source or (read_demo(self.kernel_demo) if self.kernel_demo is not None else b"")


def read_demo(path: Path) -> bytes:
    """Return the bytes of the kernel demo; raises `BadInput` if it is no readable Python file of a sensible size."""
    data = read_input(path, _MAX_DEMO_BYTES)
    if not data.strip():
        raise BadInput("the kernel demo is empty", where=str(path), fix="name the kernel's file", code="KB116")
    if path.suffix in {".cu", ".cuh"} and not has_header("", data):
        fix = "begin the file with /* kb … */, so that the workspace's copy says how it is launched"
        raise BadInput("the kernel demo has no header", where=str(path), fix=fix, code="KB077")
    return data


def declared_op(source: bytes, path: Path) -> str | None:
    """Return the literal `OP = "…"` of a kernel file, the `op` of a CUDA C++ header, or None; nothing is run."""
    if has_header(path, source):
        header = read_header(path)
        return header.op or None if header is not None else None
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        raise BadInput(
            "kernel demo is not valid Python", where=f"{path}:{line}", fix="fix the file first", code="KB116"
        ) from error
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if isinstance(target, ast.Name) and target.id == "OP" and isinstance(value, ast.Constant):
            return str(value.value)
    return None
