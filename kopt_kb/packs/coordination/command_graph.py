"""CUDA graphs of a torch callable: what keeps it from being captured, and the script that captures and judges it.

kb graph check model.py --function forward
kb graph write model.py --function forward --out graph_model.py    run it on the GPU: python graph_model.py --out DIR
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.base.files import read_input
from kopt_kb.base.wire import Wire
from kopt_kb.cli.kit.documents import WrittenFile
from kopt_kb.cli.kit.output import add_common, print_json, printable
from kopt_kb.packs.coordination.graph import NotedOperators, note_operators, script_for
from kopt_kb.packs.coordination.hazards import Hazard, hazards_of

__all__ = ["CaptureCheck", "add_arguments", "run"]


@dataclass(frozen=True, slots=True)
class CaptureCheck(Wire):
    """Whether a callable can be captured, as far as a machine without a GPU can say.

    Attributes:
        hazards: What its text holds.
        operators: What two runs on a CPU say.
    """

    file: str
    function: str
    hazards: tuple[Hazard, ...]
    operators: NotedOperators

    @property
    def clean(self) -> bool:
        """Whether nothing was found; what could not be run is nothing found."""
        return not self.hazards and not self.operators.forbidden and not self.operators.changed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the sub-commands."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, text in (
        ("check", "what keeps a callable from being captured"),
        ("write", "the script that captures it"),
    ):
        action = actions.add_parser(name, help=text, allow_abbrev=False)
        action.add_argument("file", metavar="FILE", help="Python file; with make_inputs(seed) it is run too, on a CPU")
        action.add_argument(
            "--function", metavar="NAME", default="forward", help="function or class (default: forward)"
        )
        if name == "write":
            action.add_argument("--out", metavar="FILE", required=True, help="a new file")
        add_common(action)


def run(args: argparse.Namespace) -> int:
    """Run the sub-command; exit 1 when something keeps the callable from being captured."""
    file = Path(args.file)
    source = read_input(file, 1 << 20)
    try:
        hazards = hazards_of(source, args.function)
    except KeyError as error:
        fix = "name a function or a class of the file by --function"
        raise BadInput(f"has no {args.function}", where=args.file, fix=fix, code="KB116") from error
    except (SyntaxError, ValueError) as error:
        raise BadInput("is not valid Python", where=args.file, fix="fix the file", code="KB116") from error
    return _write(args, file) if args.action == "write" else _check(args, file, hazards)


def _check(args: argparse.Namespace, file: Path, hazards: tuple[Hazard, ...]) -> int:
    made = CaptureCheck(args.file, args.function, hazards, note_operators(file, args.function))
    if args.json:
        print_json(made)
    else:
        for one in hazards:
            print(printable(f"{args.file}:{one.line}: {one.kind}: {one.text}: {one.why}"))
        noted = made.operators
        for name, why in noted.forbidden.items():
            print(f"operator {name} {why}")
        if noted.changed:
            print(printable(f"another input of the same shape takes other operators from {noted.changed} on"))
        ran = noted.problem or f"{noted.operators} operators, the same for two inputs"
        print(f"run on a CPU: {printable(ran)}" if noted.problem or not noted.changed else "run on a CPU: twice")
        print(
            "nothing found that capture forbids; a GPU decides: kb graph write"
            if made.clean
            else "not to be captured as it is"
        )
    return ExitCode.OK if made.clean else ExitCode.FINDING


def _write(args: argparse.Namespace, file: Path) -> int:
    out = Path(args.out)
    if out.exists() or not out.parent.is_dir():
        raise BadInput("can't be a new file", where=args.out, fix="name one that is not there yet", code="KB113")
    out.write_text(script_for(file, args.function), encoding="utf-8")
    if args.json:
        print_json(WrittenFile(str(out)))
    else:
        print(f"{out}: run it where the GPU is: python {out} --out DIR --budget-s 60")
    return ExitCode.OK
