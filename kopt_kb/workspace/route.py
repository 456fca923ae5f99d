"""The task as a journal keeps it, and its route: from PyTorch logic, from an existing kernel, or the roofline alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, get_args

from kopt_kb.analysis.frameworks import framework_named, frameworks, functions_of, kernels_of
from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Sha256, Wire, plain, read

__all__ = [
    "LOGIC",
    "ROUTES",
    "RecordedProject",
    "RecordedTask",
    "Route",
    "choose_route",
    "recorded_task",
    "route_text",
]

Route = Literal["pytorch", "kernel", "roofline"]
ROUTES: tuple[Route, ...] = get_args(Route)
"""Stage 1 and all that follows; all that follows; the targets alone."""

LOGIC = ("make_inputs", "reference")
"""Functions that PyTorch logic has: inputs of a shape from a seed, and the operation in plain torch."""

_TEXTS: Mapping[Route, str] = {
    "pytorch": "pytorch (implement the kernel first, then tune it)",
    "kernel": "kernel (tune an existing kernel)",
    "roofline": "roofline (targets only, no kernel)",
}


def route_text(route: Route) -> str:
    """Return the route in words."""
    return _TEXTS[route]


@dataclass(frozen=True, slots=True)
class RecordedProject(Wire):
    """A project file as it was captured.

    Attributes:
        file: Its path.
        root: The project's folder.
        blob: Its bytes.
        compares: Whether it has a command `outputs`, whose results are compared; False too in earlier journals.
    """

    WIRE: ClassVar = ("file", "root", "blob", "compares?=_compares")
    file: str
    root: str
    blob: Sha256
    compares: bool = False

    @property
    def _compares(self) -> bool | None:
        return self.compares or None

    @classmethod
    def from_wire(cls, document: Mapping[str, object]) -> Mapping[str, object]:
        """Read what is there: most files compare nothing."""
        return document


@dataclass(frozen=True, slots=True)
class RecordedTask(Wire):
    """What was asked for besides the problem, as the first event keeps it.

    Attributes:
        framework: Language of the kernel; empty where there is none.
        arch: Architecture of the platform.
        target: Its compile target.
        vendor: Its vendor.
        kernel_demo: Name of the file the workspace starts from.
        reference_project: Where related code is.
        route: How the workspace entered the loop; None where the journal is from before routes: an existing kernel.
        project: The project whose commands judge; None: the kernel file is judged by itself.
        reference: What judges correctness, where somebody said it.
    """

    WIRE: ClassVar = (
        "framework", "arch", "target", "vendor", "kernel_demo", "reference_project", "route?", "project?", "reference?",
    )  # fmt: skip
    framework: str = ""
    arch: str = ""
    target: str = ""
    vendor: str = ""
    kernel_demo: str = ""
    reference_project: str = ""
    route: Route | None = None
    project: RecordedProject | None = None
    reference: str | None = None

    @property
    def instructions(self) -> str:
        """Instruction set of compiled code: sass, amdgcn, or nothing for a vendor without one here."""
        return {"NVIDIA": "sass", "AMD": "amdgcn"}.get(self.vendor, "")


def recorded_task(problem: Mapping[str, object]) -> RecordedTask:
    """Return the task in a recorded problem; raises `WireError` where it is none."""
    return read(RecordedTask, plain(problem.get("task", {})), where="problem.task")


def choose_route(
    asked: str | None, demo: Path | None, source: bytes, framework: str, *, has_reference: bool = False
) -> Route:
    """Return the route of a task: the one asked for if what is given fits it, else the one that fits.

    Args:
        asked: Word of the user; None: infer it.
        demo: Kernel demo; None: there is none.
        source: Its bytes.
        framework: Language the kernel is to be in.
        has_reference: Whether the problem comes with a reference of its own, which is the logic to start from.

    Raises:
        BadInput: The route asked for and the rest of the task don't go together.
    """
    if asked is not None and asked not in ROUTES:
        raise BadInput(f"no route {asked!r}", where="--route", fix=f"one of {', '.join(ROUTES)}", code="KB318")
    if demo is None and has_reference and (asked == "pytorch" or (asked is None and framework)):
        return "pytorch"
    if demo is None:
        if asked in {None, "roofline"}:
            return "roofline"
        raise _refused(f"the route {asked} needs a file to start from", "--route", "name it with --kernel-demo")
    if asked == "roofline":
        raise _refused(
            "the route roofline takes no kernel demo", "--route", "leave --kernel-demo out, or choose another route"
        )
    if asked == "kernel" or (asked is None and has_reference):
        return "kernel"
    reason = _no_logic(source, framework)
    if asked is None:
        return "kernel" if reason or _holds(source, framework) else "pytorch"
    if reason:
        raise _refused(reason[0], str(demo), reason[1])
    return "pytorch"


def _holds(source: bytes, framework: str) -> bool:
    known = framework_named(framework)
    return known is not None and bool(kernels_of(source, known))


def _no_logic(source: bytes, framework: str) -> tuple[str, str] | None:
    """Return why a file can't start the route pytorch and what to do; None when it can."""
    if framework_named(framework) is None:
        known = ", ".join(one.name for one in frameworks())
        return f"kernels of {framework} can't be recognised in a Python file", f"the route pytorch knows {known}"
    try:
        lacking = [name for name in LOGIC if name not in functions_of(source)]
    except (SyntaxError, ValueError) as error:
        return f"line {getattr(error, 'lineno', None) or 1} is not valid Python", "fix the file first"
    if lacking:
        return f"the PyTorch logic lacks {' and '.join(lacking)}", "docs/tuning.md shows such a file"
    return None


def _refused(what: str, where: str, fix: str) -> BadInput:
    return BadInput(what, where=where, fix=fix, code="KB319")
