"""The simulator is deterministic and says what it is."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.launch.candidate.job import Job, Request
from kopt_kb.launch.candidate.simulator import SimulatorExecutor, _time_s
from kopt_kb.launch.candidate.source_config import with_chosen, with_configs

SOURCE = b"VARIANTS_TO_COME = 1\n\ndef default_config(shape, dtype):\n    return {}\n"


def times(candidate: bytes) -> list[float]:
    """Candidate medians of one shape."""
    job = Job("timing", candidate, SOURCE, Request(shapes=("64x64",), repeats=3))
    outcome = SimulatorExecutor().run(job, lambda *_: None)
    assert outcome.result is not None
    return [one.median_s for one in outcome.result.shapes["64x64"]["candidate"]]


def test_the_same_job_gives_the_same_times() -> None:
    """Repeats differ by a declared noise, calls do not."""
    assert times(SOURCE) == times(SOURCE)
    assert 0 < max(times(SOURCE)) / min(times(SOURCE)) - 1 < 0.0021


def test_configurations_change_the_time() -> None:
    """What a search finds is what timing sees."""
    assert times(with_configs(SOURCE, {"64x64": {"num_warps": 32}})) != times(SOURCE)


def test_started_is_called_and_unknown_kinds_are_unavailable() -> None:
    """A run is recorded with the word simulator."""
    seen: list[tuple[str, ...]] = []
    outcome = SimulatorExecutor().run(Job("evidence"), lambda argv, *_: seen.append(argv))
    assert seen == [("simulator", "evidence")]
    assert outcome.result is not None and outcome.result.unavailable


def test_settings_in_the_text_of_a_file_change_its_times(repo_root: Path) -> None:
    """A search of them and the file that it ends with are timed alike."""
    source = (repo_root / "tests" / "data" / "users" / "silu_mul.py").read_bytes()
    config = {"_silu_mul.config": "BLOCK=512 num_warps=4"}
    written = with_chosen(source, {"64x64": config})[0]
    assert b"configs=[triton.Config({'BLOCK': 512}, num_warps=4)]" in written
    assert _time_s(source, "64x64", config) == _time_s(written, "64x64", None) != _time_s(source, "64x64", None)
