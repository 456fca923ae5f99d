"""Claims about records that are timed again: on a GPU of their product they hold or are a finding, elsewhere it is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.errors import MissingTool
from kopt_kb.cli.main import main
from kopt_kb.launch.judge.contest import ClockState, ContestResult, ShapeTimes
from kopt_kb.launch.record.driver import Device
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit import replayed
from kopt_kb.workspace.audit.audit import AuditReport, audit
from tests.kopt_kb.workspace.audit.forging import CAMPAIGNS

GEMM = CAMPAIGNS / "h100_sxm/gemm_90s.kbb"


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A judge that answers as told; it sees whole records."""
    told: dict[str, Any] = {"device": "NVIDIA H100 80GB HBM3", "factor": 1.0, "verdict": "accepted"}

    def contest(reference: Path, incumbent: dict[str, Path], candidate: dict[str, Path]) -> ContestResult:
        assert reference.is_file() and all((one / "record.json").is_file() for one in candidate.values())
        shapes = tuple(
            ShapeTimes(one, 1.0, told["recorded"] * told["factor"], -0.1, 12, 1, 0, 0.0, "files", 1e-3)
            for one in candidate
        )
        device = Device(told["device"], "0" * 32, 1, 1, 13000, True, True, False)
        clock = ClockState(device, 0.0, 0.0, True, (), False)
        return ContestResult(told["verdict"], "said so", 0.01, 0.9, (), 12, 0, 0, shapes, (), clock, 1.0)

    monkeypatch.setattr(replayed, "_contest", contest)
    return told


def again(told: dict[str, Any]) -> AuditReport:
    """Audit the bundle with a replay; its own recorded time is learnt first."""
    told["recorded"] = 1.0
    first = audit(GEMM, Registry.open(), replay=True)
    assert first.timed is not None
    told["recorded"] = first.timed.shapes[0].recorded_s if first.timed.shapes else 1.0
    return audit(GEMM, Registry.open(), replay=True)


def test_times_that_hold_are_said_beside_the_verdict(here: dict[str, Any]) -> None:
    """With the ratio of the recorded time to the one of now."""
    report = again(here)
    assert (report.findings, report.verdict) == ((), "consistent, timed again here")
    assert report.timed is not None and report.timed.shapes[0].ratio == pytest.approx(1.0)
    assert audit(GEMM, Registry.open(), GEMM, replay=True).verdict == "consistent, anchored, timed again here"


@pytest.mark.parametrize(("change", "code"), [({"factor": 1.4}, "replay"), ({"factor": 0.7}, "replay")])
def test_times_that_do_not_hold_are_a_finding(change: dict[str, Any], code: str, here: dict[str, Any]) -> None:
    """Slower than recorded, and faster."""
    recorded = again(here).timed
    assert recorded is not None
    here |= change
    report = audit(GEMM, Registry.open(), replay=True)
    assert [one.code for one in report.findings] == [code] and not report.is_timed


def test_a_wrong_result_is_a_finding(here: dict[str, Any]) -> None:
    """Whatever it took."""
    here["verdict"], here["recorded"] = "wrong", 1.0
    (finding,) = audit(GEMM, Registry.open(), replay=True).findings
    assert finding.code == "replay" and "said so" in finding.message


def test_another_gpu_and_none_are_said_and_no_finding(here: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was shown; what is required is not there."""
    here |= {"device": "NVIDIA H200", "recorded": 1.0}
    report = audit(GEMM, Registry.open(), replay=True)
    assert report.clean and report.verdict == "consistent, origin unproven"
    assert report.timed is not None
    assert report.timed.why_not == "the GPU here is NVIDIA H200, H200_SXM, and not H100_SXM"

    def none(*_: object) -> ContestResult:
        raise MissingTool("no GPU", where="replay", code="KB451")

    monkeypatch.setattr(replayed, "_contest", none)
    report = audit(GEMM, Registry.open(), replay=True)
    assert report.clean and report.timed is not None and "no GPU" in report.timed.why_not


def test_exit_codes(here: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """0 is for consistent; what is required and not shown raises it."""
    here |= {"device": "NVIDIA H200", "recorded": 1.0}
    assert main(["audit", str(GEMM)]) == 0
    assert main(["audit", str(GEMM), "--replay"]) == 0
    assert "not timed again here: the GPU here is NVIDIA H200" in capsys.readouterr().out
    assert main(["audit", str(GEMM), "--require", "timed"]) == 1
    assert main(["audit", str(GEMM), "--require", "anchored"]) == 1
    here["device"] = "NVIDIA H100 80GB HBM3"
    again(here)
    assert main(["audit", str(GEMM), "--require", "timed"]) == 0
    assert main(["audit", str(GEMM), "--require", "timed", "--require", "anchored"]) == 1
    assert main(["audit", str(GEMM), "--require", "timed", "--require", "anchored", "--anchor", str(GEMM)]) == 0


@pytest.mark.parametrize("campaign", ["h100_sxm/rms_norm", "h200_sxm/softmax_2"])
def test_a_journal_without_records_says_so(campaign: str) -> None:
    """Those of earlier releases keep none."""
    report = audit(CAMPAIGNS / campaign, Registry.open(), replay=True)
    assert report.clean and report.timed is not None and report.timed.why_not
