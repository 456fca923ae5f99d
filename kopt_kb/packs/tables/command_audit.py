"""`kb table audit`: what is wrong with tables, without a GPU."""

from __future__ import annotations

import argparse

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.base.markup.html import page as html_page
from kopt_kb.cli.kit.output import add_wiki, open_registry, print_values, printable
from kopt_kb.cli.kit.page_output import add_report, check_report, made_by, save_report
from kopt_kb.cli.kit.sarif import add_format, print_sarif, wants_json
from kopt_kb.packs.tables.audit import TableAudit, audit_tables
from kopt_kb.packs.tables.findings import KINDS, sarif_results
from kopt_kb.packs.tables.page import audit_page
from kopt_kb.tuning.page.markdown import markdown
from kopt_kb.wiki.version import data_version

__all__ = ["add_arguments", "run"]

_LEVELS = ("error", "warning", "note")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the action's arguments."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="tables, or folders with all tables below")
    parser.add_argument(
        "--engine", default="", metavar="DIR", help="program that reads them: its folder, or vllm, sglang"
    )
    parser.add_argument(
        "--jobs", type=int, default=0, metavar="N", help="compilers side by side (default: a core each)"
    )
    parser.add_argument("--level", choices=_LEVELS, default="warning", help="least level printed (default: warning)")
    add_report(parser)
    add_format(parser)
    add_wiki(parser, has_format=True)


def run(args: argparse.Namespace) -> int:
    """Print the findings; exit 1 where there is an error or a warning."""
    if args.jobs < 0:
        raise BadInput("a number of compilers is 1 or more", where="--jobs", fix="leave it out", code="KB103")
    check_report(args)
    registry = open_registry(args)
    found = audit_tables(args.files, registry, args.engine, args.jobs)
    made = audit_page(found, made_by(), str(data_version(registry.wikis)))
    written = save_report(args, lambda: html_page(made).encode(), lambda: markdown(made))
    if args.format == "sarif":
        print_sarif("kb table audit", sarif_results(found.findings), data_version(registry.wikis))
    elif wants_json(args):
        print_values(found, registry.wikis)
    else:
        print("\n".join([_render(found, _LEVELS[: _LEVELS.index(args.level) + 1]), *written]))
    return ExitCode.OK if found.is_clean else ExitCode.FINDING


def _render(found: TableAudit, levels: tuple[str, ...]) -> str:
    shown = [one for one in found.findings if one.level in levels]
    lines = []
    for one in shown:
        place = f"{one.file}:{one.line}" if one.line else one.file
        key = f"{one.key}: " if one.key else ""
        lines.append(printable(f"{place}: {one.level}: {key}{one.message} [{one.kind}]"))
    counts = ", ".join(f"{number} {kind}" for kind, number in found.counts.items()) or "clean"
    lines.append(f"{len(found.tables)} table(s), {found.rows} row(s): {counts}")
    hidden = len(found.findings) - len(shown)
    if hidden:
        lines.append(f"{hidden} finding(s) below --level are not shown")
    if found.engines:
        compiled = f"{found.code_objects} code object(s), {found.compiled} of them compiled now"
        lines.append(f"{', '.join(found.engines)} with Triton {found.triton}: {compiled}, {found.seconds:.0f} s")
    lines += [f"{kind}: {KINDS[kind][1]}" for kind in dict.fromkeys(one.kind for one in shown)]
    return "\n".join(lines)
