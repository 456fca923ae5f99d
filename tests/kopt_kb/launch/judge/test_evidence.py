"""A record's profile: its launches and no others, its output compared, whatever is missing said."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kopt_kb.analysis.readers.read import read_profiles
from kopt_kb.launch.judge.evidence import MOST_LAUNCHES, mismatch, profile_record, unavailable
from kopt_kb.launch.record.judge import load_record

GRID, BLOCK = (1, 1, 1), (32, 1, 1)


class Bench:
    """Profiles records of the fake device with the fake profiler."""

    def __init__(self, fake: ModuleType, ncu: ModuleType, folder: Path) -> None:
        self.fake, self.ncu, self.folder = fake, ncu, folder
        self.inputs = folder / "x.bin"
        self.inputs.write_bytes(bytes(24))

    def install(self, *entries: str, fails: str = "", old: bool = False) -> Path:
        """Put a profiler on the PATH whose report has these launches; return its log."""
        launches = [(entry, GRID, BLOCK) for entry in entries]
        return Path(self.ncu.install(self.folder / "tools", self.ncu.report(*launches), fails, old=old))

    def profile(self, record: Path, **more: Any) -> Any:
        """Profile a record."""
        scratch = self.folder / f"scratch{len(list(self.folder.iterdir()))}"
        scratch.mkdir()
        program = (sys.executable, "-P", str(self.fake.__file__), "--profiled")
        return profile_record(record, {"x": str(self.inputs)}, scratch, program=program, **more)


@pytest.fixture
def bench(fake: ModuleType, ncu: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Its profiler is on the PATH once it is installed."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bench' / 'tools'}:/usr/bin:/bin")
    (tmp_path / "bench").mkdir()
    return Bench(fake, ncu, tmp_path / "bench")


Record = Callable[..., Path]


def test_a_profile(bench: Bench, record: Record) -> None:
    """Clocks stay as they are, only the record's kernels are recorded, all sections; the report is read back."""
    log = bench.install("plusone__us1")
    seen: list[bytes] = []
    found = bench.profile(record("plusone__us1"), held=lambda path: seen.append(path.read_bytes()) or "")
    assert (found.problem, found.kernels, seen) == ("", ("plusone__us1",), [b"\x01" * 24])
    assert set(found.seconds) == {"ncu"}
    assert found.csv.startswith('"ID"')
    assert min(found.seconds.values()) > 0
    (only,) = log.read_text().splitlines()
    assert "--set full --clock-control none" in only
    assert "--kernel-name-base mangled --kernel-name regex:^(plusone__us1)$ --launch-count 1" in only
    assert "--page raw --csv --print-units base --print-kernel-base mangled --log-file" in only
    assert "--export" not in only


def test_a_profiler_that_prints_no_page_while_it_records(bench: Bench, record: Record) -> None:
    """Its report is imported, as before; a kernel's fault is not tried twice."""
    log = bench.install("plusone__us1", old=True)
    found = bench.profile(record("plusone__us1"))
    assert (found.problem, found.kernels) == ("", ("plusone__us1",))
    assert set(found.seconds) == {"ncu", "export"}
    first, second, third = log.read_text().splitlines()
    assert "--log-file" in first and "--export" in second and third.startswith("--import")
    log.write_text("")
    bench.install("fault__us1")
    assert "ILLEGAL_ADDRESS" in bench.profile(record("fault__us1")).problem
    assert len(log.read_text().splitlines()) == 1


@pytest.mark.parametrize(
    ("entry", "reported", "words"),
    [
        ("plusone__us1", ("other",), "launch 0 of the report is other with grid 1x1x1"),
        ("plusone__us1", ("plusone__us1", "plusone__us1"), "the report has 2 launches, the record 1"),
        ("plusone__us1", (), "a header and no row"),
        ("beyond__us1", ("beyond__us1",), "under the profiler: bytes behind out were written"),
        ("fault__us1", ("fault__us1",), "ILLEGAL_ADDRESS"),
        ("dies__us1", ("dies__us1",), "ncu returned 1"),
    ],
)
def test_what_is_no_evidence(bench: Bench, record: Record, entry: str, reported: tuple[str, ...], words: str) -> None:
    """Another kernel's launches, too many, none; a replay that failed or touched what it may not."""
    bench.install(*reported)
    found = bench.profile(record(entry))
    assert words in found.problem
    assert not found.csv


def test_an_output_that_is_wrong_is_no_evidence(bench: Bench, record: Record) -> None:
    """What a kernel does under a profiler is held against the reference like anything else."""
    bench.install("plusone__us1")
    assert bench.profile(record("plusone__us1"), held=lambda _: "too large").problem == "under the profiler: too large"


def test_what_is_missing_is_said(bench: Bench, record: Record) -> None:
    """No profiler, no permission to read counters."""
    assert unavailable() == "ncu is not installed, or not on PATH"
    assert bench.profile(record("plusone__us1")).problem == unavailable()
    bench.install("plusone__us1", fails="==ERROR== ERR_NVGPUCTRPERM - The user does not have permission")
    assert "counters (ERR_NVGPUCTRPERM)" in bench.profile(record("plusone__us1")).problem
    assert unavailable() == ""


def test_time_that_is_over(bench: Bench, record: Record) -> None:
    """Nothing is begun, and what runs is ended."""
    bench.install("plusone__us1")
    with pytest.raises(TimeoutError, match="is over"):
        bench.profile(record("plusone__us1"), ends_at=time.monotonic() - 1)
    (bench.folder / "tools" / "ncu").write_text("#!/bin/sh\nsleep 600\n")
    begin = time.monotonic()
    with pytest.raises(TimeoutError, match="ncu was ended"):
        bench.profile(record("plusone__us1"), ends_at=time.monotonic() + 0.3)
    assert time.monotonic() - begin < 300


def test_launches_are_matched_in_order(record: Record, ncu: ModuleType, tmp_path: Path) -> None:
    """By name, however it is spelled, grid and block; of a long record only the first ones."""
    made = load_record(record("plusone__us1"))
    (step,) = made.launches
    two = replace(made, steps=(step, replace(step, entry="_Z3addPf", grid=(2, 1, 1))))
    report = tmp_path / "report.csv"

    def against(*launches: tuple[str, tuple[int, ...], tuple[int, ...]]) -> str:
        report.write_text(ncu.report(*launches))
        return mismatch(two, list(read_profiles(report)))

    assert against(("plusone__us1", GRID, BLOCK), ("add(float *)", (2, 1, 1), BLOCK)) == ""
    assert "launch 0" in against(("_Z3addPf", (2, 1, 1), BLOCK), ("plusone__us1", GRID, BLOCK))
    assert "grid 3x1x1" in against(("plusone__us1", GRID, BLOCK), ("_Z3addPf", (3, 1, 1), BLOCK))
    assert "block 64x1x1" in against(("plusone__us1", GRID, (64, 1, 1)), ("_Z3addPf", (2, 1, 1), BLOCK))
    long = replace(made, steps=(step,) * (MOST_LAUNCHES + 4))
    report.write_text(ncu.report(*[("plusone__us1", GRID, BLOCK)] * MOST_LAUNCHES))
    assert mismatch(long, list(read_profiles(report))) == ""
