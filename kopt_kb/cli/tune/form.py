"""Reports of a campaign in the forms that packs bring: `kb tune report --form`."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from kopt_kb.base.errors import BadInput
from kopt_kb.doors.table import behind
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["add_form", "print_form"]


def _forms() -> dict[str, Callable[[WorkspaceState], str]]:
    return {form: made for _, part in behind("loop_parts") for form, made in part.reports.items()}


def add_form(parser: argparse.ArgumentParser) -> None:
    """Declare the argument that names a form; nothing where no pack brings one."""
    forms = sorted(_forms())
    if forms:
        parser.add_argument("--form", choices=forms, help="print the last optimization, or the whole series")
    else:
        parser.set_defaults(form=None)


def print_form(args: argparse.Namespace, state: WorkspaceState) -> int:
    """Print a report in the form that was asked for, as Markdown.

    Raises:
        BadInput: Nothing was tried yet, or another form of report is asked for too.
    """
    from kopt_kb.cli.kit.output import printable_lines
    from kopt_kb.tuning.policy import confirmed_policy
    from kopt_kb.tuning.report import report_of

    if args.json or args.html or args.markdown:
        what = "--form, and --json, --html or --markdown"
        raise BadInput(what, where="kb tune report", fix="ask for one report", code="KB103")
    try:
        text = _forms()[args.form](state)
    except LookupError as error:
        fix = "run the campaign first"
        raise BadInput(str(error), where=args.workspace, fix=fix, code="KB431") from error
    print(printable_lines(text))
    return report_of(state, confirmed_policy(state.campaign)).exit_code
