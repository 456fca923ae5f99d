"""Plans and forms of report on the command line; whole campaigns are in tests/kopt_kb/tuning/test_autopilot.py."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kopt_kb.cli.tune_plan import made_plan, print_form, steered
from kopt_kb.errors import BadInput
from kopt_kb.tuning.policy import policy_named

FRESH = SimpleNamespace(campaign=None, stopped=None, plan=None)


def test_autopilot_and_analysis_go_together() -> None:
    """One without the other is refused; other policies follow no plan."""
    without, given = SimpleNamespace(analysis=None), SimpleNamespace(analysis="a.txt")
    for args, policy in ((without, "autopilot"), (given, "primus")):
        with pytest.raises(BadInput, match="analysis"):
            made_plan(args, policy_named(policy), FRESH)  # type: ignore[arg-type]
    assert made_plan(without, policy_named("primus"), FRESH) is None  # type: ignore[arg-type]
    assert steered((), None, FRESH) == ()  # type: ignore[arg-type]


def test_one_form_of_report() -> None:
    """Markdown and JSON at once is refused."""
    args = SimpleNamespace(json=True, html=None, markdown=None, form="summary", workspace="w")
    with pytest.raises(BadInput, match="--form"):
        print_form(args, FRESH)  # type: ignore[arg-type]
