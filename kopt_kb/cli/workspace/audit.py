"""Read every cited value of a workspace again, recompute its targets, and search its texts for unsourced numbers.

kb audit kernel_opt_norm
kb audit kernel_opt_norm --anchor norm.kbb    the journal has to go on from where that bundle ended
kb audit norm.kbb                             a file of kb tune bundle, on any machine
kb audit norm.kbb --replay                    time its best version again on this GPU
kb audit norm.kbb --recompile                 make its best version's code again from its source, without a GPU
kb audit logs/                                any other log: what each claimed round or speed-up lacks
kb audit repo --rev branch --under agent --commits main..branch
kb audit kernel_opt_norm --format sarif > findings.sarif
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from pathlib import Path

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.base.sarif import SarifResult
from kopt_kb.base.wire import Wire
from kopt_kb.cli.kit.output import add_wiki, open_registry, print_json, print_values
from kopt_kb.cli.kit.sarif import add_format, print_sarif, wants_json
from kopt_kb.doors.absent import needs_pack
from kopt_kb.doors.audit_form import AuditedLog, AuditForm, AuditOption
from kopt_kb.doors.table import behind
from kopt_kb.wiki.registry import Registry
from kopt_kb.wiki.version import data_version
from kopt_kb.workspace.audit.audit import AuditReport, audit
from kopt_kb.workspace.audit.bundled import is_bundle
from kopt_kb.workspace.audit.findings import AUDIT_CODES, AuditFinding
from kopt_kb.workspace.audit.others import is_of_others

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "path",
        metavar="WORKSPACE",
        help="workspace folder, a file of kb tune bundle, or a log of others: folder, file, git",
    )
    parser.add_argument("--anchor", metavar="FILE", help="a bundle, or its statement.json, that was kept elsewhere")
    parser.add_argument("--replay", action="store_true", help="time the best version's records again, on this GPU")
    parser.add_argument(
        "--recompile", action="store_true", help="make the best version's code objects again from its source"
    )
    parser.add_argument(
        "--require", choices=("anchored", "timed", "bound"), action="append", default=[],
        help="exit 1 unless --anchor shows that the journal stood elsewhere, a replay here its times, or a compiler "
        "here that its code comes from its source",
    )  # fmt: skip
    for option in _options():
        if option.metavar:
            parser.add_argument(f"--{option.name}", metavar=option.metavar, help=option.help)
        else:
            parser.add_argument(f"--{option.name}", action="store_true", help=option.help)
    add_format(parser)
    add_wiki(parser, has_format=True)


def run(args: argparse.Namespace) -> int:
    """Print the findings; exit 1 when there are any, or when what --require asks for is not shown."""
    asked = _asked(args, _options())
    if is_of_others(Path(args.path)):
        if args.anchor or args.require or args.replay or args.recompile:
            what = "--anchor, --replay, --recompile and --require are for workspaces and bundles"
            raise BadInput(what, where=args.path, fix="leave it out", code="KB104")
        return _of_others(args)
    for name in asked:
        what = f"--{name} is for logs of others, this is a workspace or bundle"
        raise BadInput(what, where=args.path, fix="leave it out, or name a folder of logs", code="KB104")
    named = args.wiki or os.environ.get("KOPT_GPU_WIKI") or is_bundle(Path(args.path))
    registry = Registry.open(*args.wiki, use_cache=False) if named else None
    replay = args.replay or "timed" in args.require
    recompile = args.recompile or "bound" in args.require
    report = audit(args.path, registry, args.anchor, replay=replay, recompile=recompile)
    if args.format == "sarif":
        print_sarif("kb audit", _results(report, AUDIT_CODES), report.data)
    elif wants_json(args):
        print_json(report)
    else:
        print(render(report))
    shown = {"anchored": report.anchored, "timed": report.is_timed, "bound": report.is_bound}
    lacks = not all(shown[one] for one in args.require)
    return ExitCode.OK if report.clean and not lacks else ExitCode.FINDING


def _forms() -> list[AuditForm]:
    return [form for _, form in behind("audit_forms")]


def _options() -> list[AuditOption]:
    """Return the options of all forms; of two with one name the first is declared."""
    declared: dict[str, AuditOption] = {}
    for option in (option for form in _forms() for option in form.options):
        declared.setdefault(option.name, option)
    return list(declared.values())


def _asked(args: argparse.Namespace, options: list[AuditOption]) -> dict[str, str]:
    """Return the options that were set."""
    given = {option.name: getattr(args, option.name.replace("-", "_")) for option in options}
    return {name: "yes" if value is True else value for name, value in given.items() if value}


def _of_others(args: argparse.Namespace) -> int:
    path = Path(args.path)
    form = next((one for one in reversed(_forms()) if one.recognises(path)), None)
    if form is None:
        raise _unread(args.path)
    asked = _asked(args, _options())
    foreign = asked.keys() - {option.name for option in form.options}
    if foreign:
        what = f"--{min(foreign)} is not for {form.what}"
        raise BadInput(what, where=args.path, fix="leave it out", code="KB104")
    registry = open_registry(args)
    report = form.audit(args.path, registry, asked)
    if not isinstance(report, Wire):
        raise TypeError(f"the report of {form.name} is no Wire")
    if args.format == "sarif":
        print_sarif("kb audit", _results(report, form.codes()), data_version(registry.wikis))
    elif wants_json(args):
        print_values(report, registry.wikis)
    else:
        print(form.render(report))
    return ExitCode.OK if report.clean else ExitCode.FINDING


def _unread(path: str) -> Exception:
    """Return the refusal of a path that no form takes."""
    if not _forms():
        return needs_pack("auditing what is neither a workspace nor a bundle", "audit_forms", path)
    fix = "name a workspace, a file of kb tune bundle, or a folder of logs"
    return BadInput("is neither a workspace, a bundle, nor a log in a known form", where=path, fix=fix, code="KB116")


def render(report: AuditReport) -> str:
    """Return the report as text for people."""
    lines = [str(one) for one in report.findings]
    lines += [f"note: {one}" for one in report.notes]
    lines += [str(one) for one in (report.timed, report.made) if one is not None]
    for said in dict.fromkeys(report.launchers.values()):
        versions = [name for name, one in report.launchers.items() if one == said]
        lines.append(f"{', '.join(versions)}: {said}")
    return "\n".join([*lines, f"{report.path}: {report.checked} cited values read again: {report.verdict}"])


def _results(report: AuditedLog, codes: Mapping[str, str]) -> tuple[SarifResult, ...]:
    """Return the findings and notes of an audit; those about a file inside a bundle stand at the bundle."""
    root = Path(report.path)

    def result(finding: AuditFinding, is_note: bool) -> SarifResult:
        itself = Path(finding.file).name == root.name
        inside = bool(finding.file) and (root.is_dir() or itself)
        file = str(root / finding.file) if inside and not itself else str(root)
        place = (
            ""
            if inside or not finding.file
            else f"{finding.file}:{finding.line}: "
            if finding.line
            else f"{finding.file}: "
        )
        remedy = f"; {finding.fix}" if finding.fix else ""
        message, meaning = f"{place}{finding.message}{remedy}", codes.get(finding.code, finding.code)
        return SarifResult(
            finding.code, meaning, "note" if is_note else "error", message, file, finding.line if inside else 0
        )

    return (*(result(one, False) for one in report.findings), *(result(one, True) for one in report.notes))
