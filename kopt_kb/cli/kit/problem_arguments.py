"""--problem PATH: a problem outside the list of operations, or the workspace of one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.problem.problem import Problem
from kopt_kb.sandbox.owned import owned_folder
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.workspace import Workspace

__all__ = ["add_problem", "chosen_shape", "given_problem", "reference_path"]


def add_problem(parser: argparse.ArgumentParser) -> None:
    """Declare --problem."""
    parser.add_argument(
        "--problem",
        metavar="PATH",
        help="problem.toml, a benchmark's problem, or a workspace of one (docs/problems.md)",
    )


def given_problem(
    path: str, dtype: str | None = None, shapes: Sequence[str] = (), options: Mapping[str, str] | None = None
) -> tuple[Problem, bytes]:
    """Return a problem and its reference file; one that no workspace holds is counted first.

    `options` may hold `compute=tf32`, as the options of a product do.

    Raises:
        BadInput: There is none at that path, or it has no such shape or type.
    """
    compute = _compute(options or {})
    if (Path(path) / "journal.jsonl").is_file():
        if compute != "storage":
            what = "a workspace's problem was counted when it was made"
            raise BadInput(what, where=path, fix="leave --option out", code="KB103")
        return _of_workspace(path, dtype, shapes)
    from kopt_kb.launch.problems.described import stated_problem
    from kopt_kb.launch.problems.find import read_problem

    capsule = read_problem(Path(path), dtype or "", tuple(shapes))
    print(f"kb: counting the work of {capsule.name} ({capsule.source})", file=sys.stderr, flush=True)
    stated = stated_problem(capsule, compute)
    return stated.problem, stated.reference


def _compute(options: Mapping[str, str]) -> str:
    """Return how products are computed, of the options of a problem: there is no other one."""
    others = sorted(options.keys() - {"compute"})
    compute = options.get("compute", "storage")
    if others or compute not in {"storage", "tf32"}:
        what = f"--option {others[0] if others else f'compute={compute}'} of a problem"
        raise BadInput(what, where="--option", fix="it has one option: compute=storage or compute=tf32", code="KB065")
    return compute


def _of_workspace(path: str, dtype: str | None, shapes: Sequence[str]) -> tuple[Problem, bytes]:
    workspace = Workspace.open(path)
    problem = workspace.state().problem
    if problem.own is None:
        what = f"the workspace's problem is the operation {problem.op}"
        raise BadInput(what, where=path, fix="leave --problem out and give --op", code="KB103")
    if dtype and dtype != problem.dtype:
        what = f"--dtype {dtype}, and the workspace's problem is of {problem.dtype}"
        raise BadInput(what, where=path, fix="leave it out", code="KB103")
    reference = ObjectStore(workspace.layout.objects).get(problem.own.reference)
    return problem.with_shapes(shapes) if shapes else problem, reference


def chosen_shape(problem: Problem, shapes: Sequence[str], where: str) -> str:
    """Return the one shape that is meant; raises `BadInput` where there are several."""
    known = problem.shape_names
    if len(known) == 1 or len(shapes) == 1:
        return known[0]
    what = f"the problem has {len(known)} shapes"
    raise BadInput(what, where=where, fix=f"choose one: --shape {known[0]}", code="KB102")


@contextmanager
def reference_path(reference: bytes) -> Iterator[Path]:
    """Keep a reference file on disk for as long as the block runs."""
    with owned_folder("kb-problem-") as folder:
        path = folder / "reference.py"
        path.write_bytes(reference)
        yield path
