"""`kb init --prompt`: fields of a workspace out of a sentence."""

from __future__ import annotations

import argparse
import sys

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.kit.named_kernel import kernel_file
from kopt_kb.cli.kit.output import open_registry, printable
from kopt_kb.packs.coordination.routing.prompt import PromptFields, read_prompt

__all__ = ["add_prompt", "said"]

_LABELS = {
    "platform": "--platform", "framework": "--framework", "op": "--op", "dtype": "--dtype", "shapes": "--shape",
    "kernel_demo": "--kernel-demo", "performance_target": "--performance-target",
}  # fmt: skip


def add_prompt(parser: argparse.ArgumentParser) -> None:
    """Declare the argument."""
    parser.add_argument(
        "--prompt", metavar="TEXT", help='a sentence in place of options, such as "rms_norm on H20 in Triton"'
    )


def said(args: argparse.Namespace) -> argparse.Namespace:
    """Return the arguments with what the prompt says for those that were not given.

    Raises:
        BadInput: Something is missing or means several things; all of it is listed, and what was understood.
    """
    if not args.prompt:
        return args
    prompt = read_prompt(args.prompt, open_registry(args).wiki.names)
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
