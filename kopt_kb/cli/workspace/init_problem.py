"""`kb init --problem PATH`: the task that a problem outside the list makes, with what could not be derived said."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.kit.output import conditions
from kopt_kb.cli.kit.problem_arguments import given_problem
from kopt_kb.workspace.task import Task

__all__ = ["task_of_problem"]


def task_of_problem(args: argparse.Namespace, placeholders: Mapping[str, str]) -> Task:
    """Return the task of a problem; without a kernel demo its reference is what Stage 1 starts from.

    Raises:
        BadInput: The problem can't be used, or a word contradicts it.
    """
    for word, given in (("--op", args.op), ("--threshold", args.threshold)):
        if given:
            what = f"{word} and --problem"
            fix = "the problem says what it computes and how close is right"
            raise BadInput(what, where="kb init", fix=fix, code="KB103")
    if not args.platform or (args.kernel_demo and not args.framework):
        missing = "--platform" if not args.platform else "--framework"
        fix = "nothing was created; give it and run again"
        raise BadInput(f"missing {missing}", where="kb init", fix=fix, code="KB102")
    problem, reference = given_problem(args.problem, args.dtype, args.shape, conditions(args.option))
    return Task(
        platform=args.platform,
        framework=args.framework or "",
        kernel_demo=Path(args.kernel_demo) if args.kernel_demo else None,
        problem=problem,
        arch=args.arch or "",
        reference_project=args.reference_project,
        notes=args.notes,
        placeholders=placeholders,
        allow_unknown=args.allow_unknown,
        min_grade=args.min_grade,
        aim=args.performance_target or "",
        route=args.route,
        reference=reference,
    )
