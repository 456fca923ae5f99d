"""A campaign on an AMD part whose evidence is what rocprofv3 stores: the same loop, by replay of reports."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.launch.candidate.answers import ReportEvidence
from kopt_kb.launch.candidate.job import Job, Outcome, Started
from kopt_kb.problem.problem import Problem
from kopt_kb.tuning.campaign import Campaign
from kopt_kb.tuning.options import Budget, CampaignOptions
from kopt_kb.tuning.policy import policy_named
from kopt_kb.tuning.proposers import VariantsProposer
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.task import Task
from kopt_kb.workspace.workspace import Workspace
from tests.analysis.readers.amd_samples import write_rocpd
from tests.kopt_kb.tuning.measuring import Measuring
from tests.kopt_kb.tuning.test_accounting import SETTINGS

SHAPE = "8192x4096"
BYTES = 2 * 8192 * 4096 * 2


class Instinct(Measuring):
    """Times of an MI300X, profiled by rocprofv3: each launch read and wrote twice what it had to."""

    def __init__(self, folder: Path) -> None:
        super().__init__(profiles=False)
        self.folder = folder

    def run(self, job: Job, started: Started) -> Outcome:
        """Answer as if rocprofv3 had watched."""
        found = super().run(job, started)
        if job.kind == "environment":
            return replace(found, result=replace(found.result, device="AMD Instinct MI300X"))
        if job.kind != "evidence":
            return found
        path = self.folder / f"{len(list(self.folder.iterdir()))}.db"
        took_ns = round(1e9 * self.timed[job.candidate, job.body.shapes[0]])
        counters = {"FETCH_SIZE": [BYTES / 1024], "WRITE_SIZE": [BYTES / 1024], "SQ_WAVES": [8192.0]}
        write_rocpd(path, [("a-b", [(1, "norm", 1000, 1000 + took_ns, 4)], [(1, *one) for one in counters.items()])])
        packed = base64.b64encode(path.read_bytes()).decode()
        return replace(found, result=ReportEvidence("", job.body.shapes[0], ("norm",), packed=packed))


def test_a_rocprofv3_report_judges_accounts_and_chooses(tmp_path: Path, naive: Path) -> None:
    """The verdict is of its counters, the gap charges the bytes they saw, the category follows, the report is kept."""
    registry = Registry.open()
    task = Task(
        platform="MI300X", framework="Triton", kernel_demo=naive, problem=Problem.of("rms_norm", [SHAPE], "bf16")
    )
    workspace = Workspace.create(tmp_path, "amd", task, registry)
    reports = tmp_path / "reports"
    reports.mkdir()
    policy = replace(policy_named("gpu-wiki", max_rounds=1), least_trust="unstated")
    own = (workspace, policy, (VariantsProposer(),), Instinct(reports))
    options = CampaignOptions(platform=registry.platform("MI300X"))
    with Campaign(*own, settings=SETTINGS, options=options) as tuned:
        tuned.run(Budget(rounds=1))
    state = workspace.state()
    first = next(iter(state.profiles.values()))
    assert first.tool == "rocprofv3"
    assert first.evidence[0]["verdict"]["class"] != "insufficient-data"  # type: ignore[index,call-overload]
    gap = next(one.gap for one in state.gaps.values() if one.profiles)
    (extra,) = (one for one in gap.parts if (one.cause, one.level) == ("extra-bytes", "dram"))
    assert extra.evidence[0].value == pytest.approx(2.0, rel=0.01)
    assert sum(one.share_pct for one in gap.parts) == pytest.approx(100.0)
    choices = [event for event in workspace.events() if event.kind == "category_chosen"]
    assert choices
    kept = {one.name for one in (workspace.layout.root / "profiles").iterdir()}
    assert kept == {"v0_8192x4096.db", "v1_8192x4096.db"}
