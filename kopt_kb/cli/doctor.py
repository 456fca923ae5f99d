"""Look at this machine: driver, profilers, clocks, packages, isolation, caches, data; with a fix for each line.

kb doctor
kb doctor --json

Nothing is changed. Exit 1 when something is wrong; what works with less, or could not be asked, is no fault.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kopt_kb.cli.output import add_wiki, print_values, say, table
from kopt_kb.errors import ExitCode, KoptError
from kopt_kb.runners.health import Health, HealthFinding, Host

if TYPE_CHECKING:
    from kopt_kb.isolation import Isolation
    from kopt_kb.wiki.wiki import Wiki

__all__ = ["add_arguments", "run"]

_ASK_S = 20.0
_MARKS = {"ok": "ok", "note": "note", "wrong": "WRONG", "unknown": "UNKNOWN", "absent": "-"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_wiki(parser)


def run(args: argparse.Namespace) -> int:
    """Print what was found; exit 1 when something is wrong."""
    from kopt_kb.runners.doctor import examine

    data, wikis = _data(args.wiki)
    health = Health((*_program(), *data, *examine(this_machine()).findings))
    if args.json:
        print_values(health, wikis)
    else:
        _print(health)
    return ExitCode.OK if health.is_right else ExitCode.FINDING


def _print(health: Health) -> None:
    rows = []
    for one in health.findings:
        rows.append((one.group, one.name, _MARKS[one.state], one.found))
        rows += [("", "", "", f"fix: {one.fix}")] if one.fix else []
    print(table(rows, is_headed=False))
    wrong = sum(one.state == "wrong" for one in health.findings)
    say(f"\n{wrong} wrong; note: works with less; UNKNOWN: could not be asked; -: not here")


def _program() -> Iterator[HealthFinding]:
    """What runs: kb and its Python."""
    from kopt_kb.cli.main import version

    number = version()
    fix = "" if number != "unknown" else "pip install it: files alone have no version"
    yield HealthFinding("kb", "version", "ok" if not fix else "unknown", number, fix)
    yield HealthFinding("kb", "python", "ok", f"{sys.version.split()[0]}, {sys.executable}")


def _data(roots: list[str]) -> tuple[list[HealthFinding], list[Wiki]]:
    """What values are read from."""
    from kopt_kb.wiki.registry import Registry
    from kopt_kb.wiki.version import data_version

    try:
        registry = Registry.open(*roots)
        known = data_version(registry.wikis)
        text = f"{known}, {len(registry.platforms())} products, {', '.join(str(one.root) for one in registry.wikis)}"
    except KoptError as error:
        fix = error.fix or "kb wiki check names what is wrong with it"
        return [HealthFinding("kb", "wiki", "wrong", error.what, fix)], []
    return [HealthFinding("kb", "wiki", "ok", text)], list(registry.wikis)


def this_machine() -> Host:
    """Return the machine that this process is on."""
    from kopt_kb.installed import version_of

    return Host(
        Path("/"), shutil.which, _ask, lambda name: version_of(name) or None, supported(), _isolate, os.geteuid(),
        os.environ, Path("~").expanduser(),
    )  # fmt: skip


def _ask(command: tuple[str, ...]) -> tuple[int, str]:
    from kopt_kb.process import ChildLimits, environment, run

    done = run(command, env=environment(), limits=ChildLimits(_ASK_S, printed_bytes=1 << 20))
    if done.passed:
        return 124, f"no answer within {_ASK_S:.0f} s"
    return done.code, (done.stdout + done.stderr).decode(errors="replace")


def supported() -> Mapping[str, str]:
    """Return package → the versions that kb's own extras ask for, the narrowest text of each."""
    import re
    from importlib.metadata import PackageNotFoundError, requires

    try:
        lines = requires("kopt-kb") or []
    except PackageNotFoundError:
        return {}
    found: dict[str, str] = {}
    for line in lines:
        parts = re.match(r"([A-Za-z0-9_.-]+)(?:\[[^\]]*\])?\s*([^;]*)(?:;(.*))?", line)
        if parts is not None and "test" not in (parts[3] or ""):
            found[parts[1]] = parts[2].strip().strip("()")
    return found


def _isolate() -> Isolation:
    from kopt_kb.caged import Cage, caged, held_by
    from kopt_kb.owned import owned_folder
    from kopt_kb.process import ChildLimits, environment, run

    with owned_folder("kb-doctor-") as folder:
        report = folder / "held.json"
        run(caged(["true"], Cage((str(folder),), str(report))), env=environment(), limits=ChildLimits(_ASK_S))
        return held_by(report)
