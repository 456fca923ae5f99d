"""`kb tune report --html FILE`, `--markdown FILE`: a campaign as a report to send round."""

from __future__ import annotations

import argparse

from kopt_kb.cli.output import print_of, printable
from kopt_kb.cli.page_output import made_by, save_report
from kopt_kb.report.campaign import campaign_html, campaign_page
from kopt_kb.report.markdown import markdown
from kopt_kb.tuning.report import CampaignReport
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["share"]


def share(report: CampaignReport, args: argparse.Namespace, state: WorkspaceState) -> int:
    """Write the files and say their sizes, or print the document; the exit code is that of the report."""
    program = made_by()
    lines = save_report(
        args,
        lambda: campaign_html(report, state, program),
        lambda: markdown(campaign_page(report, state, program, letters=400, most=100)),
    )
    if args.json:
        print_of(report, state)
    else:
        print("\n".join(map(printable, lines)))
    return report.exit_code
