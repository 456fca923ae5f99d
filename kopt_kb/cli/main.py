"""The entry point: finds the command, hands over, turns errors into one line and an exit code."""

from __future__ import annotations

import errno
import itertools
import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import kopt_kb
from kopt_kb.base.errors import BadInput, ExitCode, KoptError, MissingTool
from kopt_kb.cli.core_commands import CORE_COMMANDS
from kopt_kb.cli.kit.streams import ReaderGone, own_streams

if TYPE_CHECKING:
    from kopt_kb.base.error_codes import Code
    from kopt_kb.doors.command import Command

__all__ = ["main", "missing_package", "version"]

_SYSTEM: dict[int, Code] = {
    errno.ENOENT: "KB110", errno.ENOTDIR: "KB110", errno.EEXIST: "KB113", errno.ENAMETOOLONG: "KB118",
    errno.ELOOP: "KB118", errno.EILSEQ: "KB118", errno.EROFS: "KB112", errno.ENOSPC: "KB112", errno.EDQUOT: "KB112",
    errno.ENOMEM: "KB119",
}  # fmt: skip
"""The cause behind a number of the system; any other means that a file can't be opened."""


def _usage() -> str:
    from kopt_kb.cli.commands import all_commands

    commands = all_commands()
    width = max(map(len, commands))
    lines = ["usage: kb COMMAND …", "", "Sourced GPU values, rooflines, profiler verdicts, auditable workspaces.", ""]
    lines += [f"  {name:<{width}}  {command.what}" for name, command in commands.items()]
    return "\n".join([*lines, "", "`kb COMMAND --help` explains a command; `kb --version` prints the version."])


def version() -> str:
    """Return the version of the installed package."""
    return kopt_kb.__version__


def _data() -> str:
    """Return the state of the data."""
    from kopt_kb.wiki.registry import Registry
    from kopt_kb.wiki.version import data_version

    return str(data_version(Registry.open().wikis))


def _dispatch(words: Sequence[str]) -> int:
    if not words or words[0] in {"-h", "--help"} or list(words) == ["help"]:
        print(_usage())
        return ExitCode.OK if words else ExitCode.USAGE
    if words[0] in {"--version", "-V", "version"}:
        print(f"kb {version()}" + (f"\n{_data()}" if words[0] == "version" else ""))
        return ExitCode.OK
    if words[0] == "help":
        words = [*words[1:], "--help"]
    command = CORE_COMMANDS.get(words[0]) or _of_a_pack(words[0])
    from kopt_kb.cli.kit.output import in_form
    from kopt_kb.cli.kit.parser import command_parser

    parser, run = command_parser(command)
    return in_form(run, parser.parse_args(list(words[1:])))


def _of_a_pack(name: str) -> Command:
    """Return a command that the core does not have; raises `BadInput` where no pack brings it."""
    if name.startswith("-"):
        raise BadInput(f"no option {name!r}", where="kb", fix="options follow a command: kb COMMAND …", code="KB101")
    from kopt_kb.cli.commands import all_commands, lacking_pack

    commands = all_commands()
    if name in commands:
        return commands[name]
    import difflib

    near = difflib.get_close_matches(name, [*commands, "version", "help"], n=2)
    hint = f"did you mean {' or '.join(near)}?" if near else "`kb --help` lists the commands"
    pack = lacking_pack(name)
    if pack:
        hint = f"it needs the pack {pack}, which is not installed; `kb doctor` lists the packs"
    raise BadInput(f"no command {name!r}", where="kb", fix=hint, code="KB101")


def _wikis(words: Sequence[str]) -> list[str]:
    """Return the folders that --wiki names among words, of which none may be right."""
    after = [value for word, value in itertools.pairwise(words) if word == "--wiki"]
    return after + [word.removeprefix("--wiki=") for word in words if word.startswith("--wiki=")]


def _report(error: KoptError, words: Sequence[str]) -> int:
    from kopt_kb.cli.kit.documents import ErrorDocument
    from kopt_kb.cli.kit.output import print_json, printable
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
    from kopt_kb.base.error_codes import causes
    from kopt_kb.doors.causes import pack_causes

    if error.fix:
        return error
    remedy = next((one.remedy for code, one in causes().items() if code == error.error_code), "")
    if not remedy:
        remedy = next((one.remedy for code, one in pack_causes().items() if code == error.error_code), "")
    remedy = remedy.rstrip(".")
    return error.restated(fix=remedy if remedy[:2].isupper() else remedy[:1].lower() + remedy[1:])


def missing_package(error: ModuleNotFoundError) -> KoptError:
    """Return the error for a package that is not installed: kopt-kb is run from files, or without an extra."""
    from kopt_kb.base.installed import extra_of

    extra = extra_of((error.name or "").partition(".")[0])
    fix = f"pip install {error.name}, or kopt-kb with its extra [{extra}]" if extra else "pip install kopt-kb"
    return MissingTool(f"the package {error.name} is not installed", where="kb", fix=fix, code="KB120")


def _of_system(error: OSError) -> KoptError:
    """Return what the system refused as an error with its file, when no command has said it better."""
    code: Code = _SYSTEM.get(error.errno or 0, "KB111")
    name = error.filename if isinstance(error.filename, str) else os.fsdecode(error.filename or "")
    return BadInput(error.strerror or str(error), where=name, fix="check the path and its permissions", code=code)


def _unforeseen(error: Exception | SystemExit) -> KoptError:
    """Return the error for what nobody foresaw, as one line with its place in kb or in the pack that raised it."""
    if os.environ.get("KOPT_TRACEBACK"):
        raise error
    from kopt_kb.doors.blame import strange_frame

    text = " ".join(str(error).split())[:200]
    pack, place = strange_frame(error)
    if pack:
        return KoptError(f"the pack {pack} failed: {type(error).__name__}: {text}", where=place, code="KB131")
    if isinstance(error, OSError):
        return _of_system(error)
    if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] != "kopt_kb":
        return missing_package(error)
    if isinstance(error, MemoryError):
        return BadInput("the memory ran out", where="kb", fix="raise the limit or give less work", code="KB119")
    if isinstance(error, UnicodeEncodeError) and any("\ud800" <= one <= "\udfff" for one in error.object):
        what = f"{error.object[:80]!r} holds bytes that are not UTF-8"
        return BadInput(what, where="kb", fix="write it in UTF-8", code="KB108")
    if isinstance(error, ValueError) and "set_int_max_str_digits" in str(error):
        what = "a number in the input has more digits than Python reads"
        return BadInput(what, where="kb", fix="shorten it to what a document prints", code="KB012")
    import traceback

    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{os.path.basename(last.filename)}:{last.lineno}"  # noqa: PTH119 - pathlib is not loaded yet
    return KoptError(
        f"{type(error).__name__}: {text}", where=where, fix="a bug of kb: KOPT_TRACEBACK=1 shows all", code="KB000"
    )


def _is_parsers(stop: SystemExit) -> bool:
    """Return whether argparse ended the process, or kb itself."""
    trace = stop.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    name = str(trace.tb_frame.f_globals.get("__name__")) if trace is not None else ""
    return name.partition(".")[0] in {"argparse", "kopt_kb"}


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
            if not isinstance(stop.code, int | None) or not _is_parsers(stop):
                return _report(_unforeseen(stop), words)
            code = stop.code or 0
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
            command = CORE_COMMANDS.get(words[0]) if words else None
            hint = f"; {command.resume_hint}" if command and command.resume_hint else ""
            print(f"kb: interrupted{hint}", file=sys.stderr)
            return 128 + signal.SIGINT
