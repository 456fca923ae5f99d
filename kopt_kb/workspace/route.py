"""Entry routes: from PyTorch logic, from an existing kernel, or the roofline alone; inferred from what is given."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, cast, get_args

from kopt_kb.analysis.frameworks import FRAMEWORKS, framework_named, functions_of, kernels_of
from kopt_kb.errors import BadInput

__all__ = ["LOGIC", "ROUTES", "Route", "choose_route", "route_of", "route_text"]

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


def route_of(problem: Mapping[str, Any]) -> Route:
    """Return the route in a recorded problem; workspaces from before routes have an existing kernel."""
    word = problem.get("task", {}).get("route", "kernel")
    if word not in ROUTES:
        raise BadInput(
            f"unknown route {word!r}", where="problem.task.route", fix=f"one of {', '.join(ROUTES)}", code="KB318"
        )
    return cast("Route", word)


def choose_route(asked: str | None, demo: Path | None, source: bytes, framework: str) -> Route:
    """Return the route of a task: the one asked for if what is given fits it, else the one that fits.

    Args:
        asked: Word of the user; None: infer it.
        demo: Kernel demo; None: there is none.
        source: Its bytes.
        framework: Language the kernel is to be in.

    Raises:
        BadInput: The route asked for and the rest of the task don't go together.
    """
    if asked is not None and asked not in ROUTES:
        raise BadInput(f"no route {asked!r}", where="--route", fix=f"one of {', '.join(ROUTES)}", code="KB318")
    if demo is None:
        if asked in {None, "roofline"}:
            return "roofline"
        raise _refused(f"the route {asked} needs a file to start from", "--route", "name it with --kernel-demo")
    if asked == "roofline":
        raise _refused(
            "the route roofline takes no kernel demo", "--route", "leave --kernel-demo out, or choose another route"
        )
    if asked == "kernel":
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
        known = ", ".join(one.name for one in FRAMEWORKS.values())
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
