"""`kb tune report --html FILE`, `--markdown FILE`: a campaign as a report to send round."""

from __future__ import annotations

import argparse

from kopt_kb.cli.page_output import made_by, save_report
from kopt_kb.report.campaign import campaign_html, campaign_page
from kopt_kb.report.fitted import Level
from kopt_kb.report.markdown import markdown
from kopt_kb.tuning.report import CampaignReport
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["share"]


def share(report: CampaignReport, args: argparse.Namespace, state: WorkspaceState) -> list[str]:
    """Write the files; return one line a file."""
    program = made_by()
    return save_report(
        args,
        lambda: campaign_html(report, state, program),
        lambda: markdown(campaign_page(report, state, program, Level(400, 100))),
    )
