"""Write docs/reference from the code: commands, codes, wiki rules, metrics, operations; `--check` only compares."""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kopt_kb.doors.command import Command

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "reference"


def _help(parser: argparse.ArgumentParser) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as text:
        parser.print_help()
    return text.getvalue().rstrip()


def _parsers(command: Command) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    from kopt_kb.cli.kit.parser import command_parser, leaves

    yield command.name, command_parser(command)[0]
    yield from (pair for pair in leaves(command).items() if pair[0] != command.name)


def commands() -> str:
    """Return the page of all commands, as `--help` prints them: the core's, then those of each pack."""
    from kopt_kb.cli.commands import all_commands
    from kopt_kb.doors.table import behind

    os.environ["COLUMNS"] = "110"
    parts = [
        "# Commands",
        "Written by `python tools/reference.py`.",
        "Exit codes: 0 done; 1 a check found something; 2 bad usage or input; 3 something needed is not installed;\n"
        "4 known but UNKNOWN.",
    ]
    owners = {command.name: pack for pack, command in behind("commands")}
    last = None
    for command in all_commands().values():
        pack = owners.get(command.name)
        if pack is not last:
            parts.append(f"# Commands of the pack {pack.name}\n\nWithout it they are not there. It is: {pack.what}.")
            last = pack
        for title, parser in _parsers(command):
            parts.append(f"## kb {title}\n\n```text\n{_help(parser)}\n```")
    return "\n\n".join(parts) + "\n"


def _classes() -> dict[str, str]:
    """Return, by code, the error class that has it as its own."""
    owners = {}
    for folder in ("kopt_kb", "analysis", "kernels"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    for item in node.body:
                        target = item.targets[0] if isinstance(item, ast.Assign) else getattr(item, "target", None)
                        value = getattr(item, "value", None)
                        if isinstance(target, ast.Name) and target.id == "code" and isinstance(value, ast.Constant):
                            owners[str(value.value)] = node.name
    return owners


def errors() -> str:
    """Return the page of error, fault, rule and finding codes."""
    from kopt_kb.base.error_codes import causes
    from kopt_kb.wiki.faults import FAULT_CODES
    from kopt_kb.wiki.physics import RULES
    from kopt_kb.wiki.tables import table
    from kopt_kb.workspace.audit.audit import AUDIT_CODES

    owners = _classes()
    lines = [
        "# Codes",
        "",
        "Written by `python tools/reference.py`. `kb explain CODE` prints one of them.",
        "",
        "## Errors",
        "",
        "A class stands beside a code that is its own; the others are raised as `BadInput`, `FindingError`,",
        "`MissingTool` or `UnknownData`.",
        "",
        *table(
            ("Code", "Name", "Cause", "What to do", "Class"),
            ((code, *one, owners.get(code, "")) for code, one in causes().items()),
        ),
        *_pack_errors(),
        "## Faults of wiki pages",
        "",
        *table(("Code", "Meaning"), FAULT_CODES.items()),
        "## Physics rules",
        "",
        *table(("Rule", "What must hold"), ((name, _first_line(rule)) for name, rule in RULES.items())),
        "## Audit findings",
        "",
        *table(("Code", "Meaning"), AUDIT_CODES.items()),
    ]
    return "\n".join(lines)


def _pack_errors() -> Iterator[str]:
    """Yield the codes of each pack."""
    from kopt_kb.doors.table import packs
    from kopt_kb.wiki.tables import table

    for pack in packs().usable.values():
        if pack.causes:
            rows = ((one.code, one.name, one.cause, one.remedy) for one in pack.causes)
            yield from (f"## Errors of the pack {pack.name}", "")
            yield from table(("Code", "Name", "Cause", "What to do"), rows)


def _first_line(rule: object) -> str:
    return (rule.__doc__ or "").split("\n", 1)[0]


def metrics() -> str:
    """Return the page of the closed vocabulary."""
    from kopt_kb.wiki.tables import table
    from kopt_kb.wiki.vocabulary import ALIASES, AXES, METRICS

    lines = [
        "# Metrics",
        "",
        "Written by `python tools/reference.py`.",
        "",
        *table(
            ("Metric", "Conditions", "Dimension", "Meaning"),
            ((one.id, ", ".join(one.axes), one.dimension, one.meaning) for one in METRICS.values()),
        ),
        *table(("Condition", "Values"), ((name, ", ".join(values) or "free") for name, values in AXES.items())),
        *table(("Alias", "Metric"), sorted(ALIASES.items())),
    ]
    return "\n".join(lines)


def operations_page() -> str:
    """Return the page of operations: forms with the words of their dimensions, what is counted, options."""
    from kopt_kb.problem.operations import operations

    parts = [
        "# Operations",
        "Written by `python tools/reference.py`; `kb list --ops` and `kopt_kb.operations()` say the same.\n"
        "A shape gives the sizes of the form in its order: `--op attention --shape 4x32x8192x128`.\n"
        "`...` stands for any number of further sizes. Add one: [how](../how-to/add_an_op.md).",
    ]
    for one in operations():
        lines = [f"## {one.op}", one.summary]
        if one.aliases:
            lines.append(f"Also `{'`, `'.join(one.aliases)}`.")
        sizes = "\n".join(f"- `{size.name}`: {size.meaning}" for size in one.dimensions)
        lines.append(f"`--shape {one.form}`\n\n{sizes}")
        counts = [("operations", one.flops), ("bytes", one.bytes), ("special functions", one.special)]
        lines.append("\n".join(f"- {name}: {text}" for name, text in counts if text))
        if one.options:
            head = "| option | values | default | meaning |\n|---|---|---|---|"
            rows = [
                f"| `{each.name}` | {each.values} | {_default(each.default)} | {each.meaning} |" for each in one.options
            ]
            lines.append("\n".join([head, *rows]))
        parts.append("\n\n".join(lines))
    return "\n\n".join(parts).replace("*", "\\*") + "\n"


def _default(value: object) -> str:
    """Return a default as the command line takes it."""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value}`" if value not in ((), "") else "-"


PAGES = {"commands.md": commands, "codes.md": errors, "metrics.md": metrics, "operations.md": operations_page}


def main() -> int:
    """Write or check the pages; exit 1 when one is not up to date."""
    stale = []
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        path, text = FOLDER / name, make()
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
    if "--check" in sys.argv and stale:
        print(f"not up to date: {', '.join(stale)}; run python tools/reference.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
