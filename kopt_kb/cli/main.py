"""The entry point: finds the command, hands over, turns errors into one line and an exit code."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from kopt_kb.errors import BadInput, ExitCode, KoptError, MissingTool

__all__ = ["COMMANDS", "Parser", "main"]

COMMANDS: dict[str, str] = {
    "lookup": "print the sourced values of one product",
    "list": "list the products of the wiki",
    "compare": "put products side by side",
    "search": "search the wiki's pages, filtered by operation, backend and target",
    "route": "what to read for a piece of work",
    "wiki": "check, index, compare and copy a wiki, show its conflicts",
    "roofline": "intensity, roofs, bound and 90 % target of a piece of work",
    "count": "count the work of Triton kernels from their IR",
    "compile": "compile Triton kernels without a GPU: registers, spills, instructions",
    "isa": "scan machine code against the ISA targets",
    "occupancy": "blocks and warps that fit on one SM or CU",
    "init": "create a tuning workspace with sourced Stop Conditions",
    "memory": "read and extend the memory of a workspace",
    "render": "bring the rendered files of a workspace up to its journal",
    "workspace": "change the targets of a workspace, or add a note",
    "audit": "read every cited value of a workspace again",
    "profile": "read, record and judge profiler reports",
    "verify": "check a kernel file against its reference in a child process",
    "tune": "run a tuning campaign on a workspace",
    "bench": "measure the ceilings of this GPU, or a workspace's kernel against its Stop Conditions",
}
"""Commands and what they do; the module of a command is `kopt_kb.cli.<name>`, `list` is `list_`."""


class Parser(argparse.ArgumentParser):
    """An argument parser without abbreviations that raises `BadInput` instead of leaving the process."""

    def __init__(self, **options: object) -> None:
        options.setdefault("allow_abbrev", False)
        super().__init__(**options)  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        """Raise the usage error."""
        raise BadInput(message, where=self.prog, fix=f"`{self.prog} --help` shows the usage", code="KB010")


def _usage() -> str:
    width = max(map(len, COMMANDS))
    lines = ["usage: kb COMMAND …", "", "Sourced GPU values, rooflines, profiler verdicts, auditable workspaces.", ""]
    lines += [f"  {name:<{width}}  {text}" for name, text in COMMANDS.items()]
    return "\n".join([*lines, "", "`kb COMMAND --help` explains a command; `kb --version` prints the version."])


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("kopt-kb")
    except PackageNotFoundError:
        return "unknown"


def _dispatch(words: Sequence[str]) -> int:
    if not words or words[0] in {"-h", "--help"}:
        print(_usage())
        return ExitCode.OK if words else ExitCode.USAGE
    if words[0] == "--version":
        print(f"kb {_version()}")
        return ExitCode.OK
    name = words[0]
    if name not in COMMANDS:
        import difflib

        near = difflib.get_close_matches(name, COMMANDS, n=2)
        hint = f"did you mean {' or '.join(near)}?" if near else "`kb --help` lists the commands"
        raise BadInput(f"no command {name!r}", where="kb", fix=hint, code="KB010")
    module = importlib.import_module(f"kopt_kb.cli.{'list_' if name == 'list' else name.replace('-', '_')}")
    parser = Parser(prog=f"kb {name}", description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    module.add_arguments(parser)
    return int(module.run(parser.parse_args(list(words[1:]))))


def _report(error: KoptError, as_json: bool) -> int:
    from kopt_kb.cli.output import printable
    from kopt_kb.wiki.faults import WikiFaults

    if isinstance(error, WikiFaults):
        for fault in error.faults:
            print(f"kb: {printable(str(fault))}", file=sys.stderr)
    else:
        print(f"kb: {printable(str(error))}", file=sys.stderr)
    if as_json:
        import json

        body = {"code": error.error_code, "message": error.what, "where": error.where, "fix": error.fix}
        print(json.dumps({"error": body}, ensure_ascii=False))
    return int(error.exit_code)


def _missing(error: ModuleNotFoundError) -> KoptError:
    """Return the error for a package that is not installed: kopt-kb is run from files, or without an extra."""
    return MissingTool(
        f"the package {error.name} is not installed", where="kb", fix="pip install kopt-kb, or its extra"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run `kb` with these words (default: the process's) and return the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _dispatch(words)
        sys.stdout.flush()
    except KoptError as error:
        return _report(error, "--json" in words)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "kopt_kb":
            raise
        return _report(_missing(error), "--json" in words)
    except SystemExit as stop:  # argparse leaves this way after printing help
        return int(stop.code or 0)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.OK
    except KeyboardInterrupt:
        return 130
    return code
