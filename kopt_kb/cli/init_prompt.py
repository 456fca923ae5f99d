"""`kb init` for people: fields out of a sentence, and the question about stand-ins for UNKNOWN values."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from kopt_kb.cli.named_kernel import kernel_file
from kopt_kb.cli.output import printable
from kopt_kb.errors import BadInput
from kopt_kb.routing.prompt import PromptFields, read_prompt
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.registration import rooflines, specs_registered
from kopt_kb.workspace.task import Task

__all__ = ["said", "with_placeholders"]

_LABELS = {
    "platform": "--platform", "framework": "--framework", "op": "--op", "dtype": "--dtype", "shapes": "--shape",
    "kernel_demo": "--kernel-demo", "performance_target": "--performance-target",
}  # fmt: skip


def said(args: argparse.Namespace, registry: Registry) -> argparse.Namespace:
    """Return the arguments with what the prompt says for those that were not given.

    Raises:
        BadInput: Something is missing or means several things; all of it is listed, and what was understood.
    """
    prompt = read_prompt(args.prompt, registry.wiki.names)
    given = {name: getattr(args, "shape" if name == "shapes" else name) for name in _LABELS}
    lacking = [name for name in prompt.missing if not given[_name(name)]]
    doubts = [one for one in prompt.doubtful if not given.get(one.partition(":")[0].replace(" ", "_"))]
    if lacking or doubts:
        what = "; ".join([*([f"missing {', '.join(lacking)}"] if lacking else []), *doubts])
        fix = f"understood {_understood(prompt)}; nothing was created: give the rest as options and run again"
        raise BadInput(what, where="kb init --prompt", fix=fix, code="KB102")
    values = vars(args).copy()
    for name in _LABELS:
        own, value = "shape" if name == "shapes" else name, getattr(prompt, name)
        if value and not values[own]:
            values[own] = list(value) if name == "shapes" else kernel_file(value) if name == "kernel_demo" else value
    print(f"kb: understood {_understood(prompt)}", file=sys.stderr)
    return argparse.Namespace(**values)


def _name(option: str) -> str:
    return next(name for name, one in _LABELS.items() if one == option)


def _understood(fields: PromptFields) -> str:
    words = []
    for name, option in _LABELS.items():
        value = getattr(fields, name)
        words += [f"{option} {value if isinstance(value, str) else ' '.join(value)}"] if value else []
    return printable(", ".join(words)) or "nothing"


def with_placeholders(task: Task, registry: Registry) -> Task:
    """Ask for a stand-in for each needed value that nobody publishes; an empty answer is none."""
    product = registry.platform(task.platform)
    unknown = specs_registered(product, rooflines(task.problem, product), {}).unknown
    kept = dict(task.placeholders)
    for row in unknown:
        if row.key in kept:
            continue
        print(f"{row.key}: UNKNOWN (gpu-wiki not found). {row.reason}", file=sys.stderr)
        print("  a stand-in, recorded and never part of a target (empty: none): ", end="", file=sys.stderr, flush=True)
        answer = sys.stdin.readline().strip()
        if answer:
            kept[row.key] = answer
    return replace(task, placeholders=kept)
