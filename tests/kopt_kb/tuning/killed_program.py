"""A campaign whose candidates are replayed by real judge and reference processes on a fake device, to be killed.

Usage: python killed_program.py WORKSPACE WIKI FOLDER
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
COSTS = (300, 350, 200)
"""What the candidates cost; the baseline costs 400."""
_COST = re.compile(rb"\nCOST = (\d+)\n")


def _module(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[name] = made
    spec.loader.exec_module(made)
    return made


class Makers:
    """Makes records on a fake device: what a source says that it costs is its time in µs."""

    count = 1

    def __init__(self, fake: ModuleType) -> None:
        self.fake = fake

    def warm(self) -> None:
        """Need no start."""

    def make(self, request: Any, out: Path) -> Any:
        """Store a record of the requested problem."""
        from kopt_kb.base.wire import canonical
        from kopt_kb.launch.judge.makers import Made
        from kopt_kb.launch.record.judge import RECORD, load_record

        source = Path(request.what.file).read_bytes()
        found = _COST.search(source)
        entry = f"plusone__us{int(found[1]) if found else 400}"
        out.parent.joinpath("made").mkdir(exist_ok=True)
        what = request.what
        stored = self.fake.store(out.parent / "made", entry, op="rms_norm", shape=tuple(what.shape), dtype=what.dtype)
        record = replace(load_record(stored), sources={"kernel.py": hashlib.sha256(source).hexdigest()})
        (stored / RECORD).write_bytes(canonical(record.to_json()))
        stored.rename(out)
        return Made(out, record)


class Costs:
    """Proposes the incumbent's file at other costs, one after another."""

    name = "costs"

    def propose(self, view: Any) -> Any:
        """Return the first cost that was not tried."""
        from kopt_kb.tuning.proposals import Proposal

        for cost in COSTS:
            claim = f"costs {cost}"
            if view.earlier(claim, claim) is None:
                source = _COST.sub(b"", view.incumbent) + f"\nCOST = {cost}\n".encode()
                return Proposal(claim, claim, "less time", self.name, source)
        return None


class Honest:
    """Says of every launcher that it did what its record does."""

    name, simulated = "honest", False
    trust: Any = "replayed"

    def run(self, job: Any, started: Any) -> Any:
        """Return the answer at once."""
        from kopt_kb.launch.candidate.job import Outcome
        from kopt_kb.launch.candidate.launcher_run import LauncherRun

        assert job.body.expected
        started(("honest",), 1, None)
        return Outcome("ok", 0, None, 0.0, "", LauncherRun("confirmed", device="Test"))

    def close(self) -> None:
        """Keep nothing."""


def main(workspace: str, wiki: str, folder: str) -> None:
    """Run the campaign, or go on with it."""
    from kopt_kb.launch.judge.device import DeviceJudging
    from kopt_kb.launch.judge.executor import RecordExecutor
    from kopt_kb.launch.judge.launchers import LauncherRunners
    from kopt_kb.launch.judge.shelf import RecordTarget
    from kopt_kb.tuning.campaign import Campaign
    from kopt_kb.tuning.policy import policy_named
    from kopt_kb.workspace.workspace import Workspace

    assert wiki
    fake = _module("fake_gpu", ROOT / "tests" / "fake_gpu.py")
    policy = replace(
        policy_named("gpu-wiki", without_stops=("target", "hardware_limit", "plateau")), suspicious_gain_pct=None
    )
    makers: Any = Makers(fake)
    executor = RecordExecutor(
        DeviceJudging(fake.programs(Path(folder, "clock"))), RecordTarget("sm_90", "Test"), makers=makers,
        launchers=LauncherRunners(on_gpu=Honest()),
    )  # fmt: skip
    proposer: Any = Costs()
    with Campaign(Workspace.open(workspace), policy, (proposer,), executor) as campaign:
        report = campaign.run()
        sys.stdout.write(report.stop.reason if report.stop is not None else "open")
    executor.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
