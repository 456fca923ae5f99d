"""What `kb tune` shows before and after a campaign."""

from __future__ import annotations

import argparse
import io
from dataclasses import replace

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.tune.text import AskedBudget, CampaignParameters, confirm, parameters_text, render
from kopt_kb.tuning.options import Settings
from kopt_kb.tuning.report import CampaignReport, RoundLine

PARAMETERS = CampaignParameters(
    workspace="w", platform="T10", op="gemm", dtype="bf16", shapes=("8x8x8", "9x9x9"), framework="Triton",
    route="kernel", targets=(), policy="gpu-wiki", stop_scope="aggregate", stop_reasons=("target",), core_shapes="all",
    max_rounds=None, repeats=3, simulated=True, proposers=("packaged",), budget=AskedBudget(None, 2),
)  # fmt: skip


def test_parameters_for_people_and_programs() -> None:
    """A list is one cell, no limit is a word; who judges stands there where somebody does."""
    lines = dict(line.split(maxsplit=1) for line in parameters_text(PARAMETERS).splitlines() if " " in line.strip())
    assert (lines["shapes"], lines["max_rounds"], lines["simulated"]) == ("8x8x8, 9x9x9", "none", "True")
    document = PARAMETERS.to_json()
    assert document["budget"] == {"seconds": None, "rounds": 2}
    assert not {"judge", "least_trust", "settings"} & set(document)
    assert lines["budget"] == "rounds 2"
    shown = parameters_text(replace(PARAMETERS, budget=AskedBudget(None, None), settings=Settings(seed=7)))
    lines = dict(line.split(maxsplit=1) for line in shown.splitlines() if " " in line.strip())
    assert (lines["budget"], lines["settings"]) == ("none", "seed 7")


class Terminal(io.StringIO):
    """A person who types."""

    def isatty(self) -> bool:
        """It is one."""
        return True


@pytest.mark.parametrize(("typed", "refused"), [("y\n", False), ("YES\n", False), ("\n", True), ("n\n", True)])
def test_only_a_yes_starts(typed: str, refused: bool, monkeypatch: pytest.MonkeyPatch, capsys: object) -> None:
    """Enter alone is no."""
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    args = argparse.Namespace(yes=False)
    if refused:
        with pytest.raises(BadInput, match="not confirmed"):
            confirm(args, PARAMETERS)
    else:
        confirm(args, PARAMETERS)


def test_a_report_as_text() -> None:
    """A refuted round says so, a round without times has no gain, claims are cut."""
    rounds = (
        RoundLine(0, "baseline", "as it is", "accept", "baseline", "", None, {}),
        RoundLine(1, "caching", "c" * 80, "accept", "accepted", "", 3.5, {}, refuted=True),
    )
    report = CampaignReport(
        "REPORT", "kernel", "gpu-wiki", True, None, rounds, "v0", {}, {}, "v1", 3.5, None, "simulated", (), ()
    )
    text = render(report)
    assert "SIMULATED" in text and "best v1: +3.5 % against the baseline v0" in text
    assert "refuted" in text and "+3.5 %" in text and "c" * 61 not in text
    assert "not evaluable: simulated" in text
    assert render(report, full=False).count("\n") == 1
