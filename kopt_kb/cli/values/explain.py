"""Explain a code: of an error, a wiki fault, a physics rule, a verdict or an audit finding; without one, list all."""

from __future__ import annotations

import argparse

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.kit.documents import CodeEntry, Codes
from kopt_kb.cli.kit.output import add_common, add_format, print_json, print_table, say, wants_json

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("code", nargs="?", metavar="CODE", help="such as KB063, WK208, PHY-BW or unregistered")
    add_format(parser)
    add_common(parser, has_format=True)


def _known() -> dict[str, CodeEntry]:
    """Return every code with its kind, name, cause and remedy; what a table does not say is left out."""
    from kopt_kb.analysis.rules.table import RULES as VERDICTS
    from kopt_kb.base.error_codes import causes
    from kopt_kb.doors.causes import pack_causes
    from kopt_kb.wiki.faults import FAULT_CODES
    from kopt_kb.wiki.physics import RULES
    from kopt_kb.workspace.audit.audit import AUDIT_CODES

    laws = {code: (rule.__doc__ or "").splitlines()[0] for code, rule in RULES.items()}
    known = [CodeEntry(code, "error", one.cause, one.name, one.remedy) for code, one in causes().items()]
    known += [CodeEntry(code, "error", one.cause, one.name, one.remedy) for code, one in pack_causes().items()]
    known += [CodeEntry(code, "wiki fault", text) for code, text in FAULT_CODES.items()]
    known += [CodeEntry(code, "physics rule", f"Not so: {law}") for code, law in laws.items()]
    known += [CodeEntry(code, "audit finding", text) for code, text in AUDIT_CODES.items()]
    said = "`kb profile explain {}` prints thresholds and advice"
    known += [CodeEntry(one.code, "verdict", one.summary, remedy=said.format(one.code)) for one in VERDICTS]
    return {one.code: one for one in known}


def run(args: argparse.Namespace) -> int:
    """Print what a code stands for and what to do."""
    known = _known()
    if args.code is None:
        chosen = tuple(known.values())
    else:
        match = next((code for code in known if code.casefold() == args.code.casefold()), None)
        if match is None:
            import difflib

            from kopt_kb.cli.commands import lacking_pack

            pack = lacking_pack(args.code.upper())
            if pack:
                what, fix = f"the code {args.code.upper()} needs the pack {pack}", "it is not installed"
                raise BadInput(what, where="kb explain", fix=fix, code="KB106")
            near = difflib.get_close_matches(args.code.upper(), known, n=3)
            fix = f"did you mean {' or '.join(near)}? " if near and not args.code.upper().startswith("KB") else ""
            fix += "`kb explain` lists them, `kb profile explain` knows limiters too"
            raise BadInput(f"no code {args.code!r}", where="kb explain", fix=fix, code="KB106")
        chosen = (known[match],)
    if wants_json(args):
        print_json(Codes(chosen))
    elif args.code is None or args.format != "table":
        rows = [(entry.code, entry.kind, entry.name or entry.cause) for entry in chosen]
        print_table(("code", "kind", "cause"), rows, args.format)
    else:
        for one in chosen:
            say(f"{one.code}: {one.kind}" + (f" {one.name}" if one.name else ""))
            say("\n".join(f"  {text}" for text in (one.cause, one.remedy) if text))
    return 0
