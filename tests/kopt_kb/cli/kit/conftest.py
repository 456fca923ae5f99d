"""A judge of launch records that needs no GPU, in place of the real one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from kopt_kb.launch.judge.judging import Checked, JudgeDevice, Timed
from kopt_kb.launch.record.judge import load_record


class InventedJudge:
    """Judges records by the names of trials, on an H100; see `judging.Judging`."""

    pid = 4711

    def __init__(self, trials: Sequence[str] = ()) -> None:
        self.trials = trials

    def machine(self, *_: float) -> JudgeDevice:
        """Return a device by the name that its driver prints, or by nobody's."""
        return JudgeDevice("Nobody's" if "nobody" in self.trials else "NVIDIA H100 80GB HBM3", "00", "13.0")

    def check(self, record: Path, reference: Path, checks: int, ends_at: float) -> Checked:
        """Right, unless the trial is called so."""
        assert load_record(record).launches
        assert reference.is_file()
        assert ends_at > 0
        return Checked("wrong on these" if "wrong" in self.trials else "", 1e-3, checks)

    def time(self, records: Sequence[Path], reference: Path, launches: int, ends_at: float, **_: bool) -> list[Timed]:
        """A tenth of a millisecond."""
        assert reference.is_file()
        assert ends_at > 0
        return [Timed((1e-4,) * launches) for _ in records]

    def close(self) -> None:
        """Do nothing."""


@pytest.fixture
def invented(monkeypatch: pytest.MonkeyPatch) -> type[InventedJudge]:
    """A machine whose GPU is invented: all that a replay needs is there."""
    monkeypatch.setattr("kopt_kb.launch.judge.device.DeviceJudging", InventedJudge)
    monkeypatch.setattr("kopt_kb.cli.tune.judge.why_no_replay", lambda _: "")
    return InventedJudge
