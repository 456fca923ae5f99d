"""Show what a workspace would start, and allow it: commands of its open campaign, and those of its project.

Without a folder: what this user allowed so far. The list lies outside every workspace (KOPT_TRUST, else
~/.config/kopt-kb/trust.json), and nothing but a command line or a yes enters it.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.base.wire import Wire
from kopt_kb.cli.kit.consent import named_by
from kopt_kb.cli.kit.output import add_common, print_json, printable
from kopt_kb.sandbox.trust import UNATTENDED, TrustStore
from kopt_kb.workspace.workspace import Workspace

__all__ = ["Allowed", "TrustedFolder", "add_arguments", "run"]


@dataclass(frozen=True, slots=True)
class TrustedFolder(Wire):
    """One folder.

    Attributes:
        folder: Its real path.
        allowed: What it may start or be given.
        asks: What its journal names besides, which is refused until it is allowed.
    """

    folder: str
    allowed: tuple[str, ...]
    asks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Allowed(Wire):
    """What this user allowed.

    Attributes:
        store: The file that holds it.
        folders: The folder that was asked for, else all.
    """

    store: str
    folders: tuple[TrustedFolder, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `kb trust`."""
    parser.add_argument("folder", metavar="DIR", nargs="?", help="a workspace; default: list what is allowed")
    change = parser.add_mutually_exclusive_group()
    change.add_argument("--yes", action="store_true", help="allow what it names, without asking")
    change.add_argument("--forget", action="store_true", help="allow it nothing")
    add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Show, allow or forget; exit 1 where a folder names something that is not allowed."""
    store = TrustStore()
    if args.folder is None:
        if args.yes or args.forget:
            raise BadInput("no folder", where="kb trust", fix="name the workspace: kb trust DIR --yes", code="KB102")
        listed = (TrustedFolder(name, tuple(map(str, sorted(one)))) for name, one in sorted(store.folders.items()))
        return _print(args, Allowed(str(store.path), tuple(listed)))
    folder = Path(args.folder)
    if (args.yes or args.forget) and os.environ.get(UNATTENDED):
        raise BadInput("a server allows nothing", where="kb trust", fix="a person runs it", code="KB474")
    if args.forget:
        store.remove(folder)
        return _print(args, _of(store, folder, ()))
    named = named_by(Workspace.open(folder).state())
    missing = store.missing(folder, named)
    if missing and (args.yes or _is_wanted(args, [str(one) for one in missing])):
        store.add(folder, missing)
        missing = ()
    _print(args, _of(store, folder, tuple(map(str, missing))))
    return ExitCode.FINDING if missing else ExitCode.OK


def _is_wanted(args: argparse.Namespace, asks: list[str]) -> bool:
    if args.json or os.environ.get(UNATTENDED) or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    print("\n".join(["kb: it names", *(f"  {printable(one)}" for one in asks)]), file=sys.stderr)
    print("allow it? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().casefold() in {"y", "yes"}


def _of(store: TrustStore, folder: Path, asks: tuple[str, ...]) -> Allowed:
    grants = store.folders.get(str(folder.resolve()), frozenset())
    return Allowed(str(store.path), (TrustedFolder(str(folder.resolve()), tuple(map(str, sorted(grants))), asks),))


def _print(args: argparse.Namespace, allowed: Allowed) -> int:
    if args.json:
        print_json(allowed)
        return ExitCode.OK
    for one in allowed.folders:
        print(printable(one.folder))
        for text in one.allowed:
            print(f"  allowed  {printable(text)}")
        for text in one.asks:
            print(f"  asks for {printable(text)}: not allowed; kb trust DIR --yes allows it")
        if not (one.allowed or one.asks):
            print("  nothing")
    if not allowed.folders:
        print(f"nothing is allowed ({printable(allowed.store)})")
    return ExitCode.OK
