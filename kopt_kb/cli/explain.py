"""Explain a code: of an error, a wiki fault, a physics rule or an audit finding. Without one, list them all."""

from __future__ import annotations

import argparse

from kopt_kb.cli.output import add_common, print_json, table
from kopt_kb.errors import BadInput

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("code", nargs="?", metavar="CODE", help="such as KB063, WK208, PHY-BW or unregistered")
    add_common(parser)


def _known() -> dict[str, dict[str, str]]:
    """Return every code with its kind, name, cause and remedy; what a table does not say is left out."""
    from kopt_kb.error_codes import causes
    from kopt_kb.wiki.faults import FAULT_CODES
    from kopt_kb.wiki.physics import RULES
    from kopt_kb.workspace.audit.audit import AUDIT_CODES

    known: dict[str, dict[str, str]] = {code: {"kind": "error", **one._asdict()} for code, one in causes().items()}
    known |= {code: {"kind": "wiki fault", "cause": text} for code, text in FAULT_CODES.items()}
    known |= {
        code: {"kind": "physics rule", "cause": f"Not so: {(rule.__doc__ or '').splitlines()[0]}"}
        for code, rule in RULES.items()
    }
    return known | {code: {"kind": "audit finding", "cause": text} for code, text in AUDIT_CODES.items()}


def run(args: argparse.Namespace) -> int:
    """Print what a code stands for and what to do."""
    known = _known()
    if args.code is None:
        chosen = known
    else:
        match = next((code for code in known if code.casefold() == args.code.casefold()), None)
        if match is None:
            fix = "`kb explain` lists them; `kb profile explain` knows the verdicts"
            raise BadInput(f"no code {args.code!r}", where="kb explain", fix=fix, code="KB106")
        chosen = {match: known[match]}
    if args.json:
        print_json({"codes": [{"code": code, **said} for code, said in chosen.items()]})
    elif args.code is None:
        print(table([(code, said["kind"], said.get("name", said["cause"])) for code, said in chosen.items()]))
    else:
        for code, said in chosen.items():
            print(f"{code}: {said['kind']}" + (f" {said['name']}" if "name" in said else ""))
            print("\n".join(f"  {said[part]}" for part in ("cause", "remedy") if part in said))
    return 0
