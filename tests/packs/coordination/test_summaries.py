"""Reports of one optimization and of a series; whole campaigns are in test_autopilot."""

from __future__ import annotations

import pytest

from kopt_kb.packs.coordination.summaries import optimization_report, summary_report
from kopt_kb.workspace.workspace import Workspace


def test_before_anything_was_tried(workspace: Workspace) -> None:
    """There is no optimization to report, and the summary says that nothing was applied."""
    with pytest.raises(LookupError, match="no round was decided"):
        optimization_report(workspace.state())
    with pytest.raises(LookupError, match="v3 was not decided"):
        optimization_report(workspace.state(), 3)
    text = summary_report(workspace.state())
    assert "### Optimizations Applied (in order)\n\nnone" in text
    assert "- none known" in text
