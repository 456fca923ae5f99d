"""Options of all commands: read or refused, one name for one thing, one meaning for one name."""

from __future__ import annotations

import argparse
import ast
import re
from functools import cache
from pathlib import Path

import pytest

from kopt_kb.cli.commands import every_command
from kopt_kb.cli.kit.parser import leaves
from kopt_kb.cli.main import main
from kopt_kb.doors.table import behind
from kopt_kb.tuning.options import FLAGS

ROOT = Path(__file__).parents[2]
OP = ["--op", "rms_norm", "--shape", "8192x4096", "--dtype", "bf16"]


@pytest.mark.parametrize(
    "words",
    [
        ["roofline", "--platform", "H20", *OP, "--profile", "r.csv"],
        ["roofline", "--platform", "H20", *OP, "--kernel", "k"],
        ["roofline", "--platform", "H20", *OP, "--autotune", "1"],
        ["roofline", "--platform", "H20", *OP, "--plot", "--json"],
        ["roofline", "op:rms_norm", "--platform", "H20", "--time", "1us"],
        ["lookup", "H20", "--json", "--format", "csv"],
        ["profile", "run", "--dry-run", "--tool", "ncu", "--target", "gfx942", "PROGRAM"],
        ["profile", "run", "--dry-run", "--tool", "ncu", "--steps", "att", "PROGRAM"],
        ["profile", "run", "--dry-run", "--tool", "rocprofv3", "--lock-clocks", "PROGRAM"],
        ["profile", "run", "--dry-run", "--tool", "rocprofv3", "--set", "basic", "PROGRAM"],
    ],
    ids=lambda words: " ".join(words[-3:]),
)
def test_what_a_combination_does_not_use_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Each is a usage error that says what to do."""
    assert main(words) == 2 and "[KB103]" in capsys.readouterr().err


def test_one_name_for_one_thing() -> None:
    """A name that a command had before stays beside the one that all have."""
    now = {
        "--output": "--out", "--rounds": "--samples", "--arch": "--target", "--time-limit": "--run-s",
        "--memory-limit": "--memory-bytes", "--checks": "--seeds",
    }  # fmt: skip
    apart = {("init", "--arch"): "the architecture as the README names it"}
    for leaf, (_, parser) in _leaves().items():
        names = {name for action in parser._actions for name in action.option_strings}
        assert not [old for old in now if old in names and now[old] not in names and (leaf, old) not in apart], leaf


def test_one_meaning_for_one_name() -> None:
    """What files and reports hold is chosen by a regular expression; percentages and errors have names of their own."""
    metavars: dict[str, set[object]] = {}
    for leaf, (_, parser) in _leaves().items():
        for action in parser._actions:
            for name in action.option_strings:
                if name == action.option_strings[0]:
                    metavars.setdefault(name, set()).add(action.metavar)
                if name == "--kernel" and leaf.split()[0] in {"profile", "isa", "occupancy"}:
                    assert action.metavar == "REGEX", leaf
    assert metavars["--threshold"] == {"PCT"} and metavars["--tolerance"] == {"X"}
    assert metavars["--set"] == {"FIELD=TEXT"} and "--sections" in metavars


def test_every_option_is_read() -> None:
    """By the command's module or one that it imports; but those whose help says that they change nothing."""
    for leaf, (module, parser) in _leaves().items():
        modules = _reached(module) | _served(leaf)
        read = frozenset[str]().union(*(_words(name) for name in modules)) | set(FLAGS)
        options = {action.dest for action in parser._actions if "accepted: " not in (action.help or "")}
        assert not options - read - {"help"}, leaf


@cache
def _leaves() -> dict[str, tuple[str, argparse.ArgumentParser]]:
    """Return every command that takes options, with its module and its parser."""
    return {
        leaf: (command.module, parser) for _, command in every_command() for leaf, parser in leaves(command).items()
    }


def _served(leaf: str) -> set[str]:
    """Return the modules of packs that add arguments to a command and read them."""
    given = [one for _, one in behind("arguments") if leaf in one.commands]
    parts = [part for one in given for part in (one.add, one.given) if part is not None]
    parts += [form.audit for _, form in behind("audit_forms") if leaf == "audit"]
    return {part.place.partition(":")[0] for part in parts}


@cache
def _sources() -> dict[str, str]:
    """Return the text of each module of the command line and of packs, by its name."""
    paths = [path for room in ("cli", "packs") for path in (ROOT / "kopt_kb" / room).rglob("*.py")]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in paths]
    return {name: path.read_text() for name, path in zip(names, paths, strict=True)}


@cache
def _words(module: str) -> frozenset[str]:
    """Return what a module may read of its arguments: their attributes, and its own texts."""
    text = _sources()[module]
    read = re.findall(r"\b(?:args|options)\.(\w+)|\bargs, \"(\w+)\"", text)
    texts = re.findall(r'"([\w-]+)"', text)
    return frozenset([name for pair in read for name in pair if name] + [name.replace("-", "_") for name in texts])


@cache
def _imports(module: str) -> frozenset[str]:
    """Return the modules of the command line and of packs that one names."""
    text, rooms = _sources()[module], ("kopt_kb.cli", "kopt_kb.packs")
    froms = [
        f"{node.module}.{alias.name}"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(rooms)
        for alias in node.names
    ]
    return frozenset(re.findall(r"kopt_kb\.(?:cli|packs)[.\w]+", text) + froms) & _sources().keys()


def _reached(module: str) -> set[str]:
    """Return a module and those of the command line that it imports, at any depth."""
    reached: set[str] = set()
    todo = [module]
    while todo:
        name = todo.pop()
        if name not in reached and name in _sources():
            reached.add(name)
            todo += _imports(name)
    return reached
