"""`kb tune report --html FILE`, `--markdown FILE`, `--picture FILE`: a campaign as a report to send round."""

from __future__ import annotations

import argparse
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.kit.page_output import made_by, save_report
from kopt_kb.report.drawing_files import write_picture
from kopt_kb.tuning.page.campaign import campaign_html, campaign_page, campaign_picture
from kopt_kb.tuning.page.fitted import CutLevel
from kopt_kb.tuning.page.markdown import markdown
from kopt_kb.tuning.report import CampaignReport
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["share"]


def share(report: CampaignReport, args: argparse.Namespace, state: WorkspaceState) -> list[str]:
    """Write the files; return one line for each report.

    Raises:
        BadInput: A file can't be written, or there is nothing to draw.
    """
    program = made_by()
    if args.picture:
        picture = campaign_picture(report, state)
        if picture is None:
            what = "no roof of this workspace is known, so there is no picture of it"
            raise BadInput(what, where=args.workspace, fix="--html shows all that there is", code="KB047")
        write_picture(picture, Path(args.picture))
    return save_report(
        args,
        lambda: campaign_html(report, state, program),
        lambda: markdown(campaign_page(report, state, program, CutLevel(400, 100))),
    )
