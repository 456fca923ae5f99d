"""The replay that a profiler watches: one job from a file, its verdict as a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from kopt_kb.base.errors import MissingTool
from kopt_kb.base.wire import canonical
from kopt_kb.launch.record.driver import Driver
from kopt_kb.launch.record.judge import ReplayJob
from kopt_kb.launch.record.profiled import VERDICT, main


@pytest.fixture
def verdict(record: Callable[..., Path], tmp_path: Path, fake: ModuleType) -> Callable[..., dict[str, object]]:
    """Replays a record of an entry and returns its verdict."""

    def replay(entry: str, driver: Callable[[str], Driver] | None = None) -> dict[str, object]:
        out = tmp_path / "out"
        out.mkdir()
        (tmp_path / "x.bin").write_bytes(bytes(24))
        job = tmp_path / "job.json"
        job.write_bytes(canonical(ReplayJob(str(record(entry)), {"x": str(tmp_path / "x.bin")}, str(out)).to_json()))
        main([str(job)], driver or (lambda _: fake.FakeDriver(fake.World())))
        return json.loads((out / VERDICT).read_text()) | {"left": sorted(one.name for one in out.iterdir())}

    return replay


def test_a_replay_leaves_outputs_and_a_verdict(verdict: Callable[..., dict[str, object]]) -> None:
    """Beside each other."""
    assert verdict("plusone__us1") == {"touched": [], "error": "", "missing": "", "left": ["0.bin", VERDICT]}


def test_what_goes_wrong_is_in_the_verdict(verdict: Callable[..., dict[str, object]]) -> None:
    """A kernel's fault."""
    assert "ILLEGAL_ADDRESS" in str(verdict("fault__us1")["error"])


def test_what_is_missing_is_in_the_verdict(verdict: Callable[..., dict[str, object]]) -> None:
    """A GPU."""

    def none(target: str) -> Driver:
        assert target == "sm_90"
        raise MissingTool("no GPU")

    assert verdict("plusone__us1", none)["missing"] == "no GPU"
