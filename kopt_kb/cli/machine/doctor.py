"""Look at this machine: driver, profilers, clocks, packages, isolation, caches, data; with a fix for each line.

kb doctor
kb doctor --json

Nothing is changed. Exit 1 when something is wrong; what works with less, or could not be asked, is no fault.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kopt_kb.base.errors import ExitCode, KoptError
from kopt_kb.cli import main
from kopt_kb.cli.commands import command_faults
from kopt_kb.cli.kit.output import add_wiki, print_values, say, table
from kopt_kb.launch.machine.doctor import examine
from kopt_kb.launch.machine.health import Health, HealthFinding, PackHealth
from kopt_kb.launch.machine.this_machine import this_machine

if TYPE_CHECKING:
    from kopt_kb.wiki.wiki import Wiki

__all__ = ["add_arguments", "run"]

_MARKS = {
    "ok": "ok",
    "note": "note",
    "wrong": "WRONG",
    "unknown": "UNKNOWN",
    "absent": "-",
    "installed": "ok",
    "fault": "WRONG",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_wiki(parser)


def run(args: argparse.Namespace) -> int:
    """Print what was found; exit 1 when something is wrong."""
    data, wikis = _data(args.wiki)
    health = Health((*_program(), *data, *examine(this_machine()).findings), tuple(_packs()))
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
    rows += [("packs", one.name, _MARKS[one.state], one.what) for one in health.packs]
    print(table(rows, is_headed=False))
    wrong = sum(one.state == "wrong" for one in health.findings) + sum(one.state == "fault" for one in health.packs)
    say(f"\n{wrong} wrong; note: works with less; UNKNOWN: could not be asked; -: not here")


def _packs() -> Iterator[PackHealth]:
    """What is installed behind the doors, what is left out, and what can't be used."""
    from kopt_kb.doors.table import packs

    for pack in packs().usable.values():
        yield PackHealth(pack.name, "installed", pack.what)
    for fault in (*packs().faults, *command_faults()):
        yield PackHealth(fault.name, "absent" if fault.absent else "fault", fault.why)


def _program() -> Iterator[HealthFinding]:
    """What runs: kb and its Python."""
    number = main.version()
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
